import { isArgumentError, type RunEvent } from "cursor-cloud-agents";
import { runStreamResponse } from "cursor-cloud-agents/serve";
import { describe, expect, it, vi } from "vitest";
import {
  apiError,
  assistant,
  done,
  END,
  frame,
  heartbeat,
  ref,
  result,
  runId,
  STALL,
  StreamServer,
  status,
  tool,
} from "../support/stream-server.ts";
import { ask, briefly, path, piecewise, served } from "./support.ts";

const whole = [status(), assistant("1-0", "Hel"), assistant("2-0", "lo"), result(), done];

describe("a run, served", () => {
  it("is one message for each event, with the API's id, and a sentinel at the end", async () => {
    const server = new StreamServer([END(...whole)]);
    const { text, messages, frames, response } = await served(server);
    expect(text).toMatch(/^retry: 2000\n\n: open\n\n/);
    expect(briefly(frames)).toEqual([
      "status RUNNING",
      "assistant#1-0 Hel",
      "assistant#2-0 lo",
      "result#900-0 Hello",
      "done#900-0",
      "end",
    ]);
    expect(messages.map(({ type, lastEventId }) => [type, lastEventId])).toEqual([
      ["message", ""],
      ["message", "1-0"],
      ["message", "2-0"],
      ["message", `result:${runId}`],
      ["message", `done:${runId}`],
      ["message", `end:${runId}`],
    ]);
    expect(frames.at(-1)).toEqual({ type: "end", id: `end:${runId}` });
    expect(response.status).toBe(200);
  });

  it("has these headers and no others, of the API's answer least of all", async () => {
    const answer = END(...whole);
    answer.headers = { ...answer.headers, "x-request-id": "req-secret", "set-cookie": "a=b", "x-other": "1" };
    const { response } = await served(new StreamServer([answer]));
    expect([...response.headers]).toEqual([
      ["cache-control", "no-cache, no-transform"],
      ["content-type", "text/event-stream; charset=utf-8"],
      ["x-accel-buffering", "no"],
    ]);
  });

  it("passes on every delta as it is, those of white space too", async () => {
    const deltas = ["Hello", " ", "\n", "\r\n", "world", "", "\u2028 ü 🙂 data: x\n\nid: 7"];
    const frames = deltas.map((text, index) => assistant(`${index + 1}-0`, text));
    const { frames: all } = await served(new StreamServer([END(...frames, result(), done)]));
    const texts = all.flatMap((event) => (event.type === "assistant" ? [event.data.text] : []));
    expect(texts).toEqual(deltas);
  });

  it("passes on what this version doesn't know or can't read", async () => {
    const odd = [frame("novelty", { a: 1 }, "5-0"), frame("assistant", "{no json", "6-0"), heartbeat];
    const { frames } = await served(new StreamServer([END(...odd, result(), done)]));
    expect(frames.slice(0, 3)).toEqual([
      { type: "unknown", name: "novelty", id: "5-0", data: { a: 1 } },
      { type: "invalid", name: "assistant", id: "6-0", raw: "{no json" },
      { type: "heartbeat", data: {} },
    ]);
  });

  it("has its events' names when asked to, none of which an EventSource takes for its own", async () => {
    const odd = [
      tool("1-0", "call", "running"),
      frame("error", { code: "x", message: "m" }),
      frame("open", 1, "2-0"),
      frame("end", 1, "3-0"),
      result(),
      done,
    ];
    const { messages } = await served(
      new StreamServer([END(...odd), END(...odd.slice(2))], { runs: ["RUNNING"] }),
      {
        named: true,
      },
    );
    expect(messages.map(({ type }) => type)).toEqual([
      "tool_call",
      "run_error",
      "run_open",
      "run_end",
      "result",
      "done",
      "end",
    ]);
  });

  it("gives its first bytes within 50 ms while the API is silent", async () => {
    const server = new StreamServer([STALL()]);
    const response = ask(server);
    await server.clock.advance(49);
    const { next, cancel } = piecewise(await response);
    expect(await next()).toBe("retry: 2000\n\n: open\n\n");
    await cancel();
    expect(server.openBodies).toBe(0);
    expect(server.clock.pending).toBe(0);
  });

  it("gives its first bytes before it asks the API at all, when told not to wait", async () => {
    const server = new StreamServer([END(...whole)]);
    const { next, cancel } = piecewise(await ask(server, { openingTimeout: 0 }));
    expect(await next()).toMatch(/^retry/);
    expect(server.requests).toEqual([]);
    await cancel();
    expect(server.requests).toEqual([]);
  });
});

