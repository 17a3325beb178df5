import { expect, it } from "vitest";
import { type ReleaseFacts, releaseProblems } from "./release-check.ts";

const changelog = (newest: string, ...more: string[]) =>
  `# Changelog\n\nAll notable changes.\n\n${[newest, ...more, "## [0.1.0] - 2026-01-31\n\n### Added\n\n- All of it."].join("\n\n")}\n`;
const next = "## [0.2.0] - 2026-03-01\n\n### Fixed\n\n- A thing.";
const facts = (changes: Partial<ReleaseFacts> = {}): ReleaseFacts => ({
  version: "0.2.0",
  lockVersion: "0.2.0",
  changelog: changelog(next),
  today: "2026-03-01",
  ...changes,
});

it("a tag, a package and a changelog that agree may be published", () => {
  expect(releaseProblems(facts({ tag: "v0.2.0" }))).toEqual([]);
});

it("work in progress is Unreleased, and may not be published yet", () => {
  const unreleased = facts({ changelog: changelog(next.replace("2026-03-01", "Unreleased")) });
  expect(releaseProblems(unreleased)).toEqual([]);
  expect(releaseProblems({ ...unreleased, tag: "v0.2.0" })).toEqual([
    "CHANGELOG.md: 0.2.0 is to be released: give it a date",
  ]);
});

it.each<[string, Partial<ReleaseFacts>, string]>([
  ["a tag of another version", { tag: "v0.3.0" }, "the tag is v0.3.0"],
  ["a tag without its v", { tag: "0.2.0" }, "expected v0.2.0"],
  ["an empty tag", { tag: "" }, "expected v0.2.0"],
  [
    "a version that the changelog doesn't know",
    { version: "0.3.0", lockVersion: "0.3.0" },
    "newest entry is 0.2.0",
  ],
  ["a lock file left behind", { lockVersion: "0.1.0" }, "package-lock.json has 0.1.0"],
  ["no version", { version: "next", lockVersion: "next" }, "package.json: next is no version"],
  ["a changelog without an entry", { changelog: "# Changelog\n" }, "has no entry"],
  ["an entry that says nothing", { changelog: changelog("## [0.2.0] - 2026-03-01") }, "0.2.0 says nothing"],
  ["a heading without a version", { changelog: changelog("## Soon\n\n- x", next) }, '"Soon" is no heading'],
  ["a heading without a date", { changelog: changelog("## [0.2.0]\n\n- x") }, "0.2.0 needs a date"],
  [
    "an older entry that is unreleased",
    { changelog: changelog(next, "## [0.1.1] - Unreleased\n\n- x") },
    "0.1.1 is not",
  ],
  [
    "entries out of order",
    { changelog: changelog(next, "## [0.3.0] - 2026-02-01\n\n- x") },
    "0.2.0 is above 0.3.0",
  ],
  ["a version twice", { changelog: changelog(next, next) }, "0.2.0 is above 0.2.0"],
  ["a date to come", { tag: "v0.2.0", today: "2026-02-28" }, "which is to come"],
])("%s is found", (_, changes, problem) => {
  expect(releaseProblems(facts(changes)).join("\n")).toContain(problem);
});

it("10 comes after 9", () => {
  const entry = (version: string) => `## [${version}] - 2026-03-01\n\n- x`;
  const ordered = facts({
    version: "0.10.0",
    lockVersion: "0.10.0",
    changelog: changelog(entry("0.10.0"), entry("0.9.0")),
  });
  expect(releaseProblems(ordered)).toEqual([]);
});
