import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { describe, expect, inject, it } from "vitest";

// A place with the web's globals and no other: no process, no Buffer, no require, and no code from strings.

const webGlobals = [
  ...[
    "AbortController",
    "AbortSignal",
    "DOMException",
    "Event",
    "EventTarget",
    "Headers",
    "Request",
    "Response",
  ],
  ...[
    "URL",
    "URLSearchParams",
    "TextDecoder",
    "TextEncoder",
    "ReadableStream",
    "TransformStream",
    "WritableStream",
  ],
  ...["TextDecoderStream", "atob", "btoa", "crypto", "performance", "queueMicrotask", "structuredClone"],
  ...["setTimeout", "clearTimeout"],
] as const;

/** One entry point, in one script that leaves its exports in the global `exported`. */
async function bundle(entryPoint: string) {
  const { outputFiles, metafile } = await build({
    stdin: { contents: `export * from "${entryPoint}";`, resolveDir: inject("project") },
    bundle: true,
    format: "iife",
    globalName: "exported",
    platform: "neutral",
    mainFields: ["module", "main"],
    external: ["node:*", "react", "msw"],
    write: false,
    metafile: true,
    logLevel: "silent",
  });
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path));
  return { code: outputFiles[0]!.text, imports };
}

const core = await bundle("cursor-cloud-agents");

function sandbox(more: object = {}) {
  const globals = Object.fromEntries(webGlobals.map((name) => [name, globalThis[name]]));
  const context = createContext({ ...globals, ...more }, { codeGeneration: { strings: false, wasm: false } });
  runInContext(core.code, context);
  return { evaluate: (code: string) => runInContext(code, context) as Promise<unknown>, context };
}

/** As strict as a platform's own: called as a method of anything but the global object, it throws. */
const strictFetch = (name: string) =>
  `function (input, init) {
    if (this !== undefined && this !== globalThis) throw new TypeError("Illegal invocation");
    const request = new Request(input, init);
    this_seen.push([request.method, new URL(request.url).pathname, request.headers.get("authorization")]);
    return Promise.resolve(Response.json({ apiKeyName: "${name}", createdAt: "" }));
  }`;

describe("where there is nothing but the web's globals", () => {
  it("the package loads, and names what is missing without a key", () => {
    const { evaluate } = sandbox();
    const told = evaluate(`
      try { new exported.Cursor(); "made" } catch (error) {
        JSON.stringify([error.name, error.kind, error.argument, error.message]);
      }`);
    expect(JSON.parse(String(told))).toEqual([
      "ArgumentError",
      "argument",
      "apiKey",
      expect.stringMatching(/`apiKey`.*CURSOR_API_KEY/),
    ]);
  });

  it.each([
    ["bearer", "Bearer key_x"],
    ["basic", `Basic ${btoa("key_x:")}`],
  ])("a client works, with a key sent as %s", async (auth, sent) => {
    const { evaluate } = sandbox({ this_seen: [] });
    const answer = evaluate(`
      globalThis.fetch = ${strictFetch("global")};
      new exported.Cursor({ apiKey: "key_x", auth: "${auth}" }).me().then((info) => JSON.stringify([info.apiKeyName, this_seen]))`);
    expect(JSON.parse(String(await answer))).toEqual(["global", [["GET", "/v1/me", sent]]]);
  });

  it("a fetch that is installed later is the one that is called", async () => {
    const { evaluate } = sandbox({ this_seen: [] });
    const answer = evaluate(`(async () => {
      const cursor = new exported.Cursor({ apiKey: "key_x" });
      const names = [];
      globalThis.fetch = ${strictFetch("first")};
      names.push((await cursor.me()).apiKeyName);
      globalThis.fetch = ${strictFetch("second")};
      names.push((await cursor.me()).apiKeyName);
      const given = new exported.Cursor({ apiKey: "key_x", fetch: ${strictFetch("given")} });
      names.push((await given.me()).apiKeyName);
      return names.join();
    })()`);
    expect(await answer).toBe("first,second,given");
  });

  it("a process without an environment, or one that refuses a look at it, is no failure", () => {
    for (const process of [
      "{}",
      "{ env: undefined }",
      "{ get env() { throw new Error('not permitted') } }",
    ]) {
      const { evaluate } = sandbox();
      const told = evaluate(
        `globalThis.process = ${process}; try { new exported.Cursor() } catch (error) { error.argument }`,
      );
      expect(told).toBe("apiKey");
    }
  });
});

describe("a bundle", () => {
  const withNode = ["cursor-cloud-agents/node", "cursor-cloud-agents/emulator"];

  it.each(inject("entryPoints").filter((path) => !withNode.includes(path)))(
    "of %s needs no Node built-in and no package but React",
    async (entryPoint) => {
      const { imports } = await bundle(entryPoint);
      expect(imports.filter((path) => path !== "react")).toEqual([]);
    },
  );

  it("of the emulator needs Node for its listener alone, when that is asked for", async () => {
    const { metafile } = await build({
      stdin: { contents: 'export * from "cursor-cloud-agents/emulator";', resolveDir: inject("project") },
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "neutral",
      external: ["node:*", "msw"],
      outdir: "nowhere",
      write: false,
      metafile: true,
    });
    const first = Object.values(metafile.outputs).find((output) => output.entryPoint)!;
    const now = (output: typeof first): string[] =>
      output.imports.flatMap((found) => {
        if (found.kind === "dynamic-import") return [];
        return found.external ? [found.path] : now(metafile.outputs[found.path]!);
      });
    expect(now(first)).toEqual([]);
  });
});
