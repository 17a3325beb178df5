import { isApiError, type Middleware } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import { failedResponse, fake, reply } from "../support/fake-api.ts";
import { agentId, ref } from "../support/sample-run.ts";

const page = `<!DOCTYPE html><html><body><h1>504 Gateway Time-out</h1>${"<p>x</p>".repeat(5_000)}</body></html>`;
const html = { "content-type": "text/html" };

/** The error of a Get An Agent that gets this response. */
const failureOf = (status: number, body?: unknown, headers?: Record<string, string>) => {
  const { cursor, fails } = fake(reply(status, body, headers), { maxRetries: 0 });
  return fails(cursor.agents.get("bc-1"));
};
const start = (status: number) => `GET /v1/agents/bc-1 -> ${status}`;

describe("every known form of an error body is read", () => {
  it.each([
    {
      form: "a: error object",
      status: 404,
      body: { error: { code: "agent_not_found", message: "No such agent" } },
      code: "agent_not_found",
      message: " agent_not_found: No such agent",
    },
    {
      form: "b: flat, the literal code error names nothing",
      status: 401,
      body: { code: "error", message: "Invalid User API Key" },
      message: ": Invalid User API Key",
    },
    {
      form: "c: Connect style",
      status: 400,
      body: { code: "invalid_argument", message: "[invalid_argument] Error", details: [] },
      code: "invalid_argument",
      message: " invalid_argument: [invalid_argument] Error",
    },
    {
      form: "c: Connect style with a title",
      status: 429,
      body: {
        code: "resource_exhausted",
        message: "[resource_exhausted] Error",
        details: [{ debug: { error: "ERROR_RATE_LIMITED", details: { title: "Slow down" } } }],
      },
      code: "resource_exhausted",
      message: " resource_exhausted: [resource_exhausted] Error: Slow down",
    },
    {
      form: "d: error is a string",
      status: 404,
      body: { error: "Not Found: no live claim" },
      message: ": Not Found: no live claim",
    },
    {
      form: "e: flat code, no message",
      status: 410,
      body: { code: "cursor_expired" },
      code: "cursor_expired",
      message: " cursor_expired",
    },
    {
      form: "f: error is a title beside a message",
      status: 429,
      body: { error: "Too Many Requests", message: "Rate limit exceeded" },
      message: ": Rate limit exceeded",
    },
    { form: "g: HTML", status: 502, body: page, headers: html, message: "" },
    { form: "g: empty", status: 502, message: "" },
    {
      form: "h: flat with a real code",
      status: 409,
      body: { code: "agent_busy", message: "Agent already has an active run" },
      code: "agent_busy",
      message: " agent_busy: Agent already has an active run",
    },
    { form: "plain text", status: 503, body: "Service Unavailable", message: ": Service Unavailable" },
    { form: "JSON null", status: 500, body: null, message: "" },
    { form: "a JSON list", status: 500, body: [1, 2], message: "" },
    { form: "an error of the wrong type", status: 400, body: { error: 7, code: 8 }, message: "" },
    { form: "a null error", status: 400, body: { error: null, message: "odd" }, message: ": odd" },
    {
      form: "JSON that is none",
      status: 500,
      body: "oops",
      headers: { "content-type": "application/json" },
      message: ": oops",
    },
  ])("$form", async ({ status, body, headers, code, message }) => {
    const error = await failureOf(status, body, headers);
    expect(isApiError(error)).toBe(true);
    expect([error.name, error.kind, error.status, error.code]).toEqual(["ApiError", "api", status, code]);
    expect(error.message).toBe(start(status) + message);
    expect([error.method, error.path]).toEqual(["GET", "/v1/agents/bc-1"]);
    expect(error.cause).toBeUndefined();
  });

  it("helpUrl and provider tell a person where to fix it", async () => {
    const error = await failureOf(403, {
      error: {
        code: "integration_not_connected",
        message: "Connect GitHub",
        helpUrl: "https://cursor.com/integrations",
        provider: "github",
      },
    });
    expect([error.helpUrl, error.provider]).toEqual(["https://cursor.com/integrations", "github"]);
  });

  it("keeps the raw body, cut at 4 KB, and the request id", async () => {
    const error = await failureOf(500, page, { ...html, "x-request-id": "req_1" });
    expect(error.body).toBe(page.slice(0, 4096));
    expect(error.requestId).toBe("req_1");
    expect("requestId" in (await failureOf(500, "oops"))).toBe(false);
    expect((await failureOf(500, "oops")).body).toBe("oops");
  });

  it("an error body without end is read only so far", async () => {
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new TextEncoder().encode("x".repeat(1024)));
      },
    });
    const { cursor, fails } = fake(() => new Response(endless, { status: 500 }), { maxRetries: 0 });
    expect((await fails(cursor.me())).body).toHaveLength(4096);
    expect(pulled).toBeLessThan(100);
  });
});

