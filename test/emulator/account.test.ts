import { describe, expect, it } from "vitest";
import { emulate } from "./helpers.ts";

const zeros = { inputTokens: 0, outputTokens: 0, cacheWriteTokens: 0, cacheReadTokens: 0, totalTokens: 0 };

describe("usage", () => {
  it("is zero and without a usageUuid until a run has used tokens, and summed over the runs", async () => {
    const { call, create, emulator } = emulate();
    emulator
      .script("counted", (run) =>
        run.hold("gate").usage({ inputTokens: 10, outputTokens: 5, cacheReadTokens: 1 }),
      )
      .script("later", (run) => run.usage({ cacheWriteTokens: 4 }).hold("never"));
    const { path, runId } = await create("counted");
    expect((await call("GET", `${path}/usage`)).json).toEqual({
      totalUsage: zeros,
      runs: [{ id: runId, usage: zeros }],
    });
    emulator.release("gate");
    const counted = { ...zeros, inputTokens: 10, outputTokens: 5, cacheReadTokens: 1, totalTokens: 16 };
    await call("POST", `${path}/runs`, { prompt: { text: "later" } });
    const both = (await call("GET", `${path}/usage`)).json;
    expect(both.totalUsage).toEqual({ ...counted, cacheWriteTokens: 4, totalTokens: 20 });
    expect(both.runs[1]).toEqual({ id: runId, usageUuid: expect.any(String), usage: counted });
    expect((await call("GET", `${path}/usage?runId=${runId}`)).json).toMatchObject({ totalUsage: counted });
    const unknown = await call("GET", `${path}/usage?runId=run-none`);
    expect([unknown.status, unknown.json.error.code]).toEqual([404, "run_not_found"]);
  });

  it("is counted from the run's text unless the script sets it", async () => {
    const { call, create } = emulate({ usage: { cost: true } });
    const { path } = await create("x");
    const { totalUsage, runs, cost } = (await call("GET", `${path}/usage`)).json;
    const { totalTokens, ...parts } = totalUsage;
    expect(totalTokens).toBe(Object.values<number>(parts).reduce((sum, count) => sum + count, 0));
    expect(totalTokens).toBeGreaterThan(0);
    expect(runs[0].cost).toEqual(cost);
    expect(cost.rawCostCents).toBeGreaterThan(0);
  });

  it("answers 403 when it is not enabled", async () => {
    const { call, create } = emulate({ usage: { enabled: false } });
    const reply = await call("GET", `${(await create("x")).path}/usage`);
    expect([reply.status, reply.json.error.code]).toEqual([403, "feature_unavailable"]);
  });
});

describe("models and repositories", () => {
  it("models include the default one", async () => {
    const { call } = emulate();
    const { items } = (await call("GET", "/v1/models")).json;
    expect(items.map((model: { id: string }) => model.id)).toContain("default");
  });

  it("repositories can be listed once a minute and thirty times an hour", async () => {
    const { call, clock } = emulate();
    const ask = async () => call("GET", "/v1/repositories");
    expect((await ask()).json.items[0]).toEqual({ url: "https://github.com/your-org/your-repo" });
    const again = await ask();
    expect([again.status, again.headers.get("retry-after"), again.json.code]).toEqual([429, "60", "error"]);
    const other = await call("GET", "/v1/repositories", undefined, { authorization: "Bearer other" });
    expect(other.status).toBe(200);
    for (let count = 1; count < 30; count++) {
      await clock.advance(60_000);
      expect((await ask()).status).toBe(200);
    }
    await clock.advance(60_000);
    const spent = await ask();
    expect([spent.status, spent.headers.get("retry-after")]).toEqual([429, String(30 * 60)]);
  });

  it("repositories have no limit when the option switches it off", async () => {
    const { call } = emulate({ repositoriesLimit: false, repositories: [] });
    await call("GET", "/v1/repositories");
    expect((await call("GET", "/v1/repositories")).json).toEqual({ items: [] });
  });
});

describe("sub-tokens", () => {
  const service = { authorization: "Bearer sa_team" };

  it("need a service account", async () => {
    const { call } = emulate();
    const reply = await call("POST", "/v1/sub-tokens", { forUserId: 42 });
    expect([reply.status, reply.json.error.code]).toEqual([403, "service_account_required"]);
  });

  it("are for one active member, by id or by email in any letter case", async () => {
    const { call, clock } = emulate();
    for (const body of [{ forUserId: 43 }, { forUserEmail: "Alice@Company.com" }]) {
      const reply = await call("POST", "/v1/sub-tokens", body, service);
      expect(reply.status).toBe(200);
      expect(reply.json).toEqual({
        accessToken: expect.stringMatching(/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/),
        expiresAt: new Date(clock.now() + 3_600_000).toISOString(),
        userId: 43,
        teamId: 456,
      });
    }
    expect((await call("POST", "/v1/sub-tokens", { forUserId: 9 }, service)).status).toBe(404);
    for (const body of [{}, { forUserId: 42, forUserEmail: "a@b.c" }, { forUserId: "42" }]) {
      expect((await call("POST", "/v1/sub-tokens", body, service)).status).toBe(400);
    }
  });
});
