import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

/** What a page would load of this package, as a bundler for browsers makes it. */
async function bundle(contents: string) {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    external: ["react"],
    write: false,
    metafile: true,
  });
  const [output] = Object.values(metafile.outputs);
  const inputs = Object.entries(output!.inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  return {
    inputs: inputs.map(([path]) => path),
    imports: output!.imports.map(({ path }) => path),
    kib: gzipSync(outputFiles[0]!.contents, { level: 9 }).length / 1024,
  };
}

describe("a page that shows a run", () => {
  it("loads the store and nothing of the client", async () => {
    const { inputs, imports, kib } = await bundle(
      'export { createRunStore, routeSource, webStorage } from "cursor-cloud-agents/store";',
    );
    const foreign = inputs.filter(
      (path) =>
        !/src\/store\/|src\/(sse|async|check|errors|options|text)\.ts|http\/response\.ts|runs\/transcript\.ts/.test(
          path,
        ),
    );
    expect(foreign.filter((path) => !/eventsource-parser|<stdin>/.test(path))).toEqual([]);
    expect(imports).toEqual([]);
    expect(kib).toBeLessThan(9);
  });

  it("loads no React with the store, and the hook with less than a kilobyte", async () => {
    const store = await bundle('export { createRunStore } from "cursor-cloud-agents/store";');
    const hook = await bundle(
      'export { createRunStore } from "cursor-cloud-agents/store"; export { useRun } from "cursor-cloud-agents/react";',
    );
    expect(hook.imports).toEqual(["react"]);
    expect(hook.kib - store.kib).toBeLessThan(1);
    expect(hook.kib).toBeLessThan(5);
  });
});
