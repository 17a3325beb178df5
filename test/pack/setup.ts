import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { run } from "./run.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The package as it would be published. */
    tarball: string;
    /** A project that has installed it, twice: by its name, and another copy as `second-copy`. */
    project: string;
    /** Its entry points as an importer writes them, all but `package.json`. */
    entryPoints: string[];
  }
}

/** Packs what `dist/` holds, and installs it as a user would. */
export default async function setup({ provide }: TestProject): Promise<() => void> {
  const here = import.meta.dirname;
  const root = join(here, "../..");
  const { name, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    name: string;
    exports: Record<string, unknown>;
  };
  await run("npm", ["ci", "--ignore-scripts", "--prefer-offline"], here);

  const folder = mkdtempSync(join(tmpdir(), "cursor-cloud-agents-pack-"));
  const project = join(folder, "project");
  mkdirSync(project);
  const [{ filename }] = JSON.parse(
    await run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], root),
  ) as [{ filename: string }];
  const tarball = join(folder, filename);
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }\n');
  // The second copy without its dependencies' own second copy, as npm lays them out.
  await run(
    "npm",
    [
      "install",
      "--ignore-scripts",
      "--prefer-offline",
      "--omit=peer",
      tarball,
      `second-copy@file:${tarball}`,
    ],
    project,
  );
  // An optional peer, for the entry point that wants it. Above the project: its own tree stays as npm made it.
  mkdirSync(join(folder, "node_modules/@types"), { recursive: true });
  for (const peer of ["react", "@types/react"]) {
    symlinkSync(join(root, "node_modules", peer), join(folder, "node_modules", peer));
  }

  provide("tarball", tarball);
  provide("project", project);
  provide(
    "entryPoints",
    Object.keys(exports)
      .filter((path) => path !== "./package.json")
      .map((path) => name + path.slice(1)),
  );
  return () => rmSync(folder, { recursive: true, force: true });
}
