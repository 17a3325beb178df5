import { describe, expect, it } from "vitest";
import { base, key } from "./helpers.ts";
import { emulateWorkers, root, service, textError } from "./worker-helpers.ts";

interface Named {
  workerId: string;
  poolName: string;
}

const everyOperation: [method: string, path: string, body?: object][] = [
  ["GET", ""],
  ["GET", "/summary"],
  ["GET", "/pw_123"],
  ["GET", "/pools"],
  ["POST", "/pools", { scope: "team", poolName: "gpu" }],
  ["DELETE", "/pools?scope=team&pool_name=gpu"],
  ["GET", "/pending-requests"],
  ["GET", "/pending-requests/stream?cursor=x"],
  ["POST", "/claim", { id: "bc-1", workerId: "pw_1" }],
  ["POST", "/claims/bc-1/release"],
  ["POST", "/claims/bc-1/fail", { message: "No quota." }],
  ["POST", "/tokens", { id: "bc-1", workerId: "pw_1" }],
];

describe("keys", () => {
  it.each(everyOperation)("of users are rejected by %s %s", async (method, path, body) => {
    const { speaker, emulator } = emulateWorkers();
    const reply = await speaker(key)(method, path, body);
    expect([reply.status, reply.json.error.code]).toEqual([403, "service_account_required"]);
    expect(emulator.workers.pools).toHaveLength(3);
  });

  it("of service accounts are accepted as Basic, too", async () => {
    const { emulator } = emulateWorkers();
    const headers = { authorization: `Basic ${btoa(`${service}:`)}` };
    const reply = await emulator.fetch(`${base}${root}/summary`, { headers });
    expect(reply.status).toBe(200);
  });

  it("of other teams see nothing of this team", async () => {
    const keys = [
      { key: service, kind: "service-account" as const },
      { key: "sa_other", kind: "service-account" as const, owner: "elsewhere" },
    ];
    const { emulator, speaker, claim } = emulateWorkers({ keys });
    emulator.workers.addRequest({ id: "bc-1" });
    emulator.workers.connectWorker({ workerId: "pw_1", pool: "mine" });
    const other = speaker("sa_other");
    expect((await other("GET", "")).json).toEqual({ workers: [], totalCount: 0 });
    expect((await other("GET", "/pw_1")).status).toBe(404);
    expect((await other("GET", "/pending-requests")).json.requests).toEqual([]);
    expect((await other("GET", "/pools")).json.pools.map((pool: Named) => pool.poolName)).not.toContain(
      "mine",
    );
    expect((await other("POST", "/claim", { id: "bc-1", workerId: "w" })).status).toBe(404);
    await claim("bc-1", "pw_2");
    expect((await other("POST", "/claims/bc-1/release")).status).toBe(404);
  });
});

