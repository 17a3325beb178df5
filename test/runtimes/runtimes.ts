import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../support/run-command.ts";
import { runInChromium } from "./browser.ts";
import type { Place } from "./place.ts";

const modules = join(import.meta.dirname, "node_modules");
const cpu = process.arch;
const arm = cpu === "arm64" ? "aarch64" : cpu;

/** The first of these that is installed: the binary for this machine. */
function binary(...paths: string[]): string {
  const found = paths.map((path) => join(modules, path)).find(existsSync);
  if (!found)
    throw new Error(`none of ${paths.join(", ")}: npm ci in test/runtimes, or add this platform there`);
  return found;
}
const newerNode = (major: number) => binary(`node-${major}-${process.platform}-${cpu}/bin/node`);
const bun = () => binary(`@oven/bun-${process.platform}-${arm}/bin/bun`);
const deno = () =>
  binary(`@deno/${process.platform}-${cpu}-glibc/deno`, `@deno/${process.platform}-${cpu}/deno`);
const versionOf = (name: string) =>
  (JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8")) as { version: string }).version;
const firstWord = (text: string) =>
  text
    .trim()
    .replace(/^(deno )?v?/, "")
    .split(/\s/)[0]!;

/** Something the package runs on: throws, or gives the version that it has run on. */
export interface Runtime {
  name: string;
  run(place: Place): Promise<string>;
}

/** One that is a command, to which a file of the place is given. */
function command(name: string, find: () => string, args: (place: Place) => string[]): Runtime {
  return {
    name,
    async run(place) {
      const path = find();
      const version = firstWord(await run(path, ["--version"], place.folder));
      await run(path, args(place), place.folder);
      return version;
    },
  };
}

export const runtimes: Runtime[] = [
  command(
    "Node",
    () => process.execPath,
    ({ entry }) => [entry],
  ),
  ...[22, 24, 26].map((major) =>
    command(
      "Node",
      () => newerNode(major),
      ({ entry }) => [entry],
    ),
  ),
  command(
    "Node, single-file bundle",
    () => process.execPath,
    ({ singleFile }) => [singleFile],
  ),
  command("Bun", bun, ({ entry }) => ["run", entry]),
  {
    name: "Bun, compiled",
    async run({ entry, folder }) {
      const program = join(folder, "compiled");
      await run(bun(), ["build", "--compile", entry, "--external", "msw", "--outfile", program], folder);
      await run(program, [], folder);
      return firstWord(await run(bun(), ["--version"], folder));
    },
  },
  // No permission but for the network and the files, and what React asks for: the package finds no environment.
  command("Deno", deno, ({ entry }) => [
    ...["run", "--no-prompt", "--no-lock", "--cached-only", "--node-modules-dir=manual"],
    ...["--allow-net=127.0.0.1", "--allow-read", "--allow-env=NODE_ENV", entry],
  ]),
  {
    name: "workerd",
    async run({ webModule, apiUrl, folder }) {
      await run(newerNode(22), [join(import.meta.dirname, "workerd.js"), webModule, apiUrl], folder);
      return `${versionOf("workerd")} (miniflare ${versionOf("miniflare")})`;
    },
  },
  { name: "Chromium", run: runInChromium },
];
