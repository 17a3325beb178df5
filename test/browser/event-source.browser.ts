import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { openWorld, startAgent, untilState, type World } from "./support/world.ts";

interface Heard {
  /** Data of each message, as it came. */
  messages: string[];
  errors: number;
  readyState: number;
}

/** Reads a run with the browser's own EventSource, as a page without any library does. */
const listen = (page: Page, path: string) =>
  page.evaluate((url) => {
    const source = new EventSource(url);
    const heard: Heard = { messages: [], errors: 0, readyState: 0 };
    source.onmessage = ({ data }) => heard.messages.push(data);
    source.onerror = () => {
      heard.errors++;
    };
    Object.assign(window, { source, heard });
  }, path);

const heardBy = (page: Page): Promise<Heard> =>
  page.evaluate(() => {
    const { source, heard } = window as unknown as { source: EventSource; heard: Heard };
    return { ...heard, readyState: source.readyState };
  });

const textOf = ({ messages }: Heard) =>
  messages
    .map((data) => JSON.parse(data))
    .filter(({ type }) => type === "assistant")
    .map(({ data }) => data.text)
    .join("");

/** A run at its gate, and a page on which nothing else speaks to the server. */
async function heldRun(world: World): Promise<{ page: Page; path: string }> {
  world.emulator.script("held", (run) =>
    run.text("One, ").hold("gate").text("two, ").text("three.").finish(),
  );
  const page = await world.open();
  const { agentId, runId } = await startAgent(page, "A held one");
  await page.getByText("One,").waitFor();
  await page.goto(`${world.url}/icon.svg`);
  return { page, path: `/api/agents/${agentId}/runs/${runId}/stream` };
}

describe("the browser's own EventSource", () => {
  it("resumes behind what it has when its connection breaks, and stops for good at the run's end", async () => {
    const world = await openWorld();
    // The icon's own page asks for an icon.
    world.expected = /ERR_|404/;
    const { page, path } = await heldRun(world);
    const before = world.cable.count(/\/stream/);
    await listen(page, path);
    await expect.poll(async () => textOf(await heardBy(page))).toBe("One, ");
    world.cable.cut();
    await expect.poll(async () => (await heardBy(page)).errors).toBe(1);
    world.emulator.release("gate");
    await expect.poll(async () => (await heardBy(page)).readyState).toBe(2);
    const heard = await heardBy(page);
    expect(textOf(heard)).toBe("One, two, three.");
    expect(
      heard.messages.map((data) => JSON.parse(data).type).filter((type) => type === "result"),
    ).toHaveLength(1);
    expect(JSON.parse(heard.messages.at(-1)!).type).toBe("end");
    // The first, the one after the cut, and the one that is told that there is no more.
    expect(world.cable.count(/\/stream/) - before).toBe(3);
    const upstream = world.emulator.requests.filter(({ operationId }) => operationId === "streamRun").length;
    // Longer than the pause before a reconnect: it would have come by now.
    await page.waitForTimeout(2_500);
    expect(world.cable.count(/\/stream/) - before).toBe(3);
    expect(world.emulator.requests.filter(({ operationId }) => operationId === "streamRun")).toHaveLength(
      upstream,
    );
    expect(world.emulator.connections).toBe(0);
  });

  it("gives up at once on a run of somebody else", async () => {
    const world = await openWorld();
    world.expected = /404 \(Not Found\)/;
    const page = await world.open();
    const { agentId } = await startAgent(page, "Mine");
    await untilState(page, "Finished");
    await listen(page, `/api/agents/${agentId}/runs/run-of-somebody-else/stream`);
    await expect
      .poll(async () => await heardBy(page))
      .toMatchObject({ errors: 1, readyState: 2, messages: [] });
  });
});
