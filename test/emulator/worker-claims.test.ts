import { describe, expect, it } from "vitest";
import { emulateWorkers, ids, textError } from "./worker-helpers.ts";

const noClaim = [404, expect.stringMatching(/^Not found: /)];

/** A request that worker pw_1 has worked on, and is offline now; its pool waits for so many seconds. */
async function hibernated(seconds: number) {
  const setup = emulateWorkers();
  const { emulator, claim, list, watch } = setup;
  emulator.workers.addPool({ poolName: "gpu", offlineReconnectTimeoutSeconds: seconds });
  emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
  await claim("bc-1", "pw_1");
  emulator.workers.connectWorker({ workerId: "pw_1" });
  emulator.workers.disconnectWorker("pw_1");
  const watching = await watch((await list()).streamCursor);
  return { ...setup, watching };
}

describe("a claim", () => {
  it("takes a request out of the queue, and its worker starts it", async () => {
    const { emulator, list, watch, claim, states } = emulateWorkers();
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
    const watching = await watch((await list()).streamCursor);
    const reply = await claim("bc-1", "pw_1");
    expect([reply.status, reply.json]).toEqual([200, { id: "bc-1", workerId: "pw_1" }]);
    expect(await watching.next()).toMatchObject({ event: "claimed", data: { id: "bc-1" } });
    await watching.cancel();
    expect([ids(await list()), states()]).toEqual([[], { "bc-1": "claimed" }]);
    emulator.workers.connectWorker({ workerId: "pw_2", pool: "gpu" });
    expect(states()).toEqual({ "bc-1": "claimed" });
    const worker = emulator.workers.connectWorker({ workerId: "pw_1" });
    expect(worker).toMatchObject({ isInUse: true, activeBcId: "bc-1", teamId: 456 });
    expect(states()).toEqual({ "bc-1": "running" });
  });

  it("is exclusive: of ten at once nine fail", async () => {
    const { emulator, claim } = emulateWorkers();
    emulator.workers.addRequest({ id: "bc-1" });
    const replies = await Promise.all(Array.from({ length: 10 }, (_, index) => claim("bc-1", `pw_${index}`)));
    const won = replies.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    for (const reply of replies) {
      if (reply !== won[0])
        expect(textError(reply)).toEqual([409, expect.stringMatching(/^Already claimed: /)]);
    }
    expect(emulator.workers.requests).toMatchObject([{ claimedWorkerId: won[0]?.json.workerId }]);
  });

  it("fails while another is live, even for the same worker and whatever its worker does", async () => {
    const { claim, watching, states, emulator } = await hibernated(60);
    const rejected = async () => [(await claim("bc-1", "pw_1")).status, (await claim("bc-1", "pw_2")).status];
    expect([states()["bc-1"], await rejected()]).toEqual(["idle", [409, 409]]);
    emulator.workers.followUp("bc-1");
    expect([states()["bc-1"], await rejected()]).toEqual(["claimed_offline", [409, 409]]);
    emulator.workers.connectWorker({ workerId: "pw_1" });
    expect([states()["bc-1"], await rejected()]).toEqual(["running", [409, 409]]);
    await watching.cancel();
  });

  it("fails for unknown and expired requests", async () => {
    const { emulator, claim } = emulateWorkers();
    emulator.workers.addRequest({ id: "bc-1" });
    emulator.workers.expireRequest("bc-1");
    expect(textError(await claim("bc-1", "pw_1"))).toEqual(noClaim);
    expect(textError(await claim("bc-2", "pw_1"))).toEqual(noClaim);
  });

  it("starts at once on a connected idle worker", async () => {
    const { emulator, claim, states } = emulateWorkers();
    emulator.workers.connectWorker({ workerId: "pw_1", pool: "gpu" });
    for (const id of ["bc-1", "bc-2"]) emulator.workers.addRequest({ id, pool: "gpu" });
    await claim("bc-1", "pw_1");
    await claim("bc-2", "pw_1");
    expect(states()).toEqual({ "bc-1": "running", "bc-2": "claimed" });
  });

  it.each([
    ["no id", { workerId: "pw_1" }],
    ["no worker", { id: "bc-1" }],
    ["an empty worker", { id: "bc-1", workerId: "" }],
    ["a number as id", { id: 1, workerId: "pw_1" }],
    ["a session token that is a text", { id: "bc-1", workerId: "pw_1", sessionToken: "yes" }],
    ["another field", { id: "bc-1", workerId: "pw_1", pool: "gpu" }],
  ])("is rejected with %s", async (_what, body) => {
    const { emulator, call, states } = emulateWorkers();
    emulator.workers.addRequest({ id: "bc-1" });
    expect(textError(await call("POST", "/claim", body))).toEqual([400, expect.any(String)]);
    expect(states()).toEqual({ "bc-1": "pending" });
  });

  it("takes effect even if its answer is lost", async () => {
    const { emulator, claim } = emulateWorkers();
    emulator.workers.addRequest({ id: "bc-1" });
    emulator.faults.dropAnswer("claimPendingRequest");
    await expect(claim("bc-1", "pw_1")).rejects.toThrow("fetch failed");
    expect((await claim("bc-1", "pw_1")).status).toBe(409);
    expect(emulator.workers.requests).toMatchObject([{ claimedWorkerId: "pw_1" }]);
  });
});

