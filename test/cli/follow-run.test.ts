import { ManualClock, type ScriptBuilder } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { until } from "../support/waiting.ts";
import { begin, cli, turns } from "./helpers.ts";

const broken = () => Object.assign(new Error("write EPIPE"), { code: "EPIPE" });

function stage(script: ScriptBuilder) {
  const clock = new ManualClock();
  const emulator = checkedEmulator({ clock });
  emulator.script(() => true, script);
  return { clock, emulator };
}

/** A run that has printed half of its reply. */
async function half(argv: string[] = [], env: Record<string, string> = {}) {
  const world = stage((run) => run.text("one ").text("two ").hold("rest").text("three").finish());
  const started = begin(["run", "x", ...argv], { ...world, env });
  await until(() => started.stdout.text.includes("two"));
  const [agent] = world.emulator.agents;
  const ref = { agentId: agent?.id as string, runId: agent?.latestRunId as string };
  const status = () => world.emulator.runs(ref.agentId)[0]?.status;
  return { ...world, ...started, ref, status };
}

/** The command that was printed, as a shell would split it. */
const commandIn = (stderr: string, name: string): string[] => {
  const line = new RegExp(`${name}: +cursor-agents (.*)\n`).exec(stderr)?.[1] ?? "";
  return line.split(" ").map((word) => word.replaceAll("'", ""));
};

describe("Ctrl-C while a run is followed", () => {
  it("leaves the run alone and prints a command that continues exactly there", async () => {
    const { signal, ended, ref, status, emulator, clock } = await half();
    signal("SIGINT");
    const first = await ended();
    expect([first.code, first.stdout, status()]).toEqual([130, "one two \n", "RUNNING"]);
    expect(first.stderr).toContain("detached; the run goes on");
    expect(first.stderr).not.toContain("error:");
    expect(emulator.connections).toBe(0);
    expect(commandIn(first.stderr, "cancel it")).toEqual(["cancel", ref.agentId, ref.runId]);

    emulator.release("rest");
    const command = commandIn(first.stderr, "follow it again");
    expect(command.slice(0, 4)).toEqual(["watch", ref.agentId, ref.runId, "--from"]);
    const second = await cli(command, { emulator, clock });
    expect([second.code, second.stdout]).toEqual([0, "three\n"]);
  });

  it("prints a command with the flags that this one had", async () => {
    const { signal, ended } = await half(["--base-url", "https://api.cursor.com", "--json"]);
    signal("SIGINT");
    const { stderr } = await ended();
    expect(commandIn(stderr, "follow it again").slice(-3)).toEqual([
      "--json",
      "--base-url",
      "https://api.cursor.com",
    ]);
  });

  it("writes the position as the last line of JSON", async () => {
    const { signal, ended, ref } = await half(["--json"]);
    signal("SIGTERM");
    const { code, lines } = await ended();
    expect(code).toBe(143);
    const last = lines().at(-1);
    expect(last).toMatchObject({ type: "detached", signal: "SIGTERM", exitCode: 143, ...ref });
    expect(last.checkpoint).toMatchObject({ ...ref, lastEventId: expect.any(String) });
    expect(last.command).toBe(
      `cursor-agents watch ${ref.agentId} ${ref.runId} --from ${last.checkpoint.lastEventId} --json`,
    );
  });

  it("can continue from a checkpoint, too", async () => {
    const { signal, ended, ref, emulator, clock } = await half(["--json"]);
    signal("SIGINT");
    const { checkpoint } = (await ended()).lines().at(-1);
    emulator.release("rest");
    const argv = ["watch", ref.agentId, ref.runId, "--from", JSON.stringify(checkpoint)];
    expect((await cli(argv, { emulator, clock })).stdout).toBe("three\n");
    const other = ["watch", ref.agentId, "run-another", "--from", JSON.stringify(checkpoint)];
    expect(await cli(other, { emulator, clock })).toMatchObject({
      code: 64,
      stderr: expect.stringContaining("checkpoint of another run"),
    });
  });

  it("cancels the run when pressed twice with --cancel-on-interrupt, and ends with the outcome", async () => {
    const { signal, ended, status, stderr } = await half(["--cancel-on-interrupt"]);
    signal("SIGINT");
    await turns();
    expect(status()).toBe("RUNNING");
    expect(stderr.text).toContain("Ctrl-C again within 5 s cancels the run");
    signal("SIGINT");
    const { code, stderr: all } = await ended();
    expect([code, status()]).toEqual([2, "CANCELLED"]);
    expect(all).toMatch(/cancelling the run[\s\S]*CANCELLED in/);
  });

  it("leaves the run alone when no second Ctrl-C follows", async () => {
    const { signal, ended, status } = await half(["--cancel-on-interrupt"]);
    signal("SIGINT");
    expect([(await ended()).code, status()]).toEqual([130, "RUNNING"]);
  });

  it("doesn't wait for the cancellation when pressed a third time", async () => {
    const { signal, ended, emulator } = await half(["--cancel-on-interrupt"]);
    emulator.faults.delay("cancelRun", 60_000).status("cancelRun", 500);
    signal("SIGINT");
    signal("SIGINT");
    await turns();
    signal("SIGINT");
    const { code, stderr } = await ended();
    expect(code).toBe(130);
    expect(stderr).toContain("detached; the run may be cancelled, or go on\n  follow it again:");
  });

  it("reports a failed cancellation", async () => {
    const { signal, ended, emulator } = await half(["--cancel-on-interrupt"]);
    emulator.faults.status("cancelRun", 500);
    signal("SIGINT");
    signal("SIGINT");
    const { code, stderr } = await ended();
    expect(code).toBe(1);
    expect(stderr).toMatch(/error: POST .*\/cancel -> 500[\s\S]*outcome unknown[\s\S]*follow it again:/);
  });

  it("ends with the outcome of a run that ended before the cancellation", async () => {
    const { signal, ended, emulator } = await half(["--cancel-on-interrupt"]);
    emulator.faults.status("cancelRun", 409, { code: "run_not_cancellable" });
    signal("SIGINT");
    signal("SIGINT");
    emulator.release("rest");
    expect(await ended()).toMatchObject({ code: 0, stdout: "one two three\n" });
  });
});

