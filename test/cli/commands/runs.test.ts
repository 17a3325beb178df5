import { ManualClock, type ScriptBuilder } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { checkedEmulator } from "../../support/checked-emulator.ts";
import { END } from "../../support/fake-api.ts";
import { assistant, done, errorFrame, frame, result, status } from "../../support/frames.ts";
import { agentId, runId } from "../../support/sample-run.ts";
import { StreamServer } from "../../support/stream-server.ts";
import { until } from "../../support/waiting.ts";

import { begin, cli, toLines, turns } from "../helpers.ts";

function stage(script?: ScriptBuilder) {
  const clock = new ManualClock();
  const emulator = checkedEmulator({ clock });
  if (script) emulator.script(() => true, script);
  return { clock, emulator };
}

describe("run", () => {
  it("prints the reply on stdout, and tools, outcome, branches and pull requests on stderr", async () => {
    const world = stage((run) =>
      run
        .thinking("Hm.")
        .text("I'll look.")
        .tool("read_file", { path: "README.md" }, { content: "# Hi" })
        .tool("run_terminal_cmd", { command: "npm test" }, undefined, { error: { message: "no" } })
        .text("Done")
        .text(" it.")
        .finish({ branch: "cursor/x", prUrl: "https://github.com/your-org/your-repo/pull/7" }),
    );
    const { code, stdout, stderr } = await cli(["run", "Fix it", "--repo", "your-org/your-repo"], world);
    expect(code).toBe(0);
    expect(stdout).toBe("I'll look.\nDone it.\n");
    expect(stderr).toMatch(
      /^creating an agent.*\nbc-\S+ {2}Fix it\nrun-\S+ {2}https:\/\/cursor\.com\/agents\/bc-/,
    );
    expect(stderr.match(/> read_file README\.md/g)).toHaveLength(1);
    expect(stderr).toContain("! run_terminal_cmd npm test (failed)");
    expect(stderr).toMatch(
      /FINISHED in .*\n {2}cursor\/x {2}https:\/\/github\.com\/your-org\/your-repo\/pull\/7/,
    );
    expect(stderr).not.toContain("thinking");
  });

  it.each<[string, ScriptBuilder, number]>([
    ["FINISHED", (run) => run.text("Hi").finish(), 0],
    ["ERROR", (run) => run.text("Hi").fail(), 1],
    ["CANCELLED", (run) => run.text("Hi").cancelled(), 2],
    ["EXPIRED", (run) => run.text("Hi").expire(), 2],
  ])("sets the exit code by the run's status: %s", async (status, script, expected) => {
    const { code, stderr } = await cli(["run", "x"], stage(script));
    expect(code).toBe(expected);
    expect(stderr).toContain(`${status} in`);
  });

  it.each<[unknown, string]>([
    [{ branches: null }, ""],
    [{ branches: {} }, ""],
    [{ branches: "main" }, ""],
    [{ branches: [null, 7, "main", {}, { branch: 7, prUrl: {} }] }, ""],
    [{ branches: [null, { branch: "cursor/x", prUrl: null }] }, "  cursor/x\n"],
    [{ branches: [{ repoUrl: "github.com/a/b", branch: null }] }, "  github.com/a/b: nothing pushed\n"],
    [null, ""],
    ["main", ""],
  ])("sets the exit code by the run's status even if the outcome is malformed: %j", async (git, branches) => {
    const outcome = frame("result", { runId, status: "FINISHED", text: 7, durationMs: "1", git }, "900-0");
    const server = new StreamServer([END(status(), assistant("1-0", "Hi"), outcome, done)]);
    const setting = { fetch: server.fetch as typeof globalThis.fetch, clock: server.clock };
    const { code, stdout, stderr } = await cli(["watch", agentId, runId], setting);
    expect([code, stdout, stderr]).toEqual([0, "Hi\n", `FINISHED\n${branches}`]);
  });

  it("treats an unknown status as a failure", async () => {
    const outcome = frame("result", { runId, status: "PAUSED" }, "900-0");
    const server = new StreamServer([END(status(), assistant("1-0", "Hi"), outcome, done)]);
    const setting = { fetch: server.fetch as typeof globalThis.fetch, clock: server.clock };
    const { code, stdout, stderr } = await cli(["watch", agentId, runId], setting);
    expect([code, stdout, stderr]).toEqual([1, "Hi\n", "PAUSED\n"]);
  });

  it("keeps stream errors out of the reply, and takes the outcome from the run", async () => {
    const closed = errorFrame("upstream_closed", "WritableIterable is closed");
    const server = new StreamServer([END(status(), assistant("1-0", "Hel"), closed), END(result(), done)]);
    const setting = { fetch: server.fetch as typeof globalThis.fetch, clock: server.clock };
    const { code, stdout } = await cli(["watch", agentId, runId, "--verbose"], setting);
    expect([code, stdout]).toEqual([0, "Hel\n"]);
  });

  it("prints each word once through broken connections, and reports those on stderr", async () => {
    const world = stage((run) => run.text("one ").cut().text("two ").cut().text("three").finish());
    const { code, stdout, stderr } = await cli(["run", "x"], world);
    expect([code, stdout]).toEqual([0, "one two three\n"]);
    expect(stderr.match(/~ connection lost; continuing after event/g)).toHaveLength(2);
  });

  it("prints the final reply when the stream is gone", async () => {
    const world = stage((run) => run.text("All of it.").finish());
    const { run } = world.emulator.addAgent({ prompt: { text: "x" } });
    await turns();
    world.emulator.expireStream(run.id);
    const { code, stdout } = await cli(["watch", run.agentId], world);
    expect([code, stdout]).toEqual([0, "All of it.\n"]);
  });

  it("prints thinking and statuses with --verbose, and only the reply and errors with --quiet", async () => {
    const script: ScriptBuilder = (run) => run.thinking("Hm, well.").text("Hi").finish();
    const loud = await cli(["run", "x", "--verbose"], stage(script));
    expect(loud.stderr).toContain("thinking: Hm, well.");
    expect(loud.stderr).toContain("status FINISHED");
    const quiet = await cli(["-q", "run", "x"], stage(script));
    expect(quiet).toMatchObject({ code: 0, stdout: "Hi\n", stderr: "" });
  });

  it("prints the ids and leaves with --no-follow", async () => {
    const world = stage((run) => run.hold("never"));
    const { code, stdout } = await cli(["run", "x", "--no-follow"], world);
    const [agent] = world.emulator.agents;
    expect([code, stdout]).toEqual([0, `${agent?.id} ${agent?.latestRunId}\n`]);
    expect(world.emulator.requests).toHaveLength(1);
  });

  it("stops at --timeout with 3, leaves the run alone and says how to follow it again", async () => {
    const world = stage((run) => run.text("Hi").hold("never"));
    const { code, stderr, stdout } = await cli(["run", "x", "--timeout", "30m"], world);
    const [agent] = world.emulator.agents;
    expect([code, stdout]).toEqual([3, "Hi\n"]);
    expect(stderr).toContain("error: --timeout: the run did not end within 30 min");
    expect(stderr).toMatch(
      new RegExp(`follow it again: cursor-agents watch ${agent?.id} ${agent?.latestRunId} --from \\S+\n`),
    );
    expect(world.emulator.runs(agent?.id as string)[0]?.status).toBe("RUNNING");
  });

  it("leaves no timer or connection behind when the run ends before --timeout", async () => {
    const world = stage((run) => run.text("Hi").finish());
    const { code } = await cli(["run", "x", "--timeout", "30m"], world);
    expect([code, world.clock.pending, world.emulator.connections]).toEqual([0, 0, 0]);
  });

  it("includes the create in --timeout, and says where to look", async () => {
    const clock = new ManualClock();
    const emulator = checkedEmulator({ clock, createDelayMs: 90_000 });
    const { code, stderr } = await cli(["run", "x", "--timeout", "60s"], { clock, emulator });
    expect(code).toBe(3);
    expect(stderr).toContain(`look: cursor-agents show ${emulator.agents[0]?.id}`);
  });

  it.each(["SIGINT", "SIGTERM"] as const)(
    "tells the id of the agent that it was creating, on %s",
    async (name) => {
      for (const json of [[], ["--json"]]) {
        const clock = new ManualClock();
        const emulator = checkedEmulator({ clock, createDelayMs: 90_000 });
        const started = begin(["run", "x", ...json], { clock, emulator });
        await until(() => emulator.agents.length > 0 || clock.pending > 0);
        await clock.advance(1_000);
        started.signal(name);
        const { code, stdout, stderr } = await started.ended();
        const [, id] = /creating an agent \((bc-\S+)\)/.exec(stderr) ?? [];
        expect(id).toMatch(/^bc-/);
        expect(code).toBe(name === "SIGINT" ? 130 : 143);
        expect(stderr).toContain(`look: cursor-agents show ${id}`);
        if (json.length > 0) expect(toLines(stdout).at(-1).hints.join()).toContain(`show ${id}`);
        await clock.advance(100_000);
        expect(emulator.agents.map((agent) => agent.id)).toEqual([id]);
      }
    },
  );

  it("creates one agent for a repeated command with --agent-id and --adopt", async () => {
    const world = stage((run) => run.text("Hi").finish());
    const argv = ["run", "x", "--agent-id", "bc-00000000-0000-4000-8000-00000000000a"];
    expect((await cli(argv, world)).code).toBe(0);
    const conflict = await cli(argv, world);
    expect(conflict.code).toBe(1);
    expect(conflict.stderr).toContain("--adopt continues with the existing agent");
    const adopted = await cli([...argv, "--adopt"], world);
    expect(adopted).toMatchObject({ code: 0, stdout: "Hi\n" });
    expect(adopted.stderr).toContain("adopted bc-00000000-0000-4000-8000-00000000000a");
    expect(world.emulator.agents).toHaveLength(1);
  });

  it("creates one agent when the response to the create is lost", async () => {
    const world = stage((run) => run.text("Hi").finish());
    world.emulator.faults.dropAnswer("createAgent");
    const { code, stdout, stderr } = await cli(["run", "x"], world);
    expect([code, stdout, world.emulator.agents.length]).toEqual([0, "Hi\n", 1]);
    expect(stderr).not.toContain("adopted");
  });

  it("waits for a slow reader of stdout", async () => {
    const world = stage((run) => run.text("one ").text("two ").text("three").finish());
    const started = begin(["run", "x"], world);
    started.stdout.takes = false;
    await until(() => started.stdout.text !== "");
    await turns();
    expect(started.stdout.text).toBe("one ");
    started.stdout.takes = true;
    started.stdout.emit("drain");
    expect((await started.ended()).stdout).toBe("one two three\n");
  });
});

