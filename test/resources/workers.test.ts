import { describe, expect, it } from "vitest";
import { broken, failedResponse, fake, reply } from "../support/fake-api.ts";
import { listen, send } from "../support/loopback-server.ts";
import { failure } from "../support/waiting.ts";

const base = "/v0/private-workers";
const worker = (workerId: string) => ({ workerId, isInUse: false });

describe("lists", () => {
  it("of workers use the wire's names, give its page token as nextCursor, and have totalCount on each page", async () => {
    const { cursor, requests } = fake([
      reply(200, { workers: [worker("pw_1")], totalCount: 2, nextPageToken: "a+b/c==" }),
      reply(200, { workers: [worker("pw_1"), worker("pw_2")], totalCount: 2 }),
    ]);
    const list = cursor.workers.list({ status: "idle", scope: "team_pool", limit: 1 });
    const ids = [];
    for await (const { workerId } of list) ids.push(workerId);
    expect(ids).toEqual(["pw_1", "pw_2"]);
    expect(requests.map(({ url }) => [url.pathname, Object.fromEntries(url.searchParams)])).toEqual([
      [base, { status: "idle", scope: "team_pool", limit: "1" }],
      [base, { status: "idle", scope: "team_pool", limit: "1", pageToken: "a+b/c==" }],
    ]);
    const first = await list;
    expect(first).toEqual({ items: [worker("pw_1")], totalCount: 2, nextCursor: "a+b/c==" });
  });

  it("of pending requests send the filters for every page, and give the page's streamCursor", async () => {
    const repository = "https://github.com/acme/p";
    const { cursor, requests } = fake([
      reply(200, { requests: [{ id: "bc-1" }], streamCursor: "s", nextPageToken: "x&limit=1" }),
      reply(200, { requests: [{ id: "bc-2" }], streamCursor: "s", nextPageToken: "" }),
    ]);
    const pages = [];
    for await (const page of cursor.workers.requests.list({ repository, pool: "gpu", limit: 1 }).pages())
      pages.push(page);
    expect(pages.map(({ items, streamCursor }) => [items.map(({ id }) => id), streamCursor])).toEqual([
      [["bc-1"], "s"],
      [["bc-2"], "s"],
    ]);
    const filters = { repository, pool: "gpu", limit: "1" };
    expect(requests.map(({ url }) => Object.fromEntries(url.searchParams))).toEqual([
      filters,
      { ...filters, pageToken: "x&limit=1" },
    ]);
  });

  it("start at the caller's page token", async () => {
    const { cursor, requests } = fake(
      reply(200, { workers: [], requests: [], streamCursor: "s", totalCount: 0 }),
    );
    await cursor.workers.list({ pageToken: "t" });
    await cursor.workers.requests.list({ pageToken: "u" });
    expect(requests.map(({ target }) => target)).toEqual([
      `${base}?pageToken=t`,
      `${base}/pending-requests?pageToken=u`,
    ]);
  });

  it("of pools are one page", async () => {
    const { cursor, requests } = fake(reply(200, { pools: [{ poolName: "gpu" }] }));
    const names = [];
    for await (const { poolName } of cursor.workers.pools.list({ includeStale: false })) names.push(poolName);
    expect(names).toEqual(["gpu"]);
    expect(requests.map(({ target }) => target)).toEqual([`${base}/pools?includeStale=false`]);
  });

  it("of pending requests reject an empty filter instead of leaving it out", async () => {
    const { cursor, requests } = fake(reply(200, {}));
    expect(await failure(cursor.workers.requests.list({ pool: "" }))).toMatchObject({ argument: "pool" });
    expect(requests).toEqual([]);
  });
});

describe("ids on the wire", () => {
  it.each([
    ["pw/1", "pw%2F1"],
    ["pw?x=1", "pw%3Fx%3D1"],
    ["pw#f", "pw%23f"],
    ["pw%2F1", "pw%252F1"],
    ["pw 1", "pw%201"],
    ["pw&a=b", "pw%26a%3Db"],
    ["пул-1", "%D0%BF%D1%83%D0%BB-1"],
  ])("%s is one segment, encoded once: %s", async (id, encoded) => {
    const server = await listen((_, response) => send(response, 200, { id, workerId: id }));
    const { workers } = server.cursor();
    await workers.get(id);
    await workers.claims.release(id);
    await workers.claims.fail(id, "no capacity");
    expect(server.requests.map(({ method, target, body }) => `${method} ${target} ${body}`)).toEqual([
      `GET ${base}/${encoded} `,
      `POST ${base}/claims/${encoded}/release `,
      `POST ${base}/claims/${encoded}/fail {"message":"no capacity"}`,
    ]);
    expect(server.requests[1]!.headers["content-type"]).toBeUndefined();
  });

  it.each(["", " ", ".", "..", undefined, 7, "summary", "pools", "pending-requests"])(
    "the worker id %j is rejected, since it would make another request",
    async (id) => {
      const { cursor, requests } = fake(reply(200, {}));
      expect(await failure(cursor.workers.get(id as string))).toMatchObject({ argument: "workerId" });
      expect(requests).toEqual([]);
    },
  );

  it.each(["", "..", undefined])("the claim id %j is rejected", async (id) => {
    const { cursor, requests } = fake(reply(200, {}));
    for (const call of [
      () => cursor.workers.claims.release(id as string),
      () => cursor.workers.claims.fail(id as string, "x"),
      () => cursor.workers.claims.create({ id: id as string, workerId: "pw" }),
      () => cursor.workers.claims.create({ id: "bc-1", workerId: id as string }),
    ]) {
      expect(await failure(call())).toMatchObject({ kind: "argument" });
    }
    expect(requests).toEqual([]);
  });
});

