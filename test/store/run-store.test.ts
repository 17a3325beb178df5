import { isArgumentError, isStreamError, type StreamError } from "cursor-cloud-agents";
import { createRunStore, memoryStorage, type RunSource, type RunStore } from "cursor-cloud-agents/store";
import { describe, expect, it, vi } from "vitest";
import { settle } from "../support/waiting.ts";
import {
  done,
  end,
  failed,
  playedSource,
  reset,
  result,
  stage,
  status,
  text,
  thinking,
  tool,
} from "./support.ts";

describe("a run in a store", () => {
  it("is submitted, streaming and ready, as its connection opens and closes", async () => {
    const { store, source, listen, play, seen } = stage();
    expect(store.getSnapshot()).toMatchObject({ status: "submitted", connection: "connecting" });
    expect(source.readings).toHaveLength(0);
    listen();
    expect(source.readings).toHaveLength(1);
    await play(status("CREATING"));
    expect(store.getSnapshot()).toMatchObject({
      status: "submitted",
      connection: "open",
      runStatus: "CREATING",
    });
    await play(status(), text("1", "Hel"));
    expect(store.getSnapshot()).toMatchObject({ status: "streaming", text: "Hel", runStatus: "RUNNING" });
    const outcome = { text: "Hello", durationMs: 10, git: { branches: [{ branch: "b", repoUrl: "r" }] } };
    await play(text("2", "lo"), result(outcome));
    expect(store.getSnapshot()).toMatchObject({
      status: "ready",
      connection: "closed",
      text: "Hello",
      runStatus: "FINISHED",
      result: { status: "FINISHED", ...outcome },
      error: undefined,
    });
    expect(seen.map((run) => `${run.status} ${run.connection}`)).toEqual([
      "submitted open",
      "streaming open",
      "ready closed",
    ]);
  });

  it("lists text, reasoning and tools in the order of their arrival, each tool in its latest state", async () => {
    const { listen, play } = stage();
    listen();
    const { parts } = await play(
      thinking("1", "Let me "),
      thinking("2", "see."),
      tool("3", "a", "running"),
      tool("4", "b", "running", { args: { path: "x" } }),
      text("5", "One"),
      tool("6", "a", "completed", { result: { error: {} }, truncated: { args: true } }),
      tool("7", "b", "completed", { result: { success: {} } }),
      text("8", " more"),
      thinking("9", "Hm"),
      text("10", "Two"),
    );
    expect(parts).toEqual([
      { type: "reasoning", id: "reasoning-0", text: "Let me see." },
      {
        type: "tool",
        id: "tool-a",
        callId: "a",
        name: "read_file",
        status: "completed",
        result: { error: {} },
        truncated: { args: true },
      },
      {
        type: "tool",
        id: "tool-b",
        callId: "b",
        name: "read_file",
        status: "completed",
        args: { path: "x" },
        result: { success: {} },
      },
      { type: "text", id: "text-3", text: "One more" },
      { type: "reasoning", id: "reasoning-4", text: "Hm" },
      { type: "text", id: "text-5", text: "Two" },
    ]);
  });

  it("keeps blanks and line ends, and is not changed by unknown events", async () => {
    const { listen, play, store } = stage();
    listen();
    await play(...["Hello", " ", "\n", "world", ""].map((piece, index) => text(`10${index}-0`, piece)));
    const before = store.getSnapshot();
    expect(before.text).toBe("Hello \nworld");
    expect(before.parts).toHaveLength(1);
    const after = await play(
      { type: "heartbeat", data: {} },
      { type: "unknown", name: "new", id: "200-0", data: {} },
      { type: "invalid", name: "assistant", id: "201-0", raw: "{" },
      { type: "error", data: { code: "stream_unavailable", message: "m" } },
      { type: "interaction_update", id: "202-0", data: { type: "text-delta", text: "twin" } },
    );
    expect(after).toBe(before);
  });

  it("reports an outcome other than success, without an error of its own", async () => {
    const { listen, play } = stage();
    listen();
    expect(await play(text("1", "I"), result({ status: "ERROR" }))).toMatchObject({
      status: "ready",
      runStatus: "ERROR",
      result: { status: "ERROR" },
      error: undefined,
    });
  });

  it("shows the final reply where no text was streamed, and the missing end of one that broke off", async () => {
    const nothing = stage();
    nothing.listen();
    expect((await nothing.play(tool("1", "a", "running"), result({ text: "All" }))).text).toBe("All");
    const broken = stage();
    broken.listen();
    const synthesized = { ...result({ text: "All done" }), synthesized: true as const };
    expect((await broken.play(text("1", "All"), synthesized)).parts).toMatchObject([{ text: "All done" }]);
    const other = stage();
    other.listen();
    expect((await other.play(text("1", "I look."), result({ text: "I look. Done" }))).text).toBe("I look.");
  });

  it("is over with an `end` frame or a `result`: it waits for nothing more and never connects again", async () => {
    for (const last of [result(), end]) {
      const { source, store, listen, play } = stage();
      const leave = listen();
      expect((await play(text("1", "x"), last, done)).status).toBe("ready");
      expect(source.now.signal.aborted).toBe(true);
      leave();
      listen();
      store.start();
      store.resume();
      expect(source.readings).toHaveLength(1);
    }
  });

  it("starts again with a `reset` frame", async () => {
    const { listen, play } = stage();
    listen();
    await play(status(), text("1", "old"), tool("2", "a", "running"));
    expect(await play(reset)).toMatchObject({ text: "", parts: [], status: "submitted" });
    expect(await play(text("1", "new"))).toMatchObject({ text: "new", parts: [{ id: "text-0" }] });
  });

  it("starts again when a server that ignored the position sends the run's first event again", async () => {
    const { listen, play, source, store } = stage();
    listen();
    await play(text("1", "a"), text("2", "b"));
    source.now.fail(new Error("gone"));
    await settle();
    store.resume();
    expect(source.now.position).toBe("2");
    expect((await play(text("1", "a"), text("2", "b"), text("3", "c"))).text).toBe("abc");
  });

  it("never grows into the text of another run", async () => {
    const first = stage({ source: playedSource("run-1") });
    first.listen();
    await first.play(status("RUNNING", "run-1"), text("1", "one"));
    const second = stage({ source: playedSource("run-2") });
    second.listen();
    second.listen();
    await second.play(status("RUNNING", "run-2"), text("1", "two"));
    expect(first.store.getSnapshot().text).toBe("one");
    expect(second.store.getSnapshot().text).toBe("two");
    // … also where one source turns to another run.
    expect(await first.play(status("RUNNING", "run-3"), text("9", "three"))).toMatchObject({
      text: "three",
      runId: "run-3",
    });
  });
});

