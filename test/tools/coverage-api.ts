/**
 * Which operations of openapi.yaml the client and the emulator have: found by calling them, not by a list. Runs the
 * contract test, in which every counted exchange is held against the contract, and prints what it saw.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Row {
  operationId: string;
  method: string;
  path: string;
  isBaseline: boolean;
  clientMethod: string | null;
  emulatorRoute: string | null;
}

const report = join(mkdtempSync(join(tmpdir(), "coverage-api-")), "report.json");
const { status, stdout, stderr } = spawnSync("npx", ["vitest", "run", "test/contract/coverage.test.ts"], {
  env: { ...process.env, COVERAGE_API_REPORT: report },
  encoding: "utf8",
});
if (status !== 0) {
  console.error(stdout + stderr);
  process.exit(1);
}

const all = JSON.parse(readFileSync(report, "utf8")) as Row[];
const baseline = all.filter(({ isBaseline }) => isBaseline);
const inClient = baseline.filter(({ clientMethod }) => clientMethod !== null);
const inEmulator = baseline.filter(({ emulatorRoute }) => emulatorRoute !== null);
const table = baseline.map(({ operationId, method, path, clientMethod, emulatorRoute }) => [
  operationId,
  `${method} ${path}`,
  clientMethod === null ? "-" : `cursor.${clientMethod}`,
  emulatorRoute === null ? "-" : "yes",
]);
const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
for (const row of [["operation", "request", "client method", "emulator"], ...table]) {
  console.log(
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
console.log(`and ${all.length - baseline.length} operations of the newer page, in the contract only`);
console.log(
  `operations: ${baseline.length} of 28 baseline documented, ${inClient.length} of 28 in the client, ${inEmulator.length} of 28 in the emulator`,
);
if (baseline.length !== 28 || inClient.length < 18 || inEmulator.length < 18) process.exit(1);
