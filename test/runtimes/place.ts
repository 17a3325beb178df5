import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BuildOptions, build } from "esbuild";
import type { PackedPackage } from "../support/packed-package.ts";

/** Where the runtimes find the smoke test, and the emulator it talks to. */
export interface Place {
  /** Runs it in Node, Bun or Deno, from `node_modules`. */
  entry: string;
  /** The same as one file, in a folder with nothing else. */
  singleFile: string;
  /** For a browser or a worker: one file, an ES module with `smoke(baseUrl)`. */
  webModule: string;
  /** Where files may be left. */
  folder: string;
  apiUrl: string;
  artifactsUrl: string;
}

/** What runs without Node: the rest has `node:` imports on purpose. */
const isForTheWeb = (entryPoint: string) => !/\/(node|emulator)$/.test(entryPoint);

/** Imports entry points, and fails where one has nothing to offer. */
const importAll = (entryPoints: string[]) =>
  entryPoints
    .map(
      (path, at) =>
        `import * as entry${at} from "${path}";\nif (Object.keys(entry${at}).length === 0) throw new Error("${path} exports nothing");\n`,
    )
    .join("");

/** Writes the programs that the runtimes run. */
export async function preparePlace(
  { project, entryPoints }: PackedPackage,
  { apiUrl, artifactsUrl }: Pick<Place, "apiUrl" | "artifactsUrl">,
): Promise<Place> {
  const folder = join(project, "../alone");
  mkdirSync(folder);
  copyFileSync(join(import.meta.dirname, "smoke.js"), join(project, "smoke.js"));
  const entry = join(project, "entry.js");
  writeFileSync(
    entry,
    `import { smoke } from "./smoke.js";\n${importAll(entryPoints)}console.log(JSON.stringify(await smoke("${apiUrl}")));\n`,
  );
  const web = join(project, "web.js");
  writeFileSync(web, `${importAll(entryPoints.filter(isForTheWeb))}export { smoke } from "./smoke.js";\n`);

  const singleFile = join(folder, "single-file.mjs");
  const webModule = join(folder, "web.js");
  const common = {
    bundle: true,
    format: "esm",
    minify: true,
    define: { "process.env.NODE_ENV": '"production"' },
    external: ["msw"],
    logLevel: "silent",
  } satisfies BuildOptions;
  await build({ ...common, entryPoints: [entry], outfile: singleFile, platform: "node" });
  await build({ ...common, entryPoints: [web], outfile: webModule, platform: "browser" });
  return { entry, singleFile, webModule, folder, apiUrl, artifactsUrl };
}
