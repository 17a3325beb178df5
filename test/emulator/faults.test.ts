import { describe, expect, it } from "vitest";
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
