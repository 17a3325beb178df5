import { describe, expect, it } from "vitest";
import { base, emulate, key } from "./helpers.ts";

describe("keys", () => {
  it("are taken as Bearer and as Basic user name", async () => {
    const { emulator } = emulate();
    for (const authorization of [`Bearer ${key}`, `bearer ${key}`, `Basic ${btoa(`${key}:`)}`]) {
      const response = await emulator.fetch(`${base}/v1/me`, { headers: { authorization } });
      expect(response.status).toBe(200);
    }
  });

  it("that are missing, quoted or revoked get 401 in the flat form", async () => {
    const { emulator } = emulate();
    const answers = [undefined, "", "Bearer", `Bearer "${key}"`, "Basic !!", `Basic ${btoa(key)}`, "Token x"];
    for (const authorization of answers) {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
      const response = await emulator.fetch(`${base}/v1/me`, { headers });
      expect([response.status, await response.json()], String(authorization)).toEqual([
        401,
        { code: "error", message: "Invalid User API Key" },
      ]);
    }
    const strict = emulate({ keys: [{ key, revoked: true }, { key: "other" }] });
    expect((await strict.call("GET", "/v1/me")).status).toBe(401);
    expect((await strict.call("GET", "/v1/me", undefined, { authorization: "Bearer other" })).status).toBe(
      200,
    );
    expect((await strict.call("GET", "/v1/me", undefined, { authorization: "Bearer third" })).status).toBe(
      401,
    );
  });

  it("of free accounts get 403 plan_required everywhere", async () => {
    const { call, emulator } = emulate({ keys: [{ key, plan: "free" }] });
    for (const { method, path } of emulator.routes) {
      const reply = await call(method, path.replace(/\{[^}]+\}/g, "x"), method === "POST" ? {} : undefined);
      expect([path, reply.status, reply.json.error.code]).toEqual([path, 403, "plan_required"]);
    }
  });

  it("own their agents", async () => {
    const { call, create } = emulate({ keys: [{ key }, { key: "stranger", owner: "elsewhere" }] });
    const { path } = await create("mine");
    const reply = await call("GET", path, undefined, { authorization: "Bearer stranger" });
    expect([reply.status, reply.json.error.code]).toEqual([404, "agent_not_found"]);
    const list = await call("GET", "/v1/agents", undefined, { authorization: "Bearer stranger" });
    expect(list.json).toEqual({ items: [] });
  });

  it("name their user, unless they belong to a service account", async () => {
    const { call } = emulate();
    expect((await call("GET", "/v1/me")).json).toMatchObject({
      userId: 42,
      userEmail: "developer@example.com",
    });
    const service = await call("GET", "/v1/me", undefined, { authorization: "Bearer sa_1" });
    expect(Object.keys(service.json)).toEqual(["apiKeyName", "createdAt"]);
  });
});

describe("requests", () => {
  it("to unknown paths and methods are 404 in the error envelope", async () => {
    const { call } = emulate();
    for (const [method, path] of [
      ["GET", "/v1/nothing"],
      ["PUT", "/v1/agents"],
      ["GET", "/v1/agents//runs"],
      ["GET", "/"],
    ] as const) {
      const reply = await call(method, path);
      expect([reply.status, typeof reply.json.error.code]).toEqual([404, "string"]);
    }
  });

  it("with a JSON content type and no body are 400 in the flat form", async () => {
    const { call, create } = emulate();
    const { path } = await create("x");
    for (const suffix of ["/archive", "/runs"]) {
      const reply = await call("POST", path + suffix, "", { "content-type": "application/json" });
      expect([reply.status, reply.json]).toEqual([
        400,
        { code: "error", message: "Body cannot be empty when content-type is set to 'application/json'" },
      ]);
    }
  });

  it("with another content type are 415, with broken JSON 400", async () => {
    const { call } = emulate();
    const other = await call("POST", "/v1/agents", "hello", { "content-type": "text/plain" });
    expect([other.status, other.json]).toEqual([
      415,
      { code: "error", message: "Unsupported Media Type: text/plain" },
    ]);
    const broken = await call("POST", "/v1/agents", "{", {
      "content-type": "application/json; charset=utf-8",
    });
    expect([broken.status, broken.json.code]).toEqual([400, "error"]);
  });

  it("with unknown keys in body or query are 400", async () => {
    const { call, create } = emulate();
    const { path, run } = await create("x");
    const message = "Unrecognized key(s) in object: 'sort', 'q'";
    for (const target of [
      "/v1/agents",
      path,
      `${path}/runs`,
      run,
      `${path}/usage`,
      `${path}/artifacts`,
      "/v1/models",
      "/v1/me",
    ]) {
      const reply = await call("GET", `${target}?sort=a&q=b`);
      expect([target, reply.status, reply.json.error]).toEqual([
        target,
        400,
        { code: "validation_error", message },
      ]);
    }
    const reply = await call("POST", "/v1/agents", { prompt: { text: "x", extra: 1 }, source: {} });
    expect(reply.status).toBe(400);
    expect(reply.json.error.message).toBe(
      "prompt: Unrecognized key(s) in object: 'extra'; Unrecognized key(s) in object: 'source'",
    );
    expect((await call("POST", `${path}/archive`, { reason: "x" })).status).toBe(400);
    expect((await call("POST", `${path}/archive`, {})).status).toBe(200);
  });

  it("over a rate limit are 429 in each of the three body forms", async () => {
    const bodies = {
      envelope: { error: { code: "rate_limit_exceeded" } },
      flat: { code: "error", message: "Too Many Requests" },
      connect: { code: "resource_exhausted", message: "[resource_exhausted] Error" },
    };
    for (const form of ["envelope", "flat", "connect"] as const) {
      const { call, clock } = emulate({ rateLimit: { perMinute: 2, form } });
      await call("GET", "/v1/me");
      await clock.advance(10_000);
      await call("GET", "/v1/me");
      const reply = await call("GET", "/v1/me");
      expect(reply.status).toBe(429);
      expect(reply.json).toMatchObject(bodies[form]);
      expect(reply.headers.get("retry-after")).toBe("50");
      expect(reply.headers.get("x-ratelimit-remaining")).toBe("0");
      expect((await call("GET", "/v1/models")).status).toBe(200);
      await clock.advance(50_000);
      expect((await call("GET", "/v1/me")).status).toBe(200);
    }
  });

  it("are recorded as they were sent, with the status of their answer", async () => {
    const { call, emulator, clock, create } = emulate();
    await create("x");
    await clock.advance(5);
    await call("GET", "/v1/agents?limit=7&prUrl=https%3A%2F%2Fg.com%2Fa%2Bb", undefined, { "X-Mine": "1" });
    expect(emulator.requests[0]).toMatchObject({
      method: "POST",
      operationId: "createAgent",
      status: 201,
      json: { prompt: { text: "x" } },
    });
    expect(emulator.requests[1]).toMatchObject({
      path: "/v1/agents?limit=7&prUrl=https%3A%2F%2Fg.com%2Fa%2Bb",
      url: `${base}/v1/agents?limit=7&prUrl=https%3A%2F%2Fg.com%2Fa%2Bb`,
      operationId: "listAgents",
      headers: { "x-mine": "1", authorization: `Bearer ${key}` },
      at: clock.now(),
      bodyText: "",
    });
  });

  it("each get a request id", async () => {
    const { call } = emulate();
    const ids = [await call("GET", "/v1/me"), await call("GET", "/nothing")].map((reply) =>
      reply.headers.get("x-request-id"),
    );
    expect(new Set(ids).size).toBe(2);
    expect(ids).not.toContain(null);
  });
});
