/**
 * `tsx test/tools/audit.ts`: known vulnerabilities in what an installation brings along. Fails on any. A registry that can't be
 * asked (some mirrors have no such endpoint) is said loudly, and fails only with `-- --strict`.
 */
import { spawnSync } from "node:child_process";

/** What `npm audit --json` said. */
export type AuditVerdict =
  | { kind: "clean" }
  | { kind: "vulnerable"; names: string[] }
  | { kind: "not-asked"; reason: string };

/** Reads the answer by what it says: its exit code is 1 for a finding and for a registry that was silent. */
export function auditVerdict(answer: string): AuditVerdict {
  let report: {
    auditReportVersion?: number;
    vulnerabilities?: object;
    message?: string;
    error?: { summary?: string };
  };
  try {
    report = JSON.parse(answer);
  } catch {
    return { kind: "not-asked", reason: "no answer that can be read" };
  }
  if (report?.auditReportVersion === undefined || typeof report.vulnerabilities !== "object") {
    return { kind: "not-asked", reason: report?.message || report?.error?.summary || "no report" };
  }
  const names = Object.keys(report.vulnerabilities);
  return names.length === 0 ? { kind: "clean" } : { kind: "vulnerable", names };
}

if (import.meta.filename === process.argv[1]) {
  const isStrict = process.argv.includes("--strict");
  const { stdout } = spawnSync("npm", ["audit", "--json", "--audit=true", "--omit=dev"], {
    encoding: "utf8",
    timeout: 60_000,
  });
  const verdict = auditVerdict(stdout ?? "");
  if (verdict.kind === "clean") console.log("no known vulnerability in the production tree");
  if (verdict.kind === "vulnerable") {
    console.error(`known vulnerabilities in ${verdict.names.join(", ")}: npm audit --omit=dev`);
    process.exitCode = 1;
  }
  if (verdict.kind === "not-asked") {
    console.error(`!! AUDIT NOT DONE, the registry didn't answer it: ${verdict.reason.split("\n")[0]}`);
    if (isStrict) process.exitCode = 1;
  }
}
