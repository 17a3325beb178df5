import type { RunEvent } from "cursor-cloud-agents";
import { toUIMessageStream, type UIMessageChunk } from "cursor-cloud-agents/ai-sdk";
import { describe, expect, it } from "vitest";
import { ref } from "../support/sample-run.ts";
import { collect } from "../support/waiting.ts";
import {
  assistant,
  done,
  error,
  finish,
  heartbeat,
  invalid,
  reasoning,
  remote,
  result,
  run,
  source,
  start,
  status,
  text,
  thinking,
  tool,
  unknown,
  update,
} from "./events.ts";

const chunksOf = (...events: RunEvent[]): Promise<UIMessageChunk[]> =>
  collect(toUIMessageStream(source(events)));
/** What lies between the usual start and a good end. */
const partsOf = async (...events: RunEvent[]): Promise<UIMessageChunk[]> => {
  const chunks = await chunksOf(status("RUNNING"), ...events, result());
  expect(chunks.slice(0, start.length)).toEqual(start);
  expect(chunks.slice(-finish.length)).toEqual(finish);
  return chunks.slice(start.length, -finish.length);
};
const types = (chunks: UIMessageChunk[]) => chunks.map(({ type }) => type);
const input = (callId: string, value: unknown) => ({
  type: "tool-input-available",
  ...remote(callId),
  toolName: "read_file",
  input: value,
});
const output = (callId: string, value: unknown) => ({
  type: "tool-output-available",
  ...remote(callId),
  output: value,
});
const outputError = (callId: string, errorText: string) => ({
  type: "tool-output-error",
  ...remote(callId),
  errorText,
});

describe("text and reasoning", () => {
  it("are blocks that open with their first piece and close when the kind changes", async () => {
    const events = [thinking("Hm"), thinking("m"), assistant("Hel"), assistant("lo"), thinking("Ah")];
    expect(await partsOf(...events)).toEqual([
      ...reasoning(0, "Hm", "m"),
      ...text(1, "Hel", "lo"),
      ...reasoning(2, "Ah"),
    ]);
  });

  it("keep pieces that are empty or only white space", async () => {
    const pieces = ["Hello", " ", "\n", "world", ""];
    expect(await partsOf(...pieces.map(assistant))).toEqual(text(0, ...pieces));
  });

  it("start a new block after a new tool, and continue through an update of an earlier one", async () => {
    const events = [
      assistant("Look"),
      tool("a", "running", { args: { path: "x" } }),
      assistant("Rea"),
      tool("a", "completed", { result: { success: { content: "y" } } }),
      assistant("ding"),
    ];
    expect(await partsOf(...events)).toEqual([
      ...text(0, "Look"),
      input("a", { path: "x" }),
      ...text(1, "Rea").slice(0, -1),
      output("a", { success: { content: "y" } }),
      ...text(1, "ding").slice(1),
    ]);
  });
});