describe("a release", () => {
  it("returns a waiting request to the queue, where another worker can claim it at once", async () => {
    const { emulator, call, claim, list, watch, states } = emulateWorkers();
    emulator.workers.addRequest({ id: "bc-1" });
    await claim("bc-1", "pw_1");
    const watching = await watch((await list()).streamCursor);
    const reply = await call("POST", "/claims/bc-1/release");
    expect([reply.status, reply.json]).toEqual([200, { id: "bc-1", workerId: "pw_1" }]);
    expect(await watching.next()).toMatchObject({ event: "created", data: { id: "bc-1" } });
    await watching.cancel();
    expect([ids(await list()), states()]).toEqual([["bc-1"], { "bc-1": "pending" }]);
    expect(textError(await call("POST", "/claims/bc-1/release"))).toEqual(noClaim);
    expect((await claim("bc-1", "pw_2")).status).toBe(200);
    emulator.workers.connectWorker({ workerId: "pw_1", pool: "default" });
    expect(states()).toEqual({ "bc-1": "claimed" });
  });

  it("leaves a running turn to its worker, and the next turn to any worker", async () => {
    const { emulator, call, claim, states } = emulateWorkers();
    emulator.workers.addRequest({ id: "bc-1" });
    await claim("bc-1", "pw_1");
    emulator.workers.connectWorker({ workerId: "pw_1" });
    await call("POST", "/claims/bc-1/release");
    expect(emulator.workers.connected).toMatchObject([{ isInUse: true, activeBcId: "bc-1" }]);
    expect((await claim("bc-1", "pw_2")).status).toBe(200);
    await call("POST", "/claims/bc-1/release");
    emulator.workers.endTurn("bc-1");
    expect(emulator.workers.connected).toMatchObject([{ isInUse: false }]);
    emulator.workers.followUp("bc-1");
    expect(states()).toEqual({ "bc-1": "pending" });
  });

  it("fails for a request without a live claim, and for an unknown one", async () => {
    const { emulator, call } = emulateWorkers();
    emulator.workers.addRequest({ id: "bc-1" });
    expect(textError(await call("POST", "/claims/bc-1/release"))).toEqual(noClaim);
    expect(textError(await call("POST", "/claims/bc-2/release"))).toEqual(noClaim);
  });

  it("accepts an empty object, but no other body and no content type alone", async () => {
    const { call, emulator, claim } = emulateWorkers();
    emulator.workers.addRequest({ id: "bc-1" });
    await claim("bc-1", "pw_1");
    expect((await call("POST", "/claims/bc-1/release", { workerId: "pw_1" })).status).toBe(400);
    const headers = { "content-type": "application/json" };
    const bare = await call("POST", "/claims/bc-1/release", undefined, headers);
    expect([bare.status, bare.json.code]).toEqual([400, "error"]);
    expect((await call("POST", "/claims/bc-1/release", {})).status).toBe(200);
  });
});

