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
  result,
  run,
  source,
  start,
  status,
  text,
  thinking,
} from "./events.ts";

const chunksOf = (...events: RunEvent[]): Promise<UIMessageChunk[]> =>
  collect(toUIMessageStream(source(events)));
const types = (chunks: UIMessageChunk[]) => chunks.map(({ type }) => type);

describe("the end", () => {
  it("is finish for FINISHED, without waiting for done", async () => {
    let left = false;
    const stream = {
      ref,
      async *[Symbol.asyncIterator]() {
        try {
          yield result();
          await new Promise(() => {});
        } finally {
          left = true;
        }
      },
    };
    expect(types(await collect(toUIMessageStream(stream))).slice(-2)).toEqual(["finish-step", "finish"]);
    expect(left).toBe(true);
  });

  it("is abort for CANCELLED, after closed parts", async () => {
    const chunks = await chunksOf(assistant("a"), result({ status: "CANCELLED" }));
    expect(types(chunks).slice(-4)).toEqual(["text-end", "data-run", "finish-step", "abort"]);
  });

  it.each([
    ["ERROR", "The run failed."],
    ["EXPIRED", "The run expired."],
    ["LOST", "The run did not finish."],
  ])("is an error in our own words for %s", async (end, errorText) => {
    const chunks = await chunksOf(assistant("a"), result({ status: end }), done);
    expect(chunks.slice(-3)).toEqual([
      run({ status: end }),
      { type: "finish-step" },
      { type: "error", errorText },
    ]);
  });

  const lost = "The run can't be followed any further. It may still be at work.";
  it.each<[string, Parameters<typeof source>]>([
    ["rejects with an error", [[assistant("a")], new Error("key_SECRET at 10.0.0.1")]],
    ["just ends", [[assistant("a")]]],
    ["ends in done without a result", [[assistant("a"), error, done]]],
    ["is empty", [[]]],
  ])(
    "is an error for a stream that %s, which a client would otherwise take for complete",
    async (_, args) => {
      const chunks = await collect(toUIMessageStream(source(...args)));
      expect(chunks.slice(-2)).toEqual([{ type: "finish-step" }, { type: "error", errorText: lost }]);
      expect(JSON.stringify(chunks)).not.toMatch(/SECRET|secret/);
    },
  );

  it("is the usual one when the reader recovered from an error of the stream", async () => {
    const events = [status("RUNNING"), assistant("a"), error, assistant("b"), result()];
    expect(await chunksOf(...events)).toEqual([...start, ...text(0, "a", "b"), ...finish]);
  });

  it("has the text that onError returns, which is called once with the reason", async () => {
    const cause = new Error("broken");
    const heard: unknown[] = [];
    const onError = (failure: unknown) => {
      heard.push(failure);
      return "Sorry.";
    };
    const chunks = await collect(toUIMessageStream(source([], cause), { onError }));
    expect(chunks.at(-1)).toEqual({ type: "error", errorText: "Sorry." });
    const failed = source([result({ status: "ERROR" })]);
    await collect(toUIMessageStream(failed, { onError: (failure) => void heard.push(failure) }));
    expect(heard).toEqual([{ error: cause }, { status: "ERROR" }]);
  });
});

describe("the result's text", () => {
  const endOf = async (...events: RunEvent[]) => (await chunksOf(...events)).slice(start.length);

  it.each<[string, RunEvent[]]>([
    ["nothing", []],
    ["only white space", [assistant(" \n")]],
    ["only thinking", [thinking("a")]],
  ])("is shown where %s was streamed", async (_, events) => {
    const chunks = await endOf(...events, result({ text: "Hello" }));
    expect(chunks).toContainEqual(expect.objectContaining({ type: "text-delta", delta: "Hello" }));
    expect(chunks).toContainEqual(run({ status: "FINISHED" }));
  });

  it.each([
    ["is what was streamed", ["Hel", "lo"], "Hello"],
    ["is the last of what was streamed", ["I looked. ", "Hello", "\n"], "Hello"],
    ["has nothing in it", ["Hello"], "\n"],
  ])("is not shown again where it %s", async (_, pieces, reply) => {
    expect(await endOf(...pieces.map(assistant), result({ text: reply }))).toEqual([
      ...text(0, ...pieces),
      ...finish,
    ]);
  });

  it("is in data-run where it differs from what was streamed", async () => {
    const chunks = await endOf(assistant("Draft"), result({ text: "Final" }));
    expect(chunks.slice(0, 4)).toEqual([...text(0, "Draft"), run({ status: "FINISHED", text: "Final" })]);
  });

  it("is ignored where it is not a text", async () => {
    expect(await endOf(assistant("a"), result({ text: 7 as never }))).toEqual([...text(0, "a"), ...finish]);
  });
});
