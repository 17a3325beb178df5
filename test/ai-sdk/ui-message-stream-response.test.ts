import { isArgumentError } from "cursor-cloud-agents";
import { toUIMessageStream, toUIMessageStreamResponse } from "cursor-cloud-agents/ai-sdk";
import { describe, expect, it } from "vitest";
import { CUT, END, failedResponse, STALL } from "../support/fake-api.ts";
import {
  assistant as assistantFrame,
  done as doneFrame,
  result as resultFrame,
  status as statusFrame,
  thinking as thinkingFrame,
  tooDeep,
} from "../support/frames.ts";
import { ref, runOf } from "../support/sample-run.ts";
import { StreamServer } from "../support/stream-server.ts";
import { collect } from "../support/waiting.ts";
import { assistant, feed, result, source } from "./events.ts";
import { chunksOf, messagesOf, readerOf } from "./sse.ts";

const ending = resultFrame() + doneFrame;
const hello = assistantFrame("100-0", "Hello");
const types = (body: string) => chunksOf(body).map(({ type }) => type);

describe("the answer", () => {
  it("has the headers of a UI message stream, and no connection header", async () => {
    const response = toUIMessageStreamResponse(source([]));
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toEqual({
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-store, no-transform",
      "x-vercel-ai-ui-message-stream": "v1",
      "x-accel-buffering": "no",
      "x-content-type-options": "nosniff",
    });
    await response.body!.cancel();
  });

  it("accepts additional headers, which replace ours", () => {
    const headers = { "Set-Cookie": "a=1", "cache-control": "no-store", "x-none": undefined };
    const response = toUIMessageStreamResponse(source([]), { headers });
    expect(response.headers.get("set-cookie")).toBe("a=1");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.has("x-none")).toBe(false);
    const pairs = toUIMessageStreamResponse(source([]), { headers: [["x-a", "1"]] });
    expect(pairs.headers.get("x-a")).toBe("1");
  });

  it("is one message per chunk, the same chunks as the stream's, and [DONE]", async () => {
    const events = [assistant("a\n\nb  \u2028"), result()];
    const body = await toUIMessageStreamResponse(source(events)).text();
    expect(chunksOf(body)).toEqual(await collect(toUIMessageStream(source(events))));
  });

  it("begins before the run produces output", async () => {
    const { stream, state } = feed();
    const reader = readerOf(toUIMessageStreamResponse(stream));
    expect(messagesOf((await reader.next())!)).toHaveLength(3);
    expect(state.asked).toBe(0);
    await reader.cancel();
  });
});

describe("the answer over a run's stream", () => {
  it("does not show a cut that is resumed", async () => {
    const server = new StreamServer([
      CUT(statusFrame(), thinkingFrame("99-0", "Hm"), hello.slice(0, -10)),
      END(statusFrame(), hello, ending),
    ]);
    const whole = new StreamServer([END(statusFrame(), thinkingFrame("99-0", "Hm"), hello, ending)]);
    const read = (from: StreamServer) =>
      from.run(toUIMessageStreamResponse(from.cursor().runs.stream(ref)).text());
    expect(await read(server)).toBe(await read(whole));
  });

  it("leaves out a tool whose arguments nest too deep to be written as JSON, and continues", async () => {
    const server = new StreamServer([END(statusFrame(), tooDeep("99-0"), hello, ending)]);
    const body = await server.run(toUIMessageStreamResponse(server.cursor().runs.stream(ref)).text());
    expect(types(body).slice(-6)).toEqual([
      "text-start",
      "text-delta",
      "text-end",
      "data-run",
      "finish-step",
      "finish",
    ]);
  });

  it("ends in an error where a cut can't be resumed", async () => {
    const server = new StreamServer([CUT(statusFrame(), hello), failedResponse(401, "unauthorized")], {
      runs: [failedResponse(401, "unauthorized")],
    });
    const body = await server.run(toUIMessageStreamResponse(server.cursor().runs.stream(ref)).text());
    expect(types(body).slice(-3)).toEqual(["text-end", "finish-step", "error"]);
    expect(body).not.toMatch(/unauthorized|api\.cursor/);
  });

  it("ends in the reply of Get A Run where the stream is gone", async () => {
    const server = new StreamServer([failedResponse(410, "stream_expired")], {
      runs: ["RUNNING", runOf("FINISHED", { result: "Hello" })],
    });
    const body = await server.run(toUIMessageStreamResponse(server.cursor().runs.stream(ref)).text());
    expect(chunksOf(body)).toContainEqual({ type: "text-delta", id: "text-0", delta: "Hello" });
    expect(types(body).at(-1)).toBe("finish");
  });

  it("closes the run's stream at once when the client leaves, and never cancels the run", async () => {
    const server = new StreamServer([STALL(statusFrame(), hello)]);
    const clock = server.clock;
    const response = toUIMessageStreamResponse(server.cursor().runs.stream(ref), { clock });
    const reader = readerOf(response);
    for (let body = ""; !body.includes("Hello"); ) body += await server.run(reader.next());
    const waiting = reader.next();
    await clock.advance(1);
    expect(server.openBodies).toBe(1);
    await reader.cancel();
    expect(await waiting).toBeUndefined();
    expect(server.openBodies).toBe(0);
    expect(clock.pending).toBe(0);
    expect(server.requests.map(({ method }) => method)).toEqual(["GET"]);
  });

  it("closes the run's stream when the stream of chunks is cancelled", async () => {
    const server = new StreamServer([STALL(statusFrame(), hello)]);
    const reader = toUIMessageStream(server.cursor().runs.stream(ref)).getReader();
    for (let type = ""; type !== "text-delta"; ) type = (await server.run(reader.read())).value!.type;
    const waiting = reader.read();
    await server.clock.advance(1);
    await reader.cancel();
    expect((await waiting).done).toBe(true);
    expect(server.openBodies).toBe(0);
    expect(server.clock.pending).toBe(0);
  });

  it("leaves the result available to other callers, even after the client has left", async () => {
    const server = new StreamServer([
      STALL(statusFrame(), hello),
      END(statusFrame(), assistantFrame("101-0", "!"), ending),
    ]);
    const stream = server.cursor().runs.stream(ref);
    const response = toUIMessageStreamResponse(stream, { clock: server.clock });
    const outcome = stream.result();
    await server.run(response.body!.getReader().cancel());
    expect(await server.run(outcome)).toMatchObject({ status: "FINISHED", text: "Hello" });
  });
});