describe("the connection of a store", () => {
  it("is one for all its subscribers, who see each text once", async () => {
    const { source, listen, play, store } = stage();
    const others: string[] = [];
    listen();
    store.subscribe(() => others.push(store.getSnapshot().text));
    await play(text("1", "one"));
    await play(text("2", " two"));
    expect(source.readings).toHaveLength(1);
    expect(others).toEqual(["one", "one two"]);
  });

  it("outlives a subscriber that is replaced at once, and ends a tick after the last", async () => {
    const { source, listen, clock, store, play } = stage();
    const first = listen();
    first();
    const second = listen();
    await clock.advance(10);
    expect(source.readings).toHaveLength(1);
    expect(source.now.signal.aborted).toBe(false);
    await play(text("1", "a"));
    second();
    second(); // once more changes nothing
    expect(source.now.signal.aborted).toBe(false);
    await clock.advance(0);
    expect(source.now.signal.aborted).toBe(true);
    expect(store.getSnapshot().connection).toBe("closed");
    await settle();
    expect(source.now.returned).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it("counts a function that subscribes twice as two", async () => {
    const { store, source, clock } = stage();
    const listener = () => {};
    const first = store.subscribe(listener);
    store.subscribe(listener);
    first();
    await clock.advance(10);
    expect(source.now.signal.aborted).toBe(false);
  });

  it("goes on from the position with the next subscriber, and doesn't call the one that left", async () => {
    const { source, listen, clock, play, seen } = stage();
    const leave = listen();
    await play(text("1", "a"));
    leave();
    const told = seen.length;
    await clock.advance(0);
    expect(seen).toHaveLength(told);
    listen();
    expect(source.now.position).toBe("1");
    expect((await play(text("2", "b"))).text).toBe("ab");
  });

  it("starts again where there is no position", async () => {
    const { source, listen, clock, play } = stage();
    const leave = listen();
    await play({ type: "assistant", data: { text: "no id" } });
    leave();
    await clock.advance(0);
    listen();
    expect(source.now.position).toBeUndefined();
    expect((await play({ type: "assistant", data: { text: "no id" } })).text).toBe("no id");
  });

  it("is ended by stop(), even with subscribers, and continued by resume()", async () => {
    const { source, store, listen, play, clock } = stage();
    listen();
    source.now.send(text("1", "a"));
    await settle();
    store.stop();
    expect(store.getSnapshot()).toMatchObject({ status: "ready", connection: "closed", text: "a" });
    expect(source.now.signal.aborted).toBe(true);
    listen();
    await clock.advance(100);
    expect(source.readings).toHaveLength(1);
    store.resume();
    expect(store.getSnapshot()).toMatchObject({ status: "streaming", connection: "connecting" });
    expect(source.now.position).toBe("1");
    expect((await play(text("2", "b"))).text).toBe("ab");
  });

  it("waits for start() without autoStart", async () => {
    const { store, source, listen, clock } = stage({ autoStart: false });
    expect(store.getSnapshot()).toMatchObject({ status: "ready", connection: "closed" });
    listen();
    expect(source.readings).toHaveLength(0);
    store.start();
    store.start();
    expect(source.readings).toHaveLength(1);
    expect(store.getSnapshot().status).toBe("submitted");
    store.stop();
    expect(clock.pending).toBe(0);
  });

  it("needs no subscriber once started", async () => {
    const { store, play } = stage();
    store.start();
    expect((await play(text("1", "x"), result())).text).toBe("x");
  });

  it("shows when the source reconnects, and resume() doesn't wait for that", async () => {
    const { store, source, listen, play, frames } = stage();
    listen();
    await play(text("1", "a"));
    const first = source.now;
    first.report("reconnecting");
    frames.draw();
    expect(store.getSnapshot()).toMatchObject({ status: "streaming", connection: "reconnecting" });
    store.resume();
    expect(first.signal.aborted).toBe(true);
    expect(source.now.position).toBe("1");
    first.report("reconnecting");
    frames.draw();
    expect(store.getSnapshot().connection).toBe("connecting");
    expect((await play(text("2", "b"))).connection).toBe("open");
  });

  it("breaks into an error that is state, not thrown, and resume() goes on", async () => {
    const { store, source, listen, play, seen } = stage();
    listen();
    await play(text("1", "a"));
    const broken = new Error("gone");
    source.now.fail(broken);
    await settle();
    expect(store.getSnapshot()).toMatchObject({ status: "error", connection: "closed", text: "a" });
    expect(store.getSnapshot().error).toBe(broken);
    expect(seen.at(-1)?.status).toBe("error"); // at once, without a frame
    store.start();
    expect(source.readings).toHaveLength(1);
    store.resume();
    expect(store.getSnapshot()).toMatchObject({ status: "streaming", error: undefined });
    expect(source.now.position).toBe("1");
    expect((await play(text("2", "b"), result())).text).toBe("ab");
  });

  it("takes a source that ends too early, a final failure and a throwing source for errors", async () => {
    const early = stage();
    early.listen();
    early.source.now.end();
    await settle();
    expect(early.store.getSnapshot().error).toSatisfy(isStreamError);
    const final = stage();
    final.listen();
    expect((await final.play(failed(false))).status).toBe("submitted");
    const { error } = await final.play(failed(true));
    expect(error).toMatchObject({
      message: "the run can't be read",
      code: "upstream",
    } as Partial<StreamError>);
    const throwing = stage();
    const store = createRunStore(
      () => {
        throw "no error object";
      },
      { schedule: throwing.frames.schedule },
    );
    store.subscribe(() => {});
    await settle();
    expect(store.getSnapshot()).toMatchObject({ status: "error", error: { message: "no error object" } });
  });

  it("is neither held up nor changed by a source that ignores its signal", async () => {
    const { store, source, listen } = stage();
    listen();
    source.now.send(text("1", "a"));
    await settle();
    store.stop();
    source.now.send(text("2", "late"));
    source.now.report("open");
    await settle();
    expect(source.now.returned).toBe(true);
    expect(store.getSnapshot()).toMatchObject({ text: "a", connection: "closed" });
  });

  it("drops a frame that arrives at the very moment of the stop", async () => {
    const frame = { done: false, value: text("1", "late") } as const;
    const store: RunStore = createRunStore(() => ({
      [Symbol.asyncIterator]: () => ({
        next: () => {
          const arriving = settle().then(() => frame);
          // Behind whoever waits for it, and before that one has gone on.
          queueMicrotask(() => void arriving.then(() => store.stop()));
          return arriving;
        },
      }),
    }));
    store.start();
    await settle();
    await settle();
    store.stop();
    expect(store.getSnapshot()).toMatchObject({ text: "", connection: "closed" });
  });

  it("survives any order of stopping, sending and leaving", async () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    for (let round = 0; round < 100; round++) {
      const { store, source, listen, clock, frames } = stage();
      let leave = listen();
      let next = 1;
      for (let step = 0; step < 12; step++) {
        const actions = [
          () => {
            source.now.send(text(`${next}`, `${next};`));
            next++;
          },
          () => store.stop(),
          () => store.resume(),
          () => leave(),
          () => {
            leave = listen();
          },
          () => frames.draw(),
          () => source.now.fail(new Error("gone")),
        ];
        actions[random(actions.length)]!();
        if (random(2) === 0) await settle();
        if (random(3) === 0) await clock.advance(0);
      }
      await settle();
      store.stop();
      const pieces = store.getSnapshot().text.split(";");
      expect(new Set(pieces).size).toBe(pieces.length);
      expect(source.readings.every(({ signal }) => signal.aborted)).toBe(true);
      await clock.advance(0);
      expect(clock.pending).toBe(0);
      expect(frames.waiting.size).toBe(0);
    }
  });
});

describe("listeners", () => {
  it("that subscribe anew in their own call are called once a change", async () => {
    const { store, play } = stage();
    let calls = 0;
    const once = () => {
      const leave = store.subscribe(() => {
        if (++calls > 100) throw new Error("called without end");
        leave();
        once();
      });
    };
    once();
    await settle();
    calls = 0;
    await play(text("1", "a"));
    expect(calls).toBe(1);
    await play(text("2", "b"));
    expect(calls).toBe(2);
  });

  it("that another one has unsubscribed in the same change are not called", async () => {
    const { store, play } = stage();
    let leaveSecond = () => {};
    let calls = 0;
    store.subscribe(() => leaveSecond());
    leaveSecond = store.subscribe(() => calls++);
    await settle();
    calls = 0;
    await play(text("1", "a"));
    expect(calls).toBe(0);
  });
});

describe("snapshots", () => {
  it("are the same object until something changes, and share what did not change", async () => {
    const { store, listen, play } = stage();
    listen();
    const before = await play(thinking("1", "hm"), tool("2", "a", "running"), text("3", "x"));
    expect(store.getSnapshot()).toBe(before);
    const after = await play(text("4", "y"));
    expect(after).not.toBe(before);
    expect(after.parts).not.toBe(before.parts);
    expect(after.parts[0]).toBe(before.parts[0]);
    expect(after.parts[1]).toBe(before.parts[1]);
    expect(before.parts[2]).toMatchObject({ text: "x" });
    const renamed = await play(status("WAITING"));
    expect(renamed.parts).toBe(after.parts);
  });

  it("don't change under their reader between two frames", async () => {
    const { store, listen, play, source } = stage();
    listen();
    const before = await play(text("1", "x"), tool("2", "a", "running"));
    const copy = structuredClone(before);
    source.now.send(tool("3", "a", "completed"), text("4", "y"));
    await settle();
    expect(store.getSnapshot()).toBe(before);
    expect(before).toEqual(copy);
  });

  it("come at most once a frame, and at once at the end", async () => {
    const { store, source, listen, frames, seen } = stage();
    listen();
    source.now.send(...Array.from({ length: 1_000 }, (_, index) => text(`${index}`, "x")));
    await settle();
    expect(seen).toHaveLength(0);
    expect(frames.waiting.size).toBe(1);
    frames.draw();
    expect(seen.map((run) => run.text.length)).toEqual([1_000]);
    source.now.send(text("1000", "x"), result());
    await settle();
    expect(seen.map((run) => run.text.length)).toEqual([1_000, 1_001]);
    expect(store.getSnapshot().status).toBe("ready");
    expect(frames.waiting.size).toBe(0);
  });

  it("of a server are empty, whatever is saved or received", async () => {
    const { store, listen, play } = stage();
    const initial = store.getServerSnapshot();
    expect(initial).toMatchObject({ status: "submitted", connection: "connecting", text: "", parts: [] });
    listen();
    await play(text("1", "x"));
    expect(store.getServerSnapshot()).toBe(initial);
  });

  it("reach all listeners, though one fails", async () => {
    const failures: unknown[] = [];
    const later = vi.spyOn(globalThis, "queueMicrotask").mockImplementation((callback) => {
      try {
        callback();
      } catch (error) {
        failures.push(error);
      }
    });
    const { store, listen, play, seen } = stage();
    store.subscribe(() => {
      throw new Error("mine");
    });
    listen();
    await play(text("1", "x"));
    later.mockRestore();
    expect(seen).toHaveLength(1);
    expect(failures).toEqual([new Error("mine")]);
    expect(store.getSnapshot().status).toBe("streaming");
  });
});

describe("arguments that can't work are rejected by name", () => {
  const source = playedSource();
  it.each([
    ["source", () => createRunStore(undefined as unknown as RunSource)],
    ["key", () => createRunStore(source, { key: "" })],
    ["key", () => createRunStore(source, { storage: memoryStorage() })],
    ["storageLimit", () => createRunStore(source, { storageLimit: -1 })],
    ["schedule", () => createRunStore(source, { schedule: 16 as never })],
    ["throttle", () => createRunStore(source, { throttle: 16 } as never)],
    ["listener", () => createRunStore(source).subscribe(undefined as never)],
  ])("%s", (argument, call) => {
    expect(call).toThrow(expect.toSatisfy((error) => isArgumentError(error) && error.argument === argument));
  });
});
