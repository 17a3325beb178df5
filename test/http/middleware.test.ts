import type { Middleware } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import { failedResponse, fake, reply } from "../support/fake-api.ts";
import { agent, agentId, key } from "../support/sample-run.ts";
import { failure } from "../support/waiting.ts";

const withMiddleware = (...middleware: Middleware[]) => ({ middleware });

describe("a middleware", () => {
  it("sees each attempt and each answer, and can add headers", async () => {
    const seen: string[] = [];
    const log: Middleware = {
      onRequest({ request }) {
        seen.push(`${request.method} ${new URL(request.url).pathname}`);
        request.headers.set("x-trace", String(seen.length));
      },
      onResponse({ response }) {
        seen.push(String(response.status));
      },
    };
    const { cursor, requests, run } = fake([reply(503, "later"), reply(200, agent)], withMiddleware(log));
    await run(cursor.agents.get(agentId));
    const line = `GET /v1/agents/${agentId}`;
    expect(seen).toEqual([line, "503", line, "200"]);
    expect(requests.map(({ headers }) => headers.get("x-trace"))).toEqual(["1", "3"]);
  });

  it("never sees the key", async () => {
    let seen = "";
    const spy: Middleware = {
      onRequest: ({ request, options }) => {
        seen += JSON.stringify([...request.headers]) + JSON.stringify(options);
      },
      onResponse: ({ request }) => {
        seen += JSON.stringify([...request.headers]);
      },
    };
    for (const auth of ["bearer", "basic"] as const) {
      const { cursor, requests } = fake(reply(200, agent), {
        ...withMiddleware({ onRequest: spy.onRequest! }),
        auth,
      });
      await cursor.agents.get(agentId);
      expect(requests[0]!.headers.has("authorization")).toBe(true);
    }
    expect(seen).not.toContain(key);
    expect(seen).not.toContain(btoa(`${key}:`));
    expect(seen).not.toContain("authorization");
  });

  it.each(["https://evil.example/v1/me", "http://api.cursor.com/v1/me", "https://api.cursor.com:8443/v1/me"])(
    "can send a request to %s, but without the key",
    async (elsewhere) => {
      const detour: Middleware = { onRequest: () => new Request(elsewhere) };
      const { cursor, requests } = fake([reply(200, { apiKeyName: "k" })], withMiddleware(detour));
      await cursor.me();
      expect(requests[0]!.url.href).toBe(elsewhere);
      expect([...requests[0]!.headers]).toEqual([]);
    },
  );

  it("can answer by itself; then nothing is sent", async () => {
    const cache: Middleware = { onRequest: () => Response.json({ apiKeyName: "cached", createdAt: "" }) };
    const { cursor, requests } = fake([], withMiddleware(cache));
    expect((await cursor.me()).apiKeyName).toBe("cached");
    expect(requests).toHaveLength(0);
  });

  it("may read an error's body without spoiling the error", async () => {
    let read = "";
    const reader: Middleware = {
      async onResponse({ response }) {
        read = await response.clone().text();
      },
    };
    const { cursor, fails } = fake(failedResponse(409, "agent_busy"), withMiddleware(reader));
    expect((await fails(cursor.agents.get(agentId))).code).toBe("agent_busy");
    expect(read).toContain("agent_busy");
  });

  it("that has read the body of a success causes an error that says so", async () => {
    const greedy: Middleware = {
      async onResponse({ response }) {
        await response.text();
      },
    };
    const { cursor, requests, fails } = fake(reply(200, agent), withMiddleware(greedy));
    expect((await fails(cursor.agents.get(agentId))).message).toContain("a middleware has read the body");
    expect(requests).toHaveLength(1);
  });

  it.each(["onRequest", "onResponse"] as const)(
    "whose %s throws a TypeError is not taken for a broken network",
    async (hook) => {
      const cause = new TypeError("Cannot read properties of undefined (reading 'x')");
      let calls = 0;
      const broken = () => {
        calls += 1;
        throw cause;
      };
      const middleware = hook === "onRequest" ? { onRequest: broken } : { onResponse: broken };
      const { cursor, requests, fails } = fake(reply(200, agent), withMiddleware(middleware));
      const error = await fails(cursor.agents.get(agentId));
      expect([error.kind, calls, requests.length]).toEqual(["error", 1, hook === "onRequest" ? 0 : 1]);
      expect(error.cause).toBe(cause);
    },
  );
});

