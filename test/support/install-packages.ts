/**
 * Some folders of test/ have packages of their own, with a lock file: `npm ci` at the root stays quick, and warns of
 * nothing. Whatever needs such a folder installs it first; once installed, that costs nothing.
 *
 * As a program, `tsx test/support/install-packages.ts ai-sdk examples` installs these folders of test/.
 */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { run } from "./run-command.ts";

/** Runs `npm ci` in a folder of test/, unless its node_modules are as new as its lock file. */
export async function installPackages(name: string): Promise<void> {
  const folder = join(import.meta.dirname, "..", name);
  const lockFile = join(folder, "package-lock.json");
  // npm writes this one last, so an installation that was interrupted is repeated.
  const installed = join(folder, "node_modules/.package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lockFile).mtimeMs) return;
  console.log(`Installing the packages of test/${name}`);
  await run("npm", ["ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"], folder);
}

/** The global setup of a vitest project that is called like its folder. */
export default (project: TestProject): Promise<void> => installPackages(project.name);

if (import.meta.filename === process.argv[1]) {
  for (const name of process.argv.slice(2)) await installPackages(name);
}
