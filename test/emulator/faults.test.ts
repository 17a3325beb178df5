import { readFileSync } from "node:fs";
import { CursorEmulator, type FailureName } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { base, drain, emulate, frames, key, names } from "./helpers.ts";

describe("faults", () => {
  it("answer instead of doing the work, as many times as planned, with bodies of every kind", async () => {
    const { call, emulator } = emulate();
    emulator.faults
      .status("getApiKeyInfo", 503, { times: 2 })
      .status("getApiKeyInfo", 409, { code: "agent_busy" })
      .status("getApiKeyInfo", 502, { body: "<html>", headers: { "content-type": "text/html" } })
      .status("getApiKeyInfo", 429, { body: { code: "error" }, headers: { "Retry-After": "7" } })
      .status("getApiKeyInfo", 500, { body: "" });
    expect((await call("GET", "/v1/models")).status).toBe(200);
    expect((await call("GET", "/v1/me")).json).toMatchObject({ error: { code: "stream_unavailable" } });
    expect((await call("GET", "/v1/me")).status).toBe(503);
    expect((await call("GET", "/v1/me")).json.error.code).toBe("agent_busy");
    const html = await call("GET", "/v1/me");
    expect([html.text, html.headers.get("content-type")]).toEqual(["<html>", "text/html"]);
    const limited = await call("GET", "/v1/me");
    expect([limited.json, limited.headers.get("retry-after")]).toEqual([{ code: "error" }, "7"]);
    const empty = await call("GET", "/v1/me");
    expect([empty.status, empty.text, empty.headers.get("content-type")]).toEqual([500, "", null]);
    expect((await call("GET", "/v1/me")).status).toBe(200);
  });

  it("apply to one operation, to all, or to requests that match a predicate", async () => {
    const { call, emulator } = emulate();
    emulator.faults.status((request) => request.path.includes("limit=3"), 500).status("*", 504, { times: 2 });
    expect((await call("GET", "/v1/agents?limit=3")).status).toBe(500);
    expect((await call("GET", "/v1/me")).status).toBe(504);
    emulator.faults.clear();
    expect((await call("GET", "/v1/me")).status).toBe(200);
  });

  it("drop the answer after the work, and the request before it", async () => {
    const { call, emulator } = emulate();
    emulator.faults.dropRequest("createAgent").dropAnswer("createAgent");
    const create = () => call("POST", "/v1/agents", { prompt: { text: "x" } });
    for (const made of [0, 1]) {
      const error = await create().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(TypeError);
      expect(error).toMatchObject({ message: "fetch failed", cause: { code: "ECONNRESET" } });
      expect(emulator.agents).toHaveLength(made);
    }
    expect(emulator.requests.map((request) => request.status)).toEqual([undefined, undefined]);
    expect((await create()).status).toBe(201);
  });

  it("delay an answer by the emulator's clock", async () => {
    const { call, emulator, clock } = emulate();
    emulator.faults.delay("getApiKeyInfo", 70_000);
    const start = clock.now();
    expect((await clock.run(call("GET", "/v1/me"))).status).toBe(200);
    expect(clock.now() - start).toBe(70_000);
  });

  it("stall before the headers until the client aborts", async () => {
    const { emulator } = emulate();
    emulator.faults.stall("getApiKeyInfo", { beforeHeaders: true });
    const controller = new AbortController();
    const response = emulator.fetch(`${base}/v1/me`, {
      headers: { authorization: `Bearer ${key}` },
      signal: controller.signal,
    });
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(response).rejects.toBe(reason);
  });

  it("cut and stall a stream after a number of events or bytes", async () => {
    const { create, emulator, open } = emulate();
    const { run } = await create("x");
    emulator.faults.cut("streamRun", { afterEvents: 3 }).cut("streamRun", { afterBytes: 10, clean: true });
    const three = await drain(await open(run));
    expect(frames(three.text)).toHaveLength(3);
    expect(three.error?.message).toBe("terminated");
    expect(await drain(await open(run))).toEqual({ text: "event: sta" });
    emulator.faults.stall("streamRun", { afterEvents: 1 });
    const reader = ((await open(run)).body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    const silent = reader.read();
    expect(emulator.connections).toBe(1);
    await reader.cancel();
    expect(await silent).toMatchObject({ done: true });
    expect(emulator.connections).toBe(0);
    emulator.faults.cut("streamRun");
    expect((await drain(await open(run))).text).toBe("");
  });

  it("cut JSON bodies too", async () => {
    const { emulator } = emulate();
    emulator.faults.cut("getApiKeyInfo", { afterBytes: 5 });
    const response = await emulator.fetch(`${base}/v1/me`, { headers: { authorization: `Bearer ${key}` } });
    expect(response.status).toBe(200);
    expect(await drain(response)).toMatchObject({ text: '{"api', error: { message: "terminated" } });
  });

  it("ignore a position, or reject a valid one", async () => {
    const { create, emulator, stream, call } = emulate();
    const { run } = await create("x");
    const whole = await stream(run);
    const headers = { "Last-Event-ID": whole[5]?.id ?? "" };
    emulator.faults.refusePosition();
    const rejected = await call("GET", `${run}/stream`, undefined, headers);
    expect([rejected.status, rejected.json.error.code]).toEqual([400, "invalid_last_event_id"]);
    expect((await stream(run, headers)).length).toBeLessThan(whole.length);
    emulator.faults.ignorePosition();
    expect(await stream(run, headers)).toEqual(whole);
    expect(await stream(run, headers)).toEqual(whole);
    emulator.faults.clear();
    expect(names(await stream(run, headers))).toContain("result");
    expect((await stream(run, headers)).length).toBeLessThan(whole.length);
  });
});

describe("failures by name", () => {
  it.each<[FailureName, number, string, RegExp]>([
    ["plan_required", 403, "plan_required", /free users/],
    ["several_repositories", 400, "validation_error", /any-repo pool in env\.name/],
    ["usage_pricing_required", 400, "usage_limit_exceeded", /usage-based pricing/],
    ["hard_limit_reached", 400, "usage_limit_exceeded", /hard limit.*raise/i],
    ["branch_not_verified", 400, "validation_error", /verify that branch/],
    ["commit_not_verified", 400, "validation_error", /verify that commit/],
    ["default_branch_not_found", 400, "validation_error", /default branch/],
    ["integration_not_connected", 403, "integration_not_connected", /Connect/],
    ["included_usage_exhausted", 429, "rate_limit_exceeded", /included usage.*on-demand usage/],
    ["api_key_not_found", 401, "api_key_not_found", /key/],
    ["missing_body", 400, "missing_body", /body/],
    ["invalid_branch_name", 400, "invalid_branch_name", /branch/],
    ["repository_required", 400, "repository_required", /repository/],
    ["pr_resolution_failed", 400, "pr_resolution_failed", /pull request/],
  ])("%s is %i %s with a text that tells what to do", async (name, status, code, message) => {
    const { call, emulator } = emulate();
    emulator.faults.failure("createAgent", name);
    const reply = await call("POST", "/v1/agents", { prompt: { text: "x" } });
    expect([reply.status, reply.json.error.code]).toEqual([status, code]);
    expect(reply.json.error.message).toMatch(message);
    expect(emulator.agents).toEqual([]);
    expect((await call("POST", "/v1/agents", { prompt: { text: "x" } })).status).toBe(201);
  });

  it("has what the error carries beside its text, and headers of one's own", async () => {
    const { call, emulator } = emulate();
    emulator.faults
      .failure("getApiKeyInfo", "integration_not_connected")
      .failure("getApiKeyInfo", "included_usage_exhausted", { times: 2, headers: { "Retry-After": "2" } });
    expect((await call("GET", "/v1/me")).json.error).toMatchObject({
      helpUrl: expect.stringMatching(/^https:/),
      provider: "github",
    });
    for (const _ of [1, 2]) {
      const reply = await call("GET", "/v1/me");
      expect([reply.status, reply.headers.get("retry-after")]).toEqual([429, "2"]);
    }
    expect((await call("GET", "/v1/me")).status).toBe(200);
  });

  const contract = parse(readFileSync(new URL("../../openapi.yaml", import.meta.url), "utf8"));
  const codes = contract.components.schemas.ErrorCode.anyOf[0].enum as FailureName[];
  it.each(codes)("%s, as every code of the contract, can come about", async (code) => {
    const { call, emulator } = emulate();
    emulator.faults.failure("getApiKeyInfo", code);
    const reply = await call("GET", "/v1/me");
    expect(reply.json.error?.code ?? reply.json.code).toBe(code);
    const described = contract.components.schemas.ErrorCode.anyOf[0]["x-enumDescriptions"][code] as unknown;
    expect(String(described)).toContain(String(reply.status));
  });

  it("that do not exist are a mistake", () => {
    expect(() => new CursorEmulator().faults.failure("createAgent", "out_of_money" as FailureName)).toThrow(
      /faults\.failure: name: expected one of plan_required, .*got "out_of_money"/,
    );
  });

  it("a free key and several repositories get the same texts", async () => {
    const free = emulate({ keys: [{ key, plan: "free" }] });
    expect((await free.call("GET", "/v1/me")).json.error.message).toContain("free users");
    const { call, emulator } = emulate();
    emulator.workers.addPool({ poolName: "web", repo: "o/r" });
    const repos = [{ url: "https://github.com/o/r" }, { url: "https://github.com/o/s" }];
    for (const env of [{ type: "machine" }, { type: "pool", name: "web" }]) {
      const reply = await call("POST", "/v1/agents", { prompt: { text: "x" }, env, repos });
      expect([reply.status, reply.json.error.code]).toEqual([400, "validation_error"]);
      expect(reply.json.error.message).toContain("any-repo pool in env.name");
    }
  });
});
