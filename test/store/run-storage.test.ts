import { ManualClock } from "cursor-cloud-agents/emulator";
import {
  createRunStore,
  memoryStorage,
  type RunSource,
  type RunStorage,
  type RunStoreOptions,
  routeSource,
  type ServedFrame,
  webStorage,
} from "cursor-cloud-agents/store";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { CUT, END } from "../support/fake-api.ts";
import { runId } from "../support/sample-run.ts";
import { StreamServer } from "../support/stream-server.ts";
import { settle } from "../support/waiting.ts";
import { end, playedSource, reset, result, stage, status, text, thinking, tool } from "./support.ts";

/** A page over a storage, loaded anew at each call. */
const load = (storage: RunStorage, options: RunStoreOptions & { key?: string } = {}) => {
  const page = stage({ storage, source: playedSource("run-1"), ...options });
  page.listen();
  return page;
};

/** A storage that keeps all its writes. */
function recording() {
  const storage = memoryStorage();
  const writes: string[] = [];
  return {
    ...storage,
    writes,
    set: (key: string, value: string) => {
      writes.push(value);
      storage.set(key, value);
    },
  };
}

describe("a reloaded page", () => {
  it("shows what was saved and continues after it", async () => {
    const storage = memoryStorage();
    const first = load(storage);
    const before = await first.play(
      status(),
      thinking("1", "hm"),
      text("2", "Hel"),
      tool("3", "a", "running", { args: { path: "x" } }),
      text("4", "lo"),
    );
    await first.clock.advance(1_000);
    const second = load(storage);
    expect(second.store.getSnapshot()).toMatchObject({
      status: "streaming",
      connection: "connecting",
      runId,
      runStatus: "RUNNING",
      text: "Hello",
    });
    expect(second.store.getSnapshot().parts).toEqual(before.parts);
    expect(second.source.now.position).toBe("4");
    const after = await second.play(text("5", "!"), tool("6", "a", "completed", { result: { success: 1 } }));
    expect(after.parts.map((part) => [part.id, part.type === "tool" ? part.status : part.text])).toEqual([
      ["reasoning-0", "hm"],
      ["text-1", "Hel"],
      ["tool-a", "completed"],
      ["text-3", "lo!"],
    ]);
    expect(after.text).toBe("Hello!");
  });

  it("shows a run that is over and asks for nothing", async () => {
    const storage = memoryStorage();
    await load(storage).play(text("1", "x"), result({ durationMs: 5 }));
    const { store, source } = load(storage);
    expect(source.readings).toHaveLength(0);
    expect(store.getSnapshot()).toMatchObject({
      status: "ready",
      connection: "closed",
      text: "x",
      result: { status: "FINISHED", durationMs: 5 },
    });
  });

  it("recognises a server that starts the run again", async () => {
    const storage = memoryStorage();
    const first = load(storage);
    await first.play(text("1", "a"), text("2", "b"));
    first.store.stop();
    const { play } = load(storage);
    expect((await play(text("1", "a"), text("2", "b"), text("3", "c"))).text).toBe("abc");
  });

  it("forgets what a `reset` took back", async () => {
    const storage = memoryStorage();
    const first = load(storage);
    await first.play(text("1", "old"));
    first.store.stop();
    const second = load(storage);
    await second.play(reset, text("9", "new"));
    second.store.stop();
    expect(load(storage).store.getSnapshot().text).toBe("new");
  });

  it("knows nothing of another run", async () => {
    const storage = memoryStorage();
    const first = load(storage);
    await first.play(text("1", "one"));
    first.store.stop();
    const { store, source } = load(storage, { key: "run-2" });
    expect(store.getSnapshot().text).toBe("");
    expect(source.now.position).toBeUndefined();
  });

  it("renders the server's snapshot until it is loaded", () => {
    const storage = memoryStorage();
    const { store, source } = load(storage);
    source.now.send(text("1", "x"));
    expect(store.getServerSnapshot().text).toBe("");
  });
});