describe("a follow-up for a worker that is offline", () => {
  it("waits for it while the window is open, and continues when it reconnects", async () => {
    const { emulator, list, watching, clock, states } = await hibernated(60);
    await clock.advance(5000);
    const seen = watching.next();
    emulator.workers.followUp("bc-1");
    const entry = {
      id: "bc-1",
      userId: 42,
      userEmail: "developer@example.com",
      labels: [{ key: "pool", value: "gpu" }],
      createdAtMs: clock.now(),
      claimedWorkerId: "pw_1",
      wakeTimeoutMs: 60_000,
    };
    expect(await seen).toMatchObject({ event: "claimed_offline", data: entry });
    await clock.advance(15_000);
    expect((await list()).requests).toEqual([{ ...entry, wakeTimeoutMs: 45_000 }]);
    emulator.workers.connectWorker({ workerId: "pw_1" });
    expect(await watching.next()).toMatchObject({ event: "claimed", data: { id: "bc-1" } });
    expect([ids(await list()), states()]).toEqual([[], { "bc-1": "running" }]);
    await clock.advance(60_000);
    expect(states()).toEqual({ "bc-1": "running" });
    expect((await watching.next())?.event).toBe("heartbeat");
    await watching.cancel();
    expect(clock.pending).toBe(0);
  });

  it("returns to the queue when the window lapses: the claim expires, and the request is announced again", async () => {
    const { emulator, list, watching, clock, call, claim, states } = await hibernated(10);
    emulator.workers.followUp("bc-1");
    expect((await watching.next())?.event).toBe("claimed_offline");
    const seen = watching.next();
    await clock.advance(9999);
    expect(states()).toEqual({ "bc-1": "claimed_offline" });
    await clock.advance(1);
    const created = await seen;
    expect(created).toMatchObject({ event: "created", data: { id: "bc-1" } });
    expect(created?.data).not.toHaveProperty("claimedWorkerId");
    expect((await list()).requests).toEqual([created?.data]);
    expect(textError(await call("POST", "/claims/bc-1/release"))).toEqual(noClaim);
    expect((await claim("bc-1", "pw_2")).status).toBe(200);
    await watching.cancel();
  });

  it("returns to the queue at once where the pool has no window", async () => {
    const { emulator, watching, states, claim } = await hibernated(0);
    emulator.workers.followUp("bc-1");
    expect((await watching.next())?.event).toBe("created");
    expect(states()).toEqual({ "bc-1": "pending" });
    expect((await claim("bc-1", "pw_2")).status).toBe(200);
    await watching.cancel();
  });

  it("returns to the queue when its claim is released", async () => {
    const { emulator, watching, call, clock, states } = await hibernated(60);
    emulator.workers.followUp("bc-1");
    await call("POST", "/claims/bc-1/release");
    expect((await watching.take(2)).map(({ event }) => event)).toEqual(["claimed_offline", "created"]);
    expect(states()).toEqual({ "bc-1": "pending" });
    await watching.cancel();
    expect(clock.pending).toBe(0);
  });

  it("runs at once if the worker is online after all", async () => {
    const { emulator, watching, states } = await hibernated(60);
    emulator.workers.connectWorker({ workerId: "pw_1" });
    expect(states()).toEqual({ "bc-1": "idle" });
    emulator.workers.followUp("bc-1");
    expect(states()).toEqual({ "bc-1": "running" });
    await watching.cancel();
  });

  it("that expires leaves the queue", async () => {
    const { emulator, watching, list, clock, states } = await hibernated(60);
    emulator.workers.followUp("bc-1");
    emulator.workers.expireRequest("bc-1");
    expect((await watching.take(2)).map(({ event }) => event)).toEqual(["claimed_offline", "expired"]);
    expect([ids(await list()), states()]).toEqual([[], { "bc-1": "expired" }]);
    await watching.cancel();
    expect(clock.pending).toBe(0);
  });
});