describe("send", () => {
  const agentId = "bc-00000000-0000-4000-8000-00000000000a";

  it("sends a follow-up and follows it", async () => {
    const world = stage((run) => run.text(`Did: ${run.prompt}`).finish());
    world.emulator.addAgent({ prompt: { text: "first" }, agentId });
    await world.clock.advance(10_000);
    const { code, stdout } = await cli(["send", `https://cursor.com/agents/${agentId}`, "second"], world);
    expect([code, stdout]).toEqual([0, "Did: second\n"]);
  });

  it.each([
    ["waits for the active run", "--wait-if-busy", "FINISHED"],
    ["cancels the active run", "--cancel-if-busy", "CANCELLED"],
  ])("%s with %s", async (_, flag, first) => {
    const world = stage();
    world.emulator.script("first", (run) => run.wait(60_000).text("one").finish());
    world.emulator.script("second", (run) => run.text("two").finish());
    world.emulator.addAgent({ prompt: { text: "first" }, agentId });
    const { code, stdout } = await cli(["send", agentId, "second", flag], world);
    expect([code, stdout]).toEqual([0, "two\n"]);
    expect(world.emulator.runs(agentId).map(({ status }) => status)).toEqual([first, "FINISHED"]);
  });

  it("rejects both flags at once", async () => {
    const { code } = await cli(["send", agentId, "x", "--wait-if-busy", "--cancel-if-busy"], stage());
    expect(code).toBe(64);
  });
});

