import { isStreamError } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import { END, REPEAT } from "../support/fake-api.ts";
import { assistant, done, frame, result, status } from "../support/frames.ts";
import { ref } from "../support/sample-run.ts";
import { readAll, StreamServer } from "../support/stream-server.ts";
import { collect } from "../support/waiting.ts";

const kib = 1024;
const mib = 1024 * kib;

describe("an event without end", () => {
  const maxEventBytes = 2 * mib;

  it.each([
    ["bytes without a line end", "x".repeat(64 * kib)],
    ["data lines without a blank one", "data: x\n".repeat(8 * kib)],
    ["empty data lines", "data:\n".repeat(10 * kib)],
    ["event lines that replace each other", "event: x\n".repeat(7 * kib)],
  ])("of %s is given up at maxEventBytes", async (_name, chunk) => {
    const server = new StreamServer([REPEAT(status(), assistant("100-0", "a"), chunk)]);
    const stream = server.cursor().runs.stream(ref, { maxEventBytes });
    const seen: string[] = [];
    const before = process.memoryUsage().heapUsed;
    const error = await server.run(
      (async () => {
        for await (const { type } of stream) seen.push(type);
      })().catch((cause: unknown) => cause),
    );
    expect(isStreamError(error) && error.reason).toBe("event_too_large");
    expect(error).toMatchObject({ lastEventId: "100-0", agentId: ref.agentId, runId: ref.id });
    expect(seen).toEqual(["status", "assistant"]);
    expect(server.streams).toHaveLength(1);
    expect(server.streams[0]).toMatchObject({ cancelled: 1, open: false });
    expect(server.clock.pending).toBe(0);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(20 * maxEventBytes);
  });

  it("is not confused with many small ones: the limit is per event", async () => {
    const server = new StreamServer([
      END(
        ...Array.from({ length: 50 }, (_, index) => assistant(`${index}`, "x".repeat(200))),
        result() + done,
      ),
    ]);
    expect(await readAll(server, { maxEventBytes: 500 })).toHaveLength(52);
  });

  it("makes the result fail, too, and once", async () => {
    const server = new StreamServer([REPEAT("data:\n".repeat(100))]);
    const stream = server.cursor().runs.stream(ref, { maxEventBytes: kib });
    await expect(server.run(stream.result())).rejects.toMatchObject({ reason: "event_too_large" });
    await expect(server.run(stream.result())).rejects.toMatchObject({ reason: "event_too_large" });
    await expect(
      server.run(collect(server.cursor().runs.stream(ref, { maxEventBytes: kib }))),
    ).rejects.toThrow("stream request 2");
  });
});

it.each([
  ["LF", "\n"],
  ["CR", "\r"],
])("the lines of an event count, 64 bytes each (%s)", async (_name, newline) => {
  const read = (lines: number) => {
    const open = new TextEncoder().encode(`event: thinking${newline}${`data:${newline}`.repeat(lines)}`);
    const server = new StreamServer([END(open, 'data: {"text":"x"}\n\n', result() + done)]);
    return readAll(server, { maxEventBytes: 8 * kib, include: "all" });
  };
  // 6 + 64 bytes each.
  expect(await read(100)).toHaveLength(3);
  await expect(read(140)).rejects.toMatchObject({ reason: "event_too_large" });
});

describe("one very large event", () => {
  const big = (size: number, newline: string) => {
    const data = { callId: "c1", name: "read_file", status: "completed", result: "a".repeat(size) };
    const body = new TextEncoder().encode(frame("tool_call", data, "100-5").replaceAll("\n", newline));
    const chunks: Uint8Array[] = [];
    for (let at = 0; at < body.length; at += kib) chunks.push(body.subarray(at, at + kib));
    return new StreamServer([END(...chunks, result() + done)]);
  };
  const time = async (size: number, newline: string) => {
    const server = big(size, newline);
    const start = performance.now();
    const [event] = await readAll(server);
    const taken = performance.now() - start;
    expect(event?.type === "tool_call" && (event.data.result as string).length).toBe(size);
    return taken;
  };

  it.each([
    ["LF", "\n"],
    ["CRLF", "\r\n"],
  ])("comes whole in 1 KiB chunks, in time that grows with its size only (%s)", async (_name, newline) => {
    await time(mib, newline);
    const half = Math.min(await time(4 * mib, newline), await time(4 * mib, newline));
    const whole = Math.min(await time(8 * mib, newline), await time(8 * mib, newline));
    // Quadratic scanning costs four times as much for the double; the floor keeps a busy machine from failing it.
    expect(whole).toBeLessThan(Math.max(3.2 * half, 250));
  });
});
