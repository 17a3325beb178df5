import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { openWorld, replyOf, startAgent, toolsOf, untilState, type World } from "./support/world.ts";

const events = 5_000;
/** Longest time that the page may be busy at a stretch, in milliseconds. */
const limit = 100;

interface Seen {
  /** The longest stretch of work; the browser tells those over 50 ms. */
  longest: number;
  /** The longest time between two frames. */
  gap: number;
  frames: number;
}

/** Runs in the page, from its beginning on. */
function watch(): void {
  const seen: Seen = { longest: 0, gap: 0, frames: 0 };
  Object.assign(window, { seen });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen.longest = Math.max(seen.longest, duration);
  }).observe({ type: "longtask", buffered: true });
  let last = performance.now();
  const onFrame = () => {
    const now = performance.now();
    seen.gap = Math.max(seen.gap, now - last);
    seen.frames++;
    last = now;
    requestAnimationFrame(onFrame);
  };
  requestAnimationFrame(onFrame);
}

const seenBy = (page: Page) => page.evaluate(() => (window as unknown as { seen: Seen }).seen);

/** Writes a run of 5,000 events: long prose, and ten tool calls. `isLive`: over a second and a half. */
function scriptLongRun(world: World, isLive: boolean): { text: string; tools: number } {
  const written = { text: "", tools: 0 };
  world.emulator.script("long", (run) => {
    for (let index = 0; index < events; index++) {
      if (index % 500 === 499) {
        const call = { callId: `tool_${++written.tools}`, name: "read_file", args: { path: "src/file.ts" } };
        run.event("tool_call", { ...call, status: "completed", result: { success: { content: "x" } } });
      } else {
        const word = index % 60 === 59 ? "paragraph.\n\n" : `word${index} `;
        written.text += word;
        run.text(word);
      }
      if (isLive && index % 50 === 49) run.wait(15);
    }
    run.finish();
  });
  return written;
}

async function measure(isLive: boolean): Promise<Seen> {
  const world = await openWorld();
  await world.context.addInitScript(watch);
  const page = await world.open();
  // What measures must measure: a stretch of work that is too long by far is seen, and then forgotten.
  await page.evaluate((ms) => {
    setTimeout(() => {
      const end = performance.now() + ms;
      while (performance.now() < end);
    });
  }, 2 * limit);
  await expect.poll(async () => (await seenBy(page)).longest).toBeGreaterThan(limit);
  await page.evaluate(() =>
    Object.assign((window as unknown as { seen: Seen }).seen, { longest: 0, gap: 0, frames: 0 }),
  );

  const written = scriptLongRun(world, isLive);
  await startAgent(page, "A long one");
  await untilState(page, "Finished");
  const seen = await seenBy(page);
  const squeezed = (value: string) => value.replace(/\s+/g, "");
  expect(squeezed(await replyOf(page))).toBe(squeezed(written.text));
  expect(await toolsOf(page)).toHaveLength(written.tools);
  await page.close();
  return seen;
}

describe("a run of 5,000 events never freezes the page: no stretch of work over 100 ms, in the best of three tries", () => {
  it.each([
    ["watched live", true],
    ["received all at once", false],
  ])(
    "%s",
    async (_, isLive) => {
      const tries: Seen[] = [];
      // Another process on a shared machine may hold up any one try; it is the page that is measured.
      while (tries.length < 3 && !tries.some(({ longest }) => longest < limit))
        tries.push(await measure(isLive));
      for (const { longest, gap, frames } of tries) {
        const work = longest === 0 ? "under 50" : Math.round(longest);
        console.log(
          `longest work ${work} ms, longest gap between frames ${Math.round(gap)} ms, ${frames} frames`,
        );
      }
      expect(Math.min(...tries.map(({ longest }) => longest))).toBeLessThan(limit);
    },
    60_000,
  );
});
