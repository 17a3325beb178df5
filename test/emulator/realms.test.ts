import { runInNewContext } from "node:vm";
import { Cursor } from "cursor-cloud-agents";
import { setupServer } from "msw/node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { base, emulate, key } from "./helpers.ts";

const ownArray = globalThis.Uint8Array;

/** A signal as jsdom has it: it can do all that a signal can, but `Request` does not accept it. */
function foreignSignal() {
  const target = new EventTarget();
  const signal = Object.assign(target, { aborted: false, reason: undefined as unknown });
  const abort = (reason: unknown) => {
    Object.assign(signal, { aborted: true, reason });
    target.dispatchEvent(new Event("abort"));
  };
  return { signal: signal as unknown as AbortSignal, abort };
}

describe("where the globals are of another realm than the platform, as in jsdom", () => {
  beforeEach(() => {
    globalThis.Uint8Array = runInNewContext("Uint8Array") as Uint8ArrayConstructor;
  });
  afterEach(() => {
    globalThis.Uint8Array = ownArray;
  });

  it("fetch creates an agent, streams its run and serves its artifacts", async () => {
    const emulator = checkedEmulator();
    emulator.script("x", (run) => run.text("hi").artifact("artifacts/a.txt", "bytes").finish());
    const cursor = new Cursor({ apiKey: key, fetch: emulator.fetch });
    const { agent, run } = await cursor.agents.create({ prompt: "x" });
    expect((await cursor.runs.stream(run).result()).text).toBe("hi");
    const { url } = await cursor.artifacts.url(agent.id, "artifacts/a.txt");
    expect(await (await emulator.fetch(url)).text()).toBe("bytes");
    expect(emulator.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
  });

  it("a server creates an agent and streams its run", async () => {
    const emulator = checkedEmulator();
    await using server = await emulator.listen();
    const cursor = new Cursor({ apiKey: key, baseUrl: server.url });
    const { run } = await cursor.agents.create({ prompt: "x" });
    expect((await cursor.runs.stream(run).result()).status).toBe("FINISHED");
  });

  it("msw handlers create an agent", async () => {
    const emulator = checkedEmulator();
    const server = setupServer(...emulator.handlers());
    server.listen({ onUnhandledRequest: "error" });
    try {
      const { agent } = await new Cursor({ apiKey: key }).agents.create({ prompt: "x" });
      expect(emulator.agents[0]?.id).toBe(agent.id);
    } finally {
      server.close();
    }
  });

  it("faults send bytes unchanged, and artifacts may be of either realm", async () => {
    const { emulator, create, call } = emulate();
    emulator.faults.status("getApiKeyInfo", 500, { body: new ownArray([104, 105]) });
    expect((await call("GET", "/v1/me")).text).toBe("hi");
    emulator.faults.status("getApiKeyInfo", 500, { body: new Uint8Array([104, 105]) });
    expect((await call("GET", "/v1/me")).text).toBe("hi");
    const { agentId } = await create("x");
    emulator.addArtifact(agentId, "artifacts/a.txt", new ownArray([104, 105]));
    const { url } = (await call("GET", `/v1/agents/${agentId}/artifacts/download?path=artifacts/a.txt`)).json;
    expect(await (await emulator.fetch(url)).text()).toBe("hi");
  });

  it("a script may be for a pattern of another realm", async () => {
    const { emulator, create, call } = emulate();
    emulator.script(runInNewContext("/read/i") as RegExp, (run) => run.text("matched").finish());
    expect((await call("GET", (await create("Readme")).run)).json.result).toBe("matched");
  });

  it("a signal may be of another realm", async () => {
    const { emulator } = emulate();
    const headers = { authorization: `Bearer ${key}` };
    const idle = foreignSignal();
    expect((await emulator.fetch(`${base}/v1/me`, { headers, signal: idle.signal })).status).toBe(200);
    emulator.faults.stall("getApiKeyInfo", { beforeHeaders: true });
    const { signal, abort } = foreignSignal();
    const response = emulator.fetch(`${base}/v1/me`, { headers, signal });
    const reason = new Error("enough");
    abort(reason);
    await expect(response).rejects.toBe(reason);
  });
});