describe("what the server says is never lost behind the status", () => {
  it.each([
    [401, { error: { code: "unauthorized", message: "bad key" } }, "unauthorized", "bad key"],
    [403, { error: { code: "plan_required", message: "needs a paid plan" } }, "plan_required", "paid plan"],
    [403, undefined, undefined, "403"],
    [401, page, undefined, "401"],
    [
      400,
      { error: { code: "repository_required", message: "repos is missing" } },
      "repository_required",
      "repos",
    ],
    [403, { error: { code: "repository_access", message: "no access to o/r" } }, "repository_access", "o/r"],
  ])("%i %j", async (status, body, code, text) => {
    const { cursor, requests, fails } = fake(reply(status, body));
    const error = await fails(cursor.agents.create({ prompt: "x" }));
    expect([error.status, error.code]).toEqual([status, code]);
    expect(error.message).toMatch(/^POST \/v1\/agents -> /);
    expect(error.message).toContain(text);
    expect(error.message).not.toContain("<");
    expect(requests).toHaveLength(1);
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({ status, name: "ApiError" });
  });

  it("an error body that is nested deeper than the stack becomes an ApiError like any other", async () => {
    const error = await failureOf(500, `${"[".repeat(30_000)}${"]".repeat(30_000)}`);
    expect([error.name, error.message, error.body]).toEqual(["ApiError", start(500), "[".repeat(4096)]);
  });

  it.each<[string, Middleware[]]>([
    ["without a middleware", []],
    ["with a middleware that returns nothing", [{ onResponse: () => undefined }]],
    [
      "with a middleware that returns a response of its own",
      [{ onResponse: ({ response }) => new Response(response.body, response) }],
    ],
  ])("the body on the error is the text as it came, character for character, %s", async (_, middleware) => {
    const text = `{ "error" : {"code":"agent_busy",\n "message":"\\u0041 is busy"}, "n":1.0, "n":2e3 }\n`;
    const { cursor, fails } = fake(reply(409, text), { middleware });
    const error = await fails(cursor.agents.get("bc-1"));
    expect([error.code, error.body]).toEqual(["agent_busy", text]);
    expect(error.message).toBe(`${start(409)} agent_busy: A is busy`);
  });

  it("a validation answer without a reason is not repeated, and can be reported", async () => {
    const { cursor, requests, fails } = fake(
      failedResponse(400, "validation_error", { "x-request-id": "req_63" }),
    );
    const repos = [{ url: "https://github.com/o/r", startingRef: "0123456789abcdef" }];
    const error = await fails(cursor.agents.create({ prompt: "x", repos }));
    expect([error.code, error.requestId, requests.length]).toEqual(["validation_error", "req_63", 1]);
    expect(error.body).toContain("because validation_error");
  });

  it("a gateway page to a follow-up is a 504 whose outcome is unknown, without a repeat", async () => {
    const { cursor, requests, fails } = fake(reply(504, page, html));
    const error = await fails(cursor.runs.create(agentId, { prompt: "x" }));
    expect([error.status, error.outcome, requests.length]).toEqual([504, "unknown", 1]);
    expect(error.message).toBe(`POST /v1/agents/${agentId}/runs -> 504`);
  });

  it("the query stays out of path and message", async () => {
    const { cursor, fails } = fake(failedResponse(404, "artifact_not_found"));
    const error = await fails(cursor.artifacts.url(agentId, "artifacts/secret-plans.md"));
    expect(error.path).toBe(`/v1/agents/${agentId}/artifacts/download`);
    expect(error.message).not.toContain("secret-plans");
  });

  it("the error knows what the call was about", async () => {
    const { cursor, fails } = fake(failedResponse(404, "run_not_found"));
    const error = await fails(cursor.runs.get(ref));
    expect([error.agentId, error.runId]).toEqual([ref.agentId, ref.id]);
  });
});

