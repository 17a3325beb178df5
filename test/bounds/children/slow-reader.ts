// Opens a stream or a download, takes one piece of it, and then nothing until it is told to go on.
import { once } from "node:events";
import { Cursor } from "cursor-cloud-agents";
import { memory, say, settledResources } from "./measure.ts";

const [baseUrl, way] = process.argv.slice(2).map((text) => JSON.parse(text)) as [string, string];
const ref = { agentId: "bc-1", id: "run-1" };
const cursor = new Cursor({ apiKey: "key_TEST", baseUrl });
const stream = cursor.runs.stream(ref);

/** Takes one piece; gives back what ends the reading. */
const ways: Record<string, () => Promise<() => unknown>> = {
  iteration: async () => {
    await stream[Symbol.asyncIterator]().next();
    return () => stream.close();
  },
  text: async () => {
    await stream.text()[Symbol.asyncIterator]().next();
    return () => stream.close();
  },
  "web stream": async () => {
    const reader = stream.toReadableStream().getReader();
    await reader.read();
    return () => reader.cancel();
  },
  "left iterator": async () => {
    const iterator = stream[Symbol.asyncIterator]();
    await iterator.next();
    return () => iterator.return?.();
  },
  download: async () => {
    const download = await cursor.artifacts.download("bc-1", "artifacts/a");
    const reader = download.body.getReader();
    await reader.read();
    return () => reader.cancel();
  },
  "unread download": async () => {
    const download = await cursor.artifacts.download("bc-1", "artifacts/a");
    return () => download[Symbol.asyncDispose]();
  },
};

await (await fetch("data:,")).text(); // loads what fetch needs
const before = await memory();
const close = await ways[way]!();
say({ event: "reading" });
await once(process.stdin, "data");
say({ event: "rested", grown: (await memory()) - before });
await once(process.stdin, "data");
await close();
process.stdin.destroy();
say({ event: "closed", resources: await settledResources() });