/** An agent whose run has ended. */
async function finishedAgent() {
  const world = stage();
  world.emulator.script("first", (run) => run.text("All done.").finish());
  world.emulator.script("active", (run) => run.hold("never"));
  const { agent } = world.emulator.addAgent({ prompt: { text: "first" } });
  await turns();
  return { ...world, id: agent.id, runId: agent.latestRunId as string };
}

describe("cancel", () => {
  it("cancels the latest run, or the one that is named", async () => {
    const world = await finishedAgent();
    const { agent } = world.emulator.addAgent({ prompt: { text: "active" } });
    await turns();
    const { code, stdout } = await cli(["cancel", agent.id], world);
    expect([code, stdout]).toEqual([0, `cancelled ${agent.latestRunId}\n`]);
    expect(world.emulator.runs(agent.id)[0]?.status).toBe("CANCELLED");
  });

  it("succeeds for a run that is already over", async () => {
    const world = await finishedAgent();
    const { code, stdout } = await cli(["cancel", world.id, world.runId], world);
    expect([code, stdout]).toEqual([0, `${world.runId} is already over: FINISHED\n`]);
  });

  it("reports that an agent has no run yet", async () => {
    const world = await finishedAgent();
    world.emulator.setAgent(world.id, { latestRunId: undefined });
    const { code, stderr } = await cli(["cancel", world.id], world);
    expect([code, stderr]).toEqual([1, `error: agent ${world.id} has no run yet\n`]);
  });
});

describe("watch", () => {
  it("follows the latest run unless one is given", async () => {
    const world = await finishedAgent();
    expect(await cli(["watch", world.id], world)).toMatchObject({ code: 0, stdout: "All done.\n" });
    expect(await cli(["watch", world.id, world.runId], world)).toMatchObject({
      code: 0,
      stdout: "All done.\n",
    });
    expect(await cli(["watch", world.id, "--from", "1-0"], world)).toMatchObject({ code: 64 });
    const wrong = await cli(["watch", world.id, world.runId, "--from", "nonsense"], world);
    expect(wrong).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("leave it out to follow the run from its start"),
    });
  });
});