describe("headers", () => {
  it("of the client go with every request; a call's own win, in any case and form", async () => {
    const headers = { "X-Team": "a", "x-gone": undefined };
    const { cursor, requests } = fake(reply(200, agent), { headers });
    await cursor.agents.get(agentId);
    await cursor.agents.get(agentId, { headers: [["x-team", "b"]] });
    await cursor.agents.get(agentId, { headers: new Headers({ "X-TEAM": "c", "x-more": "1" }) });
    expect(requests.map((request) => request.headers.get("x-team"))).toEqual(["a", "b", "c"]);
    expect(requests.some((request) => request.headers.has("x-gone"))).toBe(false);
    expect(requests[2]!.headers.get("x-more")).toBe("1");
  });

  it.each([
    ["something other than a list", { onRequest() {} }],
    ["an entry without a hook", [{}]],
    ["a hook that is not a function", [{ onRequest: "x" }]],
    ["a hole", [undefined]],
  ])("%s is rejected when the client is made", (_, middleware) => {
    expect(() => fake([], { middleware: middleware as never })).toThrow(
      expect.objectContaining({ kind: "argument", argument: "middleware" }),
    );
  });

  it("can't replace the key: the attempt ends in an error", async () => {
    const argument = { kind: "argument", argument: "headers.authorization" };
    expect(() => fake(reply(200, agent), { headers: { authorization: "Bearer other" } })).toThrow(
      expect.objectContaining(argument),
    );
    const { cursor, requests } = fake(reply(200, agent));
    const error = await failure(cursor.agents.get(agentId, { headers: { Authorization: "Bearer third" } }));
    expect(error).toMatchObject({ kind: "argument", argument: "headers.authorization" });
    expect(requests).toEqual([]);
  });

  it.each([
    ["a line break in a value", { "x-a": "1\r\nx-b: 2" }, "headers.x-a"],
    ["a value outside of Latin-1", { "x-a": "✓" }, "headers.x-a"],
    ["a number", { "x-a": 1 as never }, "headers.x-a"],
    ["a blank in a name", { "x a": "1" }, "headers"],
    ["an empty name", { "": "1" }, "headers"],
    ["a string", "x-a: 1" as never, "headers"],
  ])("%s is rejected before anything is sent", async (_, headers, argument) => {
    const { cursor, requests } = fake(reply(200, agent));
    expect(await failure(cursor.agents.get(agentId, { headers }))).toMatchObject({
      kind: "argument",
      argument,
    });
    expect(() => fake([], { headers })).toThrow(expect.objectContaining({ kind: "argument", argument }));
    expect(requests).toHaveLength(0);
  });
});

describe("a custom fetch", () => {
  it.each<[string, Middleware[]]>([
    ["without a middleware", []],
    ["with a middleware", [{ onRequest: () => undefined }]],
    ["with a middleware that makes a new request", [{ onRequest: ({ request }) => new Request(request) }]],
  ])("gets a URL and an init, %s", async (_, middleware) => {
    const given: unknown[][] = [];
    const fetch: typeof globalThis.fetch = async (...input) => {
      given.push(input);
      return Response.json({ agent, run: { id: "run-1" } });
    };
    const { cursor } = fake([], { fetch, middleware });
    await cursor.agents.create({ prompt: "x", agentId }, { headers: { "x-a": "1" } });
    expect(given).toHaveLength(1);
    const [url, init] = given[0] as [string, RequestInit];
    expect(url).toBe("https://api.cursor.com/v1/agents");
    expect(init).toMatchObject({ method: "POST", redirect: "manual" });
    expect(init.signal).toBeInstanceOf(AbortSignal);
    expect(JSON.parse(init.body as string)).toEqual({ prompt: { text: "x" }, agentId });
    expect(Object.fromEntries(new Headers(init.headers))).toEqual({
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "x-a": "1",
    });
  });

  it("gets the bytes of a body that a middleware has compressed", async () => {
    const bytes = Uint8Array.from([31, 139, 0, 255]);
    let body: unknown;
    const fetch: typeof globalThis.fetch = async (_, init) => {
      body = init?.body;
      return Response.json({ agent, run: { id: "run-1" } });
    };
    const compress: Middleware = {
      onRequest: ({ request }) =>
        new Request(request.url, { method: "POST", body: bytes, headers: { "content-encoding": "gzip" } }),
    };
    const { cursor } = fake([], { fetch, middleware: [compress] });
    await cursor.agents.create({ prompt: "x" });
    expect(new Uint8Array(body as ArrayBuffer)).toEqual(bytes);
  });

  it("gets the settings that a middleware has given its request, and the abort of its signal", async () => {
    const controller = new AbortController();
    let init: RequestInit | undefined;
    const fetch: typeof globalThis.fetch = async (_, given) => {
      init = given;
      return Response.json(agent);
    };
    const change: Middleware = {
      onRequest: ({ request }) =>
        new Request(request, { credentials: "include", keepalive: true, signal: controller.signal }),
    };
    const { cursor } = fake([], { fetch, middleware: [change] });
    await cursor.agents.get(agentId);
    expect(init).toMatchObject({ credentials: "include", keepalive: true });
    expect(init && ["cache", "mode", "referrer"].filter((name) => name in init!)).toEqual([]);
    controller.abort();
    expect(init?.signal?.aborted).toBe(true);
  });
});

describe("a list of middleware", () => {
  it("rejects a middleware without a hook at once", () => {
    expect(() => fake([], withMiddleware({} as Middleware))).toThrow(
      expect.objectContaining({ kind: "argument", argument: "middleware" }),
    );
  });
});
