/**
 * A bot on a platform whose functions may run for a minute: each invocation takes a checkpoint in and gives one out.
 * `npx tsx test/examples/short-functions/main.ts` plays it on the emulator, with invocations of 50 ms.
 * The store is a file here; on the platform it is a row, a key-value pair or a queue's message.
 */
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cursor } from "cursor-cloud-agents";
import { CursorEmulator } from "cursor-cloud-agents/emulator";
import { type BotState, begin, invoke } from "./bot.ts";

const emulator = new CursorEmulator({ pace: 20 });
const cursor = new Cursor({ apiKey: "test", baseUrl: emulator.baseUrl, fetch: emulator.fetch });
const store = join(await mkdtemp(join(tmpdir(), "short-functions-")), "state.json");
await writeFile(store, JSON.stringify(await begin(cursor, "Write a haiku about checkpoints")));

for (let number = 1; ; number++) {
  // What the platform would call, once a minute or as a queue delivers.
  const state = JSON.parse(await readFile(store, "utf8")) as BotState;
  const next = await invoke(state, { cursor, budget: 50 });
  await writeFile(store, JSON.stringify(next));
  process.stdout.write(`${number}. ${next.status ?? "at work"}: ${next.transcript.text}\n`);
  if (next.status !== undefined) break;
}