describe("a tool call", () => {
  it("is updated in place as its arguments grow, and sent once where nothing changed", async () => {
    const events = [
      tool("a", "running"),
      tool("a", "running", { args: { path: "x" } }),
      tool("a", "running", { args: { path: "x", limit: 4 } }),
      tool("a", "running", { args: { path: "x", limit: 4 } }),
      tool("a", "completed", { args: { path: "x", limit: 4 }, result: { success: 1 } }),
    ];
    expect(await partsOf(...events)).toEqual([
      input("a", {}),
      input("a", { path: "x" }),
      input("a", { path: "x", limit: 4 }),
      output("a", { success: 1 }),
    ]);
  });

  it("has its input first when it completes without having run", async () => {
    expect(await partsOf(tool("a", "completed", { args: { b: 1 }, result: { success: 2 } }))).toEqual([
      input("a", { b: 1 }),
      output("a", { success: 2 }),
    ]);
  });

  it.each([
    ["a text", "not found", "not found"],
    ["an object with a message", { message: "not found", code: 3 }, "not found"],
    ["any other object", { errno: 3 }, '{"errno":3}'],
    ["an empty text", "", "The tool failed."],
    ["a falsy value", false, "false"],
  ])("that failed with %s is its own error, and the message goes on", async (_, failure, errorText) => {
    const events = [
      tool("a", "completed", { result: { error: failure, isBackground: false } }),
      assistant("on"),
    ];
    expect(await partsOf(...events)).toEqual([input("a", {}), outputError("a", errorText), ...text(0, "on")]);
  });

  it.each([[{ success: { a: 1 }, error: null }], [{ success: {}, error: "beside" }], [null], ["done"], [0]])(
    "whose result is %j has not failed",
    async (value) => {
      expect(await partsOf(tool("a", "completed", { result: value }))).toEqual([
        input("a", {}),
        output("a", value),
      ]);
    },
  );

  it("is marked where the server left its arguments or result out for their size", async () => {
    const events = [
      tool("a", "running"),
      tool("a", "completed", { truncated: { args: true, result: true } }),
      tool("b", "running", { args: { known: 1 } }),
      tool("b", "completed", { truncated: { args: true } }),
    ];
    expect(await partsOf(...events)).toEqual([
      input("a", {}),
      input("a", { truncated: true }),
      output("a", { truncated: true }),
      input("b", { known: 1 }),
      output("b", null),
    ]);
  });

  it.each([
    ['{"a":{"__proto__":{"b":1}}}', true],
    ['{"constructor":{"prototype":1}}', true],
    ['{"constructor":null}', true],
    ['{"constructor":"x"}', false],
    ['{"code":"{\\"__proto__\\":1}"}', false],
  ])("with keys that the client would reject is sent as text: %s", async (json, isText) => {
    const told = isText ? json : JSON.parse(json);
    const events = [tool("a", "running", { args: JSON.parse(json) })];
    events.push(tool("a", "completed", { result: JSON.parse(json) }));
    expect(await partsOf(...events)).toEqual([input("a", told), output("a", told)]);
  });

  it("stays as it is once it has its output", async () => {
    const completed = tool("a", "completed", { result: { success: 1 } });
    const events = [completed, tool("a", "running", { args: { late: 1 } }), completed];
    expect(await partsOf(...events)).toEqual([input("a", {}), output("a", { success: 1 })]);
  });

  it("in a status that this version doesn't know is still running", async () => {
    expect(await partsOf(tool("a", "queued"), tool("a", "completed", { result: 1 }))).toEqual([
      input("a", {}),
      output("a", 1),
    ]);
  });

  it.each(["FINISHED", "CANCELLED", "ERROR"])(
    "that is open at a %s run's end is ended, so that no page waits for it",
    async (end) => {
      const chunks = await chunksOf(tool("a", "running"), result({ status: end }));
      expect(chunks).toContainEqual(outputError("a", "The run ended without this tool's result."));
    },
  );
});

describe("the run itself", () => {
  it("is the message's first part, and replaced in place", async () => {
    const git = { branches: [{ repoUrl: "github.com/your-org/your-repo", branch: "cursor/x" }] };
    const outcome = { durationMs: 12, git };
    const chunks = await chunksOf(status("RUNNING"), status("PAUSED"), assistant("a"), result(outcome));
    expect(chunks.filter(({ type }) => type === "data-run")).toEqual([
      run(),
      run({ status: "RUNNING" }),
      run({ status: "PAUSED" }),
      run({ status: "FINISHED", ...outcome }),
    ]);
    expect(types(chunks).indexOf("data-run")).toBe(2);
  });

  it("is the same, whichever statuses its stream opened with", async () => {
    const story = [thinking("a"), assistant("b"), result()];
    const live = await chunksOf(status("CREATING"), status("RUNNING"), ...story);
    expect(await chunksOf(status("RUNNING"), ...story)).toEqual(live);
    expect(await chunksOf(status("FINISHED"), ...story)).toEqual(live);
    expect(await chunksOf(...story)).toEqual(live);
  });

  it("is over by its result, never by a status", async () => {
    const chunks = await chunksOf(status("FINISHED"), assistant("a"), result({ status: "CANCELLED" }));
    expect(chunks.at(-1)).toEqual({ type: "abort" });
    expect(chunks.filter((chunk) => chunk.type === "data-run").map(({ data }) => data.status)).toEqual([
      undefined,
      "RUNNING",
      "CANCELLED",
    ]);
  });
});

it("events that a message doesn't show produce no chunks", async () => {
  const events = [unknown, invalid, update, heartbeat, assistant("a"), update, heartbeat, assistant("b")];
  expect(await partsOf(...events)).toEqual(text(0, "a", "b"));
});

it("nothing follows the end", async () => {
  const chunks = await chunksOf(result(), assistant("late"), error, done);
  expect(chunks).toEqual([...start, ...finish]);
});

it("metadata comes with the message's start", async () => {
  const chunks = await collect(toUIMessageStream(source([]), { messageMetadata: { model: "m" } }));
  expect(chunks[0]).toEqual({ type: "start", messageId: ref.id, messageMetadata: { model: "m" } });
});
