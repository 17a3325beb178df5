/**
 * One prompt over thirty repositories, five at a time; ends in a table and can be started again after a crash.
 * `npx tsx test/examples/fan-out/main.ts` plays it on the emulator.
 * For the real API take `new Cursor()` and name the job after what it does and when.
 */
import { Cursor } from "cursor-cloud-agents";
import { CursorEmulator } from "cursor-cloud-agents/emulator";
import { fanOut, isFailure, toTable } from "./fan-out.ts";

const emulator = new CursorEmulator();
emulator.script("licence", (run) =>
  run.context.repoUrl?.endsWith("-7") ? run.fail() : run.text("Done.").finish({ branch: "cursor/licence" }),
);
const cursor = new Cursor({ apiKey: "test", baseUrl: emulator.baseUrl, fetch: emulator.fetch });

const rows = await fanOut({
  cursor,
  prompt: "Add a licence file",
  repositories: Array.from({ length: 30 }, (_, index) => `https://github.com/your-org/service-${index}`),
  job: "licences/2026-01",
  concurrency: 5,
});
const failed = rows.filter(isFailure).length;
process.stdout.write(`${toTable(rows)}\n\n${rows.length - failed} finished, ${failed} failed\n`);
