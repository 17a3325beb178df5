import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { openWorld, startAgent, untilState } from "./support/world.ts";

const folder = fileURLToPath(new URL("screenshots/", import.meta.url));

const looks = [
  { name: "desktop-light", colorScheme: "light", viewport: { width: 1280, height: 860 } },
  { name: "desktop-dark", colorScheme: "dark", viewport: { width: 1280, height: 860 } },
  { name: "narrow-light", colorScheme: "light", viewport: { width: 375, height: 740 } },
  { name: "narrow-dark", colorScheme: "dark", viewport: { width: 375, height: 740 } },
] as const;

/** Whether anything sticks out to the side, which a reader would have to scroll for. */
const isTooWide = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

describe("the page, to be looked at", () => {
  it.each(looks)("$name: start, at work, finished, followed up", async ({ name, colorScheme, viewport }) => {
    const world = await openWorld({ context: { colorScheme, viewport }, beat: 16 });
    const page = await world.open();
    const take = async (state: string) => {
      await page.screenshot({ path: `${folder}${name}-${state}.png`, fullPage: state !== "working" });
      expect(await isTooWide(page), `${state} is too wide`).toBe(false);
    };
    await page.getByLabel(/Repository/).fill("https://github.com/your-org/your-repo");
    await startAgent(page, "Add a README with setup instructions");
    // Looked at in each frame: a locator looks twice a second after a while, and could miss the moment.
    await page.waitForFunction(() =>
      [...document.querySelectorAll(".tools > li")].some((tool) =>
        /^Running:.*npm test/s.test(tool.textContent),
      ),
    );
    await take("working");
    await untilState(page, "Finished");
    await page.getByRole("link", { name: "report.md" }).waitFor();
    await page.getByText("npm test", { exact: true }).first().click();
    await take("finished");
    await page.getByLabel("Follow up").fill("Say in it that Node 20 is needed");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("button", { name: "Stop watching" }).click();
    await take("stopped");
    await page.getByRole("link", { name: "New agent" }).click();
    await page.getByRole("heading", { name: "Started here" }).waitFor();
    await take("start");
  });
});
