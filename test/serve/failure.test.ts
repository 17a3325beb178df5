import { ArgumentError } from "cursor-cloud-agents";
import { describe, expect, it, vi } from "vitest";
import { CUT, END, failedResponse, htmlPage, SILENT, STALL, UNREACHABLE } from "../support/fake-api.ts";
import { assistant, done, errorFrame, result, status } from "../support/frames.ts";
import { runId, runOf } from "../support/sample-run.ts";
import { StreamServer } from "../support/stream-server.ts";
import { briefly, lasting, readResponse, served } from "./support.ts";

const whole = [status(), assistant("1-0", "Hel"), assistant("2-0", "lo"), result(), done];
const brokenOff = ["assistant#1-0 Hel", "assistant#2-0 lo", "result#900-0 Hello", "done#900-0", "end"];

describe("a failure between this server and the API", () => {
  it.each([
    ["a cut", CUT(status(), assistant("1-0", "Hel"))],
    ["an end without a result", END(status(), assistant("1-0", "Hel"))],
    ["a stall", STALL(status(), assistant("1-0", "Hel"))],
    ["a cut inside an event", CUT(status(), assistant("1-0", "Hel"), assistant("2-0", "lo").slice(0, 30))],
  ])("is resumed inside one response: %s", async (_, first) => {
    const server = new StreamServer([first, END(...whole.slice(2))]);
    const { frames, response } = await served(server);
    expect(response.status).toBe(200);
    expect(briefly(lasting(frames))).toEqual(brokenOff);
    expect(server.positions).toEqual([undefined, "1-0"]);
  });

  it.each([
    ["429 with a Retry-After", failedResponse(429, "rate_limit_exceeded", { "retry-after": "120" })],
    ["503", htmlPage(503, "<html>")],
    ["500", failedResponse(500, "internal_error")],
    ["409 stream_unavailable", failedResponse(409, "stream_unavailable")],
    ["a login page", htmlPage(200, "<html>")],
    ["no connection", UNREACHABLE],
    ["silence", SILENT],
  ])("is retried inside one response: %s at the opening", async (_, first) => {
    const server = new StreamServer([first, END(...whole)]);
    const { frames, response, comments } = await served(server);
    expect(response.status).toBe(200);
    expect(briefly(lasting(frames))).toEqual(brokenOff);
    expect(comments[0]).toBe(" open");
  });

  it("is replaced by the outcome where the stream is gone for good and the run is over", async () => {
    const server = new StreamServer([failedResponse(410, "stream_expired")], {
      runs: [runOf("FINISHED", { result: "All of it" })],
    });
    const { frames } = await served(server);
    expect(briefly(frames)).toEqual(["result All of it", "done", "end"]);
    expect(frames[0]).toMatchObject({ synthesized: true });
  });

  it("is replaced by the outcome, once it is known, where the stream is gone and the run continues", async () => {
    const server = new StreamServer([failedResponse(410, "stream_expired")], {
      runs: ["RUNNING", "RUNNING", runOf("ERROR")],
    });
    const { frames, response } = await served(server);
    expect(response.status).toBe(200);
    expect(frames[0]).toMatchObject({ type: "result", data: { status: "ERROR" } });
    expect(briefly(frames).slice(1)).toEqual(["done", "end"]);
  });

  it("is one failure frame that is not final when the API is down for a minute, and the browser stays away for a while", async () => {
    const server = new StreamServer(() => htmlPage(503, "<html>"), { runs: [htmlPage(503, "<html>")] });
    const began = server.clock.now();
    const { frames, retry, lastEventId, response } = await served(server, { lastEventId: "1-0" });
    expect(response.status).toBe(200);
    expect(frames).toEqual([
      {
        type: "failure",
        data: {
          code: "upstream_unavailable",
          message: "The service can't be reached at the moment.",
          final: false,
        },
      },
    ]);
    expect(lastEventId).toBe("1-0");
    expect(retry).toBe(10_000);
    expect(server.clock.now() - began).toBeGreaterThan(45_000);
    expect(server.clock.now() - began).toBeLessThan(180_000);
  });

  it("is not a 5xx at the opening, which would stop an EventSource for good", async () => {
    const server = new StreamServer(() => UNREACHABLE, { runs: [UNREACHABLE] });
    const { response, frames } = await served(server, { openingTimeout: 10 * 60_000 });
    expect(response.status).toBe(200);
    expect(briefly(frames)).toEqual(["failure upstream_unavailable"]);
  });

  it("is delivered once in the run's own words where the stream says what is wrong", async () => {
    const server = new StreamServer([CUT(status(), errorFrame("flaky", "shard moved")), END(...whole)], {
      runs: ["RUNNING"],
    });
    const { frames } = await served(server);
    expect(frames[1]).toEqual({ type: "error", data: { code: "flaky", message: "shard moved" } });
    expect(briefly(frames).at(-1)).toBe("end");
  });
});

