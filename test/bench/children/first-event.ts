// From a chunk's arrival to the consumer's turn: how many turns of the event loop, and how long.
import { Cursor } from "cursor-cloud-agents";
import { createParser } from "eventsource-parser";
import { ref } from "./decoders.ts";
import { args, say } from "./say.ts";

const [name, total] = args as [string, number];
let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
let onEvent = () => {};
const respond = () => {
  const body = new ReadableStream<Uint8Array>(
    {
      start: (own) => {
        controller = own;
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
};

if (name === "floor") {
  const reader = respond().body!.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const decoder = new TextDecoder();
  const parser = createParser({
    onEvent: ({ data }) => {
      JSON.parse(data);
      onEvent();
    },
  });
  void (async () => {
    while (true) parser.feed(decoder.decode((await reader.read()).value, { stream: true }));
  })();
} else {
  const cursor = new Cursor({ apiKey: "key_BENCH", fetch: (async () => respond()) as typeof fetch });
  void (async () => {
    for await (const _ of cursor.runs.stream(ref)) onEvent();
  })();
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
// Until it reads: what a first stream loads is a file, and takes its time.
for (let wait = 0; controller === undefined && wait < 100_000; wait++) await turn();
for (let wait = 0; wait < 50; wait++) await turn();
const encoder = new TextEncoder();
let late = 0;
const times: number[] = [];
for (let index = 0; index < total; index++) {
  const chunk = encoder.encode(`id: ${index}-0\nevent: assistant\ndata: {"text":"word ${index}"}\n\n`);
  let arrived = 0;
  onEvent = () => {
    arrived = performance.now();
  };
  let begin = 0;
  // The chunk comes in one macrotask; the next one is there to see whether its event has.
  await new Promise<void>((resolve) => {
    setImmediate(() => {
      setImmediate(() => {
        if (arrived === 0) late++;
        resolve();
      });
      begin = performance.now();
      controller?.enqueue(chunk);
    });
  });
  for (let wait = 0; arrived === 0 && wait < 100; wait++) await turn();
  if (arrived === 0) throw new Error(`${name} never got event ${index}`);
  if (index >= total / 5) times.push((arrived - begin) * 1000);
}
times.sort((a, b) => a - b);
say({ late, us: times[Math.floor(times.length / 2)] });
process.exit();
