import type { RunScript } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { aiVersions, type ChatOptions, createChat, type Message, type Part, until } from "./ai-versions.ts";
import { chatStage, user } from "./chat-stage.ts";

const wholeRun = (run: RunScript) =>
  run
    .thinking("Let me ")
    .thinking("look.")
    .text("I read ")
    .text("it.")
    .tool("read_file", { path: "README.md" }, { content: "# Hi" }, { callId: "a", growingArgs: [{}] })
    .hold("tool")
    .tool("run_terminal_cmd", { command: "x" }, undefined, { callId: "b", error: { message: "exit 1" } })
    .text("All ")
    .hold("rest")
    .text("done.")
    .finish({ branch: "cursor/readme" });

const wholeParts = [
  { type: "step-start" },
  {
    type: "data-run",
    id: "run",
    data: { status: "FINISHED", git: { branches: [{ branch: "cursor/readme" }] } },
  },
  { type: "reasoning", text: "Let me look.", state: "done" },
  { type: "text", text: "I read it.", state: "done" },
  {
    type: "dynamic-tool",
    toolCallId: "a",
    toolName: "read_file",
    state: "output-available",
    input: { path: "README.md" },
    output: { success: { content: "# Hi" } },
  },
  {
    type: "dynamic-tool",
    toolCallId: "b",
    toolName: "run_terminal_cmd",
    state: "output-error",
    input: { command: "x" },
    errorText: "exit 1",
  },
  { type: "text", text: "All done.", state: "done" },
];

/** Message parts as data: an update in place may leave undefined fields behind. */
const partsOf = (message: Message | undefined): Part[] => JSON.parse(JSON.stringify(message?.parts ?? []));