describe("workers", () => {
  it("are listed newest first, as documented", async () => {
    const { call, emulator, clock, claim } = emulateWorkers();
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
    await claim("bc-1", "pw_2");
    emulator.workers.connectWorker({
      workerId: "pw_1",
      pool: "gpu",
      repo: "acme/payments-service",
      name: "gpu-worker-1",
    });
    const connectedAtMs = clock.now();
    await clock.advance(1000);
    emulator.workers.connectWorker({ workerId: "pw_2" });
    const { json } = await call("GET", "");
    expect(json).toEqual({
      workers: [
        {
          workerId: "pw_2",
          isInUse: true,
          repoOwner: "",
          repoName: "",
          workspaceRootPath: "/workspace",
          connectedAtMs: connectedAtMs + 1000,
          userId: 0,
          teamId: 456,
          serviceAccountId: "sa_abc123",
          activeBcId: "bc-1",
          name: "pw_2",
        },
        {
          workerId: "pw_1",
          isInUse: false,
          repoOwner: "acme",
          repoName: "payments-service",
          repoUrl: "https://github.com/acme/payments-service",
          workspaceRootPath: "/home/agent/payments-service",
          connectedAtMs,
          userId: 0,
          teamId: 456,
          serviceAccountId: "sa_abc123",
          name: "gpu-worker-1",
        },
      ],
      totalCount: 2,
    });
    expect((await call("GET", "/pw_1")).json).toEqual(json.workers[1]);
    expect(textError(await call("GET", "/pw_3"))).toEqual([404, expect.stringMatching(/^Not found: /)]);
    emulator.workers.disconnectWorker("pw_1");
    expect((await call("GET", "/pw_1")).status).toBe(404);
  });

  it("are filtered by status and scope, and counted over all pages", async () => {
    const { call, emulator, claim } = emulateWorkers();
    const { workers } = emulator;
    workers.addRequest({ id: "bc-1", pool: "gpu" });
    await claim("bc-1", "team-2");
    for (const workerId of ["team-1", "team-2", "team-3"]) workers.connectWorker({ workerId, pool: "gpu" });
    workers.connectWorker({ workerId: "mine" });
    const found = async (query: string) => {
      const { json } = await call("GET", `?${query}`);
      return [json.workers.map((worker: Named) => worker.workerId), json.totalCount];
    };
    expect(await found("status=in_use")).toEqual([["team-2"], 1]);
    expect(await found("status=idle&scope=team_pool")).toEqual([["team-3", "team-1"], 2]);
    expect(await found("scope=personal")).toEqual([["mine"], 1]);
    expect(await found("status=all&scope=all&limit=3")).toEqual([["mine", "team-3", "team-2"], 4]);

    const first = (await call("GET", "?limit=3")).json;
    const second = (await call("GET", `?limit=3&pageToken=${first.nextPageToken}`)).json;
    expect([second.workers.map((worker: Named) => worker.workerId), second.totalCount]).toEqual([
      ["team-1"],
      4,
    ]);
    expect(second).not.toHaveProperty("nextPageToken");
    const foreign = await call("GET", `?limit=3&status=idle&pageToken=${first.nextPageToken}`);
    expect(textError(foreign)).toEqual([400, "Bad Request: Invalid pageToken"]);
  });

  it.each(["status=busy", "scope=team", "limit=0", "limit=101", "nextPageToken=x", "pageToken="])(
    "refuse ?%s",
    async (query) => {
      const { call } = emulateWorkers();
      expect(textError(await call("GET", `?${query}`))).toEqual([
        400,
        expect.stringMatching(/^Bad Request: /),
      ]);
    },
  );

  it("are counted: those of the team, and personal ones if there are any", async () => {
    const { call, emulator, claim } = emulateWorkers();
    expect((await call("GET", "/summary")).json).toEqual({ teamSummary: { totalConnected: 0, inUse: 0 } });
    emulator.workers.addRequest({ id: "bc-1" });
    await claim("bc-1", "pw_1");
    emulator.workers.connectWorker({ workerId: "pw_1" });
    emulator.workers.connectWorker({ workerId: "pw_2", pool: "default" });
    emulator.workers.connectWorker({ workerId: "mine" });
    expect((await call("GET", "/summary")).json).toEqual({
      teamSummary: { totalConnected: 2, inUse: 1 },
      userSummary: { totalConnected: 1, inUse: 0 },
    });
  });
});