describe("a slow reader", () => {
  const many = Array.from({ length: 50 }, (_, index) => assistant(String(index)));
  const counted = () => {
    const count = { given: 0 };
    const stream = {
      ref,
      async *[Symbol.asyncIterator]() {
        for (const event of many) {
          count.given++;
          yield event;
        }
      },
    };
    return { count, stream };
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));

  it("of the answer slows the run's stream down", async () => {
    const { count, stream } = counted();
    const reader = readerOf(toUIMessageStreamResponse(stream));
    await settle();
    expect(count.given).toBe(0);
    for (let event = 0; event <= 5; event++) await reader.next();
    await settle();
    expect(count.given).toBe(5);
    await reader.cancel();
  });

  it("of the chunks slows the run's stream down, too", async () => {
    const { count, stream } = counted();
    const reader = toUIMessageStream(stream).getReader();
    await settle();
    expect(count.given).toBe(0);
    // Three to start with; RUNNING, text-start and the first delta; one more delta.
    for (let chunk = 0; chunk < 7; chunk++) await reader.read();
    await settle();
    expect(count.given).toBe(2);
    await reader.cancel();
  });
});

describe("a client that leaves while events arrive", () => {
  it.each(["answer", "chunks"])("causes no unhandled rejection: %s", async (kind) => {
    for (let round = 0; round < 100; round++) {
      const { stream, send, state } = feed();
      const body = kind === "answer" ? toUIMessageStreamResponse(stream).body! : toUIMessageStream(stream);
      const reader: ReadableStreamDefaultReader<unknown> = body.getReader();
      const reads = Array.from({ length: 6 }, () => reader.read());
      for (let turn = 0; turn < round % 10; turn++) await undefined;
      const acts: (() => unknown)[] = [
        () => send(assistant("a")),
        () => send(assistant("b")),
        () => send(result()),
      ];
      acts.splice(round % 4, 0, () => reader.cancel());
      for (const act of acts) {
        act();
        for (let turn = 0; turn < Math.floor(round / 25); turn++) await undefined;
      }
      await Promise.all(reads);
      expect(state.left).toBe(1);
    }
    await new Promise((resolve) => setImmediate(resolve));
  });

  it("does not wait for a pending generator, and ignores what it throws at its end", async () => {
    const stream = {
      ref,
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => {}),
        return: () => Promise.reject(new Error("at the end")),
      }),
    };
    const reader = readerOf(toUIMessageStreamResponse(stream));
    await reader.next();
    const waiting = reader.next();
    await reader.cancel();
    expect(await waiting).toBeUndefined();
  });
});

it("an onError that throws breaks the answer, which would otherwise look complete", async () => {
  const onError = () => {
    throw new Error("own fault");
  };
  const failed = source([result({ status: "ERROR" })]);
  await expect(toUIMessageStreamResponse(failed, { onError }).text()).rejects.toThrow("own fault");
  await expect(collect(toUIMessageStream(source([]), { onError }))).rejects.toThrow("own fault");
});

it.each<[string, unknown, unknown]>([
  ["stream", undefined, {}],
  ["stream", {}, {}],
  ["stream", [assistant("a")], {}],
  ["stream", { ref: { agentId: "a" }, [Symbol.asyncIterator]: () => {} }, {}],
  ["options", source([]), null],
  ["options", source([]), "x"],
  ["messageID", source([]), { messageID: "x" }],
  ["onError", source([]), { onError: "x" }],
  ["keepAlive", source([]), { keepAlive: 0 }],
  ["keepAlive", source([]), { keepAlive: Number.NaN }],
  ["clock", source([]), { clock: {} }],
  ["headers", source([]), { headers: { "x-a": "key_SECRET\n." } }],
])("an invalid %s is rejected at once: %j, %j", (argument, stream, options) => {
  let thrown: unknown;
  try {
    toUIMessageStreamResponse(stream as never, options as never);
  } catch (error) {
    thrown = error;
  }
  expect(isArgumentError(thrown) && thrown.argument).toBe(argument);
  expect(String(thrown)).not.toContain("SECRET");
});

it("options of the answer are unknown to the stream of chunks", () => {
  const options = { keepAlive: 1 } as object;
  expect(() => toUIMessageStream(source([]), options)).toThrow("unknown option");
});

it("a clock without `now` is an error before there is an answer", () => {
  const clock = { setTimeout, clearTimeout } as never;
  expect(() => toUIMessageStreamResponse(source([]), { clock })).toThrow(
    expect.objectContaining({ argument: "clock" }),
  );
});
