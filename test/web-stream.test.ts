import { getEventListeners } from "node:events";
import { ManualClock } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import {
  EventStreamBody,
  type EventStreamBodyOptions,
  encodeComment,
  encodeMessage,
  encodeRetry,
} from "../src/web-stream.ts";

/** Messages that come when they are sent. */
function source() {
  type Result = IteratorResult<string, undefined>;
  const waiting: { resolve(result: Result): void; reject(error: unknown): void }[] = [];
  const state = { asked: 0 };
  const messages: AsyncIterator<string, undefined> = {
    next: () => {
      state.asked++;
      return new Promise<Result>((resolve, reject) => waiting.push({ resolve, reject }));
    },
  };
  return {
    state,
    messages,
    send: (value: string) => waiting.shift()?.resolve({ done: false, value }),
    end: () => waiting.shift()?.resolve({ done: true, value: undefined }),
    fail: (error: unknown) => waiting.shift()?.reject(error),
  };
}

function open(options: Partial<EventStreamBodyOptions> = {}) {
  const clock = new ManualClock();
  const { messages, ...rest } = source();
  const closed: string[] = [];
  const onClose = () => closed.push("closed");
  const body = new EventStreamBody(messages, {
    clock,
    keepAlive: 1_000,
    keepAliveComment: ": \n\n",
    onClose,
    ...options,
  });
  const reader = body.stream.getReader();
  const pieces: (string | undefined)[] = [];
  const read = async () => {
    const { value } = await reader.read();
    pieces.push(value && new TextDecoder().decode(value));
  };
  return { clock, body, reader, pieces, read, closed, ...rest };
}

describe("the encoder", () => {
  it("writes the fields of a message as lines", () => {
    expect(encodeMessage({ data: "1" })).toBe("data: 1\n\n");
    expect(encodeMessage({ id: "", event: "x", data: "1" })).toBe("id: \nevent: x\ndata: 1\n\n");
  });

  it("writes comments and the time until a reconnect", () => {
    expect(encodeComment("") + encodeComment("open")).toBe(": \n\n: open\n\n");
    expect(encodeRetry(10)).toBe("retry: 10\n\n");
  });
});

describe("an event stream's body", () => {
  it("asks for a message only when it is read", async () => {
    const { clock, state, read, send, pieces } = open();
    await clock.advance(900);
    expect([state.asked, clock.pending]).toEqual([0, 0]);
    const reading = read();
    await clock.advance(0);
    expect(state.asked).toBe(1);
    send("a");
    await reading;
    expect([pieces, state.asked, clock.pending]).toEqual([["a"], 1, 0]);
  });

  it("writes a comment in silence, counted from the last write, and keeps the message that it waits for", async () => {
    const { clock, state, read, send, pieces } = open();
    void read();
    await clock.advance(600);
    send("a");
    await clock.advance(300);
    void read();
    await clock.advance(699);
    expect(pieces).toEqual(["a"]);
    await clock.advance(1);
    expect(pieces).toEqual(["a", ": \n\n"]);
    void read();
    send("b");
    await clock.advance(0);
    expect(pieces).toEqual(["a", ": \n\n", "b"]);
    expect(state.asked).toBe(2);
  });

  it.each([Number.POSITIVE_INFINITY, 2 ** 31])("never writes a comment after %d ms", async (keepAlive) => {
    const { clock, read, pieces } = open({ keepAlive });
    void read();
    expect(await clock.next()).toBe(false);
    expect(pieces).toEqual([]);
  });

  it("ends after the last message", async () => {
    const { clock, read, end, pieces, closed } = open();
    const reading = read();
    await clock.advance(0);
    end();
    await reading;
    expect([pieces, closed, clock.pending]).toEqual([[undefined], ["closed"], 0]);
  });

  it("breaks with the source's error", async () => {
    const { clock, body, read, fail, closed } = open({ maxDuration: 5_000 });
    const reading = read();
    await clock.advance(0);
    fail(new Error("odd"));
    await expect(reading).rejects.toThrow("odd");
    expect([closed, clock.pending, body.signal.aborted]).toEqual([["closed"], 0, true]);
  });

  it.each(["a cancel", "the signal", "the maximum duration", "close()"])(
    "is closed once by %s, while a read waits",
    async (way) => {
      const left = new AbortController();
      const all = open({ signal: left.signal, maxDuration: 900 });
      const { clock, body, reader, read, pieces, closed, send } = all;
      const reading = read();
      await clock.advance(899);
      expect(getEventListeners(left.signal, "abort")).toHaveLength(1);
      if (way === "a cancel") await reader.cancel();
      else if (way === "the signal") left.abort();
      else if (way === "close()") body.close();
      else await clock.advance(1);
      await reading;
      expect([pieces, closed, clock.pending]).toEqual([[undefined], ["closed"], 0]);
      expect(getEventListeners(left.signal, "abort")).toEqual([]);
      expect(body.signal.aborted).toBe(true);
      // Everything that comes later finds it closed.
      send("late");
      left.abort();
      body.close();
      await clock.advance(10_000);
      expect(closed).toEqual(["closed"]);
    },
  );

  it("is closed by the maximum duration while nobody reads", async () => {
    const { clock, read, pieces, closed } = open({ maxDuration: 900 });
    await clock.advance(900);
    expect(closed).toEqual(["closed"]);
    await read();
    expect(pieces).toEqual([undefined]);
  });

  it("is closed from the beginning when the signal has already aborted", async () => {
    const { clock, state, read, pieces, closed } = open({ signal: AbortSignal.abort(), maxDuration: 900 });
    await read();
    expect([pieces, closed, state.asked, clock.pending]).toEqual([[undefined], ["closed"], 0, 0]);
  });
});
