import { describe, expect, it } from "vitest";
import type { EmulatorOptions } from "../../src/emulator/index.ts";
import { base, key, names, speakTo } from "./helpers.ts";
import { emulateWorkers, ids, service } from "./worker-helpers.ts";

const repos = [{ url: "https://github.com/acme/app" }];

/** Users who make agents, beside the workers that run them. */
function runPools(options: EmulatorOptions = {}) {
  const world = emulateWorkers(options);
  const user = speakTo(world.emulator.fetch);
  const onPool = (more: object = {}) => user.create("x", { env: { type: "pool", name: "gpu" }, ...more });
  const status = async (run: string) => (await user.call("GET", run)).json.status as string;
  return { ...world, user, onPool, status };
}

describe("an agent on a pool", () => {
  it("waits in the queue under its own id until the claimed worker connects", async () => {
    const { user, onPool, status, list, claim, emulator, clock } = runPools();
    const { agentId, run } = await onPool({ repos });
    expect((await list()).requests).toEqual([
      {
        id: agentId,
        userId: 42,
        userEmail: "developer@example.com",
        repoOwner: "acme",
        repoName: "app",
        repoUrl: "https://github.com/acme/app",
        labels: [
          { key: "repo", value: "acme/app" },
          { key: "pool", value: "gpu" },
        ],
        createdAtMs: clock.now(),
      },
    ]);
    await clock.advance(60_000);
    expect(await status(run)).toBe("CREATING");
    await claim(agentId, "pw_1");
    emulator.workers.connectWorker({ workerId: "pw_2", pool: "gpu" });
    await clock.advance(1000);
    expect(await status(run)).toBe("CREATING");
    const reading = user.stream(run);
    emulator.workers.connectWorker({ workerId: "pw_1" });
    expect(names(await reading).at(-1)).toBe("done");
    expect(await status(run)).toBe("FINISHED");
    expect(emulator.workers.requests).toMatchObject([
      { id: agentId, state: "idle", claimedWorkerId: "pw_1" },
    ]);
    expect(emulator.workers.connected.map(({ isInUse }) => isInUse)).toEqual([false, false]);
  });

  it("has the pool's label even for the default pool, and no repository if it has none", async () => {
    const { user, list } = runPools();
    await user.create("x", { env: { type: "pool" } });
    const [request] = (await list({ pool: "default" })).requests;
    expect(request.labels).toEqual([{ key: "pool", value: "default" }]);
    expect(request).not.toHaveProperty("repoUrl");
  });

  it("names the service account that created it, if one did", async () => {
    const { emulator, list } = runPools();
    await speakTo(emulator.fetch, base, service).create("x", { env: { type: "pool" } });
    const [request] = (await list()).requests;
    expect(request).toMatchObject({ userId: 0, serviceAccountId: expect.stringMatching(/^sa_/) });
    expect(request.serviceAccountId).not.toContain("TEST");
    expect(request).not.toHaveProperty("userEmail");
  });

  it("sends follow-ups to its worker, waits for it offline, and goes back to the queue without it", async () => {
    const { user, onPool, status, claim, emulator, clock, list } = runPools();
    emulator.workers.addPool({ poolName: "gpu", offlineReconnectTimeoutSeconds: 60 });
    const { agentId, path, run } = await onPool();
    await claim(agentId, "pw_1");
    emulator.workers.connectWorker({ workerId: "pw_1" });
    await clock.run(user.stream(run));
    const followUp = async () => {
      const reply = await user.call("POST", `${path}/runs`, { prompt: { text: "more" } });
      return `${path}/runs/${reply.json.run.id}`;
    };
    const second = await followUp();
    await clock.run(user.stream(second));
    expect(await status(second)).toBe("FINISHED");

    emulator.workers.disconnectWorker("pw_1");
    const third = await followUp();
    expect((await list()).requests).toMatchObject([
      { id: agentId, claimedWorkerId: "pw_1", wakeTimeoutMs: 60_000 },
    ]);
    expect((await user.call("POST", `${path}/runs`, { prompt: { text: "x" } })).json.error.code).toBe(
      "agent_busy",
    );
    emulator.workers.connectWorker({ workerId: "pw_1" });
    await clock.run(user.stream(third));
    expect(await status(third)).toBe("FINISHED");

    emulator.workers.disconnectWorker("pw_1");
    const fourth = await followUp();
    await clock.advance(60_000);
    expect(await status(fourth)).toBe("CREATING");
    await claim(agentId, "pw_2");
    emulator.workers.connectWorker({ workerId: "pw_2" });
    await clock.run(user.stream(fourth));
    expect(await status(fourth)).toBe("FINISHED");
  });

  it("leaves the queue when its run is cancelled, and can be asked again", async () => {
    const { user, onPool, status, list, watch, states } = runPools();
    const { agentId, path, run } = await onPool();
    const watching = await watch((await list()).streamCursor);
    expect((await user.call("POST", `${run}/cancel`)).status).toBe(200);
    expect(await watching.next()).toMatchObject({ event: "expired", data: { id: agentId } });
    expect([await status(run), states()]).toEqual(["CANCELLED", { [agentId]: "idle" }]);
    await user.call("POST", `${path}/runs`, { prompt: { text: "x" } });
    expect(await watching.next()).toMatchObject({ event: "created", data: { id: agentId } });
    await watching.cancel();
  });

  it("loses its claim when it is archived, and its request when it is deleted", async () => {
    const { user, onPool, list, watch, claim, call, states } = runPools();
    const [one, other] = [await onPool(), await onPool()];
    const watching = await watch((await list()).streamCursor);
    await claim(one.agentId, "pw_1");
    expect((await watching.next())?.event).toBe("claimed");
    await user.call("POST", `${one.path}/archive`);
    expect((await call("POST", `/claims/${one.agentId}/release`)).status).toBe(404);
    await user.call("DELETE", other.path);
    expect(await watching.next()).toMatchObject({ event: "expired", data: { id: other.agentId } });
    expect(states()).toEqual({ [one.agentId]: "idle" });
    await watching.cancel();
  });

  it("ends its run as EXPIRED when no worker takes it, and as ERROR when its claim fails", async () => {
    const { onPool, status, emulator, claim, call } = runPools();
    const [one, other] = [await onPool(), await onPool()];
    emulator.workers.expireRequest(one.agentId);
    expect(await status(one.run)).toBe("EXPIRED");
    await claim(other.agentId, "pw_1");
    await call("POST", `/claims/${other.agentId}/fail`, { message: "No quota." });
    expect(await status(other.run)).toBe("ERROR");
    emulator.workers.connectWorker({ workerId: "pw_1" });
    expect(await status(other.run)).toBe("ERROR");
  });

  it("can use a pool that was registered meanwhile, but not a deregistered one", async () => {
    const { user, call } = runPools({ pools: [] });
    const create = async (more: object = {}) =>
      (
        await user.call("POST", "/v1/agents", {
          prompt: { text: "x" },
          env: { type: "pool", name: "late" },
          ...more,
        })
      ).status;
    expect(await create()).toBe(400);
    const repo = { repoOwner: "acme", repoName: "app" };
    await call("POST", "/pools", { scope: "team", poolName: "late", ...repo });
    expect(await create()).toBe(201);
    expect(await create({ repos: [...repos, ...repos] })).toBe(400);
    await call("POST", "/pools", { scope: "team", poolName: "late" });
    expect(await create({ repos: [...repos, ...repos] })).toBe(201);
    await call("DELETE", "/pools?scope=team&pool_name=late");
    await call("DELETE", "/pools?scope=team&pool_name=late&repo_owner=acme&repo_name=app");
    expect(await create()).toBe(400);
  });
});

