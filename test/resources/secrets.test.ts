import { expect, it } from "vitest";
import { broken, failedResponse, fake, reply } from "../support/fake-api.ts";
import { failure } from "../support/waiting.ts";

const secret = { id: "secv_1", name: "TOKEN", type: "runtime_secret", repos: [] };
const id = "0b0e7b4e-0000-4000-8000-000000000001";

it("a null cursor marks the last page, as an absent one does elsewhere", async () => {
  const { cursor, requests } = fake([
    reply(200, { items: [secret], nextCursor: "a+b" }),
    reply(200, { items: [secret], nextCursor: null }),
  ]);
  const items = [];
  for await (const item of cursor.secrets.list({ scope: "user", repo: "github.com/o/r" })) items.push(item);
  expect(items).toHaveLength(2);
  expect(requests.map(({ url }) => Object.fromEntries(url.searchParams))).toEqual([
    { scope: "user", repo: "github.com/o/r" },
    { scope: "user", repo: "github.com/o/r", cursor: "a+b" },
  ]);
});

it("the secrets of a team and of an environment are one page each", async () => {
  const { cursor, requests } = fake(reply(200, { items: [secret], nextCursor: null }));
  expect(await cursor.secrets.team.list()).toEqual({ items: [secret] });
  expect(await cursor.secrets.environment.list(id)).toEqual({ items: [secret] });
  expect(requests.map(({ target }) => target)).toEqual([
    "/v1/team/secrets",
    `/v1/environments/${id}/secrets`,
  ]);
});

it("set is repeated when its answer is lost, and a version's id goes into the query", async () => {
  const { cursor, requests, run } = fake([
    broken(),
    reply(201, secret),
    reply(200, secret),
    reply(200, secret),
  ]);
  expect(await run(cursor.secrets.team.set("TOKEN", { value: "v" }))).toEqual(secret);
  await run(cursor.secrets.team.set("TOKEN", { value: "v" }, { id: "secv_1", timeout: 5 }));
  await run(cursor.secrets.environment.set(id, "TOKEN", { value: "v", repos: [] }, { id: "secv_1" }));
  expect(requests.map(({ method, target, text }) => `${method} ${target} ${text}`)).toEqual([
    'PUT /v1/team/secrets/TOKEN {"value":"v"}',
    'PUT /v1/team/secrets/TOKEN {"value":"v"}',
    'PUT /v1/team/secrets/TOKEN?id=secv_1 {"value":"v"}',
    `PUT /v1/environments/${id}/secrets/TOKEN?id=secv_1 {"value":"v","repos":[]}`,
  ]);
});

it("delete succeeds if the secret is gone by the second attempt, and fails if it is at the first", async () => {
  const lost = fake([
    broken(),
    failedResponse(404, "secret_not_found"),
    broken(),
    failedResponse(404, "secret_not_found"),
  ]);
  expect(await lost.run(lost.cursor.secrets.team.delete("TOKEN"))).toEqual({ name: "TOKEN" });
  expect(await lost.run(lost.cursor.secrets.environment.delete(id, "TOKEN", { id: "secv_1" }))).toEqual({
    name: "TOKEN",
  });
  expect(lost.requests.at(-1)?.target).toBe(`/v1/environments/${id}/secrets/TOKEN?id=secv_1`);
  const gone = fake(failedResponse(404, "secret_not_found"));
  expect(await gone.fails(gone.cursor.secrets.team.delete("TOKEN"))).toMatchObject({
    code: "secret_not_found",
  });
});

it("no error shows a secret's value, not even when the server quotes it", async () => {
  const quoting = reply(400, {
    error: { code: "validation_error", message: 'value "very secret" is too weak' },
  });
  const { cursor, fails } = fake(quoting);
  for (const call of [
    () => cursor.secrets.team.set("TOKEN", { value: "very secret" }),
    () => cursor.secrets.environment.set(id, "TOKEN", { value: "very secret" }),
  ]) {
    const error = await fails(call());
    expect(error.message).toContain("too weak");
    expect(`${error.stack} ${JSON.stringify(error)}`).not.toContain("very secret");
  }
});

it.each(["", "..", undefined])("the name %j is rejected", async (name) => {
  const { cursor, requests } = fake(reply(200, {}));
  expect(await failure(cursor.secrets.team.delete(name as string))).toMatchObject({ argument: "name" });
  expect(await failure(cursor.secrets.environment.delete(name as string, "A"))).toMatchObject({
    argument: "environmentId",
  });
  expect(requests).toEqual([]);
});
