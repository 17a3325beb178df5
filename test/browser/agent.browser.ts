import { text } from "node:stream/consumers";
import type { RunScript } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { openWorld, replyOf, startAgent, toolsOf, untilState } from "./support/world.ts";

const file = "# Report\n\nÄ line — and “another”.\n".repeat(3_000);

/** One step at each gate. */
const walk = (run: RunScript) => {
  const read = { callId: "tool_1", name: "read_file", args: { path: "README.md" } };
  const test = { callId: "tool_2", name: "run_terminal_cmd", args: { command: "npm test" } };
  return run
    .thinking("Let me ")
    .thinking("see.")
    .hold("thought")
    .event("tool_call", { ...read, status: "running" })
    .hold("reading")
    .event("tool_call", { ...read, status: "completed", result: { success: { content: "# Hi" } } })
    .event("tool_call", { ...test, status: "running" })
    .event("tool_call", { ...test, status: "completed", result: { error: { message: "exit code 1" } } })
    .text("It is **almost** ")
    .hold("writing")
    .text("done.")
    .artifact("artifacts/report.md", file, "text/markdown")
    .finish({ branch: "cursor/walk-1a2b", prUrl: "https://github.com/your-org/your-repo/pull/7" });
};

describe("an agent on the page", () => {
  it("is started, watched step by step, and leaves its outcome and its files", async () => {
    const world = await openWorld();
    world.emulator.script("walk", walk);
    const page = await world.open();
    await page.getByLabel(/Repository/).fill("https://github.com/your-org/your-repo");
    await page.getByLabel("Model").selectOption({ label: "Composer 2" });
    const { agentId } = await startAgent(page, "Take a walk");
    const [agent] = world.emulator.agents;
    expect(agent).toMatchObject({ id: agentId, repos: [{ url: "https://github.com/your-org/your-repo" }] });
    expect(
      world.emulator.requests.find(({ operationId }) => operationId === "createAgent")!.json,
    ).toMatchObject({
      model: { id: "composer-2" },
      prompt: { text: "Take a walk" },
    });

    await page.locator(".thinking > p", { hasText: "Let me see." }).waitFor();
    await untilState(page, "Working…");
    world.emulator.release("thought");
    await page.getByText("Running:").waitFor();
    expect(await toolsOf(page)).toEqual(["Running: Reading README.md"]);
    // What was thought is folded away once something else happens.
    await page.locator(".thinking > p").waitFor({ state: "hidden" });
    world.emulator.release("reading");
    await page.getByText("almost").waitFor();
    expect(await toolsOf(page)).toEqual(["Done: Read README.md", "Failed: Ran npm test"]);
    await page.getByText("npm test", { exact: true }).click();
    await page.getByText("exit code 1").waitFor();
    world.emulator.release("writing");
    await untilState(page, /Finished in .+ cursor\/walk-1a2b/);
    expect(await replyOf(page)).toBe("It is almost done.");
    expect(await page.getByRole("link", { name: "Pull request" }).getAttribute("href")).toMatch(/pull\/7$/);
    expect(await page.getByRole("button", { name: "Cancel run" }).count()).toBe(0);

    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "report.md" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("report.md");
    expect(await text(await download.createReadStream())).toBe(file);
    expect(world.emulator.connections).toBe(0);
  });

  it("takes a follow-up, which gets a turn of its own below the first", async () => {
    const world = await openWorld();
    world.emulator.script("first", (run) => run.text("One.").finish());
    world.emulator.script("second", (run) => run.text("Two.").finish());
    const page = await world.open();
    const first = await startAgent(page, "The first thing");
    await untilState(page, "Finished");
    await page.getByLabel("Follow up").fill("The second thing");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("heading", { name: "The second thing" }).waitFor();
    await page.getByText("Two.").waitFor();
    expect(await page.locator("article").count()).toBe(2);
    expect(await page.locator(".prose").allTextContents()).toEqual(["One.", "Two."]);
    expect(world.emulator.runs(first.agentId)).toHaveLength(2);
    // The list knows the agent, and goes to its latest run.
    const address = page.url();
    await page.getByRole("link", { name: "New agent" }).click();
    await page.getByRole("link", { name: "The first thing" }).click();
    expect(page.url()).toBe(address);
    await page.goBack();
    await page.getByLabel("Task").waitFor();
  });

  it("is cancelled by its button, and the page hears of it by the stream", async () => {
    const world = await openWorld();
    world.emulator.script("endless", (run) => run.text("On and on").hold("never").finish());
    const page = await world.open();
    const { agentId } = await startAgent(page, "Something endless");
    await page.getByText("On and on").waitFor();
    await page.getByRole("button", { name: "Cancel run" }).click();
    await untilState(page, "Cancelled");
    expect(world.emulator.runs(agentId)[0]!.status).toBe("CANCELLED");
    await page.getByLabel("Follow up").waitFor();
  });

  it("goes on while nobody watches, and is shown whole when watching is resumed", async () => {
    const world = await openWorld();
    world.emulator.script("quiet", (run) =>
      run.text("First half, ").hold("later").text("second half.").finish(),
    );
    const page = await world.open();
    const { agentId } = await startAgent(page, "A quiet one");
    await page.getByText("First half,").waitFor();
    await page.getByRole("button", { name: "Stop watching" }).click();
    await untilState(page, "Not watching. The run goes on.");
    await expect.poll(() => world.emulator.connections).toBe(0);
    world.emulator.release("later");
    await expect.poll(() => world.emulator.runs(agentId)[0]!.status).toBe("FINISHED");
    expect(await replyOf(page)).toBe("First half, ");
    await page.getByRole("button", { name: "Resume watching" }).click();
    await untilState(page, "Finished");
    expect(await replyOf(page)).toBe("First half, second half.");
    // From its position, not from the start.
    const [, resumed] = world.emulator.requests.filter(({ operationId }) => operationId === "streamRun");
    expect(resumed!.headers["last-event-id"]).toBeDefined();
  });

  it("says so when a run fails, and when an agent can't be started", async () => {
    const world = await openWorld();
    world.expected = /400 \(Bad Request\)/;
    const page = await world.open();
    await page.getByLabel("Task").fill("Whatever");
    await page.getByLabel(/Repository/).fill("https://example.com/no-repository");
    world.emulator.faults.status("createAgent", 400);
    await page.getByRole("button", { name: "Start agent" }).click();
    await page.getByRole("alert").getByText("Is the repository's address right?").waitFor();
    await page.getByLabel(/Repository/).fill("");
    await startAgent(page, "Try, then give up");
    await untilState(page, "Failed");
  });

  it("is nobody else's: another browser finds nothing at its address", async () => {
    const world = await openWorld();
    world.expected = /404 \(Not Found\)/;
    const page = await world.open();
    const { agentId, runId } = await startAgent(page, "Mine alone");
    await untilState(page, "Finished");
    const other = await world.context.browser()!.newContext();
    const stranger = await other.newPage();
    await stranger.goto(page.url());
    await stranger.getByRole("heading", { name: "There is no such run here" }).waitFor();
    const statuses = await stranger.evaluate(
      async ([agent, run]) => {
        const asks = [
          fetch(`/api/agents/${agent}/runs/${run}/stream`),
          fetch(`/api/agents/${agent}/artifacts`),
          fetch(`/api/agents/${agent}/artifact?path=artifacts/report.md`),
          ...["runs", `runs/${run}/cancel`].map((path) =>
            fetch(`/api/agents/${agent}/${path}`, {
              method: "POST",
              headers: { "content-type": "application/json" },
              body: '{"prompt":"Yours?"}',
            }),
          ),
        ];
        return (await Promise.all(asks)).map(({ status }) => status);
      },
      [agentId, runId],
    );
    expect(statuses).toEqual([404, 404, 404, 404, 404]);
    expect(world.emulator.runs(agentId)).toHaveLength(1);
    await other.close();
  });
});
