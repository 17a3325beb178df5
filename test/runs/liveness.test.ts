import type { Cursor, RunStream } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import { type Connection, CUT, END, failedResponse, htmlPage, REPEAT, STALL } from "../support/fake-api.ts";
import { assistant, briefly, done, heartbeat, result, status, thinking } from "../support/frames.ts";
import { ref, runOf } from "../support/sample-run.ts";
import { StreamServer } from "../support/stream-server.ts";
import { collect } from "../support/waiting.ts";

const minute = 60_000;
const hour = 60 * minute;
const hel = assistant("100-0", "Hel");
const finished = runOf("FINISHED", { result: "Hello" });

/** Sends its chunks, and then the last one every 15 s without end. */
const zombie = (...chunks: string[]): Connection => ({ ...REPEAT(...chunks), pace: 15_000 });
/** Lives on heartbeats for so many seconds, then ends. */
const quiet = (seconds: number, ending = END, ...before: string[]): Connection => ({
  ...ending(...before, ...Array(Math.floor(seconds / 15)).fill(heartbeat)),
  pace: 15_000,
});
/** A promise's value within so much time of the fake clock, or "waiting". */
async function within<T>(server: StreamServer, ms: number, promise: Promise<T>): Promise<T | "waiting"> {
  let settled: { value: T } | { error: unknown } | undefined;
  promise.then(
    (value) => {
      settled = { value };
    },
    (error: unknown) => {
      settled = { error };
    },
  );
  const step = 5_000;
  for (let passed = 0; passed < ms && !settled; passed += step) await server.clock.advance(step);
  if (!settled) return "waiting";
  if ("error" in settled) throw settled.error;
  return settled.value;
}

const readers: [string, (cursor: Cursor, stream: RunStream) => Promise<unknown>][] = [
  ["for await", (_cursor, stream) => collect(stream)],
  ["text()", (_cursor, stream) => collect(stream.text())],
  ["result()", (_cursor, stream) => stream.result()],
  ["toReadableStream()", (_cursor, stream) => collect(stream.toReadableStream() as never)],
  ["wait()", (cursor) => cursor.runs.wait(ref)],
];

describe("a run that is over while its stream lives on", () => {
  it.each(readers)("ends for %s: shortly after its terminal status", async (_name, read) => {
    const server = new StreamServer([zombie(hel, status("FINISHED"), heartbeat)], { runs: [finished] });
    const cursor = server.cursor();
    expect(await within(server, 2 * minute, read(cursor, cursor.runs.stream(ref)))).not.toBe("waiting");
    expect(server.streams).toHaveLength(1);
    expect(server.openBodies).toBe(0);
  });

  it("is asked about five seconds after its terminal status", async () => {
    const connection = STALL(hel, status("FINISHED"));
    const server = new StreamServer([connection], { runs: [finished] });
    const events = await server.run(collect(server.cursor().runs.stream(ref)));
    expect(briefly(events)).toEqual(["assistant#100-0 Hel", "status FINISHED", "result Hello", "done"]);
    expect(events.slice(-2).map((event) => "synthesized" in event && event.synthesized)).toEqual([
      true,
      true,
    ]);
    expect(server.lookups.map(({ at }) => at - server.streams[0]!.at)).toEqual([5_000]);
    expect(server.clock.pending).toBe(0);
  });

  it.each([
    ["heartbeats", heartbeat],
    ["comments", ": ping\n\n"],
    ["half a comment at a time", ":"],
    ["repeated statuses", status()],
    ["the same terminal status again and again", status("FINISHED")],
    ["unknown events without an id", "event: news\ndata: {}\n\n"],
    ["events that can't be read, without an id", "event: status\ndata: {\n\n"],
    ["retry lines", "retry: 100\n\n"],
  ])("ends within minutes though %s come all the time", async (_name, sign) => {
    const server = new StreamServer([zombie(hel, sign)], { runs: [finished] });
    const outcome = await within(server, 5 * minute, server.cursor().runs.stream(ref).result());
    expect(outcome).toMatchObject({ status: "FINISHED", text: "Hello", source: "run" });
    expect(server.openBodies).toBe(0);
  });

  it.each([10, 20, 60, 300])("ends although each connection ends after %i s", async (seconds) => {
    for (const opening of [[], [status()], [status("FINISHED")], [hel], [status("FINISHED"), hel]]) {
      const server = new StreamServer(() => quiet(seconds, END, ...opening), { runs: [finished] });
      const outcome = await within(server, 10 * minute, server.cursor().runs.stream(ref).result());
      expect(outcome, opening.join()).toMatchObject({ status: "FINISHED" });
    }
  });

  it("is asked about at growing pauses while Get A Run says RUNNING, and its connection is left alone", async () => {
    const server = new StreamServer([zombie(hel, heartbeat)], {
      runs: (_request, index) => (index < 8 ? "RUNNING" : finished),
    });
    const outcome = await within(server, 6 * hour, server.cursor().runs.stream(ref).result());
    expect(outcome).toMatchObject({ status: "FINISHED", streamedText: "Hel" });
    expect(server.streams).toHaveLength(1);
    const gaps = server.lookups.slice(1).map(({ at }, index) => at - server.lookups[index]!.at);
    for (const [index, gap] of gaps.entries()) expect(gap).toBeGreaterThanOrEqual(gaps[index - 1] ?? minute);
    expect(gaps.at(-1)).toBeLessThanOrEqual(20 * minute);
  });

  it("is asked about again where Get A Run can't be read", async () => {
    const server = new StreamServer([zombie(hel, status("FINISHED"), heartbeat)], {
      runs: [htmlPage(502, "<html>"), failedResponse(429, "rate_limited"), "RUNNING", finished],
    });
    const outcome = await within(server, 5 * minute, server.cursor().runs.stream(ref).result());
    expect(outcome).toMatchObject({ status: "FINISHED" });
  });

  it("passes on what onStatus throws", async () => {
    const server = new StreamServer([zombie(hel, heartbeat)], { runs: ["PAUSED"] });
    const thrown = new Error("the callback's own");
    const onStatus = () => {
      throw thrown;
    };
    await expect(within(server, 5 * minute, server.cursor().runs.wait(ref, { onStatus }))).rejects.toBe(
      thrown,
    );
    expect(server.openBodies).toBe(0);
  });
});

