import { isStreamError, type RunEvent, type RunResult } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import { END, failedResponse, STALL } from "../support/fake-api.ts";
import { assistant, brief, briefly, done, result, status } from "../support/frames.ts";
import { ref, runOf } from "../support/sample-run.ts";
import { StreamServer } from "../support/stream-server.ts";
import { collect } from "../support/waiting.ts";

const ending = result() + done;
const frames = [status(), assistant("100-0", "Hel"), assistant("101-0", "lo"), ending];
const all = [
  "status RUNNING",
  "assistant#100-0 Hel",
  "assistant#101-0 lo",
  "result#900-0 Hello",
  "done#900-0",
];
const finished = {
  status: "FINISHED",
  text: "Hello",
  streamedText: "Hello",
  durationMs: 10,
  source: "stream",
};

/** A server that resumes, as the real one does. */
const resuming = () =>
  new StreamServer(({ lastEventId }) => {
    const at = frames.findIndex((text) => lastEventId !== undefined && text.includes(`id: ${lastEventId}\n`));
    return END(status(), ...frames.slice(at + 1));
  });

describe("result()", () => {
  it("alone reads the stream, with one request", async () => {
    const server = resuming();
    expect(await server.run(server.cursor().runs.stream(ref).result())).toEqual({
      agentId: ref.agentId,
      runId: ref.id,
      ...finished,
    });
    expect(server.requests).toHaveLength(1);
    expect(server.openBodies).toBe(0);
  });

  it("before an iteration of the same tick waits for that one", async () => {
    const server = resuming();
    const stream = server.cursor().runs.stream(ref);
    const settled = stream.result();
    const events = collect(stream);
    expect(await server.run(settled)).toMatchObject(finished);
    expect(briefly(await server.run(events))).toEqual(all);
    expect(server.requests).toHaveLength(1);
  });

  it("before an iteration that begins later leaves that one the whole run", async () => {
    const server = resuming();
    const stream = server.cursor().runs.stream(ref);
    const settled = stream.result();
    await server.clock.advance(1);
    expect(briefly(await server.run(collect(stream)))).toEqual(all);
    expect(await server.run(settled)).toMatchObject(finished);
    expect(server.positions).toEqual([undefined, undefined]);
  });

  it("beside an iteration costs nothing", async () => {
    const server = resuming();
    const stream = server.cursor().runs.stream(ref);
    const [events, outcome] = await server.run(Promise.all([collect(stream), stream.result()]));
    expect(briefly(events)).toEqual(all);
    expect(outcome).toMatchObject(finished);
    expect(server.requests).toHaveLength(1);
  });

  it("inside the loop body settles through Get A Run, and the loop continues", async () => {
    const server = new StreamServer([END(...frames)], {
      runs: ["RUNNING", "RUNNING", runOf("FINISHED", { result: "Hello" })],
    });
    const stream = server.cursor().runs.stream(ref);
    const outcomes: RunResult[] = [];
    const seen: string[] = [];
    await server.run(
      (async () => {
        for await (const event of stream) {
          seen.push(brief(event));
          if (event.id === "100-0") outcomes.push(await stream.result());
        }
      })(),
    );
    expect(outcomes).toMatchObject([{ status: "FINISHED", text: "Hello", source: "run" }]);
    expect(seen).toEqual(all);
    const [first, second, third] = server.lookups.map(({ at }) => at - server.streams[0]!.at);
    expect([first, second! - first!, third! - second!]).toEqual([5_000, 7_500, 11_250]);
  });

  it("inside the loop body, at the result event, is known", async () => {
    const server = resuming();
    const stream = server.cursor().runs.stream(ref);
    for await (const event of stream)
      if (event.type === "result") expect(await stream.result()).toMatchObject(finished);
    expect(server.requests).toHaveLength(1);
  });

  it.each(all.slice(0, -1).map((_name, index) => index + 1))(
    "after a break at event %i resumes there",
    async (count) => {
      const server = resuming();
      const stream = server.cursor().runs.stream(ref);
      let seen = 0;
      for await (const _event of stream) if (++seen === count) break;
      expect(await server.run(stream.result())).toMatchObject(finished);
      expect(server.streams.length).toBe(count === 4 ? 1 : 2);
      if (count < 4)
        expect(server.positions).toEqual([undefined, [undefined, undefined, "100-0", "101-0"][count]]);
    },
  );

  it("pending while the loop is left takes over from it", async () => {
    const server = resuming();
    const stream = server.cursor().runs.stream(ref);
    const settled = stream.result();
    for await (const event of stream) if (event.id === "100-0") break;
    expect(await server.run(settled)).toMatchObject(finished);
    expect(server.positions).toEqual([undefined, "100-0"]);
  });

  it("twice, ten times, before and after, is one result", async () => {
    const server = resuming();
    const stream = server.cursor().runs.stream(ref);
    const early = [stream.result(), stream.result()];
    await server.run(collect(stream));
    const outcomes = await Promise.all([...early, ...Array.from({ length: 8 }, () => stream.result())]);
    expect(new Set(outcomes).size).toBe(1);
    expect(server.requests).toHaveLength(1);
  });

  it("after close rejects, and sends nothing", async () => {
    const server = resuming();
    const stream = server.cursor().runs.stream(ref);
    stream.close();
    const error = await stream.result().catch((cause: unknown) => cause);
    expect(isStreamError(error) && error.reason).toBe("closed");
    expect(server.requests).toHaveLength(0);
  });

  it("after the end is not changed by close", async () => {
    const server = resuming();
    const stream = server.cursor().runs.stream(ref);
    await server.run(collect(stream));
    stream.close();
    expect(await stream.result()).toMatchObject(finished);
  });

  it("while close is called rejects at once: alone, and beside a reader", async () => {
    for (const beside of [false, true]) {
      const server = new StreamServer([STALL(status(), assistant("100-0", "Hel"))]);
      const stream = server.cursor().runs.stream(ref);
      const events: RunEvent[] = [];
      const reading = beside
        ? (async () => {
            for await (const event of stream) events.push(event);
          })()
        : undefined;
      const rejected = expect(stream.result()).rejects.toMatchObject({ reason: "closed" });
      await server.clock.advance(10);
      const { now } = { now: server.clock.now() };
      stream.close();
      await rejected;
      await reading; // a closed iteration ends; its result says that this was no outcome
      expect(server.clock.now()).toBe(now);
      expect(server.clock.pending).toBe(0);
      expect(server.openBodies).toBe(0);
    }
  });

  it.each(["alone", "beside a reader", "awaited in the loop body"])(
    "%s rejects at once when the caller aborts",
    async (how) => {
      const server = new StreamServer([STALL(status(), assistant("100-0", "Hel"))], { runs: ["RUNNING"] });
      const controller = new AbortController();
      const stream = server.cursor().runs.stream(ref, { signal: controller.signal });
      const outcomes: unknown[] = [];
      const settle = () => stream.result().catch((error: unknown) => outcomes.push(error));
      let reading: Promise<unknown> = Promise.resolve();
      if (how === "alone") void settle();
      else if (how === "beside a reader") {
        void settle();
        reading = collect(stream).catch(() => {});
      } else {
        reading = (async () => {
          for await (const event of stream) if (event.id === "100-0") await settle();
        })().catch(() => {});
      }
      await server.clock.advance(1_000);
      controller.abort("enough");
      await new Promise((resolve) => setTimeout(resolve, 0));
      expect(outcomes).toEqual(["enough"]);
      await reading;
      await server.clock.advance(100_000);
      expect(server.clock.pending).toBe(0);
      expect(server.openBodies).toBe(0);
    },
  );

  it("fails as the stream does, also when it is called later", async () => {
    const server = new StreamServer([failedResponse(404, "run_not_found")]);
    const stream = server.cursor().runs.stream(ref);
    const early = stream.result();
    const [read, first] = await Promise.allSettled([collect(stream), early]);
    const late = await stream.result().catch((error: unknown) => error);
    expect(late).toMatchObject({ code: "run_not_found" });
    expect([read, first]).toEqual([
      { status: "rejected", reason: late },
      { status: "rejected", reason: late },
    ]);
    expect(server.requests).toHaveLength(1);
  });

  it("from a position holds only what was streamed since", async () => {
    const server = resuming();
    const outcome = await server.run(server.cursor().runs.stream(ref, { from: "100-0" }).result());
    expect(outcome).toMatchObject({ text: "Hello", streamedText: "lo" });
  });

  it("after a consumer left at any moment has every word once", async () => {
    for (let ticks = 0; ticks < 120; ticks++) {
      const server = resuming();
      const stream = server.cursor().runs.stream(ref);
      const iterator = stream[Symbol.asyncIterator]();
      const nexts = [iterator.next(), iterator.next(), iterator.next()];
      for (let tick = 0; tick < ticks; tick++) await undefined;
      await iterator.return?.();
      await Promise.all(nexts);
      await server.clock.advance(0);
      expect(server.openBodies, `left after ${ticks} ticks`).toBe(0);
      expect(await server.run(stream.result())).toMatchObject(finished);
      expect(server.openBodies).toBe(0);
      expect(server.streams.length).toBeLessThanOrEqual(2);
    }
  });
});