describe("failing a claim", () => {
  it("ends the turn that waits and frees the claim, so that doing it again finds none", async () => {
    const { emulator, call, claim, list, watch, states } = emulateWorkers();
    emulator.workers.addRequest({ id: "bc-1" });
    await claim("bc-1", "pw_1");
    const watching = await watch((await list()).streamCursor);
    const message = `  The gpu pool\u0000 has reached\u001b its limit.\n${"x".repeat(460)}  `;
    const reply = await call("POST", "/claims/bc-1/fail", { message });
    expect([reply.status, reply.json]).toEqual([200, { id: "bc-1", workerId: "pw_1" }]);
    const said = `The gpu pool has reached its limit.\n${"x".repeat(460)}`;
    expect(emulator.workers.requests).toMatchObject([{ state: "idle", failure: said }]);
    expect(textError(await call("POST", "/claims/bc-1/fail", { message: "x" }))).toEqual(noClaim);
    emulator.workers.followUp("bc-1");
    expect(await watching.next()).toMatchObject({ event: "created", data: { id: "bc-1" } });
    await watching.cancel();
    expect(states()).toEqual({ "bc-1": "pending" });
  });

  it("takes a request that waits for an offline worker out of the list", async () => {
    const { emulator, watching, call, list, clock } = await hibernated(60);
    emulator.workers.followUp("bc-1");
    expect((await call("POST", "/claims/bc-1/fail", { message: "x" })).status).toBe(200);
    expect((await watching.take(2)).map(({ event }) => event)).toEqual(["claimed_offline", "expired"]);
    expect(ids(await list())).toEqual([]);
    await watching.cancel();
    expect(clock.pending).toBe(0);
  });

  it("needs a waiting turn and an offline worker", async () => {
    const { emulator, call, watching } = await hibernated(60);
    const fail = () => call("POST", "/claims/bc-1/fail", { message: "x" });
    expect(textError(await fail())).toEqual([400, expect.stringMatching(/^No turn waiting: /)]);
    emulator.workers.connectWorker({ workerId: "pw_1" });
    expect(textError(await fail())).toEqual([400, expect.stringMatching(/^No turn waiting: /)]);
    emulator.workers.followUp("bc-1");
    expect(textError(await fail())).toEqual([400, expect.stringMatching(/^Worker connected: /)]);
    expect(emulator.workers.requests).toMatchObject([{ state: "running", claimedWorkerId: "pw_1" }]);
    expect(textError(await call("POST", "/claims/bc-9/fail", { message: "x" }))).toEqual(noClaim);
    await watching.cancel();
  });

  it.each([
    ["without a message", {}],
    ["with one that is blank", { message: " \u0007 " }],
    ["with one of 501 characters", { message: "x".repeat(501) }],
    ["with one that is no text", { message: 1 }],
    ["with another field", { message: "x", workerId: "pw_1" }],
  ])("is rejected %s", async (_what, body) => {
    const { emulator, call, claim, states } = emulateWorkers();
    emulator.workers.addRequest({ id: "bc-1" });
    await claim("bc-1", "pw_1");
    expect(textError(await call("POST", "/claims/bc-1/fail", body))).toEqual([400, expect.any(String)]);
    expect(states()).toEqual({ "bc-1": "claimed" });
  });
});

describe("session tokens", () => {
  it("come with a claim that asks for one, and are valid for seven days", async () => {
    const { emulator, call, clock } = emulateWorkers();
    emulator.workers.addRequest({ id: "bc-1" });
    const body = { id: "bc-1", workerId: "pw_1", sessionToken: true };
    expect((await call("POST", "/claim", body)).json).toEqual({
      id: "bc-1",
      workerId: "pw_1",
      token: expect.stringMatching(/^eyJ/),
      expiresAt: new Date(clock.now() + 7 * 86_400_000).toISOString(),
    });
  });

  it("are created for a live claim of that worker, a new one each time", async () => {
    const { emulator, call, claim } = emulateWorkers();
    emulator.workers.addRequest({ id: "bc-1" });
    const mint = (body: object) => call("POST", "/tokens", body);
    const body = { id: "bc-1", workerId: "pw_1" };
    expect(textError(await mint(body))).toEqual(noClaim);
    await claim("bc-1", "pw_1");
    const [one, other] = [(await mint(body)).json, (await mint(body)).json];
    expect(one).toMatchObject({ ...body, token: expect.any(String), expiresAt: expect.any(String) });
    expect(one.token).not.toBe(other.token);
    expect(textError(await mint({ ...body, workerId: "pw_2" }))).toEqual(noClaim);
    expect(textError(await mint({ ...body, id: "bc-2" }))).toEqual(noClaim);
    expect((await mint({ ...body, sessionToken: true })).status).toBe(400);
  });
});
