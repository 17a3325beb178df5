import { isApiError, isConnectionError, isStreamError, isTimeoutError } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import {
  type Connection,
  CUT,
  END,
  failedResponse,
  htmlPage,
  reply,
  SILENT,
  terminated,
  UNREACHABLE,
} from "../support/fake-api.ts";
import { assistant, briefly, done, result, status } from "../support/frames.ts";
import { ref } from "../support/sample-run.ts";
import { readAll, StreamServer } from "../support/stream-server.ts";
import { collect } from "../support/waiting.ts";

const ending = result() + done;
const hel = assistant("100-0", "Hel");
const all = ["assistant#100-0 Hel", "result#900-0 Hello", "done#900-0"];
const broken = (error: unknown): Connection => ({ ...CUT(hel), ending: { error } });
const lost = { error: terminated() };
const html = "<html><body>upstream timed out</body></html>";
const gaps = ({ streams }: StreamServer) => streams.slice(1).map(({ at }, index) => at - streams[index]!.at);
const failing = (server: StreamServer, options = {}) =>
  readAll(server, options).catch((error: unknown) => error);

describe("a connection that breaks is a drop, not an error", () => {
  it.each([
    ["the body times out", broken(terminated("UND_ERR_BODY_TIMEOUT"))],
    ["the socket closes", broken(terminated("UND_ERR_SOCKET"))],
    ["a browser's fetch fails", broken(new TypeError("network error"))],
    ["an aborted body, not by us", broken(new DOMException("gone", "AbortError"))],
    ["something that is no error", broken("reset")],
    ["the server ends the body", END(hel)],
    ["the body ends inside a frame", END(hel, assistant("101-0", "x").slice(0, 20))],
  ])("%s", async (_name, connection) => {
    const server = new StreamServer([connection, END(status(), ending)]);
    expect(briefly(await readAll(server)).filter((name) => name !== "status RUNNING")).toEqual(all);
    expect(server.positions).toEqual([undefined, "100-0"]);
    expect(server.openBodies).toBe(0);
  });

  it.each([
    ["no connection", UNREACHABLE],
    ["no headers in time", SILENT],
    ["408", htmlPage(408)],
    ["429", failedResponse(429, "rate_limited")],
    ["500", failedResponse(500, "internal")],
    ["502 with a page of HTML", htmlPage(502, html)],
    ["503", htmlPage(503, "Service Unavailable")],
    ["503 stream_unavailable", failedResponse(503, "stream_unavailable")],
    ["504", htmlPage(504, html)],
    ["520, which only proxies know", htmlPage(520, html)],
    ["409 stream_unavailable", failedResponse(409, "stream_unavailable")],
    ["409 whose body breaks off before its code", { ...failedResponse(409, "x"), chunks: [], ending: lost }],
    ["200 with a page of HTML", htmlPage(200, "<html>login</html>")],
    ["200 with JSON", reply(200, { error: { code: "x" } })],
    ["200 with another text type", { ...END(ending), headers: { "content-type": "text/event-streams" } }],
    ["200 without a type", { ...END(ending), headers: {} }],
  ])("%s at the opening, and at a resume", async (_name, failed) => {
    const server = new StreamServer([failed, CUT(hel), failed, END(ending)]);
    expect(briefly(await readAll(server))).toEqual(all);
    expect(server.positions).toEqual([undefined, undefined, "100-0", "100-0"]);
    expect(server.lookups).toHaveLength(0);
    expect(server.openBodies).toBe(0);
  });

  it("a 400 at a resume whose body breaks off before its code: it was the position, which isn't sent again", async () => {
    const failed = { ...failedResponse(400, "x"), chunks: [], ending: lost };
    const server = new StreamServer([CUT(hel), failed, END(hel, ending)]);
    expect(briefly(await readAll(server))).toEqual(all);
    expect(server.positions).toEqual([undefined, "100-0", undefined]);
  });

  it.each(["text/event-stream", "text/event-stream; charset=utf-8", "TEXT/Event-Stream ;x=y"])(
    "%s is an event stream",
    async (type) => {
      const server = new StreamServer([{ ...END(hel, ending), headers: { "content-type": type } }]);
      expect(briefly(await readAll(server))).toEqual(all);
    },
  );
});

describe("what is final", () => {
  it.each([
    [401, "unauthorized"],
    [403, "plan_required"],
    [404, "run_not_found"],
    [409, "agent_archived"],
    [400, "validation_error"],
    [429, "usage_limit_exceeded"],
  ])("%i %s ends the stream at once, at the opening and at a resume", async (code, name) => {
    for (const before of [[], [CUT(hel)]]) {
      const server = new StreamServer([...before, failedResponse(code, name)]);
      const error = await failing(server);
      expect(isApiError(error, name) && error.status).toBe(code);
      expect(error).toMatchObject({ agentId: ref.agentId, runId: ref.id });
      expect(server.streams).toHaveLength(before.length + 1);
      expect(server.lookups).toHaveLength(0);
      expect(server.clock.pending).toBe(0);
    }
  });

  it("stays final: a further read repeats the error and sends nothing", async () => {
    const server = new StreamServer([failedResponse(403, "plan_required")]);
    const stream = server.cursor().runs.stream(ref);
    const iterator = stream[Symbol.asyncIterator]();
    const first = await iterator.next().catch((error: unknown) => error);
    await expect(iterator.next()).rejects.toBe(first);
    await expect(stream.result()).rejects.toBe(first);
    expect(server.requests).toHaveLength(1);
  });
});

