/**
 * Follow-up prompts in a queue per agent: one after another, in order, whatever becomes of those before.
 * `npx tsx test/examples/queued-follow-ups/main.ts` plays it on the emulator.
 * For the real API take `new Cursor()`; a prompt waits as long as the runs before it take.
 */
import { Cursor } from "cursor-cloud-agents";
import { CursorEmulator } from "cursor-cloud-agents/emulator";
import { PromptQueue } from "./prompt-queue.ts";

const emulator = new CursorEmulator({ busyWindowMs: 0 });
emulator.script("the impossible", (run) => run.fail());
const cursor = new Cursor({ apiKey: "test", baseUrl: emulator.baseUrl, fetch: emulator.fetch });
const { agent } = await cursor.prompt("Add a README");

const queue = new PromptQueue(cursor);
const prompts = ["Add a section on testing", "Do the impossible", "Fix the spelling"];
await Promise.allSettled(
  prompts.map(async (prompt) => {
    const run = await queue.add(agent.id, prompt);
    process.stdout.write(`${run.status}: ${prompt}\n`);
  }),
);