describe.each(aiVersions)("a chat of $name", (version) => {
  const open = async (
    script: (run: RunScript) => RunScript,
    options: Parameters<typeof chatStage>[2] = {},
  ) => {
    const stage = await chatStage(version, script, options);
    const heard: string[] = [];
    const chatOf = (more: Partial<ChatOptions> = {}) =>
      createChat(stage.ai, {
        id: "chat-1",
        transport: stage.transport,
        onError: ({ message }) => heard.push(`error: ${message}`),
        onFinish: () => heard.push("finish"),
        onToolCall: () => heard.push("tool call"),
        sendAutomaticallyWhen: stage.ai.lastAssistantMessageIsCompleteWithToolCalls,
        ...more,
      });
    return { ...stage, heard, chatOf, chat: chatOf() };
  };
  const releaseAll = ({ emulator }: Awaited<ReturnType<typeof open>>) => {
    emulator.release("tool");
    emulator.release("rest");
  };

  it("shows text, reasoning, tools and the run, in order, and ends ready", async () => {
    const stage = await open(wholeRun);
    releaseAll(stage);
    const { chat, heard, requests, state } = stage;
    await chat.sendMessage({ text: "Add a README" });
    expect(chat.status).toBe("ready");
    expect(chat.error).toBeUndefined();
    expect(chat.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(chat.messages[1]!.id).toBe(state.run!.id);
    const parts = partsOf(chat.messages[1]);
    expect(parts).toMatchObject(wholeParts);
    expect(parts[1]!.data).toMatchObject({ agentId: state.run!.agentId, runId: state.run!.id });
    // The tools are Cursor's: the page neither runs them nor sends the chat again.
    expect(heard).toEqual(["finish"]);
    expect(requests).toEqual(["POST /api/chat"]);
  });

  it("shows each state as it arrives", async () => {
    const { chat, emulator } = await open((run) =>
      run
        .text("Hel")
        .hold("tool")
        .event("tool_call", { callId: "a", name: "read_file", status: "running", args: { path: "x" } })
        .hold("rest")
        .event("tool_call", { callId: "a", name: "read_file", status: "completed", result: { success: 1 } })
        .finish(),
    );
    const sent = chat.sendMessage({ text: "x" });
    const last = () => partsOf(chat.messages[1]).at(-1);
    await until(() => last()?.text === "Hel", "the text");
    expect(chat.status).toBe("streaming");
    expect(last()).toMatchObject({ type: "text", state: "streaming" });
    expect(partsOf(chat.messages[1])[1]).toMatchObject({ type: "data-run", data: { status: "RUNNING" } });
    emulator.release("tool");
    await until(() => last()?.type === "dynamic-tool", "the tool");
    expect(last()).toMatchObject({ state: "input-available", input: { path: "x" } });
    expect(partsOf(chat.messages[1]).at(-2)).toMatchObject({ type: "text", state: "done" });
    emulator.release("rest");
    await sent;
    expect(last()).toMatchObject({ state: "output-available", input: { path: "x" }, output: { success: 1 } });
  });

  it.each([
    ["failed", (run: RunScript) => run.text("Half").fail(), "The run failed.", "ERROR"],
    ["expired", (run: RunScript) => run.text("Half").expire(), "The run expired.", "EXPIRED"],
  ] as const)(
    "is in error when the run has %s, and keeps what was said",
    async (_, script, words, status) => {
      const { chat, heard } = await open(script);
      await chat.sendMessage({ text: "x" });
      expect(chat.status).toBe("error");
      expect(chat.error?.message).toBe(words);
      expect(heard).toContain(`error: ${words}`);
      const parts = partsOf(chat.messages[1]);
      expect(parts[1]).toMatchObject({ type: "data-run", data: { status } });
      expect(parts.at(-1)).toMatchObject({ type: "text", text: "Half", state: "done" });
    },
  );

  it("is in error when the stream is cut for good, since it would look complete otherwise", async () => {
    const stage = await open((run) => run.text("Half").cut().hold("rest").finish(), { maxReconnects: 0 });
    await stage.chat.sendMessage({ text: "x" });
    expect(stage.chat.status).toBe("error");
    expect(stage.chat.error?.message).toMatch(/can't be followed any further/);
    expect(partsOf(stage.chat.messages[1]).at(-1)).toMatchObject({ text: "Half", state: "done" });
  });

  it("is ready when the run was cancelled, which the run's part shows", async () => {
    const { chat, heard } = await open((run) =>
      run
        .text("Half")
        .event("tool_call", { callId: "a", name: "read_file", status: "running", args: {} })
        .cancelled(),
    );
    await chat.sendMessage({ text: "x" });
    expect(chat.status).toBe("ready");
    expect(heard).toEqual(["finish"]);
    const parts = partsOf(chat.messages[1]);
    expect(parts[1]).toMatchObject({ type: "data-run", data: { status: "CANCELLED" } });
    expect(parts.slice(-2)).toMatchObject([
      { type: "text", text: "Half", state: "done" },
      { type: "dynamic-tool", state: "output-error" },
    ]);
  });

  it("that stops closes the run's stream, not the run", async () => {
    const { chat, emulator, cursor, state } = await open((run) => run.text("Half").hold("rest").finish());
    const sent = chat.sendMessage({ text: "x" });
    await until(() => partsOf(chat.messages[1]).at(-1)?.text === "Half", "the text");
    await chat.stop();
    await sent;
    expect(chat.status).toBe("ready");
    await until(() => emulator.connections === 0, "the end of the stream");
    expect((await cursor.runs.get(state.run!)).status).toBe("RUNNING");
  });

  it("that comes back receives the message from its start, once, and follows it to its end", async () => {
    const stage = await open(wholeRun);
    const { chat, chatOf, requests, state } = stage;
    void chat.sendMessage({ text: "Add a README" });
    await until(() => partsOf(chat.messages[1]).length >= 4, "the first half");
    await chat.stop();
    const back = chatOf({ messages: [user] });
    const resumed = back.resumeStream();
    await until(() => partsOf(back.messages[1]).length >= 4, "the first half again");
    releaseAll(stage);
    await resumed;
    expect(back.status).toBe("ready");
    expect(back.messages.map(({ id }) => id)).toEqual(["u1", state.run!.id]);
    const parts = partsOf(back.messages[1]);
    expect(parts).toMatchObject(wholeParts);
    expect(parts).toHaveLength(wholeParts.length);
    expect(requests).toEqual(["POST /api/chat", "GET /api/chat/chat-1/stream"]);
  });

  it("that finds nothing to resume (204) stays as it is", async () => {
    const stage = await open(wholeRun);
    releaseAll(stage);
    const { chat, chatOf, heard, requests } = stage;
    await chat.sendMessage({ text: "x" });
    const messages = structuredClone(chat.messages);
    const back = chatOf({ messages });
    await back.resumeStream();
    expect(requests.at(-1)).toBe("GET /api/chat/chat-1/stream");
    expect(back.messages).toEqual(messages);
    expect(back.error).toBeUndefined();
    expect(heard.filter((word) => word.startsWith("error"))).toEqual([]);
    expect(back.status).toBe(version.knows204 ? "ready" : "submitted");
  });

  it("that receives again what it has stored has it once, where its version replaces messages", async () => {
    const stage = await open(wholeRun, { replayFinished: true });
    releaseAll(stage);
    await stage.chat.sendMessage({ text: "x" });
    const back = stage.chatOf({ messages: structuredClone(stage.chat.messages) });
    await back.resumeStream();
    const parts = partsOf(back.messages[1]);
    if (version.replacesResumed) expect(parts).toEqual(partsOf(stage.chat.messages[1]));
    else expect(parts.length).toBeGreaterThan(wholeParts.length);
  });

  it("shows a run whose stream is gone by its reply", async () => {
    const stage = await open((run) => run.text("Hello").finish(), { replayFinished: true });
    const run = await stage.startRun();
    await stage.cursor.runs.wait(run);
    stage.emulator.expireStream(run.id);
    const back = stage.chatOf({ messages: [user] });
    await back.resumeStream();
    expect(partsOf(back.messages[1]).at(-1)).toMatchObject({ type: "text", text: "Hello", state: "done" });
    expect(back.status).toBe("ready");
  });
});
