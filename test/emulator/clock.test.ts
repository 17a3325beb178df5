import { Cursor } from "cursor-cloud-agents";
import { CursorEmulator } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { ManualClock } from "../../src/emulator/index.ts";
import { key } from "./helpers.ts";

describe("ManualClock", () => {
  it("fires timers in order and on time, including those set meanwhile", async () => {
    const clock = new ManualClock(0);
    const fired: [string, number][] = [];
    const mark = (name: string) => () => fired.push([name, clock.now()]);
    clock.setTimeout(mark("b"), 20);
    clock.setTimeout(mark("a"), 10);
    clock.setTimeout(() => clock.setTimeout(mark("nested"), 5), 10);
    const gone = clock.setTimeout(mark("gone"), 12);
    clock.clearTimeout(gone);
    clock.setTimeout(mark("late"), 31);
    await clock.advance(30);
    expect(fired).toEqual([
      ["a", 10],
      ["nested", 15],
      ["b", 20],
    ]);
    expect([clock.now(), clock.pending]).toEqual([30, 1]);
  });

  it("lets a timer clear another that is due at the same time", async () => {
    const clock = new ManualClock(0);
    let second: unknown;
    let fired = false;
    clock.setTimeout(() => clock.clearTimeout(second), 10);
    second = clock.setTimeout(() => {
      fired = true;
    }, 10);
    await clock.advance(10);
    expect(fired).toBe(false);
  });

  it("jumps to the next timer, if there is one", async () => {
    const clock = new ManualClock(0);
    clock.setTimeout(() => {}, 500);
    expect(await clock.next()).toBe(true);
    expect(clock.now()).toBe(500);
    expect(await clock.next()).toBe(false);
  });

  it("runs until a promise settles, through any number of timers", async () => {
    const clock = new ManualClock(0);
    const sleep = (ms: number) => new Promise<void>((resolve) => clock.setTimeout(resolve, ms));
    const work = async () => {
      for (let count = 0; count < 10; count++) await sleep(3_600_000);
      return clock.now();
    };
    expect(await clock.run(work())).toBe(36_000_000);
    await expect(clock.run(sleep(1).then(() => Promise.reject(new Error("no"))))).rejects.toThrow("no");
  });

  it("gives up when nothing can settle the promise", async () => {
    const clock = new ManualClock(0);
    const never = new Promise(() => {});
    await expect(clock.run(never, { patience: 5 })).rejects.toThrow("no timer has been pending for 5 ms");
    const tick = () => clock.setTimeout(tick, 1);
    tick();
    await expect(clock.run(never, { maxJumps: 10, turns: 1 })).rejects.toThrow("after 10 jumps");
  });
});

describe("ManualClock.run, waiting in vain,", () => {
  it("names the gate that nobody releases and the pending timers, within the limit of a test", async () => {
    const clock = new ManualClock();
    const emulator = new CursorEmulator({ clock });
    const cursor = new Cursor({ apiKey: key, fetch: emulator.fetch, clock });
    emulator.script("held", (run) => run.text("a").hold("g").finish());
    const { run } = await clock.run(cursor.agents.create({ prompt: "held" }));
    const waiting = new AbortController();
    const outcome = cursor.runs.wait(run, { signal: waiting.signal });
    const startedAt = performance.now();
    const error = await clock.run(outcome).catch((reason: unknown) => reason as Error);
    waiting.abort();
    await outcome.catch(() => {});
    expect(String(error)).toMatch(
      /still unsettled after \d+ jumps; waiting: the release of gate "g"; pending timers: in [\d.]+/,
    );
    // Two seconds on a machine of its own; the tests share theirs.
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it("names the gate without any timer, too", async () => {
    const clock = new ManualClock();
    const emulator = new CursorEmulator({ clock, heartbeat: { first: Infinity } });
    emulator.script("held", (run) => run.hold("g").finish());
    emulator.addAgent({ prompt: { text: "held" } });
    const never = new Promise(() => {});
    await expect(clock.run(never, { patience: 5 })).rejects.toThrow(
      'no timer has been pending for 5 ms; waiting: the release of gate "g"',
    );
    emulator.release("g");
    await expect(clock.run(never, { patience: 5 })).rejects.not.toThrow("waiting:");
    emulator.script("again", (run) => run.hold("h").finish());
    emulator.addAgent({ prompt: { text: "again" } });
    emulator.reset();
    await expect(clock.run(never, { patience: 5 })).rejects.not.toThrow("waiting:");
  });

  it("names the worker that a run waits for", async () => {
    const clock = new ManualClock();
    const emulator = new CursorEmulator({ clock });
    const { run } = emulator.addAgent({ prompt: { text: "x" }, env: { type: "pool", name: "gpu" } });
    const never = new Promise(() => {});
    await expect(clock.run(never, { patience: 5 })).rejects.toThrow(`waiting: a worker for ${run.id}`);
  });

  it("says that both sides need the same clock", async () => {
    const clock = new ManualClock();
    const emulator = new CursorEmulator({ clock });
    emulator.faults.status("getApiKeyInfo", 429, { headers: { "Retry-After": "20" } });
    const cursor = new Cursor({ apiKey: key, fetch: emulator.fetch });
    const calling = new AbortController();
    const me = cursor.me({ signal: calling.signal });
    await expect(clock.run(me, { patience: 100 })).rejects.toThrow("need the same clock");
    calling.abort();
    await me.catch(() => {});
  });

  it("does not give up on long work that goes on", async () => {
    const clock = new ManualClock();
    const emulator = new CursorEmulator({ clock });
    const cursor = new Cursor({ apiKey: key, fetch: emulator.fetch, clock });
    emulator.script("long", (run) => run.wait(6 * 3_600_000).finish({ text: "done" }));
    emulator.script("held", (run) => run.hold("g"));
    emulator.addAgent({ prompt: { text: "held" } });
    const { run } = await clock.run(cursor.agents.create({ prompt: "long" }));
    expect(await clock.run(cursor.runs.wait(run))).toMatchObject({ status: "FINISHED", result: "done" });
  });
});
