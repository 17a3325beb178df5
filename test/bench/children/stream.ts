// Times one decoder on one recording.
import { decoders } from "./decoders.ts";
import { chunksOf, largeEvent, recording } from "./recording.ts";
import { args, say } from "./say.ts";

const [name, kind, size, chunkSize, expected] = args as [string, "mix" | "large", number, number, number];

function source(bytes: Uint8Array): () => Response {
  const chunks = chunksOf(bytes, chunkSize);
  return () => {
    let index = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          const chunk = chunks[index++];
          if (chunk) controller.enqueue(chunk);
          else controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
}

const { rename, decode } = await decoders[name]!();
const make = kind === "large" ? largeEvent : recording;
const warmUp = source(make(size / 16, { rename }));
const timed = source(make(size, { rename }));
await decode(warmUp);
await new Promise((resolve) => setTimeout(resolve, 50)); // the compiler's threads end their work
(globalThis as { gc?: () => void }).gc?.();
const cpu = process.cpuUsage();
const begin = performance.now();
const count = await decode(timed);
const ms = performance.now() - begin;
const { user, system } = process.cpuUsage(cpu);
if (expected > 0 && count !== expected) throw new Error(`${name} saw ${count} events, not ${expected}`);
say({ ms, cpu: (user + system) / 1000, count });
