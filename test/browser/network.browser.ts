import type { RunScript } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { setHidden } from "./support/visibility.ts";
import { openWorld, replyOf, startAgent, toolsOf, untilState } from "./support/world.ts";

const call = { callId: "tool_1", name: "run_terminal_cmd", args: { command: "npm test" } };

/** Text, a tool that is at work until the gate opens, text. */
const interrupted = (run: RunScript) =>
  run
    .thinking("A thought.")
    .text("Before the tool, ")
    .event("tool_call", { ...call, status: "running" })
    .hold("tool")
    .event("tool_call", { ...call, status: "completed", result: { success: { stdout: "12 passed" } } })
    .text("behind the tool, ")
    .hold("rest")
    .text("at the end.")
    .finish();

const atTheTool = async () => {
  const world = await openWorld();
  world.emulator.script("interrupted", interrupted);
  const page = await world.open();
  const place = await startAgent(page, "Be interrupted");
  await page.getByText("Running:").waitFor();
  return { world, page, ...place };
};

const whole = ["Before the tool, ", "behind the tool, at the end."].join("");

describe("a reload in the middle of a tool call", () => {
  it("shows the text and the tool that were there, and goes on without losing or repeating anything", async () => {
    const { world, page } = await atTheTool();
    // What was seen is kept once a second, and when the page goes.
    await page.reload();
    await page.getByText("Running:").waitFor();
    expect(await replyOf(page)).toBe("Before the tool, ");
    world.emulator.release("tool");
    await page.getByText("behind the tool").waitFor();
    await page.reload();
    world.emulator.release("rest");
    await untilState(page, "Finished");
    expect(await replyOf(page)).toBe(whole);
    expect(await toolsOf(page)).toEqual(["Done: Ran npm test"]);
    expect(await page.locator(".thinking > p").allTextContents()).toEqual(["A thought."]);
    const positions = world.emulator.requests
      .filter(({ operationId }) => operationId === "streamRun")
      .map(({ headers }) => headers["last-event-id"]);
    expect(positions).toEqual([undefined, expect.any(String), expect.any(String)]);
  });

  it("of a run that ended meanwhile asks once more, shows all of it, and then asks nothing", async () => {
    const { world, page } = await atTheTool();
    await page.goto("about:blank");
    world.emulator.release("tool");
    world.emulator.release("rest");
    await page.goBack();
    await untilState(page, "Finished");
    expect(await replyOf(page)).toBe(whole);
    const asked = world.cable.count(/\/stream/);
    await page.reload();
    await untilState(page, "Finished");
    expect(await replyOf(page)).toBe(whole);
    // The end is known: there is nothing to connect for.
    expect(world.cable.count(/\/stream/)).toBe(asked);
  });
});

describe("a network that fails", () => {
  it("is noticed and shown, and the run goes on where it was when the network is back", async () => {
    const { world, page } = await atTheTool();
    world.expected = /ERR_/;
    await world.context.setOffline(true);
    world.cable.pullOut();
    await untilState(page, "Connection lost");
    world.emulator.release("tool");
    world.cable.putBack();
    await world.context.setOffline(false);
    await page.getByText("behind the tool").waitFor();
    world.emulator.release("rest");
    await untilState(page, "Finished");
    expect(await replyOf(page)).toBe(whole);
    expect(await toolsOf(page)).toEqual(["Done: Ran npm test"]);
  });

  it("may break the connection any number of times", async () => {
    const world = await openWorld();
    world.expected = /ERR_/;
    const pieces = ["One, ", "two, ", "three, ", "four, ", "five."];
    world.emulator.script("often", (run) => {
      for (const piece of pieces) run.text(piece).hold(piece);
      run.finish();
    });
    const page = await world.open();
    await startAgent(page, "Be cut often");
    for (const piece of pieces) {
      await page.getByText(piece.trim()).waitFor();
      world.cable.cut();
      world.emulator.release(piece);
    }
    await untilState(page, "Finished");
    expect(await replyOf(page)).toBe(pieces.join(""));
    expect(world.cable.count(/\/stream/)).toBe(1 + pieces.length);
  });

  it("may take the server with it: a new one at the same port goes on in the middle", async () => {
    const { world, page } = await atTheTool();
    world.expected = /ERR_/;
    await world.restartServer(() => untilState(page, "Connection lost"));
    world.emulator.release("tool");
    await page.getByText("behind the tool").waitFor();
    await world.restartServer();
    world.emulator.release("rest");
    await untilState(page, "Finished");
    expect(await replyOf(page)).toBe(whole);
    expect(await toolsOf(page)).toEqual(["Done: Ran npm test"]);
  });
});

describe("tabs", () => {
  it("that are closed let go of the API within a second, and the run goes on", async () => {
    const { world, page, agentId } = await atTheTool();
    expect(world.emulator.connections).toBe(1);
    await page.close();
    const closedAt = Date.now();
    await expect.poll(() => world.emulator.connections, { interval: 10 }).toBe(0);
    expect(Date.now() - closedAt).toBeLessThan(1_000);
    expect(world.emulator.runs(agentId)[0]!.status).toBe("RUNNING");
  });

  it("may be two on one run: each shows all of it, once", async () => {
    const { world, page } = await atTheTool();
    const second = await world.open(new URL(page.url()).pathname);
    await second.getByText("Running:").waitFor();
    world.emulator.release("tool");
    world.emulator.release("rest");
    for (const tab of [page, second]) {
      await untilState(tab, "Finished");
      expect(await replyOf(tab)).toBe(whole);
      expect(await toolsOf(tab)).toEqual(["Done: Ran npm test"]);
    }
  });

  it("that are hidden let go of their connection, so that more than six can be open; seen again they catch up", async () => {
    const { world, page } = await atTheTool();
    const path = new URL(page.url()).pathname;
    const tabs = [page];
    while (tabs.length < 6) {
      const tab = await world.open(path);
      await tab.getByText("Running:").waitFor();
      tabs.push(tab);
    }
    // All that a browser opens to one server are taken: another tab would not even load.
    expect(world.emulator.connections).toBe(6);
    await Promise.all(tabs.map((tab) => setHidden(tab, true)));
    await expect.poll(() => world.emulator.connections).toBe(0);
    const seventh = await world.open(path);
    await seventh.getByText("Running:").waitFor();
    world.emulator.release("tool");
    world.emulator.release("rest");
    await untilState(seventh, "Finished");
    expect(await replyOf(page)).toBe("Before the tool, ");
    await setHidden(page, false);
    await untilState(page, "Finished");
    expect(await replyOf(page)).toBe(whole);
  });
});