describe("success with an odd body", () => {
  const empties = [
    ["no body", () => new Response(null, { status: 200 })],
    ["an empty chunked body", () => new Response(new ReadableStream({ start: (c) => c.close() }))],
    ["204", () => new Response(null, { status: 204 })],
    ["Content-Length: 0", () => new Response("", { headers: { "content-length": "0" } })],
    ["null", () => new Response("null", { headers: { "content-type": "application/json" } })],
    ["202", () => new Response("", { status: 202 })],
    ["blanks", () => new Response("\r\n")],
  ] as const;

  it.each(empties)("%s is fine where the answer only repeats the id", async (_, answer) => {
    const { cursor } = fake(answer);
    expect(await cursor.agents.delete("bc-1")).toEqual({ id: "bc-1" });
    expect(await cursor.agents.archive("bc-1")).toEqual({ id: "bc-1" });
    expect(await cursor.agents.unarchive("bc-1")).toEqual({ id: "bc-1" });
    expect(await cursor.runs.cancel(ref)).toEqual({ id: ref.id });
  });

  it.each(empties)("%s is an invalid response where something was asked for", async (_, answer) => {
    const { cursor, requests, fails } = fake(answer);
    const error = await fails(cursor.runs.get(ref));
    expect([error.kind, error.code]).toEqual(["api", "invalid_response"]);
    expect(requests).toHaveLength(1);
  });

  it.each([
    ["HTML", "<html>login</html>", html],
    ["half JSON", '{"id":', { "content-type": "application/json" }],
  ])("%s is an invalid response, with no markup in its message", async (_, body, headers) => {
    const { cursor, fails } = fake(reply(200, body, headers));
    const error = await fails(cursor.agents.get("bc-1"));
    expect([error.name, error.status, error.code]).toEqual(["ApiError", 200, "invalid_response"]);
    expect(error.message).toBe(
      `${start(200)} invalid_response: the body is not a JSON object (${headers["content-type"]})`,
    );
    expect(error.body).toBe(body.startsWith("<") ? body : undefined);
  });

  it("JSON is JSON whatever its content type says", async () => {
    const { cursor } = fake(
      reply(200, '\ufeff{"apiKeyName":"k","createdAt":"t"}', { "content-type": "text/plain" }),
    );
    expect((await cursor.me()).apiKeyName).toBe("k");
  });

  it.each([5, "text", true, [], [{}]])(
    "JSON other than an object is an invalid response: %j",
    async (body) => {
      const { cursor, fails } = fake(reply(200, JSON.stringify(body)));
      expect(await fails(cursor.me())).toMatchObject({ kind: "api", code: "invalid_response" });
    },
  );

  it("a create that is answered without its run is an invalid response, and may have been carried out", async () => {
    const { cursor, fails } = fake(reply(201, { agent: { id: "bc-1" } }), { maxRetries: 0 });
    const calls = [
      () => cursor.agents.create({ prompt: "x" }),
      () => cursor.prompt("x"),
      () => cursor.runs.create("bc-1", { prompt: "x" }),
    ];
    for (const call of calls) {
      expect(await fails(call())).toMatchObject({ code: "invalid_response", outcome: "unknown" });
    }
  });
});
