import { describe, expect, it } from "vitest";
import { CursorEmulator } from "../../src/emulator/index.ts";
import { emulate } from "./helpers.ts";

const paths = (emulator: CursorEmulator) => emulator.requests.map(({ path }) => path);

describe("the journal of requests", () => {
  it("keeps the newest ones within its limits", async () => {
    const { call, emulator } = emulate({ journal: { requests: 2 } });
    for (const path of ["/v1/me", "/v1/models", "/v1/agents"]) await call("GET", path);
    expect(paths(emulator)).toEqual(["/v1/models", "/v1/agents"]);
  });

  it("can keep none", async () => {
    const { call, create, emulator } = emulate({ journal: { requests: 0 } });
    await call("GET", "/v1/me");
    await create("x");
    expect(emulator.requests).toEqual([]);
    expect(emulator.agents).toHaveLength(1);
  });

  it("forgets the oldest beyond a number of bytes, but never the newest", async () => {
    const { create, call, emulator } = emulate({ journal: { bytes: 4000 } });
    await create("a".repeat(1500));
    await create("b".repeat(1500));
    await create("c".repeat(1500));
    expect(emulator.requests.map(({ bodyText }) => bodyText.includes("aaa"))).toEqual([false, false]);
    await create("d".repeat(9000));
    expect(emulator.requests.map(({ bodyText }) => bodyText.length > 9000)).toEqual([true]);
    await call("GET", "/v1/me");
    expect(paths(emulator)).toEqual(["/v1/me"]);
  });

  it("is bounded by default", async () => {
    const emulator = new CursorEmulator({ repositoriesLimit: false });
    const body = JSON.stringify({ prompt: { text: "x".repeat(8 * 1024 * 1024) } });
    const headers = { authorization: "Bearer k", "content-type": "application/json" };
    for (let count = 0; count < 10; count++) {
      await emulator.fetch(`${emulator.baseUrl}/v1/agents/nowhere/runs`, { method: "POST", headers, body });
    }
    expect(emulator.requests).toHaveLength(7);
  });

  it("can be forgotten alone", async () => {
    const { call, create, emulator } = emulate();
    await create("x");
    emulator.forgetRequests();
    expect(emulator.requests).toEqual([]);
    expect(emulator.agents).toHaveLength(1);
    await call("GET", "/v1/me");
    expect(paths(emulator)).toEqual(["/v1/me"]);
  });
});

describe("the logs of streams", () => {
  it("are freed when nobody can read them any more", async () => {
    const { call, clock, create, emulator, stream } = emulate({ retentionSeconds: 60 });
    const old = await create("x");
    const id = (await stream(old.run)).at(-1)?.id ?? "";
    await clock.advance(61_000);
    const young = await create("y");
    expect((await call("GET", `${old.run}/stream`)).status).toBe(410);
    expect((await call("GET", old.run)).json.status).toBe("FINISHED");
    // An id that no log has any more is like one that never existed.
    expect((await call("GET", `${young.run}/stream`, undefined, { "Last-Event-ID": id })).status).toBe(200);
    expect(emulator.connections).toBe(0);
  });
});
