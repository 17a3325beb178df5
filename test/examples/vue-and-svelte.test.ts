// @vitest-environment happy-dom
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ManualClock } from "cursor-cloud-agents/emulator";
import { createRunStore, type RunSource, type RunStore } from "cursor-cloud-agents/store";
import { build, type Plugin } from "esbuild";
import { compile } from "svelte/compiler";
import { describe, expect, it } from "vitest";
import { compileScript, parse } from "vue/compiler-sfc";
import { playedSource, text, thinking, tool } from "../store/support.ts";
import { page } from "../support/page.ts";
import { settle } from "../support/waiting.ts";

const components: Plugin = {
  name: "components",
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.vue$/ }, ({ path }) => {
      const { descriptor } = parse(readFileSync(path, "utf8"), { filename: path });
      return {
        contents: compileScript(descriptor, { id: path, inlineTemplate: true }).content,
        loader: "ts",
      };
    });
    onLoad({ filter: /\.svelte$/ }, ({ path }) => ({
      contents: compile(readFileSync(path, "utf8"), { filename: path, generate: "client" }).js.code,
    }));
  },
};

/** Shows a store in an element; returns how to take it away, and how to show another store in its place. */
type Show = (target: unknown, store: RunStore) => { hide: () => void; turnTo: (store: RunStore) => void };

/** Builds an example as a bundler for browsers does. */
async function load(name: string, contents: string): Promise<Show> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: join(import.meta.dirname, name), loader: "js" },
    bundle: true,
    format: "iife",
    globalName: "example",
    conditions: ["browser"],
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [components],
    write: false,
  });
  return new Function(`${outputFiles[0]!.text}; return example.show;`)();
}

describe("the store drives", () => {
  it.each([
    [
      "vue",
      `import { createApp, h, shallowReactive } from "vue";
       import RunView from "./RunView.vue";
       export function show(target, store) {
         const props = shallowReactive({ store });
         const app = createApp({ render: () => h(RunView, { store: props.store }) });
         app.mount(target);
         return { hide: () => app.unmount(), turnTo: (next) => { props.store = next; } };
       }`,
    ],
    [
      "svelte",
      `import { mount, unmount } from "svelte";
       import { createSubscriber } from "svelte/reactivity";
       import RunView from "./RunView.svelte";
       export function show(target, store) {
         let changed;
         const listen = createSubscriber((update) => { changed = update; });
         const props = { get store() { listen(); return store; } };
         const view = mount(RunView, { target, props });
         return { hide: () => unmount(view), turnTo: (next) => { store = next; changed(); } };
       }`,
    ],
  ])("%s", async (name, entry) => {
    const show = await load(name, entry);
    const source = playedSource("run-1");
    const clock = new ManualClock();
    const schedule = (tell: () => void) => {
      queueMicrotask(tell);
      return () => {};
    };
    const storeOf = (from: RunSource) => createRunStore(from, { clock, schedule });
    const store = storeOf(source);
    const target = page.document.createElement("div");
    page.document.body.append(target);
    const shown = () => [...target.children].map((element) => `${element.tagName} ${element.textContent}`);
    const { hide, turnTo } = show(target, store);
    await settle();
    expect(shown()).toEqual(["BUTTON Stop"]);
    expect(source.readings).toHaveLength(1);

    source.now.send(thinking("1", "hm"), tool("2", "a", "running"), text("3", "Hel"), text("4", "lo"));
    await settle();
    const parts = ["DETAILS hm", "CODE read_file running", "P Hello"];
    expect(shown()).toEqual([...parts, "BUTTON Stop"]);

    source.now.fail(new Error("gone"));
    await settle();
    expect(shown()).toEqual([...parts, "BUTTON gone: try again"]);
    target.querySelector("button")?.click();
    await settle();
    expect(source.now.position).toBe("4");
    source.now.send(tool("5", "a", "completed"));
    await settle();
    expect(shown()[1]).toBe("CODE read_file completed");

    const other = playedSource("run-2");
    turnTo(storeOf(other));
    await settle();
    await clock.advance(0);
    expect(source.now.signal.aborted).toBe(true);
    other.now.send(text("1", "another run"));
    await settle();
    expect(shown()).toEqual(["P another run", "BUTTON Stop"]);

    hide();
    await settle();
    await clock.advance(0);
    expect(other.now.signal.aborted).toBe(true);
  });
});
