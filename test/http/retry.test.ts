import { type Cursor, isConnectionError } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import { broken, failedResponse, fake, reply, SILENT } from "../support/fake-api.ts";
import { agent, agentId, ref, run } from "../support/sample-run.ts";

type Call = (cursor: Cursor) => PromiseLike<unknown>;
const followUp: Call = (cursor) => cursor.runs.create(agentId, { prompt: "x" });
const create: Call = (cursor) => cursor.agents.create({ prompt: "x" });

const safe: [string, Call][] = [
  ["GET", (cursor) => cursor.agents.get(agentId)],
  ["DELETE", (cursor) => cursor.agents.delete(agentId)],
  ["archive", (cursor) => cursor.agents.archive(agentId)],
  ["unarchive", (cursor) => cursor.agents.unarchive(agentId)],
];
const unsafe: [string, Call][] = [
  ["a follow-up", followUp],
  ["cancel", (cursor) => cursor.runs.cancel(ref)],
  ["a worker token", (cursor) => cursor.workerTokens.create({ forUserId: 1 })],
  ["a create with secrets", (cursor) => cursor.agents.create({ prompt: "x", envVars: { A: "1" } })],
];
const every = [...safe, ...unsafe, ["a create", create] as [string, Call]];

const soon = { "retry-after": "1" };
const passing = [
  ["a broken connection", broken()],
  ["408", reply(408)],
  ["429", failedResponse(429, "rate_limit_exceeded")],
  ["500", reply(500, "oops")],
  ["502", reply(502, "<html>", { "content-type": "text/html" })],
  ["503", reply(503, "Service Unavailable")],
  ["504", reply(504)],
] as const;
const final = [
  ["400", failedResponse(400, "validation_error")],
  ["401", failedResponse(401, "unauthorized", soon)],
  ["403", failedResponse(403, "plan_required")],
  ["404", failedResponse(404, "agent_not_found")],
  ["409", failedResponse(409, "agent_busy")],
  ["409 with Retry-After", failedResponse(409, "run_not_cancellable", soon)],
  ["410", failedResponse(410, "stream_expired")],
  ["429 usage_limit_exceeded", failedResponse(429, "usage_limit_exceeded", soon)],
  ["501", failedResponse(501, "not_implemented", soon)],
] as const;

describe.each(safe)("%s", (_, call) => {
  it.each(passing)("is repeated after %s", async (_, answer) => {
    const { cursor, requests, run: pass } = fake([answer, reply(200, agent)]);
    await pass(call(cursor));
    expect(requests).toHaveLength(2);
  });

  it.each(passing)("gives up after two repeats of %s", async (_, answer) => {
    const { cursor, requests, fails } = fake(answer);
    const error = await fails(call(cursor));
    expect(requests).toHaveLength(3);
    expect(error.outcome).toBeUndefined();
  });
});

describe.each(unsafe)("%s", (_, call) => {
  it.each([
    ["429", failedResponse(429, "rate_limit_exceeded")],
    ["429 with Retry-After", failedResponse(429, "rate_limit_exceeded", soon)],
    ["503 with Retry-After", reply(503, "later", soon)],
  ])("is repeated after %s: the server can't have acted", async (_, answer) => {
    const { cursor, requests, run: pass } = fake([answer, reply(200, { agent, run })]);
    await pass(call(cursor));
    expect(requests).toHaveLength(2);
  });

  it.each([
    ["a broken connection", broken()],
    ["silence", SILENT],
    ["500", reply(500)],
    ["502", reply(502)],
    ["503 without Retry-After", reply(503)],
    ["504", reply(504)],
    ["503 with an unreadable Retry-After", reply(503, "", { "retry-after": "soon" })],
  ])("is sent once where %s leaves the outcome unknown", async (_, answer) => {
    const { cursor, requests, fails } = fake(answer);
    const error = await fails(call(cursor));
    expect([requests.length, error.outcome]).toEqual([1, "unknown"]);
  });

  it("is sent once after a 408, without an unknown outcome", async () => {
    const { cursor, requests, fails } = fake(reply(408));
    expect(((await fails(call(cursor))) as { outcome?: string }).outcome).toBeUndefined();
    expect(requests).toHaveLength(1);
  });
});

describe.each(every)("%s", (_, call) => {
  it.each(final)("is never repeated after %s", async (name, answer) => {
    const { cursor, requests, fails, clock } = fake(answer);
    const begin = clock.now();
    const error = await fails(call(cursor));
    expect([error.kind, error.status, requests.length]).toEqual(["api", Number.parseInt(name, 10), 1]);
    expect(clock.now()).toBe(begin);
    if (error.status < 500) expect(error.outcome).toBeUndefined();
  });

  it.each(passing)("is sent once with maxRetries 0, whatever happens: %s", async (_, answer) => {
    const ofClient = fake(answer, { maxRetries: 0 });
    await ofClient.fails(call(ofClient.cursor));
    expect(ofClient.requests).toHaveLength(1);
  });
});

