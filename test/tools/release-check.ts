/**
 * `tsx test/tools/release-check.ts`: package.json, the lock file and the newest entry of CHANGELOG.md name the same version, and
 * the changelog keeps its form. `v1.2.3` (a tag) also asks whether this is what that tag may publish.
 */
import { readFileSync } from "node:fs";

/** What has to agree. */
export interface ReleaseFacts {
  /** `version` of package.json. */
  version: string;
  /** The same in package-lock.json. */
  lockVersion: string | undefined;
  changelog: string;
  /** The git tag, when one is to be published. */
  tag?: string | undefined;
  /** Today, as `2026-01-31`. */
  today: string;
}

interface Entry {
  version: string;
  /** A date, or `Unreleased`. */
  date: string;
  notes: string;
}

const semver = /^(\d+)\.(\d+)\.(\d+)(?:-[0-9A-Za-z.-]+)?$/;

function entriesOf(changelog: string): Entry[] {
  return changelog
    .split(/^## /m)
    .slice(1)
    .map((text) => {
      const [heading = "", ...notes] = text.split("\n");
      const [, version, date] = /^\[([^\]]+)\](?: - (\S+))?\s*$/.exec(heading) ?? [];
      return { version: version ?? heading, date: date ?? "", notes: notes.join("\n").trim() };
    });
}

/** Whether `newer` is a later version than `older`, as far as three numbers tell. */
function isLater(newer: string, older: string): boolean {
  const numbers = (version: string) => semver.exec(version)!.slice(1, 4).map(Number);
  const [a, b] = [numbers(newer), numbers(older)];
  const at = a.findIndex((number, index) => number !== b[index]);
  return at === -1 ? newer !== older : a[at]! > b[at]!;
}

/** Everything that doesn't agree, in words; empty when all does. */
export function releaseProblems({ version, lockVersion, changelog, tag, today }: ReleaseFacts): string[] {
  const problems: string[] = [];
  const entries = entriesOf(changelog);
  const [newest] = entries;
  if (!semver.test(version)) problems.push(`package.json: ${version} is no version`);
  if (lockVersion !== version) problems.push(`package-lock.json has ${lockVersion}, package.json ${version}`);
  if (!newest) return [...problems, "CHANGELOG.md has no entry"];

  for (const entry of entries) {
    if (!semver.test(entry.version))
      problems.push(`CHANGELOG.md: "${entry.version}" is no heading of a version`);
    else if (entry.date === "Unreleased" && entry !== newest) {
      problems.push(`CHANGELOG.md: ${entry.version} is not the newest, but unreleased`);
    } else if (entry.date !== "Unreleased" && !/^\d{4}-\d\d-\d\d$/.test(entry.date)) {
      problems.push(`CHANGELOG.md: ${entry.version} needs a date, or "Unreleased"`);
    }
    if (entry.notes === "") problems.push(`CHANGELOG.md: ${entry.version} says nothing`);
  }
  if (problems.length === 0) {
    for (const [at, entry] of entries.entries()) {
      const older = entries[at + 1];
      if (older && !isLater(entry.version, older.version)) {
        problems.push(`CHANGELOG.md: ${entry.version} is above ${older.version}, but not later`);
      }
    }
  }
  if (newest.version !== version) {
    problems.push(`CHANGELOG.md's newest entry is ${newest.version}, package.json has ${version}`);
  }
  if (tag === undefined) return problems;

  if (tag !== `v${version}`)
    problems.push(`the tag is ${tag}, package.json has ${version}: expected v${version}`);
  if (newest.date === "Unreleased")
    problems.push(`CHANGELOG.md: ${newest.version} is to be released: give it a date`);
  else if (newest.date > today)
    problems.push(`CHANGELOG.md: ${newest.version} is of ${newest.date}, which is to come`);
  return problems;
}

if (import.meta.filename === process.argv[1]) {
  const json = (path: string) => JSON.parse(readFileSync(path, "utf8"));
  const [tag] = process.argv.slice(2);
  const problems = releaseProblems({
    version: json("package.json").version,
    lockVersion: json("package-lock.json").packages[""].version,
    changelog: readFileSync("CHANGELOG.md", "utf8"),
    tag,
    today: new Date().toISOString().slice(0, 10),
  });
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exit(1);
  console.log(
    `package.json, package-lock.json and CHANGELOG.md agree${tag === undefined ? "" : ` with ${tag}`}`,
  );
}
