import { ArgumentError } from "cursor-cloud-agents";
import { runStreamResponse } from "cursor-cloud-agents/serve";
import { describe, expect, it, vi } from "vitest";
import {
  apiError,
  assistant,
  CUT,
  done,
  END,
  failure,
  ref,
  refuse,
  result,
  runId,
  runOf,
  SILENT,
  STALL,
  StreamServer,
  status,
  UNREACHABLE,
} from "../support/stream-server.ts";
import { ask, briefly, lasting, path, piecewise, readResponse, served } from "./support.ts";

const whole = [status(), assistant("1-0", "Hel"), assistant("2-0", "lo"), result(), done];
const brokenOff = ["assistant#1-0 Hel", "assistant#2-0 lo", "result#900-0 Hello", "done#900-0", "end"];

describe("what goes wrong between here and the API", () => {
  it.each([
    ["a cut", CUT(status(), assistant("1-0", "Hel"))],
    ["an end without a result", END(status(), assistant("1-0", "Hel"))],
    ["a stall", STALL(status(), assistant("1-0", "Hel"))],
    ["a cut inside an event", CUT(status(), assistant("1-0", "Hel"), assistant("2-0", "lo").slice(0, 30))],
  ])("is ridden out inside one response: %s", async (_, first) => {
    const server = new StreamServer([first, END(...whole.slice(2))]);
    const { frames, response } = await served(server);
    expect(response.status).toBe(200);
    expect(briefly(lasting(frames))).toEqual(brokenOff);
    expect(server.positions).toEqual([undefined, "1-0"]);
  });

  it.each([
    ["429 with a Retry-After", apiError(429, "rate_limit_exceeded", { "retry-after": "120" })],
    ["503", refuse(503, "<html>")],
    ["500", apiError(500, "internal_error")],
    ["409 stream_unavailable", apiError(409, "stream_unavailable")],
    ["a login page", refuse(200, "<html>")],
    ["no connection", UNREACHABLE],
    ["silence", SILENT],
  ])("is ridden out inside one response: %s at the opening", async (_, first) => {
    const server = new StreamServer([first, END(...whole)]);
    const { frames, response, comments } = await served(server);
    expect(response.status).toBe(200);
    expect(briefly(lasting(frames))).toEqual(brokenOff);
    expect(comments[0]).toBe(" open");
  });

  it("is the outcome, and the end, where the stream is gone for good and the run is over", async () => {
    const server = new StreamServer([apiError(410, "stream_expired")], {
      runs: [runOf("FINISHED", { result: "All of it" })],
    });
    const { frames } = await served(server);
    expect(briefly(frames)).toEqual(["result All of it", "done", "end"]);
    expect(frames[0]).toMatchObject({ synthesized: true });
  });

  it("is the outcome once it is known, where the stream is gone and the run goes on", async () => {
    const server = new StreamServer([apiError(410, "stream_expired")], {
      runs: ["RUNNING", "RUNNING", runOf("ERROR")],
    });
    const { frames, response } = await served(server);
    expect(response.status).toBe(200);
    expect(frames[0]).toMatchObject({ type: "result", data: { status: "ERROR" } });
    expect(briefly(frames).slice(1)).toEqual(["done", "end"]);
  });

  it("is told once and not for good when the API is down for a minute; the browser stays away for a while", async () => {
    const server = new StreamServer(() => refuse(503, "<html>"), { runs: [refuse(503, "<html>")] });
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

  it("is no 5xx at the opening either, which would stop an EventSource for good", async () => {
    const server = new StreamServer(() => UNREACHABLE, { runs: [UNREACHABLE] });
    const { response, frames } = await served(server, { openingTimeout: 10 * 60_000 });
    expect(response.status).toBe(200);
    expect(briefly(frames)).toEqual(["failure upstream_unavailable"]);
  });

  it("is in the run's own words where the stream says what is wrong, and told once", async () => {
    const server = new StreamServer([CUT(status(), failure("flaky", "shard moved")), END(...whole)], {
      runs: ["RUNNING"],
    });
    const { frames } = await served(server);
    expect(frames[1]).toEqual({ type: "error", data: { code: "flaky", message: "shard moved" } });
    expect(briefly(frames).at(-1)).toBe("end");
  });
});

describe("a refusal that nothing will change", () => {
  const refusals = [
    [404, "run_not_found", 404, "not_found"],
    [404, "agent_not_found", 404, "not_found"],
    [401, "unauthorized", 502, "upstream_refused"],
    [403, "plan_required", 502, "upstream_refused"],
    [400, "validation_error", 400, "invalid_request"],
    [429, "usage_limit_exceeded", 503, "usage_limit_exceeded"],
  ] as const;

  it.each(refusals)(
    "%i %s has the status %i (%s), never the API's 401 or 403",
    async (status, code, own, told) => {
      const onError = vi.fn();
      const server = new StreamServer([apiError(status, code)]);
      const { response, text } = await served(server, { onError });
      expect(response.status).toBe(own);
      expect(JSON.parse(text)).toEqual({ error: { code: told, message: expect.any(String) } });
      expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect(onError).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ status, code }));
      expect(server.clock.pending).toBe(0);
    },
  );

  it.each(refusals)(
    "%i %s that comes late is a failure in a 200, and final",
    async (status, code, _own, told) => {
      const server = new StreamServer([{ ...apiError(status, code), delay: 1_000 }]);
      const { response, frames, lastEventId } = await served(server);
      expect(response.status).toBe(200);
      expect(frames).toEqual([
        {
          type: "failure",
          id: `end:${runId}`,
          data: { code: told, message: expect.any(String), final: true },
        },
      ]);
      expect((await served(server, { lastEventId })).response.status).toBe(204);
      expect(server.requests).toHaveLength(1);
    },
  );

  it("is found out in mid-run, too", async () => {
    const server = new StreamServer([
      CUT(status(), assistant("1-0", "Hel")),
      apiError(404, "agent_not_found"),
    ]);
    const { frames } = await served(server);
    expect(briefly(frames)).toEqual(["status RUNNING", "assistant#1-0 Hel", "failure not_found (final)"]);
  });

  it("is an event that is too large to be read", async () => {
    const tooLarge = `id: 2-0\nevent: assistant\ndata: "${"x".repeat(33 * 1024 * 1024)}`;
    const server = new StreamServer([END(assistant("1-0", "Hel"), tooLarge)]);
    const { frames } = await served(server);
    expect(briefly(frames)).toEqual(["assistant#1-0 Hel", "failure event_too_large (final)"]);
  });

  it("is a fault of the server's own code: 500, told to the server's log", async () => {
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

  it("stays one when the log throws", async () => {
    const server = new StreamServer([apiError(404, "run_not_found")]);
    const onError = () => {
      throw new Error("log is full");
    };
    expect((await served(server, { onError })).response.status).toBe(404);
  });
});

describe("time", () => {
  it("brings a comment after 15 s of silence, and after each 15 s more", async () => {
    const server = new StreamServer([STALL(status(), assistant("1-0", "Hel"))]);
    const { next, cancel } = piecewise(await server.run(ask(server)));
    expect(await next()).toMatch(/^retry/);
    expect(await next()).toMatch(/RUNNING/);
    expect(await next()).toMatch(/Hel/);
    for (let beat = 0; beat < 3; beat++) {
      let text: string | undefined;
      const pending = next().then((arrived) => {
        text = arrived;
      });
      await server.clock.advance(14_999);
      expect(text).toBeUndefined();
      await server.clock.advance(1);
      await pending;
      expect(text).toBe(": \n\n");
    }
    await cancel();
    expect(server.clock.pending).toBe(0);
  });

  it("sets no timer while nobody reads", async () => {
    const server = new StreamServer([STALL(status(), assistant("1-0", "Hel"))]);
    const { next, cancel } = piecewise(await server.run(ask(server)));
    await next();
    expect(server.clock.pending).toBe(0);
    await server.clock.advance(60 * 60_000);
    expect(server.openBodies).toBe(1);
    await cancel();
    expect(server.openBodies).toBe(0);
  });

  it("ends a response before the platform does; the browser goes on from there, and nothing is lost or doubled", async () => {
    const deltas = Array.from({ length: 30 }, (_, index) => assistant(`${index + 1}-0`, `${index} `));
    const after = (id: string | undefined) => {
      const from = id === undefined ? 0 : Number.parseInt(id, 10);
      return { ...END(...deltas.slice(from), result(), done), pace: 700 };
    };
    const server = new StreamServer(({ lastEventId }) => after(lastEventId));
    let lastEventId = "";
    const frames = [];
    for (let connection = 0; connection < 20; connection++) {
      const began = server.clock.now();
      const asked = lastEventId === "" ? {} : { lastEventId };
      const answer = await served(server, { maxDuration: 5_000, ...asked });
      if (answer.response.status === 204) break;
      expect(server.clock.now() - began).toBeLessThanOrEqual(5_000);
      expect(server.openBodies).toBe(0);
      frames.push(...answer.frames);
      ({ lastEventId } = answer);
    }
    expect(frames.flatMap((event) => (event.type === "assistant" ? [event.data.text] : [])).join("")).toBe(
      deltas.map((_, index) => `${index} `).join(""),
    );
    expect(briefly(frames).slice(-3)).toEqual(["result#900-0 Hello", "done#900-0", "end"]);
    expect(server.streams.length).toBeGreaterThan(4);
  });

  it("ends a silent response on time, too, which sends nothing after that", async () => {
    const server = new StreamServer([STALL(status())]);
    const began = server.clock.now();
    const { comments } = await served(server, { maxDuration: 50_000 });
    expect(server.clock.now() - began).toBe(50_000);
    expect(comments).toEqual([" open", " ", " ", " "]);
    expect(server.openBodies).toBe(0);
  });

  it("ends a response that nobody reads on time, too, and lets go of the API", async () => {
    const server = new StreamServer([STALL(status(), assistant("1-0", "Hel"))]);
    const { next } = piecewise(await server.run(ask(server, { maxDuration: 50_000 })));
    await next();
    await server.clock.advance(49_999);
    expect(server.openBodies).toBe(1);
    await server.clock.advance(1);
    expect(server.openBodies).toBe(0);
    expect(server.clock.pending).toBe(0);
    expect(await next()).toBeUndefined();
  });

  it("has no timer left behind a response that ended before", async () => {
    const server = new StreamServer([END(status(), result(), done)]);
    await served(server, { maxDuration: 50_000 });
    expect(server.clock.pending).toBe(0);
  });

  it("has nothing left behind a response that broke off, either", async () => {
    const server = new StreamServer([STALL(status(), assistant("1-0", "Hel"))]);
    const cursor = server.cursor();
    const options = { request: new Request(path), authorize: () => true, maxDuration: 50_000 };
    const { next } = piecewise(
      await server.run(runStreamResponse(cursor, ref, { ...options, clock: server.clock })),
    );
    await next();
    vi.spyOn(cursor, "redact").mockImplementation(() => {
      throw new Error("odd");
    });
    await expect(next()).rejects.toThrow("odd");
    expect(server.openBodies).toBe(0);
    expect(server.clock.pending).toBe(0);
    await server.clock.advance(50_000);
  });
});
