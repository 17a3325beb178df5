import type { RunEvent } from "cursor-cloud-agents";
import {
  toUIMessageStream,
  toUIMessageStreamResponse,
  type UIMessageChunk,
} from "cursor-cloud-agents/ai-sdk";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CUT, END } from "../support/fake-api.ts";
import {
  assistant as assistantFrame,
  done as doneFrame,
  result as resultFrame,
  status as statusFrame,
  thinking as thinkingFrame,
  tool as toolFrame,
} from "../support/frames.ts";
import { ref } from "../support/sample-run.ts";
import { StreamServer } from "../support/stream-server.ts";
import { collect } from "../support/waiting.ts";
import { aiVersions, createChat, until } from "./ai-versions.ts";
import { user } from "./chat-stage.ts";
import {
  assistant,
  done,
  error,
  heartbeat,
  invalid,
  result,
  source,
  status,
  thinking,
  tool,
  unknown,
  update,
} from "./events.ts";
import { problemsOf } from "./grammar.ts";

/** With the keys that the client's parser refuses among the others. */
const json = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc
    .tuple(
      fc.constantFrom("__proto__", "constructor"),
      fc.constantFrom("1", "null", '"x"', '{"prototype":1}', "[{}]"),
    )
    .map(([key, value]) => JSON.parse(`{"a":[{"${key}":${value}}]}`)),
);
const delta = fc.oneof(fc.constantFrom("", " ", "\n"), fc.string({ unit: "binary", maxLength: 8 }));
const flags = fc.option(fc.constant(true as const), { nil: undefined });
const toolEvent = fc
  .record({
    callId: fc.constantFrom("a", "b", "c"),
    state: fc.constantFrom("running", "running", "completed", "queued"),
    args: fc.option(json, { nil: undefined }),
    result: fc.option(fc.oneof(json, fc.record({ success: json }), fc.record({ error: json })), {
      nil: undefined,
    }),
    truncated: fc.option(fc.record({ args: flags, result: flags }), { nil: undefined }),
  })
  .map(({ callId, state, ...rest }) => tool(callId, state, JSON.parse(JSON.stringify(rest))));
const statusName = fc.constantFrom("CREATING", "RUNNING", "FINISHED", "ERROR", "CANCELLED", "PAUSED");
const event = fc.oneof(
  delta.map(assistant),
  delta.map(assistant),
  delta.map(thinking),
  toolEvent,
  statusName.map(status),
  fc.constantFrom(error, heartbeat, unknown, invalid, update),
);
const outcome = fc
  .record({ status: statusName, text: fc.option(delta, { nil: undefined }), durationMs: fc.nat() })
  .map((data) => result(JSON.parse(JSON.stringify(data))));
/** How a stream may end: with its result, without, broken. */
const ending = fc.oneof(
  outcome.map((end) => ({ events: [end, done], failure: undefined })),
  fc.constantFrom(
    { events: [], failure: undefined },
    { events: [done], failure: undefined },
    { events: [], failure: new Error("broken") },
  ),
);
const story = fc.tuple(fc.array(event, { maxLength: 24 }), ending).map(([events, end]) => ({
  events: [...events, ...end.events] as RunEvent[],
  failure: end.failure,
}));

const textsOf = (chunks: UIMessageChunk[], type: "text-delta" | "reasoning-delta") =>
  chunks.flatMap((chunk) => (chunk.type === type ? [chunk.delta] : []));