describe("a final failure", () => {
  const finalFailures = [
    [404, "run_not_found", 404, "not_found"],
    [404, "agent_not_found", 404, "not_found"],
    [401, "unauthorized", 502, "upstream_refused"],
    [403, "plan_required", 502, "upstream_refused"],
    [400, "validation_error", 400, "invalid_request"],
    [429, "usage_limit_exceeded", 503, "usage_limit_exceeded"],
  ] as const;

  it.each(finalFailures)(
    "from the API's %i %s has the status %i (%s), never 401 or 403",
    async (status, code, own, ownCode) => {
      const onError = vi.fn();
      const server = new StreamServer([failedResponse(status, code)]);
      const { response, text } = await served(server, { onError });
      expect(response.status).toBe(own);
      expect(JSON.parse(text)).toEqual({ error: { code: ownCode, message: expect.any(String) } });
      expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect(onError).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ status, code }));
      expect(server.clock.pending).toBe(0);
    },
  );

  it.each(finalFailures)(
    "from the API's %i %s that arrives late is a final failure frame in a 200",
    async (status, code, _own, ownCode) => {
      const server = new StreamServer([{ ...failedResponse(status, code), delay: 1_000 }]);
      const { response, frames, lastEventId } = await served(server);
      expect(response.status).toBe(200);
      expect(frames).toEqual([
        {
          type: "failure",
          id: `end:${runId}`,
          data: { code: ownCode, message: expect.any(String), final: true },
        },
      ]);
      expect((await served(server, { lastEventId })).response.status).toBe(204);
      expect(server.requests).toHaveLength(1);
    },
  );

  it("may also happen during a run", async () => {
    const server = new StreamServer([
      CUT(status(), assistant("1-0", "Hel")),
      failedResponse(404, "agent_not_found"),
    ]);
    const { frames } = await served(server);
    expect(briefly(frames)).toEqual(["status RUNNING", "assistant#1-0 Hel", "failure not_found (final)"]);
  });

  it("is caused by an event that is too large to read", async () => {
    const tooLarge = `id: 2-0\nevent: assistant\ndata: "${"x".repeat(33 * 1024 * 1024)}`;
    const server = new StreamServer([END(assistant("1-0", "Hel"), tooLarge)]);
    const { frames } = await served(server);
    expect(briefly(frames)).toEqual(["assistant#1-0 Hel", "failure event_too_large (final)"]);
  });

  it("caused by the server's own code is a 500, and passed to the server's log", async () => {
    const onError = vi.fn();
    const server = new StreamServer([]);
    const request = new Request("https://app.example/");
    const { runStreamResponse } = await import("cursor-cloud-agents/serve");
    const thrown = new ArgumentError("apiKey", "is not here today");
    const cursor = server.cursor({ apiKey: () => Promise.reject(thrown) });
    const response = await server.run(
      runStreamResponse(
        cursor,
        { agentId: "bc-1", id: "run-1" },
        { request, authorize: () => true, onError, clock: server.clock },
      ),
    );
    const { text } = await readResponse(response);
    expect([response.status, JSON.parse(text).error.code]).toEqual([500, "internal_error"]);
    expect(onError).toHaveBeenCalledOnce();
  });

  it("is answered the same when the log throws", async () => {
    const server = new StreamServer([failedResponse(404, "run_not_found")]);
    const onError = () => {
      throw new Error("log is full");
    };
    expect((await served(server, { onError })).response.status).toBe(404);
  });
});