describe("pools", () => {
  const pool = (fields: object) => ({
    scope: "team",
    ownerId: 456,
    connectedWorkerCount: 0,
    inUseWorkerCount: 0,
    firstSeenAtMs: 1_767_225_600_000,
    lastSeenAtMs: 1_767_225_600_000,
    isStale: false,
    offlineReconnectTimeoutSeconds: 0,
    ...fields,
  });

  it("are registered from the start or by their first worker, and stay when it disconnects", async () => {
    const { call, emulator, clock } = emulateWorkers({ pools: [] });
    const repo = {
      repoOwner: "acme",
      repoName: "payments-service",
      repoUrl: "https://github.com/acme/payments-service",
    };
    const registration = { scope: "team", poolName: "payments-pool", ...repo };
    const body = { ...registration, offlineReconnectTimeoutSeconds: 900 };
    expect((await call("POST", "/pools", body)).json).toEqual({ registered: true });
    emulator.workers.connectWorker({ workerId: "pw_1", pool: "sandbox" });
    const first = pool({ poolName: "payments-pool", ...repo, offlineReconnectTimeoutSeconds: 900 });
    const second = pool({ poolName: "sandbox", connectedWorkerCount: 1 });
    expect((await call("GET", "/pools")).json).toEqual({ pools: [first, second] });
    await clock.advance(5000);
    emulator.workers.disconnectWorker("pw_1");
    const left = { ...second, connectedWorkerCount: 0, lastSeenAtMs: second.lastSeenAtMs + 5000 };
    expect((await call("GET", "/pools")).json.pools[1]).toEqual(left);
  });

  it("are changed by registering them again", async () => {
    const { call, emulator } = emulateWorkers({ pools: ["gpu"] });
    await call("POST", "/pools", { scope: "team", poolName: "gpu", workerReadyTimeoutSeconds: 60 });
    expect(emulator.workers.pools).toMatchObject([{ poolName: "gpu", offlineReconnectTimeoutSeconds: 60 }]);
  });

  it("are listed by scope", async () => {
    const { call } = emulateWorkers({ pools: ["gpu"] });
    await call("POST", "/pools", { scope: "user", poolName: "mine" });
    const names = async (query: string) =>
      (await call("GET", `/pools${query}`)).json.pools.map((entry: Named) => entry.poolName);
    expect(await names("")).toEqual(["gpu", "mine"]);
    expect(await names("?scope=all")).toEqual(["gpu", "mine"]);
    expect(await names("?scope=team_pool")).toEqual(["gpu"]);
    expect(await names("?scope=personal")).toEqual(["mine"]);
  });

  it("become stale after thirty days without a worker, and are then listed only on request", async () => {
    const { call, emulator, clock } = emulateWorkers({ pools: ["gpu", "busy"] });
    emulator.workers.connectWorker({ workerId: "pw_1", pool: "busy" });
    await clock.advance(30 * 86_400_000 - 1);
    expect((await call("GET", "/pools")).json.pools).toHaveLength(2);
    await clock.advance(1);
    expect((await call("GET", "/pools")).json.pools).toMatchObject([{ poolName: "busy", isStale: false }]);
    const all = (await call("GET", "/pools?includeStale=true")).json.pools;
    expect(all).toMatchObject([{ poolName: "gpu", isStale: true }, { poolName: "busy" }]);
  });

  it("are deregistered by a query in snake case, and their workers continue", async () => {
    const { call, emulator } = emulateWorkers({ pools: ["gpu"] });
    emulator.workers.connectWorker({ workerId: "pw_1", pool: "gpu", repo: "acme/app" });
    expect(emulator.workers.pools).toHaveLength(2);
    const query = "scope=team&pool_name=gpu&repo_owner=acme&repo_name=app";
    expect((await call("DELETE", `/pools?${query}`)).json).toEqual({ deregistered: true });
    expect(emulator.workers.pools).toMatchObject([{ poolName: "gpu" }]);
    expect(emulator.workers.pools[0]).not.toHaveProperty("repoOwner");
    expect((await call("DELETE", `/pools?${query}`)).json).toEqual({ deregistered: false });
    expect((await call("GET", "/pw_1")).status).toBe(200);
  });

  it.each([
    ["without a scope", { poolName: "gpu" }],
    ["without a name", { scope: "team" }],
    ["of another scope", { scope: "all", poolName: "gpu" }],
    ["with an owner and no repository", { scope: "team", poolName: "gpu", repoOwner: "acme" }],
    ["with a repository and no owner", { scope: "team", poolName: "gpu", repoName: "app" }],
    ["with a URL alone", { scope: "team", poolName: "gpu", repoUrl: "https://github.com/acme/app" }],
    ["with a negative window", { scope: "team", poolName: "gpu", offlineReconnectTimeoutSeconds: -1 }],
    ["with half a second", { scope: "team", poolName: "gpu", offlineReconnectTimeoutSeconds: 0.5 }],
    ["with a field of ours", { scope: "team", poolName: "gpu", pool_name: "gpu" }],
  ])("are not registered %s", async (_what, body) => {
    const { call, emulator } = emulateWorkers({ pools: [] });
    expect(textError(await call("POST", "/pools", body))).toEqual([400, expect.any(String)]);
    expect(emulator.workers.pools).toEqual([]);
  });

  it.each([
    "scope=team",
    "pool_name=gpu",
    "scope=team&poolName=gpu",
    "scope=team&pool_name=gpu&repo_owner=acme",
    "scope=team&pool_name=gpu&repo_name=app",
  ])("are not deregistered by ?%s", async (query) => {
    const { call, emulator } = emulateWorkers();
    expect((await call("DELETE", `/pools?${query}`)).status).toBe(400);
    expect(emulator.workers.pools).toHaveLength(3);
  });
});
