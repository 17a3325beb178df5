// Reads one long stream; says what each event cost in time, and what is kept of them.
import { Cursor, type RunEvent } from "cursor-cloud-agents";
import { memory, say } from "./measure.ts";

const [way, count, size, idSize] = process.argv.slice(2).map((text) => JSON.parse(text)) as [
  string,
  number,
  number,
  number,
];
const ref = { agentId: "bc-1", id: "run-1" };
const encoder = new TextEncoder();
const perChunk = Math.max(1, Math.floor(16_384 / (size + idSize)));

/** `total` events, about 16 KiB a chunk, then silence. */
function body(total: number): ReadableStream<Uint8Array> {
  let index = 0;
  const filler = "x".repeat(size);
  return new ReadableStream(
    {
      pull: (controller) => {
        if (index >= total) return new Promise(() => {});
        let chunk = "";
        for (let slot = 0; slot < perChunk && index < total; slot++) {
          const id = `${++index}-`.padEnd(idSize, "0");
          chunk += `id: ${id}\nevent: thinking\ndata: {"text":"${filler}"}\n\n`;
        }
        controller.enqueue(encoder.encode(chunk));
      },
    },
    { highWaterMark: 0 },
  );
}

async function read(total: number, look?: (index: number) => Promise<void>): Promise<number> {
  const fetch = async () => new Response(body(total), { headers: { "content-type": "text/event-stream" } });
  const stream = new Cursor({ apiKey: "key_TEST", fetch }).runs.stream(ref);
  const begin = process.cpuUsage();
  let index = 0;
  let last: RunEvent | undefined;
  for await (const event of stream) {
    last = event;
    index++;
    if (look) await look(index);
    if (index === total) break;
  }
  const { user, system } = process.cpuUsage(begin);
  if (last?.type !== "thinking") throw new Error(`the last event is ${last?.type}`);
  return user + system;
}

const ways: Record<string, () => Promise<object>> = {
  /** How many times as long four times as many take. */
  time: async () => {
    await read(count / 4); // warms up
    // The best of three: another process may take the caches, never give time back.
    const best = async (total: number) => Math.min(await read(total), await read(total), await read(total));
    return { ratio: (await best(count)) / (await best(count / 4)) };
  },
  memory: async () => {
    await read(1_000);
    const before = await memory();
    let inside = 0;
    await read(count, async (index) => {
      if (index === count) inside = (await memory()) - before;
    });
    return { inside, after: (await memory()) - before };
  },
  /** What events and errors hold that quote a little of much. */
  pieces: async () => {
    let answers = 0;
    const fetch: typeof globalThis.fetch = async (input) => {
      const text = `${answers++} is no JSON ${"x".repeat(size)}`;
      return String(input).endsWith("/stream")
        ? new Response(`data: ${text}\n\n`, { headers: { "content-type": "text/event-stream" } })
        : new Response(text);
    };
    const cursor = new Cursor({ apiKey: "key_TEST", fetch });
    const kept: unknown[] = [];
    const quote = async () => {
      for await (const event of cursor.runs.stream(ref)) {
        kept.push(event);
        break;
      }
      kept.push(await cursor.me().catch((error) => error));
    };
    await quote(); // the last match of a regular expression stays, once
    const before = await memory();
    for (let round = 0; round < count; round++) await quote();
    const inside = (await memory()) - before;
    return { inside, kept: kept.map((word) => JSON.stringify(word).length) };
  },
};
say(await ways[way]!());
