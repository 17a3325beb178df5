// The most that a process grows by while 500 MB of a stream, or a 1 GB file, go through it.
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as WebStream } from "node:stream/web";
import { Cursor } from "cursor-cloud-agents";
import { saveArtifact } from "cursor-cloud-agents/node";
import { createParser } from "eventsource-parser";
import { ref } from "./decoders.ts";
import { args, say } from "./say.ts";

const [way, port, file] = args as [string, number, string];
const baseUrl = `http://127.0.0.1:${port}`;
const cursor = new Cursor({ apiKey: "key_BENCH", baseUrl });

const ways: Record<string, () => Promise<number>> = {
  "stream:floor": async () => {
    const response = await fetch(`${baseUrl}/v1/agents/${ref.agentId}/runs/${ref.id}/stream`);
    const decoder = new TextDecoder();
    let count = 0;
    // A reading keeps the reply, `streamedText`, by its promise: so does the floor.
    let reply = "";
    let pieces: string[] = [];
    const parser = createParser({
      onEvent: ({ event, data }) => {
        const payload = JSON.parse(data);
        if (payload !== null) count++;
        if (event === "assistant") pieces.push(payload.text);
      },
    });
    const reader = response.body!.getReader();
    while (true) {
      const { done, value } = await reader.read();
      if (done) {
        if (reply === "") throw new Error("no reply came");
        return count;
      }
      parser.feed(decoder.decode(value, { stream: true }));
      reply += pieces.join("");
      pieces = [];
    }
  },
  "stream:ours": async () => {
    let count = 0;
    for await (const event of cursor.runs.stream(ref, { include: "all" }))
      if (event.type !== "invalid") count++;
    return count;
  },
  "download:floor": async () => {
    const response = await fetch(`${baseUrl}/storage`);
    await pipeline(Readable.fromWeb(response.body as WebStream), createWriteStream(file));
    return 1;
  },
  "download:ours": async () => {
    await saveArtifact(cursor, ref.agentId, "artifacts/large.bin", { to: file });
    return 1;
  },
};

await (await fetch(`${baseUrl}/v1/agents/${ref.agentId}`)).json(); // loads what fetch needs
(globalThis as { gc?: () => void }).gc?.();
const before = process.memoryUsage.rss();
let peak = before;
const timer = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss());
}, 5);
const begin = performance.now();
const count = await ways[way]!();
clearInterval(timer);
const growth = Math.max(peak, process.memoryUsage.rss()) - before;
if (way.startsWith("download")) await rm(file);
say({ growth: growth / 1e6, ms: performance.now() - begin, count });
process.exit();