describe("the budget", () => {
  it.each([0, 1, 4, 10])(
    "of %i reconnects is shared by opening and resuming, and by nothing else",
    async (maxReconnects) => {
      for (const failed of [UNREACHABLE, failedResponse(503, "down"), END(status())]) {
        const server = new StreamServer(() => failed, { runs: ["RUNNING"] });
        await failing(server, { maxReconnects });
        expect(server.streams).toHaveLength(1 + maxReconnects);
      }
    },
  );

  it("is 10 by default, whatever maxRetries is", async () => {
    const server = new StreamServer(() => failedResponse(503, "down"), { runs: ["RUNNING"] });
    const cursor = server.cursor({ maxRetries: 3 });
    await server.run(collect(cursor.runs.stream(ref)).catch(() => {}));
    expect(server.streams).toHaveLength(11);
  });

  it("starts again with every new event", async () => {
    let id = 0;
    const server = new StreamServer((_request, index) => {
      if (index === 40) return END(ending);
      return index % 3 === 0 ? CUT(assistant(`${id++}`, "x")) : UNREACHABLE;
    });
    expect(await readAll(server, { maxReconnects: 3 })).toHaveLength(16);
  });

  it("is not refilled by replays, statuses and heartbeats", async () => {
    const server = new StreamServer(() => CUT(status(), hel, "event: heartbeat\ndata: {}\n\n"), {
      runs: ["RUNNING"],
    });
    await failing(server, { maxReconnects: 4 });
    expect(server.streams).toHaveLength(5);
  });

  it.each([
    ["a broken network", UNREACHABLE, isStreamError],
    ["silence", SILENT, isStreamError],
    ["early ends", END(status()), isStreamError],
    ["failed responses", htmlPage(504, html), isApiError],
  ])("used up by %s ends in an error that names its cause", async (_name, connection, guard) => {
    const server = new StreamServer([CUT(hel), connection, connection], { runs: ["RUNNING"] });
    const error = (await failing(server, { maxReconnects: 2 })) as Error;
    expect(guard(error)).toBe(true);
    expect(error).toMatchObject({ agentId: ref.agentId, runId: ref.id });
    expect(error.message).not.toContain("<");
    if (isStreamError(error)) {
      expect(error).toMatchObject({ reason: "disconnected", lastEventId: "100-0" });
      const { cause } = error;
      expect(isConnectionError(cause) || isTimeoutError(cause) || isStreamError(cause)).toBe(true);
    }
  });

  it("used up although the run ended meanwhile still ends in the outcome", async () => {
    for (const maxReconnects of [0, 1]) {
      const server = new StreamServer(() => UNREACHABLE, { runs: ["FINISHED"] });
      expect(briefly(await readAll(server, { maxReconnects }))).toEqual(["result", "done"]);
      expect(server.streams).toHaveLength(1 + maxReconnects);
    }
  });

  it("after the third connection in a row without progress, each is followed by a look at the run", async () => {
    const server = new StreamServer((_request, index) => (index === 6 ? END(ending) : UNREACHABLE), {
      runs: ["RUNNING", htmlPage(404 - 4, "x"), "RUNNING"],
    });
    await readAll(server);
    const order = server.requests.map(({ path }) => (path.endsWith("stream") ? "s" : "g")).join("");
    expect(order).toBe("sssgsgsgsgs");
  });
});

describe("the delay", () => {
  it("doubles from half a second to thirty, with full jitter", async () => {
    const expected = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000, 30_000];
    for (const random of [1, 0.5, 0]) {
      const server = new StreamServer(() => UNREACHABLE, { runs: ["RUNNING"] });
      const stream = server.cursor({ random: () => random }).runs.stream(ref);
      await server.run(collect(stream).catch(() => {}));
      expect(gaps(server)).toEqual(expected.map((delay) => delay * random));
    }
  });

  it("begins again after progress", async () => {
    const server = new StreamServer([UNREACHABLE, UNREACHABLE, CUT(hel), UNREACHABLE, END(ending)]);
    await readAll(server);
    expect(gaps(server)).toEqual([500, 1_000, 500, 1_000]);
  });

  it.each([
    ["seconds", "7", 7_000],
    ["less than its own pause, which is never shortened", "0", 500],
    ["a date", "Thu, 01 Jan 2026 00:01:30 GMT", 90_000],
    ["five minutes", "300", 300_000],
    ["more than five minutes", "3600", 300_000],
  ])("is what Retry-After asks for: %s", async (_name, value, expected) => {
    for (const code of [429, 503, 409]) {
      const failed = failedResponse(code, "stream_unavailable", {
        "retry-after": value,
        date: "Thu, 01 Jan 2026 00:00:00 GMT",
      });
      const server = new StreamServer([failed, END(hel, ending)]);
      expect(briefly(await readAll(server))).toEqual(all);
      expect(gaps(server)).toEqual([expected]);
    }
  });

  it("is announced: the attempt, the reason, the position", async () => {
    const server = new StreamServer([CUT(hel), failedResponse(503, "down"), END(ending)]);
    const reported: unknown[] = [];
    await readAll(server, { onReconnect: (info) => reported.push(info) });
    expect(reported).toEqual([
      { attempt: 1, reason: expect.objectContaining({ reason: "disconnected" }), lastEventId: "100-0" },
      { attempt: 2, reason: expect.objectContaining({ status: 503, code: "down" }), lastEventId: "100-0" },
    ]);
  });
});
