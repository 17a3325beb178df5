import { isApiError } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import { CUT, failedResponse, htmlPage, reply, UNREACHABLE } from "../support/fake-api.ts";
import { assistant, briefly, status } from "../support/frames.ts";
import { ref, runOf } from "../support/sample-run.ts";
import { readAll, StreamServer } from "../support/stream-server.ts";
import { collect } from "../support/waiting.ts";

const gone = failedResponse(410, "stream_expired");
const running = (times: number, last = "FINISHED") => [...Array(times).fill("RUNNING"), last];
const gapsOf = ({ lookups }: StreamServer) =>
  lookups.slice(1).map(({ at }, index) => at - lookups[index]!.at);

describe("a stream that is gone (410)", () => {
  it.each([
    ["with its code", gone],
    ["with an empty body", htmlPage(410)],
    ["with a page of HTML", htmlPage(410, "<h1>Gone</h1>")],
    ["with the code in a flat body", reply(410, { code: "stream_expired", message: "m" })],
  ])("%s is not asked for again; a run that is over settles it at once", async (_name, failed) => {
    const server = new StreamServer([failed], { runs: [runOf("FINISHED", { result: "ok" })] });
    const stream = server.cursor().runs.stream(ref);
    expect(await server.run(collect(stream))).toEqual([
      { type: "result", data: { runId: ref.id, status: "FINISHED", text: "ok" }, synthesized: true },
      { type: "done", data: {}, synthesized: true },
    ]);
    expect(await stream.result()).toMatchObject({ text: "ok", source: "run", streamedText: "" });
    expect(server.requests.map(({ at }) => at)).toEqual([server.requests[0]!.at, server.requests[0]!.at]);
  });

  it("at a resume keeps what was delivered and adds the outcome", async () => {
    const server = new StreamServer([CUT(status(), assistant("100-0", "Hel")), gone], {
      runs: [runOf("FINISHED", { result: "Hello" })],
    });
    const stream = server.cursor().runs.stream(ref);
    expect(briefly(await server.run(collect(stream)))).toEqual([
      "status RUNNING",
      "assistant#100-0 Hel",
      "result Hello",
      "done",
    ]);
    expect(await stream.result()).toMatchObject({ text: "Hello", streamedText: "Hel", source: "run" });
    expect(server.positions).toEqual([undefined, "100-0"]);
  });

  it("while the run is active is polled, ever slower, for as long as it takes", async () => {
    for (const random of [0, 0.5, 1]) {
      const server = new StreamServer([gone], { runs: running(80) });
      const stream = server.cursor({ random: () => random }).runs.stream(ref);
      expect(await server.run(stream.result())).toMatchObject({ status: "FINISHED" });
      const gaps = gapsOf(server);
      expect(gaps).toHaveLength(80);
      expect(gaps[0]).toBe(6_000 * (1 - random / 6));
      for (const [index, gap] of gaps.entries()) expect(gap).toBeGreaterThanOrEqual(gaps[index - 1] ?? 5_000);
      // Jitter to the end: waiters that are all at the longest pause must not fall into step.
      expect(gaps.at(-1)).toBe(15_000 * (1 - random / 6));
      expect(server.streams).toHaveLength(1);
    }
  });

  it("and whose run can't be read either rejects with that failure, without retries that multiply", async () => {
    const server = new StreamServer([gone], { runs: [htmlPage(502, "<html>")] });
    const error = await server.run(
      server
        .cursor()
        .runs.wait(ref)
        .catch((reason: unknown) => reason),
    );
    expect(error).toMatchObject({ kind: "api", status: 502 });
    expect(server.lookups.length).toBeLessThanOrEqual(11);
    expect(server.streams).toHaveLength(1);
  });

  it("is polled through failed responses and broken connections", async () => {
    const html = htmlPage(502, "<html>");
    const runs = ["RUNNING", html, html, "RUNNING", htmlPage(429), htmlPage(503, ""), "RUNNING", "FINISHED"];
    const server = new StreamServer([gone], { runs });
    expect(await server.run(server.cursor().runs.stream(ref).result())).toMatchObject({ status: "FINISHED" });
  });

  it("and whose run can't be read for long rejects with that failure instead of waiting without end", async () => {
    const server = new StreamServer([gone], {
      runs: (_request, index) => (index < 3 ? "RUNNING" : htmlPage(503)),
    });
    const error = await readAll(server).catch((cause: unknown) => cause);
    expect(isApiError(error) && error.status).toBe(503);
    expect(server.lookups.length).toBeLessThan(40);
  });

  it.each([401, 403, 404])("and whose run answers %i rejects with that", async (code) => {
    const server = new StreamServer([gone], { runs: ["RUNNING", htmlPage(code)] });
    await expect(readAll(server)).rejects.toMatchObject({ kind: "api", status: code, runId: ref.id });
  });

  it("ends at once when the caller aborts, and leaves no timer", async () => {
    const server = new StreamServer([gone], { runs: ["RUNNING"] });
    const controller = new AbortController();
    const reading = collect(server.cursor().runs.stream(ref, { signal: controller.signal }));
    const rejected = expect(reading).rejects.toBe("enough");
    await server.clock.advance(100_000);
    controller.abort("enough");
    await rejected;
    const { length } = server.requests;
    await server.clock.advance(100_000);
    expect(server.requests).toHaveLength(length);
    expect(server.clock.pending).toBe(0);
  });

  it("with a status that this version doesn't know is polled further: unknown is not over", async () => {
    const server = new StreamServer([gone], { runs: ["PAUSED", "RUNNING", "PAUSED", "EXPIRED"] });
    expect(await server.run(server.cursor().runs.stream(ref).result())).toMatchObject({ status: "EXPIRED" });
  });

  it("stays within twelve requests a minute, with any number of waiters", async () => {
    const server = new StreamServer(() => gone, { runs: running(40) });
    const cursor = server.cursor({ random: () => 0 });
    const waits = Array.from({ length: 5 }, () => cursor.runs.wait(ref));
    const reads = Array.from({ length: 5 }, () => cursor.runs.stream(ref).result());
    await server.run(Promise.all([...waits, ...reads]));
    expect(server.lookups.length).toBeLessThanOrEqual(55);
    for (const { at } of server.lookups) {
      const minute = server.lookups.filter((other) => other.at >= at && other.at < at + 60_000);
      expect(minute.length).toBeLessThanOrEqual(12);
    }
  });

  it("stays within them also when attempts follow each other without a pause", async () => {
    const server = new StreamServer(() => UNREACHABLE, { runs: running(60) });
    const { runs } = server.cursor({ random: () => 0 });
    const options = { maxReconnects: 100 };
    await server.run(Promise.all([runs.stream(ref, options).result(), runs.stream(ref, options).result()]));
    expect(server.lookups).toHaveLength(61);
    for (const { at } of server.lookups) {
      const minute = server.lookups.filter((other) => other.at >= at && other.at < at + 60_000);
      expect(minute.length).toBeLessThanOrEqual(12);
    }
  });

  it("is asked about by one request at a time, though responses are slow", async () => {
    let under = 0;
    let most = 0;
    const server = new StreamServer(() => gone, { runs: running(6) });
    const slow: typeof fetch = async (...input) => {
      const response = await server.fetch(...(input as [Request]));
      if (response.headers.get("content-type") !== "application/json" || response.status !== 200)
        return response;
      most = Math.max(most, ++under);
      await new Promise<void>((resolve) => server.clock.setTimeout(resolve, 3_000));
      under--;
      return response;
    };
    const cursor = server.cursor({ fetch: slow });
    await server.run(Promise.all(Array.from({ length: 5 }, () => cursor.runs.wait(ref))));
    expect(most).toBe(1);
    expect(server.lookups.length).toBeLessThanOrEqual(12);
  });

  it("is polled on for the others when one waiter's callback throws or one waiter leaves", async () => {
    const server = new StreamServer(() => gone, { runs: running(9) });
    const { runs } = server.cursor();
    const controller = new AbortController();
    const thrown = new Error("the callback's own");
    const waits = [
      runs.wait(ref),
      runs.wait(ref, {
        onStatus: () => {
          if (server.lookups.length > 3) throw thrown;
        },
      }),
      runs.wait(ref, { signal: controller.signal }),
    ];
    const settled = Promise.allSettled(waits);
    await server.clock.advance(30_000);
    controller.abort("enough");
    expect(await server.run(settled)).toMatchObject([
      { status: "fulfilled", value: { status: "FINISHED" } },
      { status: "rejected", reason: thrown },
      { status: "rejected", reason: "enough" },
    ]);
    expect(server.clock.pending).toBe(0);
  });
});
