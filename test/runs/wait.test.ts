import { isRunFailedError, isTimeoutError, type TerminalRun } from "cursor-cloud-agents";
import { describe, expect, expectTypeOf, it } from "vitest";
import { CUT, END, failedResponse, htmlPage, STALL } from "../support/fake-api.ts";
import { assistant, done, errorFrame, result, status } from "../support/frames.ts";
import { ref, runOf } from "../support/sample-run.ts";
import { StreamServer } from "../support/stream-server.ts";

const hel = assistant("100-0", "Hel");
const finished = runOf("FINISHED", { result: "Hello", durationMs: 10 });
const stream = (state = "FINISHED") =>
  END(status(), hel, status("FINISHED"), result({ status: state }), done);
const gone = failedResponse(410, "stream_expired");

describe("wait()", () => {
  it("takes one stream request and one look at the run", async () => {
    const server = new StreamServer([stream()], { runs: [finished] });
    expect(await server.run(server.cursor().runs.wait(ref, { timeout: 600_000 }))).toEqual(finished);
    expect(server.requests).toHaveLength(2);
    expect(server.clock.pending).toBe(0);
  });

  it.each(["FINISHED", "ERROR", "CANCELLED", "EXPIRED"])(
    "resolves for %s: every outcome counts",
    async (state) => {
      const server = new StreamServer([stream(state)], { runs: [runOf(state)] });
      expect((await server.run(server.cursor().runs.wait(ref))).status).toBe(state);
    },
  );

  it.each(["ERROR", "CANCELLED", "EXPIRED"])(
    "rejects for %s with throwOnFailure, but not for FINISHED",
    async (state) => {
      for (const value of [state, "FINISHED"]) {
        const server = new StreamServer([stream(value)], { runs: [runOf(value, { durationMs: 90 })] });
        const settled = await server
          .run(server.cursor().runs.wait(ref, { throwOnFailure: true }))
          .catch((error: unknown) => error);
        expect(isRunFailedError(settled)).toBe(value !== "FINISHED");
        if (isRunFailedError(settled)) {
          expect(settled.run).toMatchObject({ status: value, durationMs: 90 });
          expect(settled).toMatchObject({ agentId: ref.agentId, runId: ref.id });
        }
      }
    },
  );

  it("never returns part of a reply as a result", async () => {
    const half = runOf("CANCELLED", { result: '{"title":"x"}', durationMs: 5 });
    for (const connection of [gone, stream("CANCELLED")]) {
      const server = new StreamServer([connection], { runs: [half] });
      const run = await server.run(server.cursor().runs.wait(ref));
      expect(run).not.toHaveProperty("result");
      expect(run).toMatchObject({ status: "CANCELLED", partialResult: '{"title":"x"}', durationMs: 5 });
    }
    expectTypeOf<Extract<TerminalRun, { status: "FINISHED" }>["result"]>().toEqualTypeOf<
      string | undefined
    >();
    expectTypeOf<Extract<keyof Exclude<TerminalRun, { status: "FINISHED" }>, "result">>().toBeNever();
  });

  it("goes by the status alone: branches and pull requests are the agent's", async () => {
    const branch = (name: string) => ({
      repoUrl: "github.com/o/r",
      branch: name,
      prUrl: `https://github.com/o/r/pull/${name}`,
    });
    const server = new StreamServer([gone], {
      runs: [
        runOf("RUNNING", { git: { branches: [branch("1")] } }),
        runOf("FINISHED", { git: { branches: [branch("1"), branch("2")] } }),
      ],
    });
    const run = await server.run(server.cursor().runs.wait(ref));
    expect(run.git?.branches).toHaveLength(2);
    expect(server.lookups).toHaveLength(2);
  });

  it("believes the stream's result where Get A Run is behind", async () => {
    const server = new StreamServer([stream("CANCELLED")], { runs: [runOf("RUNNING")] });
    expect(await server.run(server.cursor().runs.wait(ref))).toMatchObject({
      status: "CANCELLED",
      partialResult: "Hello",
      durationMs: 10,
    });
  });

  it("does not take an unknown status for an outcome", async () => {
    const server = new StreamServer([stream("PAUSED")], { runs: ["PAUSED", "PAUSED", "RUNNING", finished] });
    expect((await server.run(server.cursor().runs.wait(ref))).status).toBe("FINISHED");
  });

  it.each([
    ["the stream is gone", () => gone],
    ["the stream never comes", () => htmlPage(503)],
    ["the stream breaks for good", () => CUT(status())],
    ["the stream fails", () => END(status(), hel, errorFrame("upstream_closed"))],
    ["one event is too large", () => END(status(), `data: ${"x".repeat(33 * 2 ** 20)}`)],
  ])("polls when %s", async (_name, connection) => {
    const server = new StreamServer(connection, {
      runs: (_request, index) => (index < 20 ? "RUNNING" : finished),
    });
    expect(await server.run(server.cursor().runs.wait(ref))).toEqual(finished);
    expect(server.clock.pending).toBe(0);
    expect(server.openBodies).toBe(0);
  });

  it.each([401, 403, 404])("rejects where the stream answers %i", async (code) => {
    const server = new StreamServer([failedResponse(code, "no")], { runs: ["RUNNING"] });
    await expect(server.run(server.cursor().runs.wait(ref))).rejects.toMatchObject({
      status: code,
      runId: ref.id,
    });
    expect(server.lookups).toHaveLength(0);
  });

  it("reports each status once, the last one by the outcome", async () => {
    const server = new StreamServer(
      [CUT(status("CREATING"), status(), hel), CUT(status()), stream("CANCELLED")],
      { runs: ["CANCELLED"] },
    );
    const reported: string[] = [];
    await server.run(server.cursor().runs.wait(ref, { onStatus: (value) => reported.push(value) }));
    expect(reported).toEqual(["CREATING", "RUNNING", "CANCELLED"]);
  });

  it("reports statuses while it polls, too", async () => {
    const server = new StreamServer([gone], { runs: ["CREATING", "RUNNING", "RUNNING", "PAUSED", "ERROR"] });
    const reported: string[] = [];
    await server.run(server.cursor().runs.wait(ref, { onStatus: (value) => reported.push(value) }));
    expect(reported.filter((value, index) => value !== reported[index - 1])).toEqual(reported);
    expect(reported.slice(-3)).toEqual(["RUNNING", "PAUSED", "ERROR"]);
  });

  it.each([
    ["the stream", stream(), "RUNNING"],
    ["a look at the run", END(done), "CREATING"],
    ["polling", gone, "PAUSED"],
  ])("passes on what onStatus throws while it reads %s", async (_name, connection, at) => {
    const server = new StreamServer(() => connection, { runs: ["CREATING", "PAUSED", "FINISHED"] });
    const thrown = new Error("the callback's own");
    const onStatus = (value: string) => {
      if (value === at) throw thrown;
    };
    await expect(server.run(server.cursor().runs.wait(ref, { onStatus }))).rejects.toBe(thrown);
    expect(server.clock.pending).toBe(0);
    expect(server.openBodies).toBe(0);
  });

  it("has a deadline for the whole wait, and leaves nothing running after it", async () => {
    for (const connection of [STALL(status()), gone]) {
      const server = new StreamServer(() => connection, { runs: ["RUNNING"] });
      const before = server.clock.now();
      const error = await server
        .run(server.cursor().runs.wait(ref, { timeout: 50_000 }))
        .catch((cause: unknown) => cause);
      expect(isTimeoutError(error) && error.phase).toBe("deadline");
      expect(error).toMatchObject({ agentId: ref.agentId, runId: ref.id });
      expect(server.clock.now() - before).toBe(50_000);
      await server.clock.advance(600_000);
      expect(server.clock.pending).toBe(0);
      expect(server.openBodies).toBe(0);
    }
  });

  it("ends with the caller's reason at once, and never cancels the run", async () => {
    for (const connection of [STALL(status()), gone]) {
      const server = new StreamServer([connection], { runs: ["RUNNING"] });
      const controller = new AbortController();
      const rejected = expect(server.cursor().runs.wait(ref, { signal: controller.signal })).rejects.toBe(
        "enough",
      );
      await server.clock.advance(20_000);
      controller.abort("enough");
      await rejected;
      expect(server.clock.pending).toBe(0);
      expect(server.requests.filter(({ method }) => method !== "GET")).toEqual([]);
    }
    const untouched = new StreamServer([]);
    const aborted = untouched.cursor().runs.wait(ref, { signal: AbortSignal.abort("before") });
    await expect(aborted).rejects.toBe("before");
    expect(untouched.requests).toHaveLength(0);
  });

  it("survives a moment in which the run can't be read after its result", async () => {
    const server = new StreamServer([stream()], {
      runs: (_request, index) => (index < 4 ? htmlPage(503) : finished),
    });
    expect(await server.run(server.cursor().runs.wait(ref))).toEqual(finished);
  });

  it("rejects arguments that can't work", async () => {
    const { runs } = new StreamServer([]).cursor();
    await expect(runs.wait({ agentId: "", id: "x" })).rejects.toMatchObject({ kind: "argument" });
    await expect(runs.wait(ref, { timeout: -1 })).rejects.toMatchObject({ argument: "timeout" });
    await expect(runs.wait(ref, { signal: 1 as never })).rejects.toMatchObject({ argument: "signal" });
  });
});

