import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "./run-command.ts";

/** The package as npm would publish it, and a project that has installed that. */
export interface PackedPackage {
  tarball: string;
  /** It has two copies: one by the package's name, the other as `second-copy`. */
  project: string;
  /** All entry points but `package.json`, as an importer writes them. */
  entryPoints: string[];
  remove(): void;
}

const root = join(import.meta.dirname, "../..");

/** Packs what `dist/` holds, and installs it as a user would, in a temporary folder. */
export async function installPackedPackage(): Promise<PackedPackage> {
  const { name, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    name: string;
    exports: Record<string, unknown>;
  };
  if (!existsSync(join(root, "dist/index.js"))) throw new Error("there is no dist/: npm run build");
  const folder = mkdtempSync(join(tmpdir(), "cursor-cloud-agents-packed-"));
  const project = join(folder, "project");
  mkdirSync(project);
  const pack = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const [{ filename }] = JSON.parse(await run("npm", pack, root)) as [{ filename: string }];
  const tarball = join(folder, filename);
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }\n');
  const flags = ["--ignore-scripts", "--prefer-offline", "--omit=peer"];
  await run("npm", ["install", ...flags, tarball, `second-copy@file:${tarball}`], project);
  // An optional peer, for the entry point that wants it. Above the project: its own tree stays as npm made it.
  mkdirSync(join(folder, "node_modules/@types"), { recursive: true });
  for (const peer of ["react", "@types/react"]) {
    symlinkSync(join(root, "node_modules", peer), join(folder, "node_modules", peer));
  }
  return {
    tarball,
    project,
    entryPoints: Object.keys(exports)
      .filter((path) => path !== "./package.json")
      .map((path) => name + path.slice(1)),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
