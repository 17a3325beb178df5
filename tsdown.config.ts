import { defineConfig, type UserConfig } from "tsdown";

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

const common = { format: "esm", target: "es2022" } satisfies UserConfig;

const library = defineConfig({
  ...common,
  // `index` and `NAME/index`, as in package.json's `exports`.
  entry: ["src/index.ts", "src/{node,serve,ai-sdk,store,react,emulator,workers}/index.ts"],
  platform: "neutral",
  dts: { compilerOptions: { stripInternal: true } },
  outputOptions: {
    comments,
    // Not tsdown's own `banner`: that leaves an empty first line in the code, where "use client" must stand.
    postBanner: ({ fileName }) =>
      fileName.endsWith(".d.ts") ? declarations : (undefined as unknown as string),
  },
  sourcemap: true,
  deps: { neverBundle: [/^node:/, "react"], onlyBundle: ["zod"] },
});

/** The command line is a program: it has no types, may use Node, and runs the library that is built beside it. */
const commandLine = defineConfig({
  ...common,
  entry: { "cli/main": "src/cli/bin.ts" },
  platform: "node",
  dts: false,
  clean: false,
  fixedExtension: false,
  outputOptions: { comments, chunkFileNames: "cli/[name].js" },
  deps: { onlyBundle: ["commander"] },
  plugins: [
    {
      name: "library-beside",
      resolveId(id: string, importer: string | undefined) {
        const entry = /^(?:\.\.\/)+((?:\w+\/)?index)\.ts$/.exec(id)?.[1];
        const isCli = importer !== undefined && /[\\/]src[\\/]cli[\\/]/.test(importer);
        return entry !== undefined && isCli ? { id: `../${entry}.js`, external: true } : null;
      },
    },
  ],
});

export default [library, commandLine];