describe("pools", () => {
  const pool = { scope: "team", poolName: "gpu" } as const;

  it("register is repeated when its answer is lost, since a pool is identified by its names", async () => {
    const { cursor, requests, run } = fake([
      broken(),
      reply(502, "<html>"),
      reply(200, { registered: true }),
    ]);
    const params = { ...pool, repoOwner: "acme", repoName: "p", offlineReconnectTimeoutSeconds: 0 };
    expect(await run(cursor.workers.pools.register(params))).toEqual({ registered: true });
    expect(requests.map(({ json }) => json)).toEqual([params, params, params]);
  });

  it("deregister uses snake case, and counts a pool that is gone by the second attempt as deregistered", async () => {
    const { cursor, requests, run } = fake([broken(), failedResponse(404, "not_found")]);
    const params = { scope: "team", pool_name: "a b", repo_owner: "o", repo_name: "r" } as const;
    expect(await run(cursor.workers.pools.deregister(params))).toEqual({ deregistered: true });
    expect(requests.map(({ method, target }) => `${method} ${target}`)).toEqual(
      Array(2).fill(`DELETE ${base}/pools?scope=team&pool_name=a%20b&repo_owner=o&repo_name=r`),
    );
  });

  it("deregister of an unknown pool fails with the server's answer", async () => {
    const { cursor } = fake(failedResponse(404, "not_found"));
    expect(await failure(cursor.workers.pools.deregister({ scope: "user", pool_name: "x" }))).toMatchObject({
      status: 404,
    });
  });

  it.each([
    [{ repoOwner: "o" }, "repoName"],
    [{ repoName: "r" }, "repoOwner"],
    [{ repoUrl: "u" }, "repoUrl"],
  ])("half a repository is rejected: %j", async (half, argument) => {
    const { cursor, requests } = fake(reply(200, {}));
    const call = cursor.workers.pools.register({ ...pool, ...half } as never);
    expect(await failure(call)).toMatchObject({ kind: "argument", argument });
    expect(requests).toEqual([]);
  });

  it.each([
    [{ repo_owner: "o" }, "repo_name"],
    [{ repo_name: "r" }, "repo_owner"],
  ])("half a repository is rejected when deregistering, too: %j", async (half, argument) => {
    const { cursor } = fake(reply(200, {}));
    const call = cursor.workers.pools.deregister({ scope: "team", pool_name: "gpu", ...half } as never);
    expect(await failure(call)).toMatchObject({ kind: "argument", argument });
  });
});

describe("claims", () => {
  const claim = { id: "bc-1", workerId: "pw_1" };
  const text = (status: number, error: string) => reply(status, { error });

  it("fail once with a 409 in the server's words when another controller was faster", async () => {
    const { cursor, requests, fails } = fake(text(409, "Already claimed: by pw_9"));
    const error = await fails(cursor.workers.claims.create(claim));
    expect(error).toMatchObject({ kind: "api", status: 409, agentId: "bc-1" });
    expect(error.outcome).toBeUndefined();
    expect(error.message).toContain("Already claimed: by pw_9");
    expect(requests).toHaveLength(1);
  });

  it.each([
    ["a connection that breaks", broken()],
    ["a gateway's page", reply(502, "<html>")],
    ["an answer that can't be read", reply(200, "{")],
    ["an answer that says nothing", reply(200)],
    ["500", failedResponse(500, "internal_error")],
  ])("are sent once, and the outcome is unknown, after %s", async (_, answer) => {
    const { cursor, requests, fails } = fake(answer);
    expect(await fails(cursor.workers.claims.create(claim))).toMatchObject({
      outcome: "unknown",
      agentId: "bc-1",
    });
    expect(await fails(cursor.workers.claims.release("bc-1"))).toMatchObject({ outcome: "unknown" });
    expect(await fails(cursor.workers.claims.token(claim))).toMatchObject({ outcome: "unknown" });
    expect(requests).toHaveLength(3);
  });

  it("are sent again when the server rejected them before processing", async () => {
    const { cursor, requests, run } = fake([
      failedResponse(429, "rate_limit_exceeded"),
      failedResponse(503, "unavailable", { "retry-after": "1" }),
      reply(200, claim),
    ]);
    expect(await run(cursor.workers.claims.create({ ...claim, sessionToken: true }))).toEqual(claim);
    expect(requests.map(({ json }) => json)).toEqual(Array(3).fill({ ...claim, sessionToken: true }));
  });

  it("a release without a live claim fails once with 404", async () => {
    const { cursor, requests, fails } = fake(text(404, "Not found: no live claim"));
    const error = await fails(cursor.workers.claims.release("bc-1"));
    expect(error).toMatchObject({ kind: "api", status: 404, agentId: "bc-1" });
    expect(error.outcome).toBeUndefined();
    expect(requests).toHaveLength(1);
  });

  it("fail is repeated, as its page allows; an error after a lost answer leaves the outcome unknown", async () => {
    const good = fake([reply(500, ""), reply(200, claim)]);
    expect(await good.run(good.cursor.workers.claims.fail("bc-1", "sorry"))).toEqual(claim);
    const lost = fake([broken(), text(400, "No turn waiting: …")]);
    expect(await lost.fails(lost.cursor.workers.claims.fail("bc-1", "sorry"))).toMatchObject({
      status: 400,
      outcome: "unknown",
    });
    const rejected = fake(text(400, "No turn waiting: …"));
    expect(
      (await rejected.fails(rejected.cursor.workers.claims.fail("bc-1", "sorry"))).outcome,
    ).toBeUndefined();
  });
});
