import { describe, expect, it } from "vitest";
import { emulateWorkers, ids, service, textError } from "./worker-helpers.ts";

describe("the list of pending requests", () => {
  it("returns a request as documented, without credentials", async () => {
    const { emulator, list, clock } = emulateWorkers();
    const repo = "https://bot:hunter2@github.com/acme/payments-service";
    emulator.workers.addRequest({ id: "bc-1", repo, pool: "gpu", labels: { env: "production" }, userId: 43 });
    emulator.workers.addRequest({ id: "bc-2", userId: 7, userEmail: "owner@acme.example" });
    const page = await list();
    expect(page).toEqual({
      requests: [
        {
          id: "bc-1",
          userId: 43,
          userEmail: "alice@company.com",
          repoOwner: "acme",
          repoName: "payments-service",
          repoUrl: "https://github.com/acme/payments-service",
          labels: [
            { key: "repo", value: "acme/payments-service" },
            { key: "pool", value: "gpu" },
            { key: "env", value: "production" },
          ],
          createdAtMs: clock.now(),
        },
        { id: "bc-2", userId: 7, userEmail: "owner@acme.example", labels: [], createdAtMs: clock.now() },
      ],
      streamCursor: expect.stringMatching(/^[\w-]+$/),
    });
  });

  it("has the undocumented repoUrls if the option says so", async () => {
    const { emulator, list } = emulateWorkers({ workers: { repoUrls: true } });
    emulator.workers.addRequest({ repo: "acme/app" });
    expect((await list()).requests[0].repoUrls).toEqual(["https://github.com/acme/app"]);
  });

  it("comes in pages that are one listing: one stream cursor for all of them", async () => {
    const { emulator, list, clock } = emulateWorkers();
    for (let index = 0; index < 120; index++) emulator.workers.addRequest({ id: `bc-${index}` });
    const first = await list();
    expect(first.requests).toHaveLength(50);
    await clock.advance(1000);
    emulator.workers.addRequest({ id: "late" });
    emulator.workers.expireRequest("bc-60");
    const second = await list({ pageToken: first.nextPageToken });
    const third = await list({ pageToken: second.nextPageToken, limit: "100" });
    expect(third).not.toHaveProperty("nextPageToken");
    const expected = Array.from({ length: 120 }, (_, index) => `bc-${index}`).filter((id) => id !== "bc-60");
    expect([first, second, third].flatMap(ids)).toEqual([...expected, "late"]);
    expect(new Set([first, second, third].map((page) => page.streamCursor)).size).toBe(1);
    expect((await list()).streamCursor).not.toBe(first.streamCursor);
  });

  it("returns the stream cursor of the first page's moment, whatever happens while it is read", async () => {
    const { emulator, list, watch } = emulateWorkers();
    for (const id of ["bc-1", "bc-2"]) emulator.workers.addRequest({ id });
    const first = await list({ limit: "1" });
    emulator.workers.expireRequest("bc-1");
    const { streamCursor } = await list({ limit: "1", pageToken: first.nextPageToken });
    const watching = await watch(streamCursor);
    expect(await watching.take(1)).toMatchObject([{ event: "expired", data: { id: "bc-1" } }]);
    await watching.cancel();
  });

  it("is filtered by exact pool, and by repository in any spelling", async () => {
    const { emulator, list } = emulateWorkers();
    emulator.workers.addRequest({ id: "gpu", pool: "gpu", repo: "acme/app" });
    emulator.workers.addRequest({ id: "GPU", pool: "GPU" });
    emulator.workers.addRequest({ id: "gpu-2", pool: "gpu-2", repo: "acme/other" });
    emulator.workers.addRequest({ id: "none" });
    expect(ids(await list({ pool: "gpu" }))).toEqual(["gpu"]);
    expect(ids(await list({ pool: "default" }))).toEqual([]);
    expect(ids(await list({ repository: "https://github.com/Acme/app.git" }))).toEqual(["gpu"]);
    expect(ids(await list({ repository: "https://github.com/acme/app", pool: "GPU" }))).toEqual([]);
    expect(ids(await list())).toHaveLength(4);
  });

  it("binds page tokens to the filters that issued them", async () => {
    const { emulator, list, call } = emulateWorkers();
    for (const id of ["bc-1", "bc-2"]) emulator.workers.addRequest({ id, pool: "gpu", repo: "acme/app" });
    const { nextPageToken, streamCursor } = await list({ pool: "gpu", limit: "1" });
    expect(ids(await list({ pool: "gpu", limit: "1", pageToken: nextPageToken }))).toEqual(["bc-2"]);
    for (const query of [
      `pageToken=${nextPageToken}`,
      `pool=GPU&pageToken=${nextPageToken}`,
      `pool=gpu&repository=https://github.com/acme/app&pageToken=${nextPageToken}`,
      `pool=gpu&pageToken=${streamCursor}`,
      `pool=gpu&pageToken=${nextPageToken.slice(0, -2)}AA`,
      "pool=gpu&pageToken=%F0%9F%98%80",
    ]) {
      expect(textError(await call("GET", `/pending-requests?${query}`))).toEqual([
        400,
        expect.stringContaining("other filters"),
      ]);
    }
  });

  it.each(["limit=0", "limit=101", "limit=ten", "limit=1&limit=2", "cursor=x", "pool="])(
    "refuses ?%s",
    async (query) => {
      const { call } = emulateWorkers();
      const reply = await call("GET", `/pending-requests?${query}`);
      expect(textError(reply)).toEqual([400, expect.stringMatching(/^Bad Request: /)]);
    },
  );

  it("shows only requests that are pending or wait for an offline worker", async () => {
    const { emulator, list, claim, states } = emulateWorkers();
    const { workers } = emulator;
    workers.addPool({ poolName: "gpu", offlineReconnectTimeoutSeconds: 900 });
    for (const id of ["pending", "claimed", "offline", "running", "idle", "expired"]) {
      workers.addRequest({ id, pool: "gpu" });
    }
    for (const id of ["claimed", "offline", "running", "idle"]) await claim(id, `of-${id}`);
    for (const id of ["offline", "running", "idle"]) workers.connectWorker({ workerId: `of-${id}` });
    workers.disconnectWorker("of-offline");
    workers.followUp("offline");
    workers.endTurn("idle");
    workers.expireRequest("expired");
    expect(Object.entries(states()).every(([id, state]) => state.endsWith(id))).toBe(true);
    const page = await list();
    expect(ids(page)).toEqual(["pending", "offline"]);
    expect(page.requests[0]).not.toHaveProperty("claimedWorkerId");
    expect(page.requests[1]).toMatchObject({ claimedWorkerId: "of-offline", wakeTimeoutMs: 900_000 });
  });

  it("requires keys that are limited to some repositories to name one of them", async () => {
    const keys = [
      { key: service, kind: "service-account" as const, repositories: ["https://github.com/acme/app"] },
    ];
    const { emulator, call, claim, list, refused } = emulateWorkers({ keys });
    emulator.workers.addRequest({ id: "bc-1", repo: "acme/app" });
    emulator.workers.addRequest({ id: "bc-2", repo: "acme/other" });
    expect((await call("GET", "/pending-requests")).status).toBe(400);
    const other = await call("GET", "/pending-requests?repository=https://github.com/acme/other");
    expect([other.status, other.json.error.code]).toEqual([403, "repository_access"]);
    const { requests, streamCursor } = await list({ repository: "https://github.com/acme/app" });
    expect(requests).toMatchObject([{ id: "bc-1" }]);
    expect((await refused(streamCursor)).status).toBe(400);
    expect((await claim("bc-2", "w")).status).toBe(404);
    expect((await claim("bc-1", "w")).status).toBe(200);
  });
});
