import { describe, expect, it } from "vitest";
import { emulate } from "./helpers.ts";

describe("runs", () => {
  it("go from CREATING over RUNNING to FINISHED on the emulator's clock", async () => {
    const { call, create, emulator, clock } = emulate({ startDelayMs: 1000 });
    emulator.script("slow", (run) =>
      run.text("half").wait(5000).text(" done").finish({ branch: "cursor/x" }),
    );
    const { path, run } = await create("slow", { repos: [{ url: "https://github.com/o/r.git" }] });
    const read = async () => (await call("GET", run)).json;
    expect(await read()).toMatchObject({ status: "CREATING" });
    await clock.advance(1000);
    expect(await read()).toMatchObject({ status: "RUNNING" });
    expect(await read()).not.toHaveProperty("result");
    expect(await read()).not.toHaveProperty("git");
    expect((await call("GET", path)).json.status).toBe("ACTIVE");
    await clock.advance(5000);
    expect(await read()).toMatchObject({
      status: "FINISHED",
      durationMs: 6000,
      result: "half done",
      git: { branches: [{ repoUrl: "github.com/o/r", branch: "cursor/x" }] },
    });
    expect((await call("GET", path)).json.status).toBe("IDLE");
  });

  it("are rejected while one is active, and for two seconds afterwards by default", async () => {
    const { call, create, emulator, clock } = emulate({ busyWindowMs: 2000 });
    emulator.script("first", (run) => run.hold("gate"));
    const { path } = await create("first");
    const follow = () => call("POST", `${path}/runs`, { prompt: { text: "next" } });
    const busy = [409, { error: { code: "agent_busy", message: "Agent already has an active run" } }];
    let reply = await follow();
    expect([reply.status, reply.json]).toEqual(busy);
    emulator.release("gate");
    await clock.advance(1999);
    reply = await follow();
    expect([reply.status, reply.json]).toEqual(busy);
    await clock.advance(1);
    reply = await follow();
    expect(reply.status).toBe(201);
    expect(reply.json.run.status).toBe("CREATING");
  });

  it("accept a known model, and reject an unknown one with validation_error", async () => {
    const { call, create } = emulate();
    const { path } = await create("x");
    const rejected = await call("POST", `${path}/runs`, { prompt: { text: "y" }, model: { id: "nope" } });
    expect([rejected.status, rejected.json.error.code]).toEqual([400, "validation_error"]);
    expect(rejected.json.error.message).toContain("is not available or invalid");
    expect(
      (await call("POST", `${path}/runs`, { prompt: { text: "y" }, model: { id: "auto" } })).status,
    ).toBe(201);
    expect((await call("POST", `${path}/runs`, { prompt: { text: "y" }, agentId: "x" })).status).toBe(400);
  });

  it("are listed newest first, without their result; an unknown page cursor gets 400", async () => {
    const { call, create } = emulate();
    const { path, runId } = await create("one");
    await call("POST", `${path}/runs`, { prompt: { text: "two" } });
    const third = (await call("POST", `${path}/runs`, { prompt: { text: "three" } })).json.run.id;
    const first = await call("GET", `${path}/runs?limit=2`);
    expect(first.json.items[0]).toMatchObject({ id: third, status: "FINISHED", durationMs: 0 });
    for (const item of first.json.items) expect(item).not.toHaveProperty("result");
    const second = await call("GET", `${path}/runs?limit=2&cursor=${first.json.nextCursor}`);
    expect(second.json).toEqual({ items: [expect.objectContaining({ id: runId })] });
    const unknown = await call("GET", `${path}/runs?cursor=run-none`);
    expect([unknown.status, unknown.json.error]).toEqual([
      400,
      { code: "validation_error", message: "Invalid pagination cursor" },
    ]);
  });

  it("show the agent's git on every run, including what a later run has pushed", async () => {
    const { call, create, emulator } = emulate();
    emulator.script("push", (run) => run.branch("cursor/b", { prUrl: "https://github.com/o/r/pull/2" }));
    emulator.script("none", (run) => run.text("nothing pushed"));
    const { path, run } = await create("none", { repos: [{ url: "https://github.com/o/r" }] });
    expect((await call("GET", run)).json.git).toEqual({ branches: [{ repoUrl: "github.com/o/r" }] });
    await call("POST", `${path}/runs`, { prompt: { text: "push" } });
    expect((await call("GET", run)).json.git).toEqual({
      branches: [{ repoUrl: "github.com/o/r", branch: "cursor/b", prUrl: "https://github.com/o/r/pull/2" }],
    });
  });

  it("get a pull request at the end if the agent has autoCreatePR", async () => {
    const { call, create } = emulate();
    const repos = [{ url: "https://github.com/o/r" }];
    const plain = await create("Fix the build", { repos });
    const withPr = await create("Fix the build", { repos, autoCreatePR: true });
    expect((await call("GET", plain.run)).json.git.branches[0]).not.toHaveProperty("prUrl");
    expect((await call("GET", withPr.run)).json.git.branches[0].prUrl).toMatch(
      /^https:\/\/github.com\/o\/r\/pull\/\d+$/,
    );
    expect((await call("GET", plain.run)).json.result).toContain("Fix the build");
  });

  it("belong to their agent", async () => {
    const { call, create } = emulate();
    const one = await create("one");
    const other = await create("other");
    const reply = await call("GET", `${one.path}/runs/${other.runId}`);
    expect([reply.status, reply.json.error.code]).toEqual([404, "run_not_found"]);
  });

  it("can be cancelled while they are active, and not after", async () => {
    const { call, create, emulator, clock } = emulate();
    emulator.script("long", (run) => run.text("some").wait(60_000).text("more"));
    const { run, runId, path } = await create("long");
    await clock.advance(1000);
    const cancel = await call("POST", `${run}/cancel`);
    expect([cancel.status, cancel.json]).toEqual([200, { id: runId }]);
    const read = (await call("GET", run)).json;
    expect(read).toMatchObject({ status: "CANCELLED", durationMs: 1000 });
    expect(read).not.toHaveProperty("result");
    expect(clock.pending).toBe(0);
    const again = await call("POST", `${run}/cancel`);
    expect([again.status, again.json.error]).toEqual([
      409,
      { code: "run_not_cancellable", message: "Run is already finished" },
    ]);
    expect((await call("POST", `${path}/runs`, { prompt: { text: "next" } })).status).toBe(201);
  });

  it("that fail or expire have that status, and no result", async () => {
    const { call, create, emulator } = emulate();
    emulator.script("fail", (run) => run.text("partial").fail({ durationMs: 90 }));
    emulator.script("expire", (run) => run.expire());
    expect((await call("GET", (await create("fail")).run)).json).toMatchObject({
      status: "ERROR",
      durationMs: 90,
    });
    const expired = (await call("GET", (await create("expire")).run)).json;
    expect(expired.status).toBe("EXPIRED");
    expect(expired).not.toHaveProperty("result");
  });

  it("can be overridden by a test, with any status", async () => {
    const { call, create, emulator } = emulate();
    const { path, run, runId, agentId } = await create("x");
    emulator.setRun(runId, { status: "PAUSED", result: "mine" });
    expect((await call("GET", run)).json).toMatchObject({ status: "PAUSED", result: "mine" });
    expect((await call("GET", `${path}/runs`)).json.items[0]).not.toHaveProperty("result");
    expect(emulator.runs(agentId)[0]?.status).toBe("PAUSED");
  });

  it("follow the newest script that matches, by text, pattern or predicate", async () => {
    const { create, emulator, stream } = emulate();
    const said = async (prompt: string) => {
      const list = await stream((await create(prompt)).run);
      return list.find((frame) => frame.event === "result")?.data.text;
    };
    emulator
      .script(
        () => true,
        (run) => run.text(`any ${run.prompt}`),
      )
      .script("fix", (run) => run.text("substring"))
      .script(/^fix.*bug$/gi, (run) => run.text("pattern"));
    expect(await said("hello")).toBe("any hello");
    expect(await said("please fix it")).toBe("substring");
    expect(await said("Fix the bug")).toBe("pattern");
    expect(await said("Fix the bug")).toBe("pattern");
  });
});
