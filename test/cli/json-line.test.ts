import { ManualClock, type ScriptBuilder } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { checkedEmulator, waive } from "../support/checked-emulator.ts";
import { END } from "../support/fake-api.ts";
import { assistant, done, result, tooDeep } from "../support/frames.ts";
import { ref } from "../support/sample-run.ts";
import { StreamServer } from "../support/stream-server.ts";
import { cli, turns } from "./helpers.ts";

function stage(script?: ScriptBuilder) {
  const clock = new ManualClock();
  const emulator = checkedEmulator({ clock });
  if (script) emulator.script(() => true, script);
  return { clock, emulator };
}

const typesOf = (lines: { type: string }[]) => lines.map(({ type }) => type);
const git = { branches: [{ repoUrl: "github.com/your-org/your-repo", branch: "cursor/x" }] };

describe("--json", () => {
  it("writes a run's events in the form of the library, between created and outcome", async () => {
    waive(/event brand_new is not documented/);
    const { emulator, clock } = stage((run) =>
      run
        .thinking("Hm.")
        .tool("read_file", { path: "a" }, { content: "b" })
        .event("brand_new", { a: 1 })
        .text("Hi\n")
        .finish({ branch: "cursor/x", durationMs: 1234 }),
    );
    const { code, lines, stderr } = await cli(["run", "x", "--json", "--repo", "your-org/your-repo"], {
      emulator,
      clock,
    });
    const [created, ...rest] = lines();
    const outcome = rest.pop();
    const agentId = created.agent.id;
    const runId = created.run.id;
    expect(code).toBe(0);
    expect(created).toEqual({
      type: "created",
      agent: expect.objectContaining({ id: agentId, latestRunId: runId }),
      run: expect.objectContaining({ id: runId, agentId, status: "CREATING" }),
    });
    expect(typesOf(rest)).toEqual([
      ...["status", "thinking", "tool_call", "tool_call", "tool_call"],
      ...["unknown", "assistant", "result", "done"],
    ]);
    const id = expect.any(String);
    expect(rest[1]).toEqual({ type: "thinking", id, data: { text: "Hm." } });
    expect(rest[4]).toEqual({
      type: "tool_call",
      id,
      data: {
        callId: id,
        name: "read_file",
        status: "completed",
        args: { path: "a" },
        result: { success: { content: "b" } },
      },
    });
    expect(rest[5]).toEqual({ type: "unknown", name: "brand_new", id, data: { a: 1 } });
    expect(rest[6]).toEqual({ type: "assistant", id, data: { text: "Hi\n" } });
    expect(outcome).toEqual({
      type: "outcome",
      exitCode: 0,
      agentId,
      runId,
      status: "FINISHED",
      text: "Hi\n",
      streamedText: "Hi\n",
      durationMs: 1234,
      git,
      source: "stream",
    });
    expect(stderr).toContain(agentId);
  });

  it("ends in a failure that holds the error, what to do, and the exit code", async () => {
    const { emulator, clock } = stage();
    const { code, lines, stderr } = await cli(["--json", "show", "bc-00000000-0000-4000-8000-0000000000ff"], {
      emulator,
      clock,
    });
    expect(code).toBe(1);
    expect(lines()).toEqual([
      {
        type: "failure",
        error: {
          name: "ApiError",
          kind: "api",
          message: expect.stringContaining("404 agent_not_found"),
          status: 404,
          code: "agent_not_found",
          method: "GET",
          path: "/v1/agents/bc-00000000-0000-4000-8000-0000000000ff",
          agentId: "bc-00000000-0000-4000-8000-0000000000ff",
          requestId: "req-00000001",
        },
        hints: [
          "check the id (cursor-agents ls); agents of other accounts are not found either",
          "request id for support: req-00000001",
        ],
        exitCode: 1,
      },
    ]);
    expect(stderr).toMatch(/^error: GET \/v1\/agents\/bc-00000000-0000-4000-8000-0000000000ff -> 404/);
  });

  it("ends in a failure at the deadline, and when there is no key", async () => {
    const late = await cli(
      ["run", "x", "--json", "--timeout", "1m"],
      stage((run) => run.hold("never")),
    );
    expect(late.lines().at(-1)).toMatchObject({
      type: "failure",
      error: { kind: "timeout", phase: "deadline" },
      exitCode: 3,
    });
    // It is reported only once.
    expect(typesOf(late.lines()).filter((type) => type === "failure")).toHaveLength(1);
    expect(late.stderr.match(/^error:/gm)).toHaveLength(1);
    const keyless = await cli(["ls", "--json"], { ...stage(), env: { CURSOR_API_KEY: undefined } });
    expect(keyless.lines()).toMatchObject([
      { type: "failure", error: { name: "MissingKeyError" }, exitCode: 4 },
    ]);
  });

  it("continues after a payload that nests too deep to be written as JSON", async () => {
    const server = new StreamServer([END(tooDeep("1-0"), assistant("2-0", "Hi"), result(), done)]);
    const { clock, fetch } = server;
    const { code, lines } = await cli(["watch", ref.agentId, ref.id, "--json"], { clock, fetch });
    expect(typesOf(lines())).toEqual(["invalid", "assistant", "result", "done", "outcome"]);
    expect(code).toBe(0);
  });

  it("has a line for each thing that the other commands print", async () => {
    const world = stage((run) => run.text("Hi").artifact("artifacts/a.md", "# A").finish());
    const { agent, run } = world.emulator.addAgent({ prompt: { text: "x" } });
    await turns();
    const { id } = agent;
    const json = async (...argv: string[]) => (await cli([...argv, "--json"], world)).lines();
    expect(await json("ls")).toEqual([
      { type: "agent", agent: expect.objectContaining({ id }), run: expect.objectContaining({ id: run.id }) },
    ]);
    expect(await json("show", id)).toEqual([
      {
        type: "agent",
        agent: expect.objectContaining({ id }),
        run: expect.objectContaining({ result: "Hi" }),
      },
    ]);
    expect(await json("artifacts", "ls", id)).toEqual([
      { type: "artifact", artifact: expect.objectContaining({ path: "artifacts/a.md", sizeBytes: 3 }) },
    ]);
    expect(await json("usage", id)).toMatchObject([{ type: "usage", usage: { runs: [{ id: run.id }] } }]);
    expect((await json("models"))[0]).toMatchObject({ type: "model", model: { id: "default" } });
    expect((await json("repos"))[0]).toEqual({
      type: "repository",
      repository: { url: "https://github.com/your-org/your-repo" },
    });
    expect(await json("me")).toMatchObject([{ type: "me", me: { userId: 42 } }]);
    expect(await json("cancel", id)).toEqual([
      { type: "cancelled", agentId: id, runId: run.id, status: "FINISHED" },
    ]);
    expect(await json("archive", id)).toEqual([{ type: "archived", agentId: id }]);
    expect(await json("unarchive", id)).toEqual([{ type: "unarchived", agentId: id }]);
    const diagnosis = await json("doctor");
    expect(diagnosis[0]).toEqual({ type: "check", name: "node", state: "ok", detail: process.versions.node });
    expect(diagnosis.at(-1)).toEqual({ type: "diagnosis", ok: true, exitCode: 0 });
    expect(await json("delete", id, "--yes")).toEqual([{ type: "deleted", agentId: id }]);
  });

  it("writes nothing to stdout where the command line is wrong", async () => {
    expect(await cli(["run", "--json"])).toMatchObject({ code: 64, stdout: "" });
  });
});
