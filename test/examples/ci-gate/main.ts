/**
 * A CI step: starts an agent, waits for it, prints a summary with its branch and pull request, and exits with the outcome.
 * `npx tsx test/examples/ci-gate/main.ts [PROMPT]` plays it on the emulator; a prompt with "impossible" in it fails.
 * For the real API take `new Cursor()`, with CURSOR_API_KEY among the secrets of the CI.
 */
import { Cursor } from "cursor-cloud-agents";
import { CursorEmulator } from "cursor-cloud-agents/emulator";
import { gate } from "./gate.ts";

const emulator = new CursorEmulator();
emulator.script("impossible", (run) => run.text("I can't.").fail());
const cursor = new Cursor({ apiKey: "test", baseUrl: emulator.baseUrl, fetch: emulator.fetch });

process.exitCode = await gate({
  cursor,
  prompt: process.argv[2] ?? "Fix the failing tests",
  repository: "https://github.com/your-org/your-repo",
  startingRef: "main",
  timeout: 30 * 60_000,
  write: (line) => process.stdout.write(`${line}\n`),
});
