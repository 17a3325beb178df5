import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { openWorld, replyOf, startAgent, toolsOf, untilState } from "./support/world.ts";

const events = 5_000;
/** Longest time that the page may be busy at a stretch, in milliseconds. */
const limit = 100;

/** Begins to note, in the page, each stretch of work over 50 ms and the longest gap between two frames. */
const watch = (page: Page) =>
  page.evaluate(() => {
    const seen = { longest: 0, gap: 0, frames: 0 };
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) seen.longest = Math.max(seen.longest, duration);
    }).observe({ type: "longtask" });
    let last = performance.now();
    const onFrame = () => {
      const now = performance.now();
      seen.gap = Math.max(seen.gap, now - last);
      seen.frames++;
      last = now;
      requestAnimationFrame(onFrame);
    };
    requestAnimationFrame(onFrame);
    Object.assign(window, { seen });
  });

interface Seen {
  longest: number;
  gap: number;
  frames: number;
}

const seenBy = (page: Page) => page.evaluate(() => (window as unknown as { seen: Seen }).seen);

/** A run of 5,000 events: prose in paragraphs, and a tool call in every hundred. */
async function playLongRun(): Promise<Seen> {
  const world = await openWorld();
  let text = "";
  let tools = 0;
  world.emulator.script("long", (run) => {
    run.hold("begin");
    for (let index = 0; index < events; index++) {
      if (index % 100 === 99) {
        const args = { path: `src/file-${++tools}.ts` };
        const call = { callId: `tool_${tools}`, name: "read_file", args };
        run.event("tool_call", { ...call, status: "completed", result: { success: { content: "x" } } });
      } else {
        const word = index % 60 === 59 ? "paragraph.\n\n" : `word${index} `;
        text += word;
        run.text(word);
      }
      // A second and a half in all, so that the page has frames to draw in between.
      if (index % 50 === 49) run.wait(15);
    }
    run.finish();
  });
  const page = await world.open();
  await startAgent(page, "A long one");
  await untilState(page, "Starting…");
  await watch(page);
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
  world.emulator.release("begin");
  await untilState(page, "Finished");
  const seen = await seenBy(page);
  const squeezed = (value: string) => value.replace(/\s+/g, "");
  expect(squeezed(await replyOf(page))).toBe(squeezed(text));
  expect(await toolsOf(page)).toHaveLength(tools);
  await page.close();
  return seen;
}

describe("a run of 5,000 events", () => {
  it("never freezes the page: no stretch of work over 100 ms, in the best of three tries", async () => {
    const tries: Seen[] = [];
    // Another process on a shared machine may hold up any one try; it is the page that is measured.
    while (tries.length < 3 && !tries.some(({ longest }) => longest < limit)) tries.push(await playLongRun());
    for (const { longest, gap, frames } of tries) {
      const task = longest === 0 ? "under 50" : Math.round(longest);
      console.log(
        `longest task ${task} ms, longest gap between frames ${Math.round(gap)} ms, ${frames} frames`,
      );
    }
    expect(Math.min(...tries.map(({ longest }) => longest))).toBeLessThan(limit);
    expect(Math.max(...tries.map(({ frames }) => frames))).toBeGreaterThan(10);
  }, 60_000);
});