describe("for any events and any end of a run", () => {
  it("the chunks keep the protocol's grammar", async () => {
    const property = fc.asyncProperty(story, async ({ events, failure }) => {
      const chunks = await collect(toUIMessageStream(source(events, failure)));
      expect(problemsOf(chunks)).toEqual([]);
    });
    await fc.assert(property, { numRuns: 500 });
  });

  it("no piece is lost or doubled", async () => {
    const property = fc.asyncProperty(story, async ({ events, failure }) => {
      const chunks = await collect(toUIMessageStream(source(events, failure)));
      const piecesOf = (type: "assistant" | "thinking") =>
        events.flatMap((one) => (one.type === type ? [one.data.text] : []));
      const said = piecesOf("assistant");
      const end = events.find((one) => one.type === "result")?.data;
      const isSilent = said.join("").trim() === "" && (end?.text ?? "").trim() !== "";
      expect(textsOf(chunks, "text-delta")).toEqual(isSilent ? [...said, end?.text] : said);
      expect(textsOf(chunks, "reasoning-delta")).toEqual(piecesOf("thinking"));
      const calls = new Set(events.flatMap((one) => (one.type === "tool_call" ? [one.data.callId] : [])));
      const shown = chunks.flatMap((one) => (one.type === "tool-input-available" ? [one.toolCallId] : []));
      expect(new Set(shown)).toEqual(calls);
    });
    await fc.assert(property, { numRuns: 300 });
  });

  it.each(aiVersions)("$name accepts every chunk unchanged", async (version) => {
    const ai = await version.ai();
    const property = fc.asyncProperty(story, async ({ events, failure }) => {
      const fetch = async () => toUIMessageStreamResponse(source(events, failure));
      const transport = new ai.DefaultChatTransport({ api: "https://app.example/api/chat", fetch });
      const received = await transport.sendMessages({
        trigger: "submit-message",
        chatId: "chat-1",
        messageId: undefined,
        messages: [user],
        abortSignal: undefined,
      });
      // Its schemas are strict where they are old: one that doesn't fit rejects.
      const chunks = await collect(toUIMessageStream(source(events, failure)));
      expect(await collect(received)).toEqual(JSON.parse(JSON.stringify(chunks)));
    });
    await fc.assert(property, { numRuns: 60 });
  });

  it.each(aiVersions)("$name makes a message that says how the run ended", async (version) => {
    const ai = await version.ai();
    const property = fc.asyncProperty(story, async ({ events, failure }) => {
      const fetch = async () => toUIMessageStreamResponse(source(events, failure));
      const transport = new ai.DefaultChatTransport({ api: "https://app.example/api/chat", fetch });
      const chat = createChat(ai, { id: "chat-1", transport });
      await chat.sendMessage({ text: "x" });
      const last = (await collect(toUIMessageStream(source(events, failure)))).at(-1)!;
      await until(() => chat.status === "ready" || chat.status === "error", "an end");
      expect(chat.error?.message).toBe(last.type === "error" ? last.errorText : undefined);
    });
    await fc.assert(property, { numRuns: 40 });
  });
});

it("a run cut at any byte and resumed is the same answer, byte by byte", async () => {
  const frames = [
    thinkingFrame("1-0", "Hm"),
    toolFrame("2-0", "a", "running", { args: { path: "x" } }),
    toolFrame("3-0", "a", "completed", { result: { success: "👋" } }),
    assistantFrame("4-0", "Hel"),
    assistantFrame("5-0", "lo"),
    resultFrame(),
    doneFrame,
  ];
  const idOf = (frame: string) => /^id: (.*)/.exec(frame)?.[1];
  const wire = new TextEncoder().encode(statusFrame("CREATING") + statusFrame() + frames.join(""));
  const read = (server: StreamServer) =>
    server.run(toUIMessageStreamResponse(server.cursor().runs.stream(ref)).text());
  const whole = await read(new StreamServer([END(wire)]));
  const property = fc.asyncProperty(fc.integer({ min: 0, max: wire.length }), async (at) => {
    const server = new StreamServer(({ lastEventId }, index) => {
      if (index === 0) return CUT(wire.subarray(0, at));
      const position = frames.map(idOf).lastIndexOf(lastEventId);
      return END(statusFrame() + frames.slice(lastEventId === undefined ? 0 : position + 1).join(""));
    });
    expect(await read(server)).toBe(whole);
  });
  await fc.assert(property, { numRuns: 150 });
});

describe("a sequence that breaks the grammar is detected", () => {
  const good = () => collect(toUIMessageStream(source([assistant("a"), tool("t", "running"), result()])));

  it.each<[string, (chunks: UIMessageChunk[]) => unknown, string]>([
    ["without an end", (chunks) => chunks.pop(), "ends in finish, abort or error"],
    ["with two ends", (chunks) => chunks.push({ type: "finish" }), "finish comes once"],
    [
      "with an open block",
      (chunks) =>
        chunks.splice(
          chunks.findIndex(({ type }) => type === "text-end"),
          1,
        ),
      "a new tool closes the block before it",
    ],
    [
      "with a delta without its block",
      (chunks) => chunks.splice(3, 0, { type: "text-delta", id: "x", delta: "" }),
      "a delta has its open block",
    ],
    [
      "with an output without its input",
      (chunks) =>
        chunks.splice(
          chunks.findIndex(({ type }) => type === "tool-input-available"),
          1,
        ),
      "an output has its input, and is one",
    ],
    [
      "with a field of a later version",
      (chunks) => Object.assign(chunks.at(-1)!, { finishReason: "stop" }),
      "finish has no finishReason",
    ],
  ])("%s", async (_, spoil, problem) => {
    const chunks = await good();
    expect(problemsOf(chunks)).toEqual([]);
    spoil(chunks);
    expect(problemsOf(chunks)).toContain(problem);
  });
});
