import { toUIMessageStreamResponse, type UIMessageStreamResponseOptions } from "cursor-cloud-agents/ai-sdk";
import { ManualClock } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { assistant, feed, heartbeat, unknown } from "./events.ts";
import { readerOf } from "./sse.ts";

describe("silence", () => {
  const interval = 15_000;
  const quiet = async (options: UIMessageStreamResponseOptions = {}) => {
    const clock = new ManualClock();
    const { stream, send, state } = feed();
    const reader = readerOf(toUIMessageStreamResponse(stream, { clock, ...options }));
    await reader.next();
    const pieces: (string | undefined)[] = [];
    const read = () => void reader.next().then((piece) => pieces.push(piece));
    return { clock, send, state, reader, pieces, read };
  };

  it("is ended by a comment every 15 s, and the next event is not lost", async () => {
    const { clock, send, state, reader, pieces, read } = await quiet();
    read();
    await clock.advance(interval - 1);
    expect(pieces).toEqual([]);
    await clock.advance(1);
    expect(pieces).toEqual([": keep-alive\n\n"]);
    read();
    await clock.advance(interval);
    expect(pieces).toEqual([": keep-alive\n\n", ": keep-alive\n\n"]);
    read();
    send(assistant("a"));
    await clock.advance(0);
    expect(pieces[2]).toContain('"delta":"a"');
    expect(state.asked).toBe(1);
    expect(clock.pending).toBe(0);
    await reader.cancel();
  });

  it("is ended by the run's own heartbeat", async () => {
    const { clock, send, reader, pieces, read } = await quiet();
    read();
    await clock.advance(1);
    send(heartbeat);
    await clock.advance(0);
    expect(pieces).toEqual([": keep-alive\n\n"]);
    await reader.cancel();
  });

  it("continues while events arrive that a message doesn't show", async () => {
    const { clock, send, reader, pieces, read } = await quiet();
    read();
    for (let second = 1; second < 15; second++) {
      await clock.advance(1_000);
      send(unknown);
    }
    expect(pieces).toEqual([]);
    await clock.advance(1_000);
    expect(pieces).toEqual([": keep-alive\n\n"]);
    await reader.cancel();
  });

  it("lasts as long as keepAlive says, or for ever", async () => {
    const short = await quiet({ keepAlive: 100 });
    short.read();
    await short.clock.advance(100);
    expect(short.pieces).toHaveLength(1);
    await short.reader.cancel();
    // Longer than the platform's timers, which would fire at once.
    for (const keepAlive of [Number.POSITIVE_INFINITY, 2 ** 31]) {
      const endless = await quiet({ keepAlive });
      endless.read();
      expect(await endless.clock.next()).toBe(false);
      expect(endless.pieces).toEqual([]);
      await endless.reader.cancel();
    }
  });

  it("has no timer while nobody reads", async () => {
    const { clock, reader, pieces, read } = await quiet();
    expect(clock.pending).toBe(0);
    read();
    await clock.advance(interval);
    expect(pieces).toHaveLength(1);
    expect(clock.pending).toBe(0);
    await reader.cancel();
  });

  it("is measured by the system's clock by default", async () => {
    const { stream } = feed();
    const reader = readerOf(toUIMessageStreamResponse(stream, { keepAlive: 1 }));
    await reader.next();
    expect(await reader.next()).toBe(": keep-alive\n\n");
    await reader.cancel();
  });
});
