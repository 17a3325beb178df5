import { request as httpRequest } from "node:http";
import { setupServer } from "msw/node";
import { afterEach, describe, expect, expectTypeOf, it } from "vitest";
import { type ExchangeRecord, ManualClock } from "../../src/emulator/index.ts";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { operations } from "../support/contract.ts";
import { base, chunks, drain, emulate, frames, key, speakTo, textOf } from "./helpers.ts";

const authorization = { authorization: `Bearer ${key}` };

describe("fetch", () => {
  it("takes a Request, a URL and a string", async () => {
    const { emulator } = emulate();
    const url = `${base}/v1/me`;
    const request = new Request(url, { headers: authorization });
    expect((await emulator.fetch(request)).status).toBe(200);
    expect((await emulator.fetch(new URL(url), { headers: authorization })).status).toBe(200);
    const { fetch } = emulator;
    const response = await fetch(url, { headers: authorization });
    expect([response.url, response.ok]).toEqual([url, true]);
    const posted = new Request(`${base}/v1/agents`, {
      method: "POST",
      headers: { ...authorization, "content-type": "application/json" },
      body: JSON.stringify({ prompt: { text: "x" } }),
    });
    expect((await emulator.fetch(posted)).status).toBe(201);
  });

  it("answers at its base URL and nowhere else", async () => {
    const emulator = checkedEmulator({
      baseUrl: "http://localhost:9/proxy/",
      artifactsOrigin: "http://files.test",
    });
    expect(emulator.baseUrl).toBe("http://localhost:9/proxy");
    const { create, call } = speakTo(emulator.fetch, emulator.baseUrl);
    const { path, agentId } = await create("x");
    emulator.addArtifact(agentId, "artifacts/a.txt", "a");
    const { url } = (await call("GET", `${path}/artifacts/download?path=artifacts/a.txt`)).json;
    expect(url).toMatch(/^http:\/\/files\.test\//);
    expect(await (await emulator.fetch(url)).text()).toBe("a");
    for (const foreign of [
      "https://api.cursor.com/v1/me",
      "http://localhost:9/v1/me",
      "https://example.com/",
    ]) {
      await expect(emulator.fetch(foreign, { headers: authorization })).rejects.toMatchObject({
        message: "fetch failed",
        cause: { code: "ENOTFOUND" },
      });
    }
  });

  it("rejects with the signal's reason before the call, before the answer and within the body", async () => {
    const { emulator, create, open, clock } = emulate();
    const reason = new Error("mine");
    await expect(
      emulator.fetch(`${base}/v1/me`, { signal: AbortSignal.abort(reason), headers: authorization }),
    ).rejects.toBe(reason);
    expect(emulator.requests).toHaveLength(0);

    emulator.faults.delay("getApiKeyInfo", 1000);
    const waiting = new AbortController();
    const late = emulator.fetch(`${base}/v1/me`, { signal: waiting.signal, headers: authorization });
    waiting.abort(reason);
    await expect(late).rejects.toBe(reason);

    emulator.script("long", (run) => run.hold("never"));
    const { run } = await create("long");
    const reading = new AbortController();
    const response = await open(run, {}, reading.signal);
    const rest = drain(response);
    await clock.advance(1000);
    expect(emulator.connections).toBe(1);
    reading.abort(reason);
    expect((await rest).error).toBe(reason);
    expect(emulator.connections).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it("closes a stream whose client aborted before the headers", async () => {
    const { emulator, create, open, clock } = emulate();
    emulator.script("long", (run) => run.hold("never"));
    const { run } = await create("long");
    emulator.faults.delay("streamRun", 1000);
    const controller = new AbortController();
    const response = open(run, {}, controller.signal);
    await clock.advance(1);
    expect(emulator.connections).toBe(1);
    controller.abort();
    await expect(response).rejects.toMatchObject({ name: "AbortError" });
    await clock.advance(1000);
    expect(emulator.connections).toBe(0);
  });

  it("follows redirects as browsers do, or returns them, and fails for unknown hosts", async () => {
    const { emulator } = emulate();
    const url = `${base}/v1/models`;
    const redirect = (location: string, status = 302) =>
      emulator.faults.status("listModels", status, { body: "", headers: { location } });
    redirect("/v1/me");
    const followed = await emulator.fetch(url, { headers: authorization });
    expect([followed.status, followed.url, followed.redirected]).toEqual([200, `${base}/v1/me`, true]);
    redirect("https://evil.test/x", 307);
    const manual = await emulator.fetch(url, { headers: authorization, redirect: "manual" });
    expect([manual.status, manual.headers.get("location")]).toEqual([307, "https://evil.test/x"]);
    redirect("/v1/me");
    await expect(emulator.fetch(url, { headers: authorization, redirect: "error" })).rejects.toThrow(
      "fetch failed",
    );
    redirect("https://evil.test/x");
    await expect(emulator.fetch(url, { headers: authorization })).rejects.toMatchObject({
      cause: { code: "ENOTFOUND" },
    });
  });
});

describe("listen", () => {
  it("serves the whole API and the artifacts, each on its own origin", async () => {
    const emulator = checkedEmulator();
    await using server = await emulator.listen();
    const { create, call, stream } = speakTo(fetch, server.url);
    emulator.script("x", (run) => run.text("Héllo").artifact("artifacts/a b.txt", "bytes").finish());
    const { path, run } = await create("x");
    expect(textOf(await stream(run))).toBe("Héllo");
    const { url } = (await call("GET", `${path}/artifacts/download?path=artifacts/a%20b.txt`)).json;
    expect(new URL(url).origin).toBe(server.artifactsUrl);
    expect(server.artifactsUrl).not.toBe(server.url);
    expect(await (await fetch(url)).text()).toBe("bytes");
    expect((await fetch(url, { headers: authorization })).status).toBe(400);
    emulator.faults.cut("getArtifactBytes", { afterBytes: 2, clean: true });
    expect((await drain(await fetch(url))).error).toBeInstanceOf(TypeError);
  });

  it("at every address of the machine gives a URL of this machine, and presigned URLs under the name that was asked", async () => {
    const emulator = checkedEmulator();
    await using server = await emulator.listen({ hostname: "0.0.0.0" });
    expect(new URL(server.url).hostname).toBe("127.0.0.1");
    expect(new URL(server.artifactsUrl).hostname).toBe("127.0.0.1");
    const { create } = speakTo(fetch, server.url);
    const { path, agentId } = await create("x");
    emulator.addArtifact(agentId, "artifacts/a.txt", "bytes");
    const port = new URL(server.artifactsUrl).port;
    const target = `${server.url}${path}/artifacts/download?path=artifacts/a.txt`;
    for (const [host, origin] of [
      ["emulator:8484", `http://emulator:${port}`],
      ["emulator.test", `http://emulator.test:${port}`],
      ["10.0.0.7:80", `http://10.0.0.7:${port}`],
      ["[fd00::1]:8484", `http://[fd00::1]:${port}`],
      ['evil"/x', `http://127.0.0.1:${port}`],
    ]) {
      const body = await new Promise<string>((resolve) => {
        httpRequest(target, { headers: { ...authorization, host } }, (response) => {
          let text = "";
          response.on("data", (chunk) => {
            text += String(chunk);
          });
          response.on("end", () => resolve(text));
        }).end();
      });
      const { url } = JSON.parse(body) as { url: string };
      expect(url.startsWith(`${origin}/`), url).toBe(true);
      const { pathname, search } = new URL(url);
      expect(await (await fetch(server.artifactsUrl + pathname + search)).text()).toBe("bytes");
    }
    expect(emulator.requests.map(({ url }) => new URL(url).hostname)).toContain("emulator.test");
  });

  it("serves the artifacts on a port of one's choice", async () => {
    const emulator = checkedEmulator();
    let port: string;
    {
      await using free = await emulator.listen();
      port = new URL(free.artifactsUrl).port;
    }
    await using server = await emulator.listen({ artifactsPort: Number(port) });
    expect(server.artifactsUrl).toBe(`http://127.0.0.1:${port}`);
    await expect(emulator.listen({ artifactsPort: Number(port) })).rejects.toMatchObject({
      code: "EADDRINUSE",
    });
  });

  it("cuts, drops and stalls real sockets", async () => {
    const emulator = checkedEmulator();
    await using server = await emulator.listen();
    const { create, call, open } = speakTo(fetch, server.url);
    emulator.script("cut", (run) => run.text("Hel").cut({ afterBytes: 3 }).text("lo"));
    const { run } = await create("cut");
    const broken = await drain(await open(run));
    expect(broken.text.slice(-5)).toBe("\n\nid:");
    expect(broken.error?.message).toBe("terminated");
    emulator.faults.dropAnswer("createAgent");
    await expect(create("y")).rejects.toMatchObject({ message: "fetch failed" });
    expect(emulator.agents).toHaveLength(2);
    emulator.faults.cut("streamRun", { afterEvents: 2, clean: true });
    expect(frames((await drain(await open(run))).text)).toHaveLength(2);
    emulator.faults.stall("getApiKeyInfo", { beforeHeaders: true });
    const controller = new AbortController();
    const silent = fetch(`${server.url}/v1/me`, { headers: authorization, signal: controller.signal });
    await expect.poll(() => emulator.requests.at(-1)?.path, { interval: 1 }).toBe("/v1/me");
    controller.abort();
    await expect(silent).rejects.toMatchObject({ name: "AbortError" });
    expect((await call("GET", "/v1/me")).status).toBe(200);
  });

  it("frees a stream when its reader disconnects", async () => {
    const clock = new ManualClock();
    const emulator = checkedEmulator({ clock });
    await using server = await emulator.listen();
    const { create, open } = speakTo(fetch, server.url);
    emulator.script("long", (run) => run.text("a").hold("never"));
    const { run } = await create("long");
    const controller = new AbortController();
    const reader = chunks(await open(run, {}, controller.signal));
    await reader.next();
    expect(emulator.connections).toBe(1);
    controller.abort();
    await expect.poll(() => emulator.connections, { interval: 1 }).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it("destroys all sockets when it closes", async () => {
    const emulator = checkedEmulator();
    const server = await emulator.listen();
    const { create, open } = speakTo(fetch, server.url);
    emulator.script("long", (run) => run.hold("never"));
    const rest = drain(await open((await create("long")).run));
    await server.close();
    expect((await rest).error).toBeInstanceOf(TypeError);
    await expect.poll(() => emulator.connections, { interval: 1 }).toBe(0);
    await expect(fetch(`${server.url}/v1/me`)).rejects.toThrow("fetch failed");
  });

  it("stops writing while the client does not read", async () => {
    const emulator = checkedEmulator({ interactionUpdates: false });
    await using server = await emulator.listen();
    const { create } = speakTo(fetch, server.url);
    const block = "x".repeat(1024 * 1024);
    emulator.script("big", (run) => {
      for (let count = 0; count < 64; count++) run.text(block);
    });
    const { run } = await create("big");
    const response = await new Promise<import("node:http").IncomingMessage>((resolve) => {
      httpRequest(`${server.url}${run}/stream`, { headers: authorization }, resolve).end();
    });
    response.pause();
    // Everything would be written by now if nobody waited for the reader.
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(emulator.connections).toBe(1);
    response.destroy();
    await expect.poll(() => emulator.connections, { interval: 1 }).toBe(0);
  });

  it("records header lines as they were sent", async () => {
    const emulator = checkedEmulator();
    await using server = await emulator.listen();
    await new Promise((resolve) => {
      const headers = { Authorization: `Bearer ${key}`, "X-MiXed": "1" };
      httpRequest(`${server.url}/v1/agents?limit=3`, { headers }, (response) =>
        response.resume().on("end", resolve),
      ).end();
    });
    expect(emulator.requests[0]?.headerEntries).toContainEqual(["X-MiXed", "1"]);
    expect(emulator.requests[0]).toMatchObject({
      path: "/v1/agents?limit=3",
      headers: { "x-mixed": "1" },
      status: 200,
    });
  });
});

describe("handlers", () => {
  const server = setupServer();
  afterEach(() => server.close());

  it("have the form of msw handlers", () => {
    expectTypeOf(setupServer).toBeCallableWith(...checkedEmulator().handlers());
  });

  it("serve the API and the artifacts to the caller's own msw", async () => {
    const emulator = checkedEmulator();
    server.listen({ onUnhandledRequest: "error" });
    server.use(...emulator.handlers());
    const { create, call, stream, open } = speakTo(fetch);
    emulator.script("x", (run) =>
      run.text("Hel").cut().text("lo").artifact("artifacts/a.txt", "bytes").finish(),
    );
    const { path, run } = await create("x");
    expect((await drain(await open(run))).error).toBeInstanceOf(TypeError);
    expect(textOf(await stream(run))).toBe("Hello");
    const { url } = (await call("GET", `${path}/artifacts/download?path=artifacts/a.txt`)).json;
    expect(await (await fetch(url)).text()).toBe("bytes");
    emulator.faults.dropAnswer("createAgent");
    await expect(create("y")).rejects.toBeInstanceOf(TypeError);
    expect(emulator.agents).toHaveLength(2);
  });

  it("free a stream when its reader cancels", async () => {
    const emulator = checkedEmulator();
    server.listen({ onUnhandledRequest: "error" });
    server.use(...emulator.handlers());
    const { create, open } = speakTo(fetch);
    emulator.script("long", (run) => run.hold("never"));
    const { run } = await create("long");
    const controller = new AbortController();
    const rest = drain(await open(run, {}, controller.signal));
    expect(emulator.connections).toBe(1);
    controller.abort();
    expect((await rest).error).toMatchObject({ name: "AbortError" });
    expect(emulator.connections).toBe(0);
    const reader = chunks(await open(run));
    await reader.next();
    await reader.cancel();
    await expect.poll(() => emulator.connections, { interval: 1 }).toBe(0);
  });

  it("keep a stall silent until the client aborts", async () => {
    const emulator = checkedEmulator();
    server.listen({ onUnhandledRequest: "error" });
    server.use(...emulator.handlers());
    emulator.faults.stall("getApiKeyInfo", { beforeHeaders: true });
    const controller = new AbortController();
    const response = fetch(`${base}/v1/me`, { headers: authorization, signal: controller.signal });
    controller.abort();
    await expect(response).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("an emulator", () => {
  it("reports each exchange when it is over, and whether it had a fault", async () => {
    const seen: ExchangeRecord[] = [];
    const { create, emulator, stream, open, call } = emulate({
      onExchange: (exchange) => seen.push(exchange),
    });
    const { run } = await create("x");
    await stream(run);
    emulator.faults.cut("streamRun", { afterEvents: 1 });
    await drain(await open(run));
    emulator.faults.status("getRun", 500);
    await call("GET", run);
    expect(seen.map(({ operationId, response, fault }) => [operationId, response.status, fault])).toEqual([
      ["createAgent", 201, false],
      ["streamRun", 200, false],
      ["streamRun", 200, true],
      ["getRun", 500, true],
    ]);
    expect(JSON.parse(seen[0]?.request.bodyText ?? "")).toEqual({ prompt: { text: "x" } });
    expect(frames(seen[1]?.response.bodyText ?? "").at(-1)?.event).toBe("done");
    expect(seen[1]?.response.headers["content-type"]).toBe("text/event-stream");
  });

  it("implements exactly the operations of the contract", () => {
    const { emulator } = emulate();
    const byId = <T extends { operationId: string }>(list: readonly T[]) =>
      [...list].sort((one, other) => (one.operationId < other.operationId ? -1 : 1));
    const inContract = operations.map(({ method, path, operationId }) => ({ method, path, operationId }));
    expect(byId(emulator.routes)).toEqual(byId(inContract));
  });

  it("forgets everything on reset, and ends open streams", async () => {
    const { create, emulator, open, call } = emulate();
    emulator.script("long", (run) => run.hold("gate"));
    const rest = (await open((await create("long")).run)).text();
    emulator.faults.status("*", 500);
    emulator.reset();
    await rest;
    expect(emulator.connections).toBe(0);
    expect(emulator.requests).toEqual([]);
    expect((await call("GET", "/v1/agents")).json).toEqual({ items: [] });
  });

  it("gives the same ids for the same calls", async () => {
    const ids = async () => {
      const { create, call } = emulate();
      await call("GET", "/v1/me");
      return create("x");
    };
    expect(await ids()).toEqual(await ids());
  });
});