describe("where to go on", () => {
  const rest = [assistant("2-0", "lo"), result(), done];

  it.each([
    ["the header", { lastEventId: "1-0" }],
    ["the query", { query: "?lastEventId=1-0" }],
    ["the header before the query", { lastEventId: "1-0", query: "?lastEventId=0-9" }],
  ])("is said by %s, and said to the API", async (_, asked) => {
    const server = new StreamServer([END(status(), ...rest)]);
    expect(briefly((await served(server, asked)).frames)).toContain("assistant#2-0 lo");
    expect(server.positions).toEqual(["1-0"]);
  });

  it("is any id, also one that looks like something else, and one in UTF-8", async () => {
    const server = new StreamServer([END(...rest)]);
    await served(server, { query: `?lastEventId=${encodeURIComponent('{"a":1}')}` });
    expect(server.positions).toEqual(['{"a":1}']);
    const utf8 = new StreamServer([END(assistant("é-1", "a"), ...rest), END(...rest)]);
    const { messages } = await served(utf8);
    const bytes = String.fromCharCode(...new TextEncoder().encode(messages[0]!.lastEventId));
    await served(utf8, { lastEventId: bytes });
    expect(utf8.positions).toEqual([undefined, "é-1"]);
  });

  it.each([
    ["result", ["done", "end"]],
    ["done", ["end"]],
  ])("behind the %s needs no look at the run", async (kind, expected) => {
    const server = new StreamServer([]);
    const { frames, lastEventId } = await served(server, { lastEventId: `${kind}:${runId}` });
    expect(briefly(frames)).toEqual(expected);
    expect(lastEventId).toBe(`end:${runId}`);
    expect(server.requests).toEqual([]);
  });

  it("behind the end is 204, with the API untouched", async () => {
    const server = new StreamServer([]);
    for (const asked of [{ lastEventId: `end:${runId}` }, { query: `?lastEventId=end:${runId}` }]) {
      const { response, text } = await served(server, asked);
      expect([response.status, text]).toEqual([204, ""]);
    }
    expect(server.requests).toEqual([]);
  });

  it("is the run's start behind a reset, where the API doesn't know the position", async () => {
    const server = new StreamServer([apiError(400, "invalid_last_event_id"), END(...whole)]);
    const { frames, messages } = await served(server, { lastEventId: "gone-0" });
    expect(briefly(frames)).toEqual([
      "reset",
      "status RUNNING",
      "assistant#1-0 Hel",
      "assistant#2-0 lo",
      "result#900-0 Hello",
      "done#900-0",
      "end",
    ]);
    expect(messages[0]?.lastEventId).toBe("");
    expect(server.positions).toEqual(["gone-0", undefined]);
  });

  it.each([
    ["a line end", "1-0%0Aevent: x"],
    ["a NUL", "1-0%00"],
    ["white space around it", "%201-0"],
    ["what no header can hold", "%F0%9F%99%82"],
    ["no end", "x".repeat(1025)],
  ])(
    "is the run's start behind a reset, for a position with %s, which the API never sees",
    async (_, position) => {
      const server = new StreamServer([END(...whole)]);
      const { frames } = await served(server, { query: `?lastEventId=${position}` });
      expect(briefly(frames).slice(0, 3)).toEqual(["reset", "status RUNNING", "assistant#1-0 Hel"]);
      expect(server.positions).toEqual([undefined]);
    },
  );

  it("is the start for an empty position", async () => {
    const server = new StreamServer([END(...whole)]);
    expect(briefly((await served(server, { query: "?lastEventId=" })).frames)[0]).toBe("status RUNNING");
    expect(server.positions).toEqual([undefined]);
  });
});

