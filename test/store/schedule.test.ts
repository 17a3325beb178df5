// @vitest-environment happy-dom
import { ManualClock } from "cursor-cloud-agents/emulator";
import { afterEach, describe, expect, it, vi } from "vitest";
import { frameSchedule } from "../../src/store/schedule.ts";
import { hide } from "../support/page.ts";

afterEach(() => hide(false));

/** A page whose frames are drawn by hand. */
function page() {
  const drawn = new Map<number, () => void>();
  let handle = 0;
  vi.stubGlobal("requestAnimationFrame", (callback: () => void) => {
    drawn.set(++handle, callback);
    return handle;
  });
  vi.stubGlobal("cancelAnimationFrame", (old: number) => drawn.delete(old));
  const draw = () => {
    for (const [old, callback] of [...drawn]) {
      drawn.delete(old);
      callback();
    }
  };
  return { drawn, draw };
}

describe("a change is told", () => {
  it("at the next frame of a page that is looked at, once", async () => {
    const { draw } = page();
    const clock = new ManualClock();
    const told = vi.fn();
    frameSchedule(clock)(told);
    await clock.advance(50);
    expect(told).toHaveBeenCalledTimes(0);
    draw();
    expect(told).toHaveBeenCalledTimes(1);
    expect(clock.pending).toBe(0);
  });

  it("by a timer in a hidden page, which draws no frames", async () => {
    const { drawn } = page();
    hide(true);
    const clock = new ManualClock();
    const told = vi.fn();
    frameSchedule(clock)(told);
    expect(drawn.size).toBe(0);
    await clock.advance(16);
    expect(told).toHaveBeenCalledTimes(1);
  });

  it("by a timer where the page is hidden before its frame comes, and then not again", async () => {
    const { draw, drawn } = page();
    const clock = new ManualClock();
    const told = vi.fn();
    frameSchedule(clock)(told);
    hide(true);
    await clock.advance(100);
    expect(told).toHaveBeenCalledTimes(1);
    expect(drawn.size).toBe(0);
    draw();
    expect(told).toHaveBeenCalledTimes(1);
  });

  it("by a timer where there are no frames at all", async () => {
    vi.stubGlobal("requestAnimationFrame", undefined);
    const clock = new ManualClock();
    const told = vi.fn();
    frameSchedule(clock)(told);
    await clock.advance(16);
    expect(told).toHaveBeenCalledTimes(1);
  });

  it("never, once it is called off", async () => {
    const { draw } = page();
    const clock = new ManualClock();
    const told = vi.fn();
    frameSchedule(clock)(told)();
    draw();
    await clock.advance(1_000);
    expect(told).toHaveBeenCalledTimes(0);
  });
});
