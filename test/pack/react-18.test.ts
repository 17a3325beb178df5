// @vitest-environment happy-dom

import { createRequire } from "node:module";
import { runInThisContext } from "node:vm";
import { build } from "esbuild";
import { expect, inject, it } from "vitest";

// The hook, as packed, with the oldest React of its peer range. All that it does is tested in test/react, with the newest.

const { resolve } = createRequire(import.meta.url);

/** A component that follows a run, in strict mode; what the run says is sent by hand. */
const app = `
  import { act } from "react";
  import * as React from "react";
  import { createRoot } from "react-dom/client";
  import { renderToString } from "react-dom/server";
  import { useRun } from "cursor-cloud-agents/react";

  const frames = [];
  let wake = () => {};
  export const opened = [];
  const source = async function* (position, signal) {
    opened.push(signal);
    while (!signal.aborted) {
      while (frames.length > 0) yield frames.shift();
      await new Promise((resolve) => { wake = resolve; signal.addEventListener("abort", resolve); });
    }
  };
  function Run() {
    const { status, text } = useRun({ source, schedule: (flush) => { queueMicrotask(flush); return () => {}; } });
    return React.createElement("p", null, status + ": " + text);
  }
  const tree = React.createElement(React.StrictMode, null, React.createElement(Run));
  export const version = React.version;
  export const onServer = () => renderToString(tree);
  export async function mount(container) {
    const root = createRoot(container);
    await act(async () => root.render(tree));
    return {
      send: (frame) => act(async () => { frames.push(frame); wake(); await new Promise((resolve) => setTimeout(resolve)); }),
      unmount: () => act(async () => { root.unmount(); await new Promise((resolve) => setTimeout(resolve, 5)); }),
    };
  }
`;

interface App {
  version: string;
  opened: AbortSignal[];
  onServer(): string;
  mount(container: unknown): Promise<{ send(frame: object): Promise<void>; unmount(): Promise<void> }>;
}

async function load(): Promise<App> {
  const { outputFiles } = await build({
    stdin: { contents: app, resolveDir: inject("project") },
    bundle: true,
    format: "iife",
    globalName: "app",
    platform: "browser",
    define: { "process.env.NODE_ENV": '"development"' },
    alias: {
      react: resolve("react"),
      "react-dom/client": resolve("react-dom/client"),
      "react-dom/server": resolve("react-dom/server.browser"),
    },
    write: false,
    logLevel: "error",
  });
  return runInThisContext(`${outputFiles[0]!.text}; app`);
}

it("the hook follows a run in React 18, in strict mode over one connection, and on a server", async () => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  const { version, opened, onServer, mount } = await load();
  expect(version).toMatch(/^18\./);
  expect(onServer()).toBe("<p>submitted: </p>");
  expect(opened).toHaveLength(0);

  const { document } = globalThis as unknown as {
    document: { createElement(name: string): { textContent: string } };
  };
  const container = document.createElement("div");
  const { send, unmount } = await mount(container);
  expect(container.textContent).toBe("submitted: ");
  await send({ type: "assistant", id: "1-0", data: { text: "Hel" } });
  await send({ type: "assistant", id: "2-0", data: { text: "lo" } });
  expect(container.textContent).toBe("streaming: Hello");
  const result = { runId: "run-1", status: "FINISHED", text: "Hello" };
  expect(opened.map(({ aborted }) => aborted)).toEqual([false]);
  await send({ type: "result", id: "3-0", data: result });
  expect(container.textContent).toBe("ready: Hello");
  await unmount();
  expect(opened.map(({ aborted }) => aborted)).toEqual([true]);
});