describe("retries are not multiplied", () => {
  it("a call's own maxRetries wins over the client's", async () => {
    const { cursor, requests, fails } = fake(reply(503));
    await fails(cursor.models.list({ maxRetries: 4 }));
    expect(requests).toHaveLength(5);
  });

  it("the third page of a list is requested three times, not nine, when it fails", async () => {
    const pages = [1, 2].map((n) => reply(200, { items: [{ id: `bc-${n}` }], nextCursor: `c${n}` }));
    const { cursor, requests, fails } = fake([...pages, reply(503), reply(503), reply(503)]);
    const walk = async () => {
      for await (const _ of cursor.agents.list());
    };
    expect((await fails(walk())).status).toBe(503);
    expect(requests.map(({ target }) => target).slice(2)).toEqual(Array(3).fill("/v1/agents?cursor=c2"));
  });

  it("the next page can be asked for again after it failed", async () => {
    const first = reply(200, { items: [{ id: "bc-1" }], nextCursor: "c1" });
    const { cursor, run: pass } = fake([
      first,
      failedResponse(500, "internal_error"),
      reply(200, { items: [] }),
    ]);
    const page = await cursor.agents.list(undefined, { maxRetries: 0 });
    await expect(page.nextPage()).rejects.toMatchObject({ status: 500 });
    expect((await pass(page.nextPage()))?.items).toEqual([]);
  });
});

describe("a retry sends the same bytes", () => {
  it("also when the caller changes the object meanwhile", async () => {
    const params = { prompt: { text: "one" }, agentId };
    const {
      cursor,
      requests,
      run: pass,
    } = fake([failedResponse(429, "rate_limit_exceeded"), reply(201, { agent, run })]);
    const call = cursor.agents.create(params);
    params.prompt.text = "two";
    await pass(call);
    expect(requests).toHaveLength(2);
    expect(requests[1]?.text).toBe(requests[0]?.text);
    expect(requests[0]?.json).toEqual({ prompt: { text: "one" }, agentId });
  });

  it("and with a fresh Authorization each time", async () => {
    let count = 0;
    const apiKey = async () => `key_${++count}`;
    const { cursor, requests, run: pass } = fake([reply(503), reply(200, agent)], { apiKey });
    await pass(cursor.agents.get(agentId));
    expect(requests.map(({ headers }) => headers.get("authorization"))).toEqual([
      "Bearer key_1",
      "Bearer key_2",
    ]);
  });

  it("never an Idempotency-Key: the server ignores it", async () => {
    const { cursor, requests } = fake([reply(201, { agent, run })]);
    await cursor.agents.create({ prompt: "x" });
    expect([...requests[0]!.headers.keys()].sort()).toEqual(["authorization", "content-type"]);
  });
});

describe("a network failure is distinguished from a mistake", () => {
  const code = (name: string) => ({ cause: Object.assign(new Error(name), { code: name }) });
  it.each([
    new TypeError("fetch failed", code("ECONNREFUSED")),
    new TypeError("fetch failed", code("UND_ERR_SOCKET")),
    new TypeError("fetch failed"),
    new TypeError("Failed to fetch"),
    new TypeError("NetworkError when attempting to fetch resource."),
    new TypeError("Load failed"),
    new TypeError("terminated"),
    new DOMException("The network is gone", "NetworkError"),
  ])("%s: a connection error, and a GET is repeated", async (cause) => {
    const { cursor, requests, fails } = fake(() => {
      throw cause;
    });
    const error = await fails(cursor.agents.get(agentId));
    expect([error.kind, requests.length]).toEqual(["connection", 3]);
    expect(error.cause).toBe(cause);
    expect(error).toMatchObject({ method: "GET", path: `/v1/agents/${agentId}`, agentId });
  });

  it.each([
    new TypeError("Invalid URL", code("ERR_INVALID_URL")),
    new TypeError("Cannot convert argument to a ByteString because the character at index 0"),
    new TypeError("Only absolute URLs are supported"),
    new TypeError("Illegal invocation"),
    new RangeError("Invalid count value: -1"),
  ])("%s: a mistake, sent once, the cause kept", async (cause) => {
    const { cursor, requests, fails } = fake(() => {
      throw cause;
    });
    const error = await fails(cursor.agents.get(agentId));
    expect([error.kind, requests.length, isConnectionError(error)]).toEqual(["error", 1, false]);
    expect(error.cause).toBe(cause);
  });

  it("after a reset connection a GET recovers, and a follow-up reports an unknown outcome", async () => {
    const get = fake([broken(), broken(), reply(200, { items: [] })]);
    expect((await get.run(get.cursor.agents.list())).items).toEqual([]);
    const post = fake(broken());
    const error = await post.fails(followUp(post.cursor));
    expect([error.kind, error.outcome, post.requests.length]).toEqual(["connection", "unknown", 1]);
    expect(error.message).toBe(
      `POST /v1/agents/${agentId}/runs: connection failed: fetch failed (ECONNRESET)`,
    );
  });
});