describe("what is saved", () => {
  it("is written at most once a second, and at once at the end, on stop and when the last subscriber leaves", async () => {
    const storage = recording();
    const { source, clock, listen, store } = stage({ storage });
    const leave = listen();
    for (let at = 0; at < 10; at++) {
      source.now.send(...Array.from({ length: 50 }, (_, index) => text(`${at * 50 + index}`, "x")));
      await settle();
      expect(storage.writes).toHaveLength(0);
      await clock.advance(100);
    }
    expect(storage.writes).toHaveLength(1);
    await clock.advance(10_000);
    expect(storage.writes).toHaveLength(1);
    source.now.send(text("500", "x"));
    await settle();
    leave();
    await clock.advance(0);
    expect(storage.writes).toHaveLength(2);
    listen();
    source.now.send(text("501", "x"));
    await settle();
    store.stop();
    expect(storage.writes).toHaveLength(3);
    store.resume();
    source.now.send(result());
    await settle();
    expect(storage.writes).toHaveLength(4);
    expect(clock.pending).toBe(0);
  });

  it("is text and position in one write", async () => {
    const storage = recording();
    const { source, clock } = load(storage);
    for (let at = 1; at <= 20; at++) {
      source.now.send(text(`${at}`, `${at};`));
      await settle();
      await clock.advance(400);
    }
    expect(storage.writes.length).toBeGreaterThan(5);
    for (const write of storage.writes) {
      const page = load({ ...memoryStorage(), get: () => write });
      const position = Number(page.source.now.position);
      const expected = Array.from({ length: position }, (_, index) => `${index + 1};`).join("");
      expect(page.store.getSnapshot().text).toBe(expected);
    }
  });

  it("is not saved without a position: it would be received twice", async () => {
    const storage = recording();
    const { play, store } = load(storage);
    await play({ type: "assistant", data: { text: "no id" } });
    store.stop();
    expect(storage.writes).toHaveLength(0);
  });

  it("is nothing of a run that is too large, which is then read from its start", async () => {
    const storage = recording();
    const first = load(storage, { storageLimit: 1_000 });
    await first.play(text("1", "small"));
    await first.clock.advance(1_000);
    expect(load(storage).source.now.position).toBe("1");
    await first.play(text("2", "x".repeat(1_000)));
    await first.clock.advance(1_000);
    await first.play(text("3", "y"));
    await first.clock.advance(1_000);
    expect(storage.writes).toHaveLength(1);
    const { store, source } = load(storage);
    expect(store.getSnapshot().text).toBe("");
    expect(source.now.position).toBeUndefined();
  });

  it.each([
    ["no JSON", "{"],
    ["null", "null"],
    ["a list", "[]"],
    ["another version", JSON.stringify({ version: 2, key: "run-1", record: { position: "1", parts: [] } })],
    ["another run's", JSON.stringify({ version: 1, key: "run-2", record: { position: "1", parts: [] } })],
    [
      "no position",
      JSON.stringify({ version: 1, key: "run-1", record: { parts: [{ type: "text", id: "a", text: "b" }] } }),
    ],
    ["no parts", JSON.stringify({ version: 1, key: "run-1", record: { position: "1" } })],
    [
      "a strange part",
      JSON.stringify({
        version: 1,
        key: "run-1",
        record: { position: "1", parts: [{ type: "text", id: "a" }] },
      }),
    ],
    [
      "a part that is none",
      JSON.stringify({ version: 1, key: "run-1", record: { position: "1", parts: [null] } }),
    ],
    [
      "a strange tool",
      JSON.stringify({
        version: 1,
        key: "run-1",
        record: { position: "1", parts: [{ type: "tool", id: "a" }] },
      }),
    ],
    ["a strange position", JSON.stringify({ version: 1, key: "run-1", record: { position: 7, parts: [] } })],
    [
      "a strange result",
      JSON.stringify({ version: 1, key: "run-1", record: { position: "1", parts: [], result: "x" } }),
    ],
  ])("is ignored when it is %s", async (_, value) => {
    const { store, source, play } = load({ ...memoryStorage(), get: () => value });
    expect(store.getSnapshot()).toMatchObject({ status: "submitted", text: "", result: undefined });
    expect(source.now.position).toBeUndefined();
    expect((await play(text("1", "x"))).text).toBe("x");
  });

  it("may be nothing: a storage that throws never breaks the run", async () => {
    const broken = (): never => {
      throw new DOMException("full", "QuotaExceededError");
    };
    const { play, clock, store } = load({ get: broken, set: broken, remove: broken }, { storageLimit: 200 });
    await play(text("1", "x"));
    await clock.advance(1_000);
    await play(text("2", "x".repeat(300)));
    await clock.advance(1_000);
    expect((await play(result())).status).toBe("ready");
    expect(store.getSnapshot().error).toBeUndefined();
  });

  it("stays whole when two tabs write under one key, each ahead of the other at times", async () => {
    const storage = recording();
    const tabs = [load(storage), load(storage)];
    const at = [0, 0];
    const order = [0, 0, 1, 0, 1, 1, 1, 0, 1, 0, 0, 1];
    for (const tab of order) {
      const id = String(++at[tab]!);
      await tabs[tab]!.play(text(id, `${id};`));
      await tabs[tab]!.clock.advance(1_000);
      const third = load(storage);
      const position = Number(third.source.now.position);
      expect(third.store.getSnapshot().text).toBe(
        Array.from({ length: position }, (_, n) => `${n + 1};`).join(""),
      );
    }
    for (const [index, tab] of tabs.entries()) {
      expect(tab.store.getSnapshot().text.split(";").length - 1).toBe(at[index]);
    }
  });
});

