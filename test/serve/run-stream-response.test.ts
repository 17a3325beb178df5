import { isArgumentError } from "cursor-cloud-agents";
import { cancelResponse, runStreamResponse } from "cursor-cloud-agents/serve";
import { describe, expect, it, vi } from "vitest";
import { END, STALL } from "../support/fake-api.ts";
import { assistant, done, frame, heartbeat, result, status, tooDeep, tool } from "../support/frames.ts";
import { ref, runId } from "../support/sample-run.ts";
import { StreamServer } from "../support/stream-server.ts";
import { ask, briefly, path, piecewise, served } from "./support.ts";

const whole = [status(), assistant("1-0", "Hel"), assistant("2-0", "lo"), result(), done];

describe("a served run", () => {
  it("is one message for each event, with the API's id, and an end frame", async () => {
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

  it("has these headers only, and none of the API's answer", async () => {
    const answer = END(...whole);
    answer.headers = { ...answer.headers, "x-request-id": "req-secret", "set-cookie": "a=b", "x-other": "1" };
    const { response } = await served(new StreamServer([answer]));
    expect([...response.headers]).toEqual([
      ["cache-control", "no-cache, no-store, no-transform"],
      ["content-type", "text/event-stream; charset=utf-8"],
      ["x-accel-buffering", "no"],
      ["x-content-type-options", "nosniff"],
    ]);
  });

  it("passes on every delta unchanged, including white space", async () => {
    const deltas = ["Hello", " ", "\n", "\r\n", "world", "", "\u2028 ü 🙂 data: x\n\nid: 7"];
    const frames = deltas.map((text, index) => assistant(`${index + 1}-0`, text));
    const { frames: all } = await served(new StreamServer([END(...frames, result(), done)]));
    const texts = all.flatMap((event) => (event.type === "assistant" ? [event.data.text] : []));
    expect(texts).toEqual(deltas);
  });

  it("passes on events that this version doesn't know or can't read", async () => {
    const odd = [frame("novelty", { a: 1 }, "5-0"), frame("assistant", "{no json", "6-0"), heartbeat];
    const { frames } = await served(new StreamServer([END(...odd, result(), done)]));
    expect(frames.slice(0, 3)).toEqual([
      { type: "unknown", name: "novelty", id: "5-0", data: { a: 1 } },
      { type: "invalid", name: "assistant", id: "6-0", raw: "{no json" },
      { type: "heartbeat", data: {} },
    ]);
  });

  it("continues after a payload that nests too deep to be written as JSON again", async () => {
    const server = new StreamServer([END(tooDeep("1-0"), assistant("2-0", "Hi"), result(), done)]);
    const { frames, lastEventId } = await served(server);
    expect(frames[0]).toMatchObject({
      type: "invalid",
      name: "tool_call",
      id: "1-0",
      raw: expect.stringMatching(/^{"callId":"deep"/),
    });
    expect(briefly(frames.slice(1))).toEqual(["assistant#2-0 Hi", "result#900-0 Hello", "done#900-0", "end"]);
    expect(lastEventId).toMatch(/^end:/);
  });

  it("has the events' names with `named`, none of which an EventSource reserves", async () => {
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

  it("sends its first bytes within 50 ms while the API is silent", async () => {
    const server = new StreamServer([STALL()]);
    const response = ask(server);
    await server.clock.advance(49);
    const { next, cancel } = piecewise(await response);
    expect(await next()).toBe("retry: 2000\n\n: open\n\n");
    await cancel();
    expect(server.openBodies).toBe(0);
    expect(server.clock.pending).toBe(0);
  });

  it("sends its first bytes before it calls the API, when openingTimeout is 0", async () => {
    const server = new StreamServer([END(...whole)]);
    const { next, cancel } = piecewise(await ask(server, { openingTimeout: 0 }));
    expect(await next()).toMatch(/^retry/);
    expect(server.requests).toEqual([]);
    await cancel();
    expect(server.requests).toEqual([]);
  });
});

describe("an invalid argument is rejected before anything happens", () => {
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
  ])("a missing %s", async (argument, cursor, run) => {
    const request = new Request(path);
    const client = argument === "cursor" ? cursor : new StreamServer([]).cursor();
    const error = await runStreamResponse(client as never, run as never, {
      request,
      authorize: () => true,
    }).catch((thrown: unknown) => thrown);
    expect(isArgumentError(error) && error.argument).toBe(argument);
  });

  it.each([
    ["the promise that a router has for them", Promise.resolve(ref), "ref", /got a promise: await it/],
    ["another name for the run", { agentId: ref.agentId, runId }, "ref.id", /a run is \{ agentId, id \}/],
    ["another name for the agent", { agent: ref.agentId, id: runId }, "ref.agentId", /a run is/],
  ])("%s is an error of the route, not a 404", async (_, run, argument, message) => {
    const authorize = vi.fn(() => true);
    for (const respond of [runStreamResponse, cancelResponse]) {
      const error = await respond(new StreamServer([]).cursor(), run as never, {
        request: new Request(path),
        authorize,
      }).catch((thrown: unknown) => thrown);
      expect(isArgumentError(error) && error.argument).toBe(argument);
      expect((error as Error).message).toMatch(message);
    }
    expect(authorize).not.toHaveBeenCalled();
  });

  it("HEAD is answered as GET, without the body, and leaves no connection", async () => {
    const server = new StreamServer([STALL(status(), assistant("1-0", "Hel"))]);
    const { response, text } = await served(server, { init: { method: "HEAD" } });
    expect([response.status, response.body, text]).toEqual([200, null, ""]);
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(server.openBodies).toBe(0);
  });

  it.each(["POST", "PUT", "DELETE"])("%s is answered with 405", async (method) => {
    const server = new StreamServer([]);
    const { response } = await served(server, { init: { method } });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    expect(server.requests).toEqual([]);
  });

  it("OPTIONS is answered with the methods, and allows no other origin", async () => {
    const { response } = await served(new StreamServer([]), { init: { method: "OPTIONS" } });
    expect(response.status).toBe(204);
    expect([...response.headers]).toEqual([
      ["allow", "GET, HEAD, OPTIONS"],
      ["cache-control", "no-store"],
    ]);
  });
});

describe("a served run over time", () => {
  it("sends a comment after each 15 s of silence", async () => {
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

  it("ends a response at maxDuration; the browser resumes from there, and nothing is lost or doubled", async () => {
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

  it("ends a silent response at maxDuration, which sends nothing afterwards", async () => {
    const server = new StreamServer([STALL(status())]);
    const began = server.clock.now();
    const { comments } = await served(server, { maxDuration: 50_000 });
    expect(server.clock.now() - began).toBe(50_000);
    expect(comments).toEqual([" open", " ", " ", " "]);
    expect(server.openBodies).toBe(0);
  });

  it("ends a response that nobody reads at maxDuration, with its connection to the API", async () => {
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

  it("leaves no timer after a response that ended before maxDuration", async () => {
    const server = new StreamServer([END(status(), result(), done)]);
    await served(server, { maxDuration: 50_000 });
    expect(server.clock.pending).toBe(0);
  });

  it("leaves no timer or connection after a response that broke", async () => {
    const server = new StreamServer([STALL(status(), assistant("1-0", "Hel"))]);
    const cursor = server.cursor();
    const options = { request: new Request(path), authorize: () => true, maxDuration: 50_000 };
    const { next } = piecewise(
      await server.run(runStreamResponse(cursor, ref, { ...options, clock: server.clock })),
    );
    await next();
    const encode = vi.spyOn(TextEncoder.prototype, "encode").mockImplementation(() => {
      throw new Error("odd");
    });
    await expect(next()).rejects.toThrow("odd");
    encode.mockRestore();
    expect(server.openBodies).toBe(0);
    expect(server.clock.pending).toBe(0);
    await server.clock.advance(50_000);
  });
});
