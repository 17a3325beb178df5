import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { faintTexts } from "./support/contrast.ts";
import { openWorld, startAgent, untilState } from "./support/world.ts";

/** What has the focus, as a screen reader says it. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement;
    const label =
      element instanceof HTMLTextAreaElement ? element.labels?.[0]?.textContent : element?.textContent;
    return `${element?.tagName.toLowerCase()} ${label?.trim()}`;
  });

/** Presses Tab until something has the focus; fails where it can't be reached. */
async function tabTo(page: Page, target: string): Promise<void> {
  for (let press = 0; press < 40; press++) {
    if ((await focused(page)) === target) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab never reaches "${target}"`);
}

/** Notes, in the page, what the live region says. */
const listen = (page: Page) =>
  page.evaluate(() => {
    const said: string[] = [];
    Object.assign(window, { said });
    new MutationObserver(() => {
      for (const region of document.querySelectorAll("[role=status]")) {
        const text = region.textContent ?? "";
        if (text !== "" && text !== said.at(-1)) said.push(text);
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });

const saidIn = (page: Page) => page.evaluate(() => (window as unknown as { said: string[] }).said);

describe("without a mouse", () => {
  it("an agent is started, looked into, cancelled and followed up, and the focus is always somewhere sensible", async () => {
    const world = await openWorld();
    world.emulator.script("keys", (run) =>
      run
        .tool("read_file", { path: "README.md" }, { content: "# Hi" })
        .text("Reading. ")
        .hold("never")
        .finish(),
    );
    const page = await world.open();
    await tabTo(page, "textarea Task");
    await page.keyboard.type("Only keys");
    await tabTo(page, "button Start agent");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Only keys" }).waitFor();
    await expect.poll(() => focused(page)).toBe("h1 Only keys");
    await page.getByText("Reading.").waitFor();
    await tabTo(page, "summary Done:ReadREADME.md");
    await page.keyboard.press("Enter");
    await page.getByText("content: # Hi").waitFor();
    await tabTo(page, "button Cancel run");
    await page.keyboard.press("Space");
    await untilState(page, "Cancelled");
    // The button is gone: the focus goes to its run, not to the top of the page.
    await expect.poll(() => focused(page)).toBe("h1 Only keys");
    await tabTo(page, "textarea Follow up");
    await page.keyboard.type("And then?");
    await tabTo(page, "button Send");
    await page.keyboard.press("Enter");
    await expect.poll(() => focused(page)).toBe("h2 And then?");
    await untilState(page, "Finished");
    await tabTo(page, "a New agent");
    await page.keyboard.press("Enter");
    await expect.poll(() => focused(page)).toBe("textarea Task");
  });

  it("the focus can be seen on everything that takes it", async () => {
    const world = await openWorld();
    const page = await world.open();
    await startAgent(page, "Where am I?");
    await untilState(page, "Finished");
    await page.getByRole("link", { name: "report.md" }).waitFor();
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    const seen = new Set<string>();
    for (let press = 0; press < 30; press++) {
      await page.keyboard.press("Tab");
      const [name, outline] = await page.evaluate(() => {
        const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement!);
        return [document.activeElement!.tagName, `${outlineStyle} ${outlineWidth}`] as const;
      });
      if (name === "BODY") break;
      seen.add(name);
      expect(outline, name).toBe("solid 2px");
    }
    expect([...seen].sort()).toEqual(["A", "BUTTON", "SUMMARY", "TEXTAREA"]);
  });
});

describe("to a screen reader", () => {
  it("the page has landmarks, headings and names", async () => {
    const world = await openWorld();
    const page = await world.open();
    await startAgent(page, "Name it");
    await untilState(page, "Finished");
    await page.getByRole("link", { name: "report.md" }).waitFor();
    expect(await page.title()).toBe("✓ Name it – Cloud agents");
    expect(await page.locator("html").getAttribute("lang")).toBe("en");
    for (const role of ["banner", "main"] as const) expect(await page.getByRole(role).count()).toBe(1);
    await page.getByRole("article", { name: "Name it" }).waitFor();
    await page.getByRole("region", { name: "Files" }).waitFor();
    await page.getByRole("list", { name: "Tool calls" }).first().waitFor();
    const levels = await page.getByRole("heading").evaluateAll((all) => all.map(({ tagName }) => tagName));
    expect(levels).toEqual(["H1", "H2"]);
    const nameless = await page
      .locator("a, button, input, select, textarea, summary")
      .evaluateAll((all) =>
        all.filter((one) => !("labels" in one && (one.labels as NodeList)?.length) && !one.textContent),
      );
    expect(nameless).toEqual([]);
    await page.getByRole("link", { name: "New agent" }).click();
    await page.getByRole("navigation", { name: "Started here" }).waitFor();
    for (const name of ["Task", "Repository (optional)", "Model"]) await page.getByLabel(name).waitFor();
  });

  it("only turning points are announced, politely: not each word, and not the tools", async () => {
    const world = await openWorld();
    world.expected = /ERR_/;
    world.emulator.script("talk", (run) => {
      for (let index = 0; index < 100; index++) run.text(`word${index} `).wait(5);
      run.tool("read_file", { path: "a" }, {}).hold("end").finish();
    });
    const page = await world.open();
    await listen(page);
    await startAgent(page, "A talk");
    await page.getByText("word99").waitFor();
    world.cable.pullOut();
    await untilState(page, "Connection lost");
    world.cable.putBack();
    await untilState(page, "Working…");
    world.emulator.release("end");
    await untilState(page, "Finished");
    const said = await saidIn(page);
    expect(said.filter((text) => text !== "Connecting…")).toEqual([
      "The agent is working.",
      "Connection lost. Trying again…",
      "The agent is working.",
      expect.stringMatching(/^Finished in/),
    ]);
    expect(await page.locator("[aria-live=assertive]").count()).toBe(0);
    expect(await page.locator("article").getAttribute("aria-busy")).toBe("false");
  });
});

describe("to weak eyes", () => {
  it.each(["light", "dark"] as const)("all text has a contrast of 4.5 or more: %s", async (colorScheme) => {
    const world = await openWorld({ context: { colorScheme } });
    const page = await world.open();
    expect(await faintTexts(page)).toEqual([]);
    await startAgent(page, "Be legible");
    await untilState(page, "Finished");
    await page.getByRole("link", { name: "report.md" }).waitFor();
    await page.getByText("npm test", { exact: true }).first().click();
    expect(await faintTexts(page)).toEqual([]);
  });

  it("nothing moves for those who asked for that", async () => {
    const world = await openWorld({ context: { reducedMotion: "reduce" } });
    world.emulator.script("still", (run) =>
      run
        .event("tool_call", { callId: "tool_1", name: "read_file", status: "running" })
        .hold("never")
        .finish(),
    );
    const page = await world.open();
    await startAgent(page, "Keep still");
    await page.getByText("Running:").waitFor();
    expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
    await page.emulateMedia({ reducedMotion: "no-preference" });
    expect(await page.evaluate(() => document.getAnimations().length)).toBe(2);
  });

  it("on a narrow screen, or zoomed in four times, nothing has to be scrolled sideways", async () => {
    const world = await openWorld({ context: { viewport: { width: 320, height: 256 } } });
    const page = await world.open();
    await page.getByLabel(/Repository/).fill(`https://github.com/your-org/${"a-long-name".repeat(8)}`);
    await startAgent(page, `Fit ${"unbreakable".repeat(12)}`);
    await untilState(page, "Finished");
    const [width, own] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect(width).toBeLessThanOrEqual(own!);
  });
});