describe("during a silent stream", () => {
  it("the run can be cancelled: ids are there from the start", async () => {
    const server = new StreamServer([STALL(status())], {
      runs: ["CANCELLED"],
      other: ({ path }) => (path.endsWith("/cancel") ? { id: ref.id } : htmlPage(404)),
    });
    const { runs } = server.cursor();
    const reading = runs.stream(ref);
    const iterator = reading[Symbol.asyncIterator]();
    await iterator.next();
    void iterator.next();
    expect(await runs.cancel(reading.ref)).toEqual({ id: ref.id });
    reading.close();
  });

  it("a cancel that is never answered times out, and the stream is still there", async () => {
    const server = new StreamServer([{ ...END(status(), hel, result(), done), pace: 40_000 }], {
      other: () => ({ ...END(), delay: Number.POSITIVE_INFINITY }),
    });
    const { runs } = server.cursor();
    const outcome = runs.stream(ref).result();
    await expect(server.run(runs.cancel(ref, { timeout: 5_000 }))).rejects.toMatchObject({
      kind: "timeout",
      outcome: "unknown",
    });
    expect(await server.run(outcome)).toMatchObject({ status: "FINISHED", streamedText: "Hel" });
    expect(server.requests.filter(({ path }) => path.endsWith("/cancel"))).toHaveLength(1);
  });
});
