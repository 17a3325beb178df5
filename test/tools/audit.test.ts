import { expect, it } from "vitest";
import { auditVerdict } from "./audit.ts";

const report = (vulnerabilities: object) => JSON.stringify({ auditReportVersion: 2, vulnerabilities });

it("a report without findings is clean", () => {
  expect(auditVerdict(report({}))).toEqual({ kind: "clean" });
});

it("any finding counts", () => {
  expect(auditVerdict(report({ "p-retry": { severity: "low" } }))).toEqual({
    kind: "vulnerable",
    names: ["p-retry"],
  });
});

it.each([
  [
    "a refusal",
    JSON.stringify({ message: "405 Method Not Allowed", method: "POST" }),
    "405 Method Not Allowed",
  ],
  [
    "an error of npm's",
    JSON.stringify({ error: { code: "ENOLOCK", summary: "needs a lock file" } }),
    "needs a lock file",
  ],
  ["a report without its findings", JSON.stringify({ auditReportVersion: 2 }), "no report"],
  ["null", "null", "no report"],
  ["no JSON", "<html>", "no answer that can be read"],
  ["nothing", "", "no answer that can be read"],
])("%s is no clean report", (_, answer, reason) => {
  expect(auditVerdict(answer)).toEqual({ kind: "not-asked", reason });
});
