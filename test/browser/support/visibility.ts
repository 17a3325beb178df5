import type { Page } from "playwright-core";

/** Hides a tab for longer than it holds on to its connection, or shows it again. A headless browser shows all tabs. */
export async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  if (isHidden) await page.clock.install();
  await page.evaluate(
    (state) => {
      Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
      document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
    },
    isHidden ? "hidden" : "visible",
  );
  if (isHidden) await page.clock.fastForward(31_000);
}