describe("a run that goes on", () => {
  it("is not asked about while events with an id come", async () => {
    let id = 0;
    const chunks = Array.from({ length: 40 }, () => thinking(`${id++}`, "x"));
    const server = new StreamServer([{ ...END(...chunks, result() + done), pace: 50_000 }]);
    expect(await server.run(collect(server.cursor().runs.stream(ref)))).toHaveLength(42);
    expect(server.requests).toHaveLength(1);
  });

  it("is not asked about while its consumer takes its time", async () => {
    const server = new StreamServer([END(status("FINISHED"), hel, status("FINISHED"), result() + done)]);
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { type } of server.cursor().runs.stream(ref)) {
        seen.push(type);
        await new Promise<void>((resolve) => server.clock.setTimeout(resolve, hour));
      }
    })();
    await server.run(reading);
    expect(seen).toEqual(["status", "assistant", "result", "done"]);
    expect(server.requests).toHaveLength(1);
  });

  it("is read on while a look at it takes its time", async () => {
    const server = new StreamServer([
      { ...END(hel, ...Array(12).fill(heartbeat), assistant("101-0", "lo"), result() + done), pace: 15_000 },
    ]);
    const hanging = (input: string | URL | Request, init?: RequestInit) =>
      new Request(input, init).url.endsWith("/stream")
        ? server.fetch(input, init)
        : new Promise<Response>((_resolve, reject) =>
            init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)),
          );
    const stream = server.cursor({ fetch: hanging, timeout: hour }).runs.stream(ref);
    const events = await server.run(collect(stream));
    expect(
      briefly(events)
        .filter((name) => name !== "heartbeat")
        .at(-2),
    ).toBe("result#900-0 Hello");
    expect(server.clock.now() - server.streams[0]!.at).toBe(15 * 15_000);
    expect(server.clock.pending).toBe(0);
  });

  it("keeps its own last words where they arrive just after Get A Run says that it is over", async () => {
    const server = new StreamServer(
      [
        {
          ...END(hel, ...Array(8).fill(heartbeat), assistant("101-0", "lo") + result() + done),
          pace: 15_000,
        },
      ],
      { runs: [finished] },
    );
    const slow = async (input: string | URL | Request, init?: RequestInit) => {
      const response = await server.fetch(input, init);
      if (!server.lookups.length) return response;
      await new Promise<void>((resolve) => server.clock.setTimeout(resolve, 12_000));
      return response;
    };
    const events = await server.run(collect(server.cursor({ fetch: slow }).runs.stream(ref)));
    expect(briefly(events).slice(-3)).toEqual(["assistant#101-0 lo", "result#900-0 Hello", "done#900-0"]);
    expect(server.lookups).toHaveLength(1);
  });
});

describe("a connection that lasted", () => {
  it.each([
    ["ends", END],
    ["is cut", CUT],
  ])("is no failure, however often it %s", async (_name, ending) => {
    for (const seconds of [15, 30, 60, 300]) {
      for (const read of [(stream: RunStream) => stream.result(), (stream: RunStream) => collect(stream)]) {
        const server = new StreamServer(() => quiet(seconds, ending), { runs: ["RUNNING"] });
        const stream = server.cursor().runs.stream(ref);
        expect(await within(server, hour, read(stream) as Promise<unknown>)).toBe("waiting");
        stream.close();
        const pauses = server.streams.slice(1).map(({ at }, index) => at - server.streams[index]!.at);
        expect(Math.max(...pauses)).toBeLessThan(seconds * 1_000 + 20_000);
      }
    }
  });

  it("begins the attempts and the pauses anew", async () => {
    const answers = [quiet(0), quiet(0), quiet(60), quiet(0), END(hel + result() + done)];
    const attempts: number[] = [];
    const server = new StreamServer(answers, { runs: ["RUNNING"] });
    const onReconnect = ({ attempt }: { attempt: number }) => attempts.push(attempt);
    await server.run(collect(server.cursor().runs.stream(ref, { onReconnect })));
    expect(attempts).toEqual([1, 2, 1, 2]);
  });

  it.each([
    ["ended at once", END(status())],
    ["ended at once, with bytes", END(heartbeat)],
    ["lasted without a byte", { ...END(), pace: 20_000 }],
    ["fell silent after its first byte", STALL(heartbeat)],
  ])("is not one that %s", async (_name, connection) => {
    const server = new StreamServer(() => connection, { runs: ["RUNNING"] });
    const stream = server.cursor().runs.stream(ref, { maxReconnects: 4 });
    await expect(server.run(collect(stream))).rejects.toMatchObject({ reason: "disconnected" });
    expect(server.streams).toHaveLength(5);
  });
});
