import { readFileSync } from "node:fs";
import { emptyTranscript, type RunEvent, reduceTranscript, type Transcript } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import { END } from "../support/fake-api.ts";
import { readAll, StreamServer } from "../support/stream-server.ts";

const event = (type: string, data: object, id = "1"): RunEvent => ({ type, data, id }) as RunEvent;
const text = (value: string) => event("assistant", { text: value });
const call = (callId: string, status: string, more: object = {}) =>
  event("tool_call", { callId, name: "read_file", status, ...more });
const update = (data: object) => event("interaction_update", data);
const reduce = (events: RunEvent[], from: Transcript = emptyTranscript) =>
  events.reduce(reduceTranscript, from);

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) freeze(part);
  }
  return value;
}

describe("a transcript", () => {
  it("gathers text and thinking as they come, blanks and empty pieces included", () => {
    const events = ["Hello", " ", "\n", "world", ""].map(text);
    expect(reduce(events)).toEqual({ text: "Hello \nworld", thinking: "", tools: [], family: "simplified" });
    expect(reduce([event("thinking", { text: "hm" }), event("thinking", { text: "…" })]).thinking).toBe(
      "hm…",
    );
  });

  it("keeps one entry per call, in the order of first appearance, in its latest state", () => {
    const { tools } = reduce([
      call("a", "running"),
      call("b", "running", { args: { path: "x" } }),
      call("a", "running", { args: { path: "y" } }),
      call("a", "completed", { result: { success: {} } }),
      call("b", "completed", { args: { path: "x", limit: 1 }, truncated: { result: true } }),
    ]);
    expect(tools).toEqual([
      { callId: "a", name: "read_file", status: "completed", args: { path: "y" }, result: { success: {} } },
      {
        callId: "b",
        name: "read_file",
        status: "completed",
        args: { path: "x", limit: 1 },
        truncated: { result: true },
      },
    ]);
  });

  it("is made of one family only, the first to arrive", () => {
    const simplified = [text("Hel"), call("a", "running")];
    const twins = [
      update({ type: "text-delta", text: "Hel" }),
      update({ type: "tool-call-started", callId: "a", toolCall: { type: "read" } }),
    ];
    for (const events of [
      [simplified[0]!, twins[0]!, simplified[1]!, twins[1]!],
      [twins[0]!, simplified[0]!, twins[1]!, simplified[1]!],
    ]) {
      const transcript = reduce(events);
      expect(transcript.text).toBe("Hel");
      expect(transcript.tools).toHaveLength(1);
    }
    expect(reduce([update({ type: "step-started" }), ...simplified]).family).toBe("simplified");
  });

  it("reads interaction updates of any shape without failing", () => {
    const transcript = reduce([
      update({ type: "thinking-delta", text: "hm" }),
      update({ type: "text-delta", text: "ok" }),
      update({ type: "partial-tool-call", callId: "a", toolCall: { type: "shell", args: { command: "l" } } }),
      update({
        type: "tool-call-started",
        callId: "a",
        toolCall: { type: "shell", args: { command: "ls" } },
      }),
      update({
        type: "tool-call-completed",
        callId: "a",
        toolCall: { type: "shell", args: { command: "ls" }, result: { status: "success" } },
      }),
      update({ type: "tool-call-started", callId: "b", toolCall: null }),
      update({ type: "tool-call-started" }),
      update({ type: "text-delta" }),
      update({ type: "text-delta", text: 5 }),
      update({ type: "hologram-delta" }),
    ]);
    expect(transcript).toEqual({
      text: "ok",
      thinking: "hm",
      tools: [
        {
          callId: "a",
          name: "shell",
          status: "completed",
          args: { command: "ls" },
          result: { status: "success" },
        },
        { callId: "b", name: "unknown", status: "running" },
      ],
      family: "interaction",
    });
  });

  it("never changes what it was made of, and shares the unchanged parts", () => {
    const start = freeze(reduce([text("a"), call("a", "running", { args: {} }), call("b", "running")]));
    const events = freeze([
      text("b"),
      call("b", "completed"),
      call("c", "running"),
      event("thinking", { text: "t" }),
    ]);
    const copy = structuredClone(start);
    const end = reduce(events, start);
    expect(start).toEqual(copy);
    expect(end).not.toBe(start);
    expect(end.tools[0]).toBe(start.tools[0]);
    expect(reduceTranscript(start, text("x")).tools).toBe(start.tools);
    expect(reduce(events, start)).toEqual(end);
  });

  it("stays the same object where nothing changes", () => {
    const transcript = reduce([text("a")]);
    for (const nothing of [
      event("status", { status: "RUNNING" }),
      event("heartbeat", {}),
      event("result", { status: "FINISHED", text: "other words" }),
      event("done", {}),
      event("error", { code: "x", message: "never part of the text" }),
      { type: "unknown", name: "n", data: {} } as RunEvent,
      { type: "invalid", name: "assistant", raw: "{" } as RunEvent,
      update({ type: "text-delta", text: "a" }),
      update({ type: "step-started" }),
    ]) {
      expect(reduceTranscript(transcript, nothing), nothing.type).toBe(transcript);
      expect(reduceTranscript(emptyTranscript, { ...nothing, type: "heartbeat" } as RunEvent)).toBe(
        emptyTranscript,
      );
    }
    expect(Object.keys(emptyTranscript)).toEqual(["text", "thinking", "tools"]);
  });

  it("of a whole run is the same text in every mode", async () => {
    const body = readFileSync(new URL("../../fixtures/finished-with-edits.sse", import.meta.url), "utf8");
    const read = async (include: "simplified" | "interaction" | "all") =>
      reduce(await readAll(new StreamServer([END(body)]), { include }));
    const [simplified, interaction, all] = [
      await read("simplified"),
      await read("interaction"),
      await read("all"),
    ];
    expect(all).toEqual(simplified);
    expect(interaction.text).toBe(simplified.text);
    expect(interaction.thinking).toBe(simplified.thinking);
    expect(interaction.tools.map(({ callId, status }) => [callId, status])).toEqual(
      simplified.tools.map(({ callId, status }) => [callId, status]),
    );
    expect(simplified.tools).toHaveLength(4);
    expect(simplified.tools.at(-1)).toMatchObject({ truncated: { result: true } });
  });
});