describe("an agent on a machine", () => {
  it("is in no list and no stream, and waits for that machine", async () => {
    const { user, status, list, watch, emulator, clock, claim } = runPools();
    const { streamCursor } = await list();
    const { agentId, run } = await user.create("x", { env: { type: "machine", name: "laptop" } });
    expect(ids(await list())).toEqual([]);
    expect((await claim(agentId, "pw_1")).status).toBe(404);
    emulator.workers.connectWorker({ workerId: "pw_1", name: "desktop" });
    emulator.workers.connectWorker({ workerId: "pw_2", name: "laptop", pool: "gpu" });
    await clock.advance(1000);
    expect(await status(run)).toBe("CREATING");
    emulator.workers.connectWorker({ workerId: "pw_3", name: "laptop" });
    await clock.run(user.stream(run));
    expect(await status(run)).toBe("FINISHED");
    const watching = await watch(streamCursor);
    const next = watching.next();
    await clock.advance(20_000);
    expect((await next)?.event).toBe("heartbeat");
    await watching.cancel();
  });

  it("runs at once if the machine is connected", async () => {
    const { user, status, emulator, clock } = runPools();
    emulator.workers.connectWorker({ workerId: "mine" });
    const { run } = await user.create("x", { env: { type: "machine" } });
    await clock.run(user.stream(run));
    expect(await status(run)).toBe("FINISHED");
  });
});

describe("an agent in the cloud", () => {
  it("needs no worker and makes no pool request", async () => {
    const { user, list, status } = runPools({ keys: [{ key }, { key: service, kind: "service-account" }] });
    const { run } = await user.create("x");
    await user.stream(run);
    expect([await status(run), ids(await list())]).toEqual(["FINISHED", []]);
  });
});
