import { expect, it } from "vitest";
import { broken, failedResponse, fake, reply } from "../support/fake-api.ts";
import { failure } from "../support/waiting.ts";

const id = "0b0e7b4e-0000-4000-8000-000000000001";
const environment = { id, name: "web", owner: "team", repos: [] };
const body = { owner: "team" as const, name: "web", repos: [], environmentJson: "{}" };

it("create is sent once, and a lost answer leaves the outcome unknown", async () => {
  const { cursor, requests, fails } = fake(broken());
  expect(await fails(cursor.environments.create(body))).toMatchObject({ outcome: "unknown" });
  expect(requests.map(({ json }) => json)).toEqual([body]);
});

it("update answers without a body, and is repeated, since it sets a state", async () => {
  const { cursor, requests, run } = fake([broken(), reply(204)]);
  expect(await run(cursor.environments.update(id, { name: "w" }))).toBeUndefined();
  expect(requests.map(({ method, target, text }) => `${method} ${target} ${text}`)).toEqual(
    Array(2).fill(`PATCH /v1/environments/${id} {"name":"w"}`),
  );
});

it("a deletion whose answer was lost succeeds when the environment is gone", async () => {
  const { cursor, run } = fake([broken(), failedResponse(404, "environment_not_found")]);
  expect(await run(cursor.environments.delete(id))).toEqual({ id });
});

it("a page without a cursor is the last, however short the pages before", async () => {
  const { cursor, requests } = fake([
    reply(200, { items: [environment], nextCursor: "MjA" }),
    reply(200, { items: [], nextCursor: "NDA" }),
    reply(200, { items: [{ ...environment, id: "other" }] }),
  ]);
  const ids = [];
  for await (const item of cursor.environments.list({ limit: 20 })) ids.push(item.id);
  expect(ids).toEqual([id, "other"]);
  expect(requests.map(({ target }) => target)).toEqual([
    "/v1/environments?limit=20",
    "/v1/environments?limit=20&cursor=MjA",
    "/v1/environments?limit=20&cursor=NDA",
  ]);
});

it("history and builds are walked the same way", async () => {
  const { cursor, requests } = fake([
    reply(200, { items: [{ id: "1" }], nextCursor: "c" }),
    reply(200, { items: [{ id: "2" }] }),
    reply(200, { items: [{ id: "bld-1" }], nextCursor: "d" }),
    reply(200, { items: [{ id: "bld-2" }] }),
  ]);
  const ids = [];
  for await (const change of cursor.environments.history(id, { limit: 1 })) ids.push(change.id);
  for await (const build of cursor.environments.builds.list(id)) ids.push(build.id);
  expect(ids).toEqual(["1", "2", "bld-1", "bld-2"]);
  expect(requests.map(({ target }) => target)).toEqual([
    `/v1/environments/${id}/history?limit=1`,
    `/v1/environments/${id}/history?limit=1&cursor=c`,
    `/v1/environments/${id}/builds`,
    `/v1/environments/${id}/builds?cursor=d`,
  ]);
});

it('the build id "active" is rejected, since it is an endpoint', async () => {
  const { cursor, requests } = fake(reply(200, { id: "bld-1", type: "build", buildId: "bld-1" }));
  expect(await failure(cursor.environments.builds.get(id, "active"))).toMatchObject({ argument: "buildId" });
  expect(await cursor.environments.builds.active(id)).toMatchObject({ type: "build", buildId: "bld-1" });
  await cursor.environments.builds.get(id, "bld/1");
  expect(requests.map(({ target }) => target)).toEqual([
    `/v1/environments/${id}/builds/active`,
    `/v1/environments/${id}/builds/bld%2F1`,
  ]);
});

it("a name that is taken rejects with a typed conflict", async () => {
  const { cursor, fails } = fake(failedResponse(409, "environment_name_conflict"));
  expect(await fails(cursor.environments.create(body))).toMatchObject({ code: "environment_name_conflict" });
});
