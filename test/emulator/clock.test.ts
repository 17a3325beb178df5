import { describe, expect, it } from "vitest";
import { ManualClock } from "../../src/emulator/index.ts";

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
