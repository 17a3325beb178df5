import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const tsx = fileURLToPath(import.meta.resolve("tsx"));

// Each recipe's program, as a reader would run it: no key, no argument, and its last word.
it.each([
  ["fan-out", /ERROR {5}your-org\/service-7\n\n29 finished, 1 failed\n$/],
  ["ci-gate", /\*\*FINISHED\*\*.*\nBranch: `cursor\/.*\nPull request: https:.*\nI looked at/],
  ["artifact-mirror", /: 3 saved, 0 unchanged, 0 problems\n$/],
  ["short-functions", /FINISHED: I looked .*“Write a haiku about checkpoints”.*notes\.md`\.\n$/],
  ["queued-follow-ups", /^FINISHED: Add .*\nERROR: Do .*\nFINISHED: Fix .*\n$/],
  ["testing-your-app", /^\{"state":"done","text":"I looked.*pull\/1"\}\n$/],
  ["opentelemetry", /^POST \/v1\/agents -> 201\n(.*\n)*GET \/v1\/agents\/\{id\}\/runs\/\{runId\} -> 503\n/],
])("the program of %s runs by itself, on the emulator", { timeout: 60_000 }, async (name, output) => {
  const main = fileURLToPath(new URL(`./${name}/main.ts`, import.meta.url));
  // Nothing real can be reached, should an example forget its emulator.
  const env = { PATH: process.env["PATH"] ?? "", CURSOR_BASE_URL: "http://127.0.0.1:9" };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--import", tsx, main], { env });
  expect(stdout).toMatch(output);
  expect(stderr).toBe("");
  expect(readFileSync(main, "utf8")).toMatch(
    new RegExp(`^/\\*\\*\\n( \\* .*\\n)*.*npx tsx test/examples/${name}/main\\.ts`),
  );
});
