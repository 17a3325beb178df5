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
const newer = all.filter(({ isBaseline }) => !isBaseline);
const table = [...baseline, ...newer].map(({ operationId, method, path, clientMethod, emulatorRoute }) => [
  operationId,
  `${method} ${path}`,
  clientMethod ?? "-",
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

/** Prints how many of an edition's operations are where; true when all are everywhere. */
function summarise(title: string, edition: string, rows: Row[], expected: number): boolean {
  const inClient = rows.filter(({ clientMethod }) => clientMethod !== null).length;
  const inEmulator = rows.filter(({ emulatorRoute }) => emulatorRoute !== null).length;
  console.log(
    `${title}: ${rows.length} of ${expected} ${edition} documented, ${inClient} of ${expected} in the client, ${inEmulator} of ${expected} in the emulator`,
  );
  return [rows.length, inClient, inEmulator].every((count) => count === expected);
}

const isComplete = summarise("operations", "baseline", baseline, 28);
if (!summarise("newer operations", "newer", newer, 18) || !isComplete) process.exit(1);
