import { describe, expect, it } from "vitest";
import { emulate, type Frame } from "./helpers.ts";

const path = "/workspace/acme/notes.md";
const readme = "/workspace/acme/README.md";

const label = ({ event, data }: Frame): string => {
  if (event === "interaction_update") return data.toolCall ? `${data.type} ${data.toolCall.type}` : data.type;
  if (event !== "tool_call") return data.status === undefined ? event : `${event} ${data.status}`;
  return [data.name, data.status, ...(data.args === undefined ? [] : [Object.keys(data.args).join()])].join(
    " ",
  );
};

/** One line an id: the frames that share it, twins after what they repeat. Runs of token counts are one line. */
function shape(list: Frame[]): string[] {
  const lines: string[] = [];
  let last: string | undefined;
  for (const frame of list) {
    if (frame.id !== undefined && frame.id === last) lines.push(`${lines.pop()} + ${label(frame)}`);
    else if (!(label(frame) === "token-delta" && lines.at(-1) === "token-delta")) lines.push(label(frame));
    last = frame.id;
  }
  return lines;
}

const shellArgs =
  "command,timeout,toolCallId,simpleCommands,parsingResult,fileOutputThresholdBytes,timeoutBehavior,hardTimeout,description,conversationId";

describe("the form of a stream", () => {
  it("is that of the service for a run with edits, commands and parallel tools", async () => {
    const { create, emulator, stream } = emulate();
    emulator.script("edit", (run) =>
      run
        .thinking("I write the notes")
        .tools([
          {
            name: "edit_file",
            args: { path, streamContent: "one\n" },
            result: { path, linesAdded: 1, message: "m" },
          },
          { name: "read_file", args: { path: readme }, result: { content: "# a\n", path: readme } },
        ])
        .tool("edit_file", { path: readme, streamContent: "# a\nb\n" }, { path: readme, linesAdded: 1 })
        .thinking("Now the difference.")
        .tool("run_terminal_cmd", { command: "git diff" }, { stdout: "+b\n" })
        .tools([
          { name: "delete_file", args: { path }, result: { fileSize: 4, prevContent: "one\n" } },
          { name: "run_terminal_cmd", args: { command: "git checkout -- ." }, result: { stdout: "" } },
        ])
        .text("done")
        .finish(),
    );
    const list = await stream((await create("edit")).run);
    expect(shape(list)).toEqual([
      "status FINISHED",
      "step-started",
      "user-message-appended",
      "thinking + thinking-delta",
      "token-delta",
      "thinking-completed",
      "token-delta",
      "edit_file running",
      "read_file running",
      "edit_file running path + partial-tool-call edit",
      "read_file running path + tool-call-started read",
      "edit_file running path,streamContent + tool-call-started edit",
      "read_file completed path + tool-call-completed read",
      "token-delta",
      "edit_file completed path,streamContent + tool-call-completed edit",
      "token-delta",
      "step-completed",
      "step-started",
      "token-delta",
      "edit_file running",
      "edit_file running path + partial-tool-call edit",
      "edit_file running path,streamContent + tool-call-started edit",
      "edit_file completed path,streamContent + tool-call-completed edit",
      "token-delta",
      "step-completed",
      "step-started",
      "thinking + thinking-delta",
      "token-delta",
      "thinking-completed",
      "token-delta",
      `run_terminal_cmd running ${shellArgs} + tool-call-started shell`,
      `run_terminal_cmd completed ${shellArgs} + tool-call-completed shell`,
      "token-delta",
      "step-completed",
      "step-started",
      "token-delta",
      "delete_file running",
      "delete_file running path,toolCallId + tool-call-started delete",
      `run_terminal_cmd running ${shellArgs} + tool-call-started shell`,
      "delete_file completed path,toolCallId + tool-call-completed delete",
      "token-delta",
      `run_terminal_cmd completed ${shellArgs} + tool-call-completed shell`,
      "token-delta",
      "step-completed",
      "step-started",
      "assistant + text-delta",
      "token-delta",
      "turn-ended",
      "step-completed",
      "status FINISHED",
      "result FINISHED + done",
    ]);
  });

  it("announces tools without arguments, but not commands and tasks", async () => {
    const { create, emulator, stream } = emulate();
    const names = [
      "read_file",
      "grep_search",
      "edit_file",
      "delete_file",
      "todo_write",
      "await",
      "mcp",
      "task",
      "run_terminal_cmd",
    ];
    emulator.script("all", (run) => {
      for (const name of names) run.tool(name, { path: "a" }, {});
    });
    const calls = (await stream((await create("all")).run)).filter(({ event }) => event === "tool_call");
    const announced = calls.filter(({ data }) => data.args === undefined).map(({ data }) => data.name);
    expect(announced).toEqual(names.slice(0, -2));
  });

  it("adds to commands and deletions what the service adds, in frames and twins", async () => {
    const { create, emulator, stream } = emulate();
    emulator.script("tools", (run) =>
      run
        .tool(
          "run_terminal_cmd",
          { command: "npm test", timeout: 5 },
          { stdout: "ok\n", exitCode: 0 },
          { callId: "toolu_a\nb" },
        )
        .tool("delete_file", { path }, { fileSize: 85 })
        .tool(
          "grep_search",
          { pattern: "x", path: "/workspace/acme" },
          { matches: [{ file: "a.ts", line: "x" }, { file: "b.ts" }] },
        )
        .tool("run_terminal_cmd", { command: "ls" }, { stdout: "a\n" }, { exact: true })
        .tool("run_terminal_cmd", { command: "no" }, undefined, { error: { message: "exit 1" } }),
    );
    const { run, agentId } = await create("tools");
    const list = await stream(run);
    const frames = list.filter(({ event, data }) => event === "tool_call" && data.status === "completed");
    const twins = list.filter(({ data }) => data.type === "tool-call-completed");
    expect(frames.map(({ data }) => data.args)).toEqual([
      {
        command: "npm test",
        timeout: 5,
        toolCallId: "toolu_a\nb",
        simpleCommands: ["npm"],
        parsingResult: {
          executableCommands: [
            { name: "npm", args: [{ type: "word", value: "test" }], fullText: "npm test" },
          ],
        },
        fileOutputThresholdBytes: "40000",
        timeoutBehavior: "TIMEOUT_BEHAVIOR_BACKGROUND",
        hardTimeout: 86_400_000,
        description: "Run npm",
        conversationId: agentId,
      },
      { path, toolCallId: frames[1]?.data.callId },
      { pattern: "x", path: "/workspace/acme" },
      { command: "ls" },
      expect.objectContaining({ command: "no" }),
    ]);
    expect(frames.map(({ data }) => data.result)).toEqual([
      {
        success: {
          command: "npm test",
          stdout: "ok\n",
          exitCode: 0,
          executionTime: 380,
          interleavedOutput: "ok\n",
          localExecutionTimeMs: 310,
        },
        isBackground: false,
      },
      { success: { path, deletedFile: path, fileSize: "85" } },
      { success: { matches: [{ file: "a.ts", line: "x" }, { file: "b.ts" }] } },
      { success: { stdout: "a\n" } },
      { error: { message: "exit 1" } },
    ]);
    expect(twins.map(({ data }) => data.toolCall)).toEqual([
      {
        type: "shell",
        args: { command: "npm test", timeout: 5 },
        result: {
          status: "success",
          value: { exitCode: 0, signal: "", stdout: "ok\n", stderr: "", executionTime: 380 },
        },
      },
      { type: "delete", args: { path }, result: { status: "success", value: { fileSize: 85 } } },
      {
        type: "grep",
        args: { pattern: "x", offset: 0 },
        result: {
          status: "success",
          value: {
            workspaceResults: {
              "/workspace/acme": {
                type: "content",
                output: { matches: [{ file: "a.ts" }, { file: "b.ts" }], totalMatches: 0 },
              },
            },
          },
        },
      },
      expect.objectContaining({ type: "shell", args: { command: "ls" } }),
      {
        type: "shell",
        args: { command: "no", timeout: 600_000 },
        result: { status: "error", error: { message: "exit 1" } },
      },
    ]);
  });

  it("numbers model calls with gaps, and steps over all runs of an agent", async () => {
    const { call, create, emulator, stream } = emulate();
    emulator.script("work", (run) =>
      run
        .tools([
          { name: "read_file", args: { path } },
          { name: "read_file", args: { path: readme } },
        ])
        .tool("read_file", { path })
        .text("a")
        .step()
        .text("b"),
    );
    const first = await create("work");
    const again = await call("POST", `${first.path}/runs`, { prompt: { text: "work" } });
    const list = await stream(first.run);
    const ids = list
      .filter(({ data }) => data.type === "tool-call-started")
      .map(({ data }) => data.modelCallId);
    expect(ids.map((id: string) => Number(/-(\d+)-[a-z0-9]{4}$/.exec(id)?.[1]))).toEqual([1, 2, 6]);
    expect(new Set(ids.map((id: string) => id.slice(-4))).size).toBe(3);
    const steps = async (run: string) =>
      (await stream(run))
        .filter(({ data }) => data.type === "step-started")
        .map(({ data }) => data.stepId as number);
    const before = await steps(first.run);
    const after = await steps(`${first.path}/runs/${again.json.run.id}`);
    expect([before.length, before[0]]).toEqual([4, 0]);
    expect(after[0]).toBeGreaterThan(before.at(-1) as number);
    const all = [...before, ...after];
    expect(all.every((id, index) => index === 0 || id > (all[index - 1] as number) + 1)).toBe(true);
    const completed = list
      .filter(({ data }) => data.type === "step-completed")
      .map(({ data }) => data.stepId);
    expect(completed).toEqual(before);
  });

  it("has ids whose suffixes skip, and strictly rise", async () => {
    const { create, emulator, stream, clock } = emulate();
    emulator.script("long", (run) => {
      for (let count = 0; count < 40; count++) run.text("word ").wait(1);
    });
    const { run } = await create("long");
    await clock.advance(1000);
    const ids = [...new Set((await stream(run)).flatMap(({ id }) => id ?? []))];
    const suffixes = new Map<string, number[]>();
    for (const [ms = "", n] of ids.map((id) => id.split("-"))) {
      suffixes.set(ms, [...(suffixes.get(ms) ?? []), Number(n)]);
    }
    const lists = [...suffixes.values()];
    expect(
      lists.every((list) => list.every((n, index) => index === 0 || n > (list[index - 1] as number))),
    ).toBe(true);
    expect(lists.some(([first]) => first === 1)).toBe(true);
    expect(lists.some(([first]) => first === 0)).toBe(true);
    expect(lists.flatMap((list) => list.map((n, index) => n - (list[index - 1] ?? n)))).toContain(2);
  });

  it("counts the tokens of some deltas together with those of the next", async () => {
    const { create, emulator, stream } = emulate();
    emulator.script("words", (run) => {
      for (let count = 0; count < 12; count++) run.text("word");
    });
    const list = await stream((await create("words")).run);
    const deltas = list.filter(({ event }) => event === "assistant").length;
    const tokens = list
      .filter(({ data }) => data.type === "token-delta")
      .map(({ data }) => data.tokens as number);
    expect(tokens.length).toBeLessThan(deltas);
    expect(tokens.reduce((sum, count) => sum + count, 0)).toBe(12);
  });

  it("can wind down before its final status and its result", async () => {
    const { call, clock, create, emulator, stream } = emulate({ windDownMs: 10_500 });
    emulator.script("x", (run) => run.text("a").wait(1000).finish());
    const { run } = await create("x");
    await clock.advance(11_499);
    expect((await call("GET", run)).json.status).toBe("RUNNING");
    await clock.advance(1);
    expect((await call("GET", run)).json).toMatchObject({ status: "FINISHED", durationMs: 11_500 });
    const [last, result] = (await stream(run)).filter(({ id }) => id !== undefined).slice(-3);
    expect(Number(result?.id?.split("-")[0]) - Number(last?.id?.split("-")[0])).toBe(10_500);
  });

  it("is cancelled at once while it winds down, and has one end", async () => {
    const { call, clock, create, stream } = emulate({ windDownMs: 10_500 });
    const { run } = await create("x");
    await clock.advance(1000);
    expect((await call("POST", `${run}/cancel`)).status).toBe(200);
    await clock.advance(60_000);
    expect((await call("GET", run)).json).toMatchObject({ status: "CANCELLED", durationMs: 1000 });
    expect((await stream(run)).filter(({ event }) => event === "result")).toHaveLength(1);
  });

  it("can have heartbeats between CREATING and RUNNING", async () => {
    const { clock, create, emulator, open } = emulate({ startDelayMs: 100 });
    emulator.script("x", (run) => run.heartbeat().heartbeat().text("a").finish());
    const { run } = await create("x");
    const response = await open(run);
    const text = response.text();
    await clock.advance(1000);
    const names = [...(await text).matchAll(/event: (\w+)(?:\ndata: \{"runId":"[^"]+","status":"(\w+)")?/g)];
    expect(names.slice(0, 4).map(([, name, status]) => status ?? name)).toEqual([
      "CREATING",
      "heartbeat",
      "heartbeat",
      "RUNNING",
    ]);
  });
});