describe("the browser's storage", () => {
  /** A web storage that holds so many characters. */
  function web(capacity: number) {
    const values = new Map<string, string>();
    return {
      values,
      get length() {
        return values.size;
      },
      key: (index: number) => [...values.keys()][index] ?? null,
      getItem: (key: string) => values.get(key) ?? null,
      setItem: (key: string, value: string) => {
        const size = [...values].reduce(
          (sum, [name, old]) => sum + (name === key ? 0 : old.length),
          value.length,
        );
        if (size > capacity) throw new DOMException("full", "QuotaExceededError");
        values.set(key, value);
      },
      removeItem: (key: string) => void values.delete(key),
    };
  }

  it("makes room by removing other runs, and nothing else", () => {
    const area = web(100);
    vi.stubGlobal("localStorage", area);
    area.setItem("theme", "x".repeat(10));
    const storage = webStorage("local");
    storage.set("run-1", "a".repeat(50));
    storage.set("run-2", "b".repeat(60));
    expect([storage.get("run-1"), storage.get("run-2")]).toEqual([null, "b".repeat(60)]);
    expect(area.getItem("theme")).toBe("x".repeat(10));
    expect(() => storage.set("run-2", "c".repeat(200))).toThrow("full");
    expect(storage.get("run-2")).toBe("b".repeat(60));
    storage.remove("run-2");
    expect([...area.values.keys()]).toEqual(["theme"]);
  });

  it("may be missing or forbidden", async () => {
    vi.stubGlobal("sessionStorage", undefined);
    const storage = webStorage("session");
    expect(storage.get("a")).toBeUndefined();
    storage.set("a", "b");
    storage.remove("a");
    const before = Object.getOwnPropertyDescriptor(globalThis, "sessionStorage")!;
    Object.defineProperty(globalThis, "sessionStorage", {
      configurable: true,
      get: () => {
        throw new DOMException("denied", "SecurityError");
      },
    });
    const { play, clock } = load(webStorage("session"));
    expect((await play(text("1", "x"))).text).toBe("x");
    await clock.advance(1_000);
    Object.defineProperty(globalThis, "sessionStorage", before);
  });
});

describe("through any cuts and reloads", () => {
  const events: ServedFrame[] = [
    status(),
    thinking("1-0", "Let me see – "),
    thinking("2-0", "ü"),
    tool("3-0", "a", "running"),
    text("4-0", "Hello"),
    text("5-0", " "),
    tool("6-0", "a", "completed", { result: { success: {} } }),
    text("7-0", "\n"),
    text("8-0", "wörld 🙂"),
    result({ text: "done" }),
    end,
  ];
  const bytesOf = (frame: ServedFrame) => {
    const id = "id" in frame ? `id: ${frame.id}\n` : "";
    return new TextEncoder().encode(`${id}data: ${JSON.stringify(frame)}\n\n`);
  };
  const join = (chunks: Uint8Array[]) => Uint8Array.from(chunks.flatMap((chunk) => [...chunk]));

  it("a run is shown once and whole", async () => {
    const whole = stage();
    whole.listen();
    const { parts } = await whole.play(...events);
    const cut = fc.record({ at: fc.nat(400), ends: fc.boolean(), split: fc.integer({ min: 1, max: 60 }) });
    const step = fc.oneof(fc.constant("reload" as const), fc.integer({ min: 0, max: 3_000 }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(cut, { maxLength: 8 }),
        fc.array(step, { maxLength: 8 }),
        async (cuts, steps) => {
          let requests = 0;
          const clock = new ManualClock();
          const server = new StreamServer(
            ({ lastEventId }) => {
              const from = events.findIndex((frame) => "id" in frame && frame.id === lastEventId);
              const rest = [events[0]!, ...events.slice(Math.max(1, from + 1))];
              const all = join(rest.map(bytesOf));
              const planned = cuts[requests++];
              const bytes = planned ? all.slice(0, planned.at) : all;
              const split = planned?.split ?? 1_000;
              const chunks = Array.from({ length: Math.ceil(bytes.length / split) }, (_, index) =>
                bytes.slice(index * split, (index + 1) * split),
              );
              return { ...(planned && !planned.ends ? CUT(...chunks) : END(...chunks)), pace: 40 };
            },
            { clock },
          );
          const storage = memoryStorage();
          const open = () => {
            const source: RunSource = routeSource("https://app.test/stream", { fetch: server.fetch, clock });
            const store = createRunStore(source, { storage, clock });
            return { store, leave: store.subscribe(() => {}) };
          };
          let page = open();
          for (const now of steps) {
            if (typeof now === "number") await clock.advance(now);
            else {
              // Every other page has written all that it received; the others are cut off as they are.
              if (requests % 2 === 0) page.store.stop();
              const crashed = page;
              page = open();
              crashed.leave();
            }
          }
          await clock.advance(120_000);
          expect(page.store.getSnapshot()).toMatchObject({ status: "ready", text: "Hello \nwörld 🙂" });
          expect(page.store.getSnapshot().parts).toEqual(parts);
          expect(clock.pending).toBe(0);
        },
      ),
      { numRuns: 150, seed: 5 },
    );
  }, 60_000);
});
