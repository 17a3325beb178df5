import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { transformSync } from "esbuild";
import { defineConfig } from "tsdown";

/** What is brought along, so that it adds nothing to anybody's installation: package by folder. */
const bundled = { zod: "emulator", commander: "cli" };

/**
 * What declarations need of their project, which may have the web's types from its `lib`, from @types/node, from its
 * platform's own types, or not at all. An empty interface adds nothing to one that is there; `Request`, whose parameters
 * are another on each platform, is a name of the file's own. `AsyncDisposable` may be newer than the project's `lib`.
 * (`fetch` is no type that could be put here: src/options.ts.)
 */
const declarations = `/// <reference lib="esnext.disposable" />
declare global {
  interface AbortSignal {}
  interface Response {}
  interface ReadableStream<R = any> {}
}
type Request = typeof globalThis extends { Request: { prototype: infer Type } } ? Type : { readonly url: string };`;

/** The documentation is in the declarations. */
const comments = { legal: true, annotation: true, jsdoc: false };

const library = defineConfig({
  entry: {
    index: "src/index.ts",
    "workers/index": "src/workers/index.ts",
    "node/index": "src/node/index.ts",
    "serve/index": "src/serve/index.ts",
    "ai-sdk/index": "src/ai-sdk/index.ts",
    "store/index": "src/store/index.ts",
    "react/index": "src/react/index.ts",
    "emulator/index": "src/emulator/index.ts",
  },
  format: "esm",
  platform: "neutral",
  target: "es2022",
  dts: { compilerOptions: { stripInternal: true } },
  outputOptions: {
    comments,
    // Not tsdown's own `banner`: that leaves an empty first line in the code, where "use client" must stand.
    postBanner: ({ fileName }) =>
      fileName.endsWith(".d.ts") ? declarations : (undefined as unknown as string),
    // What a page needs of the core, by itself: where nothing shakes trees, the store must not load the client.
    advancedChunks: {
      groups: [
        { name: "base", test: /src\/(types|errors|async|text|check|options|agent-id|http\/response)\.ts$/ },
        // By itself, with its parser: the core loads it with the first stream.
        { name: "frames", test: /src\/sse\.ts$/ },
        // Together, though parts that are loaded later share it: each file costs an import its time.
        { name: "http", test: /src\/(http\/(?!response)[a-z-]+|runs\/stream-options)\.ts$/ },
        { name: "emulator/zod", test: /node_modules\/zod\// },
      ],
    },
  },
  sourcemap: true,
  clean: true,
  deps: { neverBundle: [/^node:/, "react"], onlyBundle: ["zod"] },
  hooks: {
    "build:done": () => {
      writeFileSync("dist/THIRD-PARTY-LICENSES.txt", Object.entries(bundled).map(licenceOf).join("\n"));
      for (const path of filesOf("dist")) {
        if (path.endsWith(".js.map")) shrinkMap(path);
        if (/zod-[^/]*\.js$/.test(path)) shrink(path);
      }
    },
  },
});

/** The command line is a program: it has no types, may use Node, and runs the library that is built beside it. */
const commandLine = defineConfig({
  entry: { "cli/main": "src/cli/bin.ts" },
  format: "esm",
  platform: "node",
  target: "es2022",
  dts: false,
  sourcemap: false,
  clean: false,
  fixedExtension: false,
  outputOptions: {
    comments,
    chunkFileNames: "cli/[name].js",
    advancedChunks: { groups: [{ name: "commander", test: /node_modules\/commander\// }] },
  },
  deps: { onlyBundle: ["commander"] },
  hooks: { "build:done": () => shrink("dist/cli/commander.js") },
  plugins: [
    {
      name: "library-beside",
      resolveId(id: string, importer: string | undefined) {
        const entry = /^(?:\.\.\/)+((?:node\/|emulator\/)?index)\.ts$/.exec(id)?.[1];
        const isCli = importer !== undefined && /[\\/]src[\\/]cli[\\/]/.test(importer);
        return entry !== undefined && isCli ? { id: `../${entry}.js`, external: true } : null;
      },
    },
  ],
});

export default [library, commandLine];

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));

/**
 * The documentation is in the declarations: the sources in a map keep their lines, with those of the TSDoc empty.
 * The emulator's have none: a third of the package, for files that are used in tests.
 */
function shrinkMap(path: string): void {
  const map = JSON.parse(readFileSync(path, "utf8")) as { sources: string[]; sourcesContent: string[] };
  if (map.sources.every((source) => /src\/emulator\/|node_modules\//.test(source))) {
    rmSync(path);
    const file = path.replace(/\.map$/, "");
    writeFileSync(file, readFileSync(file, "utf8").replace(/\n\/\/# sourceMappingURL=\S+\s*$/, "\n"));
    return;
  }
  map.sourcesContent = map.sourcesContent.map((source) =>
    source.replace(/^ *\/\*\*[\s\S]*?\*\/$/gm, (comment) => comment.replace(/.+/g, "")),
  );
  writeFileSync(path, JSON.stringify(map));
}

/** Third parties' code, which nobody debugs here, without its spaces. */
function shrink(path: string): void {
  const { code } = transformSync(readFileSync(path, "utf8"), { minifyWhitespace: true, target: "es2022" });
  writeFileSync(path, code);
}

/** Bundled code keeps its licence. */
function licenceOf([name, folder]: [string, string]): string {
  const root = packageRoot(name);
  const { version, license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Record<
    string,
    string
  >;
  const file = ["LICENSE", "LICENSE.md", "LICENSE.txt"].find((candidate) => exists(join(root, candidate)));
  if (!file) throw new Error(`${name} has no licence file`);
  return `${name} ${version} (${license}), parts of which are in dist/${folder}\n\n${readFileSync(join(root, file), "utf8")}`;
}

function packageRoot(name: string): string {
  let folder = dirname(createRequire(import.meta.url).resolve(name));
  while (
    !exists(join(folder, "package.json")) ||
    !readFileSync(join(folder, "package.json"), "utf8").includes(`"name": "${name}"`)
  ) {
    folder = dirname(folder);
  }
  return folder;
}

function exists(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}
