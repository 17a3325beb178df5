import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

// What runs with the repository's rights: whose code, with which of them.

interface Job {
  permissions?: Record<string, string>;
  uses?: string;
  "timeout-minutes"?: number;
  steps?: { uses?: string; run?: string; with?: Record<string, unknown> }[];
}
interface Workflow {
  on: Record<string, unknown>;
  permissions?: Record<string, string>;
  jobs: Record<string, Job>;
}

const folder = ".github/workflows";
const files = readdirSync(folder);
const text = (file: string) => readFileSync(`${folder}/${file}`, "utf8");
const workflow = (file: string) => parse(text(file)) as Workflow;
const stepsOf = (file: string) => Object.values(workflow(file).jobs).flatMap(({ steps = [] }) => steps);

describe.each(files)("%s", (file) => {
  it("pins every action of others to a commit, and says which version that is", () => {
    const uses = text(file)
      .split("\n")
      .filter((line) => /^\s*(- )?uses:/.test(line) && !line.includes("uses: ./"));
    expect(uses.length).toBeGreaterThan(0);
    expect(uses.filter((line) => !/uses: [\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual(
      [],
    );
  });

  it("may read the code, and nothing else unless a job says so", () => {
    const { permissions, jobs } = workflow(file);
    expect(permissions).toEqual({ contents: "read" });
    const more = Object.entries(jobs).filter(([, job]) => job.permissions);
    expect(more.map(([name, job]) => [name, job.permissions])).toEqual(
      file === "release.yml" ? [["publish", { "id-token": "write" }]] : [],
    );
  });

  it("leaves no credentials behind for what it runs, and no job without an end", () => {
    const checkouts = stepsOf(file).filter(({ uses }) => uses?.startsWith("actions/checkout@"));
    expect(checkouts.length).toBeGreaterThan(0);
    expect(checkouts.filter((step) => step.with?.["persist-credentials"] !== false)).toEqual([]);
    const endless = Object.values(workflow(file).jobs).filter((job) => !job.uses && !job["timeout-minutes"]);
    expect(endless).toEqual([]);
  });

  it("puts nothing that others write into a command", () => {
    expect(stepsOf(file).filter(({ run }) => run?.includes("${{"))).toEqual([]);
  });

  it("uses no secret", () => {
    expect(text(file)).not.toMatch(/secrets\./);
  });
});

it("a release comes from a tag, after all checks, from a job that runs none of our code or our dependencies'", () => {
  const { on, jobs } = workflow("release.yml");
  expect(on).toEqual({ push: { tags: ["v*"] } });
  expect(jobs["check"]).toEqual({ uses: "./.github/workflows/ci.yml" });
  expect(jobs["pack"]).toMatchObject({ needs: "check" });
  expect(jobs["publish"]).toMatchObject({ needs: "pack", environment: "npm" });
  const commands = jobs["publish"]!.steps!.flatMap(({ run = [] }) => run);
  expect(commands).toEqual([
    expect.stringMatching(/^npm publish \.\/\*\.tgz --provenance .*--ignore-scripts/),
  ]);
  const checked = jobs["pack"]!.steps!.findIndex(({ run }) => run?.includes("release-check.ts"));
  const packed = jobs["pack"]!.steps!.findIndex(({ run }) => run?.startsWith("npm pack"));
  expect(checked).toBeGreaterThan(-1);
  expect(packed).toBeGreaterThan(checked);
});