describe("who may", () => {
  it.each([
    ["left out", undefined],
    ["null", null],
    ["true", true],
  ])("must be said: authorize that is %s is an error, and the API is not touched", async (_, authorize) => {
    const server = new StreamServer([END(...whole)]);
    const error = await ask(server, { authorize: authorize as never }).catch((thrown: unknown) => thrown);
    expect(isArgumentError(error) && error.argument).toBe("authorize");
    expect(server.requests).toEqual([]);
  });

  it.each([
    ["false", false],
    ["a promise of false", Promise.resolve(false)],
    ["nothing", undefined],
    ["something truthy", 1],
    ["a user", { id: 7 }],
  ])("is nobody but who gets true: %s is 404, with the API untouched", async (_, verdict) => {
    const server = new StreamServer([END(...whole)]);
    const { response, text } = await served(server, { authorize: () => verdict as boolean });
    expect(response.status).toBe(404);
    expect(JSON.parse(text)).toEqual({
      error: { code: "not_found", message: "There is no such thing here." },
    });
    expect(server.requests).toEqual([]);
  });

  it("may be told in a Response, which is sent as it is", async () => {
    const server = new StreamServer([END(...whole)]);
    const own = new Response("log in", { status: 401, headers: { "www-authenticate": "x" } });
    expect(await ask(server, { authorize: async () => own })).toBe(own);
    expect(server.requests).toEqual([]);
  });

  it("stays unsaid when authorize throws: so does the handler, with the API untouched", async () => {
    const server = new StreamServer([END(...whole)]);
    const thrown = new Error("session store down");
    await expect(ask(server, { authorize: () => Promise.reject(thrown) })).rejects.toBe(thrown);
    expect(server.requests).toEqual([]);
  });

  it("is asked first, of the request and the ids, also where the end was received", async () => {
    const server = new StreamServer([END(...whole)]);
    const authorize = vi.fn(() => false);
    expect((await served(server, { lastEventId: `end:${runId}`, authorize })).response.status).toBe(404);
    const [request, asked] = authorize.mock.calls[0] as unknown as [Request, unknown];
    expect(request.url).toBe(path);
    expect(asked).toEqual(ref);
  });

  it.each([
    ["agentId", "bc-.."],
    ["agentId", "bc-1/../bc-2"],
    ["agentId", "bc-1%2f"],
    ["agentId", "run-1"],
    ["agentId", ""],
    ["agentId", undefined],
    ["agentId", ["bc-1"]],
    ["agentId", `bc-${"1".repeat(129)}`],
    ["id", "bc-1"],
    ["id", "run-1\nx"],
    ["id", "run-1?x"],
    ["id", "run- 1"],
    ["id", null],
    ["id", ["run-1"]],
  ])("is not even asked for what can't be an id: %s %j is 404", async (name, value) => {
    const server = new StreamServer([END(...whole)]);
    const authorize = vi.fn(() => true);
    const request = new Request(path);
    const odd = { ...ref, [name]: value } as never;
    const response = await runStreamResponse(server.cursor(), odd, { request, authorize });
    expect(response.status).toBe(404);
    expect(authorize).not.toHaveBeenCalled();
    expect(server.requests).toEqual([]);
  });
});

describe("what can't work is refused before anything happens", () => {
  it.each([
    ["request", { request: {} }],
    ["request", { request: undefined }],
    ["named", { named: "yes" }],
    ["maxDuration", { maxDuration: 10 }],
    ["maxDuration", { maxDuration: Number.POSITIVE_INFINITY }],
    ["openingTimeout", { openingTimeout: -1 }],
    ["keepAlive", { keepAlive: 0 }],
    ["retry", { retry: 0.5 }],
    ["clock", { clock: {} }],
    ["onError", { onError: "log" }],
    ["authorise", { authorise: () => true }],
  ])("%s", async (argument, options) => {
    const server = new StreamServer([]);
    const authorize = vi.fn(() => true);
    const error = await ask(server, { authorize, ...(options as object) }).catch((thrown: unknown) => thrown);
    expect(isArgumentError(error) && error.argument).toBe(argument);
    expect(authorize).not.toHaveBeenCalled();
  });

  it.each([
    ["cursor", undefined, ref],
    ["ref", undefined, undefined],
  ])("a %s that is missing", async (argument, cursor, run) => {
    const request = new Request(path);
    const client = argument === "cursor" ? cursor : new StreamServer([]).cursor();
    const error = await runStreamResponse(client as never, run as never, {
      request,
      authorize: () => true,
    }).catch((thrown: unknown) => thrown);
    expect(isArgumentError(error) && error.argument).toBe(argument);
  });

  it.each(["POST", "PUT", "DELETE", "HEAD"])("%s is 405", async (method) => {
    const server = new StreamServer([]);
    const { response } = await served(server, { init: { method } });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, OPTIONS"]);
    expect(server.requests).toEqual([]);
  });

  it("OPTIONS tells the methods, and allows no other origin", async () => {
    const { response } = await served(new StreamServer([]), { init: { method: "OPTIONS" } });
    expect(response.status).toBe(204);
    expect([...response.headers]).toEqual([
      ["allow", "GET, OPTIONS"],
      ["cache-control", "no-store"],
    ]);
  });
});

it("events have the types that a page needs", async () => {
  const { frames } = await served(new StreamServer([END(...whole)]));
  const events = frames.filter((one): one is RunEvent => !["reset", "failure", "end"].includes(one.type));
  expect(events).toHaveLength(5);
});
