import { describe, expect, it } from "vitest";
import { ManualClock } from "../../src/emulator/index.ts";
import { RunConnection } from "../../src/emulator/runs/run-connection.ts";
import { RunLog } from "../../src/emulator/runs/run-log.ts";
import { chunks, emulate, type Frame, frames, names, plain, textOf } from "./helpers.ts";

const position = (id: string | undefined) => ({ "Last-Event-ID": id ?? "" });

/** Frames that share an id, as `event:subtype` lists, with how often each combination occurs. */
function pairings(list: Frame[]) {
  const byId = new Map<string, string[]>();
  for (const { id, event, data } of list) {
    if (id === undefined) continue;
    const label = event === "interaction_update" ? data.type : event;
    byId.set(id, [...(byId.get(id) ?? []), label]);
  }
  const counts: Record<string, number> = {};
  for (const labels of byId.values()) counts[labels.join("+")] = (counts[labels.join("+")] ?? 0) + 1;
  return counts;
}

describe("a whole stream", () => {
  it("has the frames in the service's order and pairs", async () => {
    const { create, emulator, stream } = emulate();
    emulator.script("edit", (run) =>
      run
        .thinking("I will ")
        .thinking("edit.")
        .tool("edit_file", { path: "a", streamContent: "x" }, { path: "a", linesAdded: 1 })
        .tool("run_terminal_cmd", { command: "ls", description: "d" }, { command: "ls", stdout: "a\n" })
        .text("Hel")
        .text("lo")
        .finish(),
    );
    const list = await stream((await create("edit")).run);
    expect(pairings(list)).toEqual({
      "step-started": 3,
      "user-message-appended": 1,
      "thinking+thinking-delta": 2,
      "thinking-completed": 1,
      "token-delta": 12,
      tool_call: 1,
      "tool_call+partial-tool-call": 1,
      "tool_call+tool-call-started": 2,
      "tool_call+tool-call-completed": 2,
      "assistant+text-delta": 2,
      "turn-ended": 1,
      "step-completed": 3,
      "result+done": 1,
    });
    expect(list.slice(0, 3).map(({ event, data }) => data.type ?? event)).toEqual([
      "status",
      "step-started",
      "user-message-appended",
    ]);
    expect(list.slice(-5).map(({ event, data }) => data.type ?? event)).toEqual([
      "turn-ended",
      "step-completed",
      "status",
      "result",
      "done",
    ]);
    expect(list.filter(({ id }) => id === undefined).map(({ event }) => event)).toEqual(["status", "status"]);
    const ids = [...new Set(list.flatMap(({ id }) => id ?? []))].map((id) => id.split("-").map(Number));
    ids.reduce((before, after) => {
      const [ms = 0, n = 0] = before;
      expect(after[0] === ms ? (after[1] ?? 0) > n : (after[0] ?? 0) > ms).toBe(true);
      return after;
    });
    expect(textOf(list)).toBe("Hello");
  });

  it("has up to three frames per tool call, those with arguments with an interaction_update twin", async () => {
    const { create, emulator, stream } = emulate();
    emulator.script("read", (run) =>
      run
        .tool(
          "read_file",
          { path: "README.md" },
          { content: "# Hi", path: "README.md" },
          { callId: "call-1" },
        )
        .tool("mcp", { toolName: "x" }, undefined, { error: { message: "no" } })
        .tool("task", { prompt: "p" }, {}, { truncated: { args: true, result: true } }),
    );
    const list = await stream((await create("read")).run);
    const calls = list.filter(({ event }) => event === "tool_call").map(({ data }) => data);
    expect(calls.slice(0, 3)).toEqual([
      { callId: "call-1", name: "read_file", status: "running" },
      { callId: "call-1", name: "read_file", status: "running", args: { path: "README.md" } },
      {
        callId: "call-1",
        name: "read_file",
        status: "completed",
        args: { path: "README.md" },
        result: { success: { content: "# Hi", path: "README.md" } },
      },
    ]);
    expect(calls[5]).toMatchObject({ status: "completed", result: { error: { message: "no" } } });
    expect(calls[7]).toEqual({
      callId: calls[7].callId,
      name: "task",
      status: "completed",
      truncated: { args: true, result: true },
    });
    const done = list.find(({ data }) => data.type === "tool-call-completed")?.data;
    expect(done.toolCall).toEqual({
      type: "read",
      args: { path: "README.md" },
      result: { status: "success", value: { content: "# Hi" } },
    });
  });

  it("can leave out interaction updates", async () => {
    const { create, stream } = emulate({ interactionUpdates: false });
    expect(names(await stream((await create("x")).run))).not.toContain("interaction_update");
  });

  it("has the headers of the service", async () => {
    const { create, open } = emulate({ retentionSeconds: 600 });
    const response = await open((await create("x")).run);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("x-cursor-stream-retention-seconds")).toBe("600");
    await response.body?.cancel();
  });

  it("is live: sends status changes at once, then the rest, then ends", async () => {
    const { create, emulator, open, clock } = emulate({ startDelayMs: 100, interactionUpdates: false });
    emulator.script("live", (run) => run.text("a").hold("gate").text("b"));
    const { run } = await create("live");
    const reader = chunks(await open(run));
    expect(await reader.next()).toContain('"status":"CREATING"');
    await clock.advance(100);
    expect(await reader.next()).toContain('"status":"RUNNING"');
    expect(await reader.next()).toContain('"text":"a"');
    const next = reader.next();
    emulator.release("gate");
    expect(await next).toContain('"text":"b"');
    expect(await reader.next()).toContain('"status":"FINISHED"');
    expect(await reader.next()).toContain("event: result");
    expect(await reader.next()).toContain("event: done");
    expect(await reader.next()).toBeUndefined();
    expect(emulator.connections).toBe(0);
  });

  it("sends heartbeats 30 s after its replay and then every 15 s, without ids, until its reader cancels", async () => {
    const { create, emulator, open, clock } = emulate();
    emulator.script("long", (run) => run.hold("never"));
    const { run } = await create("long");
    const reader = chunks(await open(run));
    await reader.next();
    await reader.next();
    await reader.next();
    const times: number[] = [];
    const start = clock.now();
    for (let count = 0; count < 3; count++) {
      expect(await clock.run(reader.next())).toBe("event: heartbeat\ndata: {}\n\n");
      times.push(clock.now() - start);
    }
    expect(times).toEqual([30_000, 45_000, 60_000]);
    expect(emulator.connections).toBe(1);
    await reader.cancel();
    expect(emulator.connections).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it("queues nothing for a reader who does not read", async () => {
    const { create, emulator, open, clock } = emulate();
    emulator.script("long", (run) => run.text("a").hold("gate").text("b"));
    const { run } = await create("long");
    const response = await open(run);
    await clock.advance(3_600_000);
    emulator.release("gate");
    expect(names(frames(await response.text()))).not.toContain("heartbeat");
  });
});

describe("a connection", () => {
  it("leaves no subscription in the run after it has closed", async () => {
    const log = new RunLog();
    const clock = new ManualClock();
    let closed = 0;
    const onClose = () => {
      closed += 1;
    };
    const open = () =>
      new RunConnection({ log, clock, start: 0, heartbeat: { first: 10, every: 10 }, onClose });
    log.frame("assistant", { text: "a" }, "1-0");
    const left = open();
    const waiting = open();
    await waiting.next();
    const next = waiting.next();
    expect(log.readers).toBe(2);
    left.close();
    waiting.close();
    expect(await next).toEqual({ kind: "end" });
    left.close();
    expect([log.readers, clock.pending, closed]).toEqual([0, 0, 2]);
  });
});

describe("resuming", () => {
  it("at any id sends exactly the frames after the last one with that id", async () => {
    const { create, stream } = emulate();
    const { run } = await create("x");
    const whole = await stream(run);
    for (const { id } of whole) {
      if (id === undefined) continue;
      const rest = await stream(run, position(id));
      const behind = whole.map((frame) => frame.id).lastIndexOf(id) + 1;
      expect(rest).toEqual([whole[0], ...whole.slice(behind)]);
    }
  });

  it("rejects an id of another run", async () => {
    const { create, stream, call } = emulate();
    const one = await create("one");
    const other = await create("other");
    const foreign = (await stream(other.run)).at(-1)?.id;
    for (const id of [foreign, "nonsense", "1713033000000", ""]) {
      const reply = await call("GET", `${one.run}/stream`, undefined, position(id));
      expect([id, reply.status, reply.json.error]).toEqual([
        id,
        400,
        {
          code: "invalid_last_event_id",
          message: "Last-Event-ID must refer to an event within the requested run",
        },
      ]);
    }
  });

  it("at an id that never existed is accepted, and skips the past", async () => {
    const { create, stream } = emulate();
    const { run } = await create("x");
    expect(names(await stream(run, position("1713033000000-0")))).toEqual(["status"]);
  });

  it("answers 410 after the retention, although the run can be read", async () => {
    const { create, call, clock, emulator } = emulate({ retentionSeconds: 60 });
    const { run, runId } = await create("x");
    await clock.advance(59_999);
    expect((await call("GET", `${run}/stream`)).status).toBe(200);
    await clock.advance(1);
    const reply = await call("GET", `${run}/stream`);
    expect([reply.status, reply.json.error.code]).toEqual([410, "stream_expired"]);
    expect((await call("GET", run)).json.status).toBe("FINISHED");
    const later = await create("y");
    emulator.expireStream(later.runId);
    expect((await call("GET", `${later.run}/stream`)).status).toBe(410);
    expect(runId).not.toBe(later.runId);
  });
});

describe("oddities", () => {
  it("the stream of a cancelled run says RUNNING, then FINISHED, then CANCELLED", async () => {
    const { create, emulator, stream, call, clock } = emulate();
    emulator.script("long", (run) => run.hold("never"));
    const { run } = await create("long", { repos: [{ url: "https://github.com/o/r" }] });
    await clock.advance(9897);
    await call("POST", `${run}/cancel`);
    const list = plain(await stream(run));
    expect(list.map(({ event, data }) => data.status ?? event)).toEqual([
      "RUNNING",
      "FINISHED",
      "CANCELLED",
      "done",
    ]);
    expect(list[2]?.data).toEqual({
      runId: expect.any(String),
      status: "CANCELLED",
      durationMs: 9897,
      git: { branches: [{ repoUrl: "github.com/o/r" }] },
    });
  });

  it("a failed run has a result without a text or a reason", async () => {
    const { create, emulator, stream } = emulate();
    emulator.script("fail", (run) => run.text("partial").fail({ durationMs: 90 }));
    const list = plain(await stream((await create("fail")).run));
    expect(list.map(({ event, data }) => data.status ?? event)).toEqual([
      "ERROR",
      "assistant",
      "ERROR",
      "ERROR",
      "done",
    ]);
    expect(Object.keys(list[3]?.data)).toEqual(["runId", "status", "durationMs"]);
  });

  it("a stream opened too early fails inside the stream, without ids, or by 409", async () => {
    const early = emulate({ streamNotReady: "in-stream" });
    const { run } = await early.create("x");
    const list = await early.stream(run);
    expect(list.map(({ event, data }) => data.status ?? data.code ?? event)).toEqual([
      "CREATING",
      "RUNNING",
      "stream_unavailable",
      "done",
    ]);
    expect(list.every(({ id }) => id === undefined)).toBe(true);
    await early.clock.advance(2000);
    expect(names(await early.stream(run))).toContain("result");

    const http = emulate({ streamNotReady: { form: "409", windowMs: 10 } });
    const other = await http.create("x");
    const reply = await http.call("GET", `${other.run}/stream`);
    expect([reply.status, reply.json.error.code]).toEqual([409, "stream_unavailable"]);
    await http.clock.advance(10);
    expect((await http.call("GET", `${other.run}/stream`)).status).toBe(200);
  });
});
