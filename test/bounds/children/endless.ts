// Meets answers that never end, one after another, in a small heap; says of each how it ended and what it cost.
import { Cursor, type RunStreamOptions } from "cursor-cloud-agents";
import { ending, memory, say, settledResources } from "./measure.ts";

const [origin, names, maxEventBytes] = process.argv.slice(2).map((text) => JSON.parse(text)) as [
  string,
  string[],
  number,
];
const ref = { agentId: "bc-1", id: "run-1" };

function read(cursor: Cursor, name: string): Promise<Record<string, unknown>> {
  const [kind = "", detail = ""] = name.split(".");
  if (kind === "json") return ending(cursor.me().then());
  if (kind === "create") return ending(cursor.agents.create({ prompt: "x" }).then());
  if (kind === "wait") return ending(cursor.runs.wait(ref));
  if (kind === "storage") {
    const download = cursor.artifacts.download("bc-1", "artifacts/a", { maxBytes: 4 * 1024 * 1024 });
    return ending(download.then((artifact) => artifact.bytes()));
  }
  // Only an abort ends a stream of good events: after this many of them, or this much time.
  const controller = new AbortController();
  const options: RunStreamOptions = { signal: controller.signal, maxReconnects: 2 };
  // The default for those that cost the most; others in the light size don't need all of it to show themselves.
  if (!["no-line-end", "data-lines"].includes(detail)) options.maxEventBytes = maxEventBytes;
  if (detail.startsWith("small")) options.maxEventBytes = 100_000;
  if (detail === "unwanted") setTimeout(() => controller.abort(), 100);
  return ending(
    (async () => {
      let count = 0;
      for await (const event of cursor.runs.stream(ref, options)) {
        if ((event.type === "thinking" || event.type === "assistant") && ++count === 20_000)
          controller.abort();
      }
    })(),
  );
}

/** Ten times as fast as the world, for the two seconds that `done` may take. */
const begin = Date.now();
const clock = {
  now: () => begin + (Date.now() - begin) * 10,
  setTimeout: (callback: () => void, ms: number) => setTimeout(callback, ms / 10),
  clearTimeout: (handle: unknown) => clearTimeout(handle as NodeJS.Timeout),
};

await (await fetch("data:,")).text(); // loads what fetch needs
for (const name of names) {
  const cursor = new Cursor({
    apiKey: "key_TEST",
    baseUrl: `${origin}/${name}`,
    clock,
    random: () => 0,
    timeout: name === "json.hints" ? 1_000 : 60_000,
    maxRetries: 1,
  });
  const before = await memory();
  const outcome = await read(cursor, name);
  const grown = (await memory()) - before;
  say({ scenario: name, ...outcome, grown, resources: await settledResources() });
}
