import { ApiPromise, PagePromise } from "cursor-cloud-agents";
import { describe, expect, it, onTestFinished } from "vitest";
import { failedResponse, fake, reply } from "./support/fake-api.ts";
import { agent, agentId } from "./support/sample-run.ts";
import { failure } from "./support/waiting.ts";

const settle = () => new Promise((resolve) => setTimeout(resolve, 5));

describe("the promise of an answer", () => {
  it("is a promise: await, then, catch, finally, all, race", async () => {
    const { cursor } = fake(reply(200, agent));
    const call = cursor.agents.get(agentId);
    expect(call).toBeInstanceOf(Promise);
    expect(call).toBeInstanceOf(ApiPromise);
    expect((await call).id).toBe(agentId);
    expect(await call.then(({ id }) => id)).toBe(agentId);
    expect(await call.catch(() => "failed")).toMatchObject({ id: agentId });
    let done = 0;
    expect((await call.finally(() => done++)).id).toBe(agentId);
    expect(await Promise.all([call, call])).toHaveLength(2);
    expect((await Promise.race([call])).id).toBe(agentId);
    expect(done).toBe(1);
    expect(call.then() instanceof ApiPromise).toBe(false);
  });

  it("is sent at once without being awaited, and only once when it is awaited repeatedly", async () => {
    const { cursor, requests } = fake(reply(200, agent));
    const call = cursor.agents.get(agentId);
    await settle();
    expect(requests).toHaveLength(1);
    await Promise.all([call, call, call.withResponse(), call.withResponse()]);
    expect(requests).toHaveLength(1);
  });

  it("withResponse gives the answer, its headers and its request id", async () => {
    const { cursor } = fake(reply(200, agent, { "x-request-id": "req_1", "x-other": "2" }));
    const { data, response, requestId } = await cursor.agents.get(agentId).withResponse();
    expect([data.id, response.status, response.headers.get("x-other")]).toEqual([agentId, 200, "2"]);
    expect(requestId).toBe("req_1");
  });

  it("withResponse has no requestId where the answer had none", async () => {
    const { cursor } = fake(reply(200, agent));
    expect("requestId" in (await cursor.agents.get(agentId).withResponse())).toBe(false);
  });

  it("a failure is one rejection, seen in each way", async () => {
    const { cursor, requests } = fake(failedResponse(404, "agent_not_found"));
    const call = cursor.agents.get(agentId);
    const error = await failure(call);
    expect(await failure(call.withResponse())).toBe(error);
    expect(await call.catch((reason) => reason)).toBe(error);
    await settle();
    expect(requests.length).toBe(1);
  });

  it("a failure that is not handled is reported once", async () => {
    const { cursor } = fake(failedResponse(404, "agent_not_found"));
    const reported: unknown[] = [];
    // In place of the listeners that would fail this test.
    const others = process.listeners("unhandledRejection");
    process.removeAllListeners("unhandledRejection");
    process.on("unhandledRejection", (reason) => reported.push(reason));
    onTestFinished(() => {
      process.removeAllListeners("unhandledRejection");
      for (const listener of others) process.on("unhandledRejection", listener);
    });
    void cursor.agents.get(agentId);
    await settle();
    expect(reported).toMatchObject([{ code: "agent_not_found" }]);
  });

  it("a wrong argument rejects; it doesn't throw", async () => {
    const { cursor, requests } = fake([]);
    for (const call of [cursor.agents.get(""), cursor.agents.create(null as never)]) {
      expect((await failure(call)).kind).toBe("argument");
    }
    expect(requests).toHaveLength(0);
  });
});

describe("the promise of a list", () => {
  const answer = reply(200, { items: [{ id: "bc-1" }], totalCount: 1 });

  it("sends nothing until it is awaited or iterated", async () => {
    const { cursor, requests } = fake(answer);
    const calls = [cursor.agents.list(), cursor.models.list(), cursor.repositories.list()];
    calls.push(cursor.runs.list(agentId) as never, cursor.artifacts.list(agentId) as never);
    await settle();
    expect(requests).toHaveLength(0);
    expect(calls.every((call) => call instanceof PagePromise)).toBe(true);
    await calls[0];
    expect(requests).toHaveLength(1);
  });

  it("loads the first page once, when it is awaited and iterated repeatedly", async () => {
    const { cursor, requests } = fake(answer);
    const list = cursor.agents.list();
    const { data, response } = await list.withResponse();
    expect([data.items.length, response.status]).toEqual([1, 200]);
    expect(await list).toBe(data);
    for await (const { id } of list) expect(id).toBe("bc-1");
    for await (const page of list.pages()) expect(page).toBe(data);
    expect(requests).toHaveLength(1);
  });

  it("that is never looked at never fails", async () => {
    const { cursor } = fake(failedResponse(401, "unauthorized"));
    cursor.agents.list();
    cursor.runs.list("");
    await settle();
  });

  it("that fails rejects in each way, and in the loop", async () => {
    const { cursor, requests } = fake(failedResponse(401, "unauthorized"));
    const list = cursor.agents.list();
    const loop = async () => {
      for await (const _ of list);
    };
    const error = await failure(list);
    expect(await failure(loop())).toBe(error);
    await settle();
    expect([error.code, requests.length]).toEqual(["unauthorized", 1]);
  });
});