describe("a signal in other situations", () => {
  it("says where to look when it comes while the agent is created", async () => {
    const clock = new ManualClock();
    const emulator = checkedEmulator({ clock, createDelayMs: 60_000 });
    const { signal, ended } = begin(["run", "x"], { clock, emulator });
    await until(() => emulator.agents.length === 1);
    signal("SIGINT");
    const { code, stderr } = await ended();
    expect(code).toBe(130);
    expect(stderr).toContain(`the agent may exist\n  look: cursor-agents show ${emulator.agents[0]?.id}`);
  });

  it("says where to look when it comes while a follow-up is sent", async () => {
    const { emulator, clock, ref } = await half();
    emulator.release("rest");
    await clock.advance(10_000);
    emulator.faults.delay("createRun", 60_000);
    const { signal, ended } = begin(["send", ref.agentId, "y"], { clock, emulator });
    await until(() => emulator.runs(ref.agentId).length === 2);
    signal("SIGINT");
    const { code, stderr } = await ended();
    expect(code).toBe(130);
    expect(stderr).toContain(`may have been sent\n  look: cursor-agents show ${ref.agentId}`);
  });

  it("ends the lines of JSON in a failure that says where to look", async () => {
    const clock = new ManualClock();
    const emulator = checkedEmulator({ clock, createDelayMs: 60_000 });
    const { signal, ended } = begin(["run", "x", "--json"], { clock, emulator });
    await until(() => emulator.agents.length === 1);
    signal("SIGTERM");
    const { code, lines } = await ended();
    expect(code).toBe(143);
    expect(lines()).toEqual([
      {
        type: "failure",
        error: { name: "Interruption", message: "ended by SIGTERM" },
        hints: [`the agent may exist; look: cursor-agents show ${emulator.agents[0]?.id}`],
        exitCode: 143,
      },
    ]);
  });

  it("ends any other command quietly", async () => {
    const clock = new ManualClock();
    const emulator = checkedEmulator({ clock });
    emulator.faults.delay("listModels", 30_000);
    const { signal, ended } = begin(["models"], { clock, emulator });
    await until(() => emulator.requests.length === 1);
    signal("SIGINT");
    expect(await ended()).toMatchObject({ code: 130, stdout: "", stderr: "" });
  });

  it("is no longer handled after the first one, and after the end", async () => {
    const { signals, signal, ended } = await half();
    expect(signals.listenerCount("SIGINT")).toBe(1);
    signal("SIGINT");
    expect(signals.listenerCount("SIGINT")).toBe(0);
    await ended();
    expect(signals.listenerCount("SIGTERM")).toBe(0);
  });
});

describe("a closed stdout", () => {
  it("ends the command without a message, and the run goes on", async () => {
    const { stdout, stderr, ended, status, emulator } = await half();
    const before = stderr.text;
    stdout.emit("error", broken());
    const { code } = await ended();
    expect([code, status(), emulator.connections]).toEqual([141, "RUNNING", 0]);
    expect(stderr.text).toBe(before);
  });

  it("ends a command that waits for it to drain", async () => {
    const world = stage((run) => run.text("one ").text("two").finish());
    const started = begin(["run", "x"], world);
    started.stdout.takes = false;
    await until(() => started.stdout.text === "one ");
    await turns();
    started.stdout.emit("error", broken());
    expect((await started.ended()).code).toBe(141);
  });

  it("is distinguished from a full disk", async () => {
    const { stdout, ended } = await half();
    stdout.emit("error", Object.assign(new Error("no space left on device"), { code: "ENOSPC" }));
    const { code, stderr } = await ended();
    expect(code).toBe(1);
    expect(stderr).toContain("error: no space left on device");
  });
});
