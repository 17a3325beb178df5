/**
 * What the core weighs in a user's bundle, its three dependencies included. `npm run size` fails above the limit, and
 * when a fourth runtime dependency appears.
 */
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const limit = 29 * 1024;
const dependencies = ["eventsource-parser", "openapi-fetch", "p-retry"];

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: Record<string, string> };
const actual = Object.keys(manifest.dependencies).sort();
if (actual.join() !== dependencies.join()) {
  console.error(`runtime dependencies are ${actual.join(", ")}; agreed are ${dependencies.join(", ")}`);
  process.exit(1);
}

const kib = (bytes: number) => `${(bytes / 1024).toFixed(1)} KiB`;

async function weigh(contents: string): Promise<{ minified: number; gzip: number; builtins: string[] }> {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: process.cwd() },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    target: "es2022",
    external: ["node:*"],
    write: false,
    metafile: true,
  });
  const bytes = outputFiles[0]?.contents ?? new Uint8Array();
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
  return {
    minified: bytes.length,
    gzip: gzipSync(bytes, { level: 9 }).length,
    builtins: imports.map(({ path }) => path),
  };
}

const core = await weigh('export { Cursor } from "./dist/index.js"');
const floor = await weigh(
  'export { default as a } from "openapi-fetch"; export { default as b } from "p-retry"; export { createParser } from "eventsource-parser"',
);
console.log(
  `core with dependencies: ${kib(core.minified)} minified, ${kib(core.gzip)} gzip (limit ${kib(limit)})`,
);
console.log(`the dependencies alone: ${kib(floor.minified)} minified, ${kib(floor.gzip)} gzip`);
if (core.builtins.length > 0) {
  console.error(`the core imports ${core.builtins.join(", ")}: it must run without Node`);
  process.exit(1);
}
if (core.gzip > limit) {
  console.error("the core has outgrown its limit");
  process.exit(1);
}
