/**
 * What the package weighs in a user's bundle, its dependencies included, against limits. `tsx test/tools/size.ts` fails above one,
 * when a fourth runtime dependency appears, and when an import of the core brings along what it must not.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const kib = (bytes: number) => `${(bytes / 1024).toFixed(1)} KiB`;
let hasFailed = false;
const fail = (problem: string) => {
  console.error(problem);
  hasFailed = true;
};

const dependencies = ["eventsource-parser", "openapi-fetch", "p-retry"];
const manifest = JSON.parse(readFileSync("package.json", "utf8")) as {
  dependencies: Record<string, string>;
  exports: Record<string, string | { default: string }>;
};
const actual = Object.keys(manifest.dependencies).sort();
if (actual.join() !== dependencies.join()) {
  fail(`runtime dependencies are ${actual.join(", ")}; agreed are ${dependencies.join(", ")}`);
}

interface Weight {
  minified: number;
  gzip: number;
  inputs: string[];
  /** What is left to be imported. */
  imports: string[];
}

/** `initial`: what a bundler that splits loads at once; the rest of the parts comes with their first use. */
async function weigh(contents: string, part: "initial" | "whole"): Promise<Weight> {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: process.cwd() },
    bundle: true,
    splitting: part === "initial",
    minify: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    target: "es2022",
    external: ["node:*", "react"],
    outdir: "dist-size",
    write: false,
    metafile: true,
  });
  const entry = Object.keys(metafile.outputs).find((path) => metafile.outputs[path]?.entryPoint);
  const loaded = new Set<string>();
  const imports: string[] = [];
  const load = (path: string): void => {
    if (loaded.has(path)) return;
    loaded.add(path);
    for (const next of metafile.outputs[path]?.imports ?? []) {
      if (next.kind !== "import-statement") continue;
      if (next.external) imports.push(next.path);
      else load(next.path);
    }
  };
  load(entry as string);
  const files = outputFiles.filter(({ path }) => [...loaded].some((output) => path.endsWith(output)));
  const sum = (size: (bytes: Uint8Array) => number) =>
    files.reduce((total, { contents: bytes }) => total + size(bytes), 0);
  const inputs = [...loaded].flatMap((path) => Object.entries(metafile.outputs[path]?.inputs ?? {}));
  return {
    minified: sum((bytes) => bytes.length),
    gzip: sum((bytes) => gzipSync(bytes, { level: 9 }).length),
    inputs: inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path),
    imports,
  };
}

function report(name: string, { minified, gzip }: Weight, limit?: number): void {
  const against = limit === undefined ? "" : ` (limit ${kib(limit)})`;
  console.log(
    `${name.padEnd(28)} ${kib(minified).padStart(10)} minified ${kib(gzip).padStart(10)} gzip${against}`,
  );
  if (limit !== undefined && gzip > limit) fail(`${name} has outgrown its limit`);
}

const cursor = 'export { Cursor } from "./dist/index.js"';
const initial = await weigh(cursor, "initial");
report("core, loaded at once", initial, 31 * 1024);
report("core, whole in one file", await weigh(cursor, "whole"), 34 * 1024);
report(
  "the dependencies alone",
  await weigh(
    'export { default as a } from "openapi-fetch"; export { default as b } from "p-retry"; export { createParser } from "eventsource-parser"',
    "whole",
  ),
);
for (const [name, target] of Object.entries(manifest.exports)) {
  if (name === "." || typeof target === "string" || !existsSync(target.default)) continue;
  if (statSync(target.default).size < 20) continue; // not there yet
  report(name, await weigh(`export * from "${target.default}"`, "whole"));
}

// An entry point that shares a chunk with the core must not make the core heavier.
const foreign = initial.inputs.filter((path) =>
  /dist\/(workers|node|serve|ai-sdk|store|react|emulator|cli)\//.test(path),
);
if (foreign.length > 0) fail(`the core brings along ${foreign.join(", ")}`);
if (initial.imports.length > 0) {
  fail(`the core imports ${initial.imports.join(", ")}: it must run without Node`);
}
if (hasFailed) process.exit(1);
