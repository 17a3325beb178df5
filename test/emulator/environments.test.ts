import { describe, expect, it } from "vitest";
import type { EmulatorOptions } from "../../src/emulator/index.ts";
import { base, emulate, key, speakTo } from "./helpers.ts";

const path = "/v1/environments";
const environmentJson = JSON.stringify({ install: "pnpm install" });
const body = {
  owner: "team",
  name: "Web app",
  repos: [{ url: "https://github.com/acme/web" }],
  environmentJson,
};
const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

function setUp(options: EmulatorOptions = {}) {
  const setup = emulate(options);
  const { call } = setup;
  const create = async (more: object = {}) => {
    const reply = await call("POST", path, { ...body, ...more });
    expect(reply.status, reply.text).toBe(201);
    return reply.json.id as string;
  };
  const codeOf = async (...request: Parameters<typeof call>) => {
    const reply = await call(...request);
    return [reply.status, reply.json?.error.code];
  };
  const as = (apiKey: string) => speakTo(setup.emulator.fetch, base, apiKey).call;
  return { ...setup, createEnvironment: create, codeOf, as };
}

describe("environments", () => {
  it("are created, read and deleted", async () => {
    const { call, codeOf } = setUp();
    const { status, json } = await call("POST", path, body);
    const { environmentJson: _configuration, ...shown } = body;
    expect(status).toBe(201);
    expect(json).toEqual({ ...shown, id: expect.any(String), createdAt: iso, updatedAt: json.createdAt });
    const details = await call("GET", `${path}/${json.id}`);
    expect(details.json).toEqual({ ...json, environmentJson, versionId: expect.any(String) });
    expect((await call("GET", path)).json).toEqual({ items: [json] });
    expect((await call("DELETE", `${path}/${json.id}`)).json).toEqual({ id: json.id });
    for (const suffix of ["", "/history", "/builds", "/builds/active", "/secrets"]) {
      expect(await codeOf("GET", `${path}/${json.id}${suffix}`)).toEqual([404, "environment_not_found"]);
    }
    expect(await codeOf("DELETE", `${path}/${json.id}`)).toEqual([404, "environment_not_found"]);
  });

  it.each([
    ["without an owner", { owner: undefined }],
    ["with a team's id as owner", { owner: 456 }],
    ["without a name", { name: "" }],
    ["with a name of 256 characters", { name: "n".repeat(256) }],
    ["without repos", { repos: undefined }],
    ["with 101 repos", { repos: Array.from({ length: 101 }, () => ({ url: "https://github.com/o/r" })) }],
    ["with a branch", { repos: [{ url: "https://github.com/o/r", startingRef: "main" }] }],
    ["without a configuration", { environmentJson: undefined }],
    ["with a configuration that is no JSON", { environmentJson: "install: npm" }],
    ["with a configuration that is no object", { environmentJson: "[]" }],
    ["with a configuration that is no text", { environmentJson: {} }],
    ["with another field", { ownerId: 42 }],
  ])("are not created %s", async (_what, more) => {
    const { call, codeOf } = setUp();
    expect(await codeOf("POST", path, { ...body, ...more })).toEqual([400, "validation_error"]);
    expect((await call("GET", path)).json.items).toEqual([]);
  });

  it("have names that are unique for their owner", async () => {
    const { call, createEnvironment, codeOf } = setUp();
    const id = await createEnvironment();
    const taken = await call("POST", path, body);
    expect([taken.status, taken.json.error]).toEqual([
      409,
      { code: "environment_name_conflict", message: expect.any(String), environmentId: id },
    ]);
    const personal = await createEnvironment({ owner: "personal" });
    await createEnvironment({ name: "Other" });
    expect(await codeOf("PATCH", `${path}/${id}`, { name: "Other" })).toEqual([
      409,
      "environment_name_conflict",
    ]);
    expect((await call("PATCH", `${path}/${personal}`, { name: "Other" })).status).toBe(204);
    expect((await call("PATCH", `${path}/${id}`, { name: "Web app" })).status).toBe(204);
  });

  it("are updated completely or not at all, with an empty answer", async () => {
    const { call, createEnvironment, codeOf, clock } = setUp();
    const id = await createEnvironment();
    const before = (await call("GET", `${path}/${id}`)).json;
    await clock.advance(1000);
    for (const changes of [
      { name: "New", environmentJson: "nonsense" },
      { name: "", environmentJson },
      { repos: [] },
    ]) {
      expect(await codeOf("PATCH", `${path}/${id}`, changes)).toEqual([400, "validation_error"]);
    }
    expect((await call("GET", `${path}/${id}`)).json).toEqual(before);
    const changes = { name: "New", environmentJson: "{}" };
    const reply = await call("PATCH", `${path}/${id}`, changes);
    expect([reply.status, reply.text, reply.headers.get("content-type")]).toEqual([204, "", null]);
    const after = (await call("GET", `${path}/${id}`)).json;
    const updatedAt = new Date(clock.now()).toISOString();
    expect(after).toEqual({ ...before, ...changes, updatedAt, versionId: expect.any(String) });
    expect(after.versionId).not.toBe(before.versionId);
  });

  it("can be updated over HTTP, too", async () => {
    const { emulator, createEnvironment } = setUp();
    const id = await createEnvironment();
    await using server = await emulator.listen();
    const { call } = speakTo(fetch, server.url);
    expect((await call("PATCH", `${path}/${id}`, { name: "New" })).status).toBe(204);
  });

  it("are listed by their last change, in pages counted from the front", async () => {
    const { call, createEnvironment, clock, codeOf } = setUp();
    const ids: string[] = [];
    for (let index = 0; index < 25; index++) {
      ids.push(await createEnvironment({ name: `e${index}` }));
      await clock.advance(1);
    }
    const first = (await call("GET", path)).json;
    expect(first.items.map(({ name }: { name: string }) => name).slice(0, 2)).toEqual(["e24", "e23"]);
    expect([first.items.length, first.nextCursor]).toEqual([20, "MjA"]);
    await call("PATCH", `${path}/${ids[0]}`, { name: "changed" });
    const second = (await call("GET", `${path}?cursor=${first.nextCursor}`)).json;
    const names = second.items.map(({ name }: { name: string }) => name);
    // e5 comes twice, and the one that has moved to the front not at all.
    expect(names).toEqual(["e5", "e4", "e3", "e2", "e1"]);
    expect(second).not.toHaveProperty("nextCursor");
    for (const query of ["cursor=!", "cursor=eA", "limit=0", "limit=101", "owner=team"]) {
      expect(await codeOf("GET", `${path}?${query}`)).toEqual([400, "validation_error"]);
    }
  });

  it("come in pages that can be short without being the last", async () => {
    const { call, createEnvironment } = setUp({ shortPages: true });
    for (const name of ["a", "b", "c"]) await createEnvironment({ name });
    const first = (await call("GET", `${path}?limit=2`)).json;
    expect(first.items).toHaveLength(1);
    const rest = (await call("GET", `${path}?limit=4&cursor=${first.nextCursor}`)).json;
    expect([rest.items.length, rest.nextCursor]).toEqual([2, undefined]);
  });

  it("are visible to their owners only", async () => {
    const keys = [
      { key, info: { userId: 42 } },
      { key: "colleague", info: { userId: 43 } },
      { key: "loner", info: { userId: 44 }, role: "none" as const },
      { key: "sa_TEST", kind: "service-account" as const },
      { key: "sa_web", kind: "service-account" as const, repositories: ["github.com/Acme/web.git"] },
      { key: "stranger", owner: "elsewhere" },
    ];
    const { createEnvironment, as } = setUp({ keys });
    await createEnvironment({ name: "team's" });
    await createEnvironment({ name: "mine", owner: "personal" });
    await createEnvironment({ name: "bare", repos: [] });
    await createEnvironment({ name: "both", repos: [...body.repos, { url: "https://github.com/acme/api" }] });
    const seenBy = async (apiKey: string) =>
      (await as(apiKey)("GET", path)).json.items.map(({ name }: { name: string }) => name);
    expect(await seenBy(key)).toEqual(["both", "bare", "mine", "team's"]);
    expect(await seenBy("colleague")).toEqual(["both", "bare", "team's"]);
    expect(await seenBy("sa_TEST")).toEqual(["both", "bare", "team's"]);
    expect(await seenBy("sa_web")).toEqual(["team's"]);
    expect(await seenBy("loner")).toEqual([]);
    expect(await seenBy("stranger")).toEqual([]);

    const failure = async (apiKey: string, more: object) => {
      const { status, json } = await as(apiKey)("POST", path, { ...body, name: "new", ...more });
      return [status, json.error.code];
    };
    expect(await failure("sa_TEST", { owner: "personal" })).toEqual([403, "user_required"]);
    expect(await failure("loner", {})).toEqual([403, "team_membership_required"]);
    expect(await failure("sa_web", { repos: [] })).toEqual([400, "repository_access"]);
    expect(await failure("sa_web", { repos: [{ url: "https://github.com/acme/api" }] })).toEqual([
      400,
      "repository_access",
    ]);
  });
});

describe("the history of an environment", () => {
  it("lists changes, newest first, and marks the current one", async () => {
    const { call, createEnvironment, codeOf } = setUp();
    const id = await createEnvironment();
    await call("PATCH", `${path}/${id}`, { environmentJson: "{}" });
    await call("PATCH", `${path}/${id}`, { name: "New" });
    await call("PATCH", `${path}/${id}`, { name: "New", environmentJson: "{}" });
    const event = { id: expect.any(String), createdAt: iso, description: expect.any(String), source: "api" };
    const updated = { ...event, kind: "updated", title: "Team environment updated" };
    const { items } = (await call("GET", `${path}/${id}/history`)).json;
    expect(items).toEqual([
      { ...updated, current: false },
      { ...updated, current: true, environmentJson: "{}" },
      { ...event, kind: "created", title: "Team environment created", current: false, environmentJson },
    ]);
    const first = (await call("GET", `${path}/${id}/history?limit=2`)).json;
    expect(first).toEqual({ items: items.slice(0, 2), nextCursor: items[1].id });
    expect((await call("GET", `${path}/${id}/history?cursor=${first.nextCursor}`)).json).toEqual({
      items: items.slice(2),
    });
    expect(await codeOf("GET", `${path}/${id}/history?cursor=x`)).toEqual([400, "validation_error"]);
  });
});

describe("builds of an environment", () => {
  it("come ten a page, newest first, and one by one", async () => {
    const { call, createEnvironment, emulator, codeOf } = setUp();
    const id = await createEnvironment();
    const other = await createEnvironment({ name: "Other" });
    const failure = { type: "TERMINAL_FAILURE", code: "environment_json_invalid" };
    emulator.environments.addBuild(id, { status: "FAILED", trigger: "CONFIG_CHANGE", failure });
    for (let index = 0; index < 10; index++) emulator.environments.addBuild(id);
    const last = emulator.environments.addBuild(id, { status: "IN_PROGRESS" });
    expect(last.id).toMatch(/^bld-20260101-[0-9a-f-]{36}$/);
    const first = (await call("GET", `${path}/${id}/builds`)).json;
    expect(first.items[0]).toEqual(last);
    expect(first.items[0]).not.toHaveProperty("completedAt");
    expect([first.items.length, first.nextCursor]).toEqual([10, first.items[9].id]);
    const second = (await call("GET", `${path}/${id}/builds?cursor=${first.nextCursor}`)).json;
    expect(second.items).toMatchObject([
      { status: "SUCCEEDED", completedAt: iso },
      { status: "FAILED", failure },
    ]);
    expect(second).not.toHaveProperty("nextCursor");
    expect((await call("GET", `${path}/${id}/builds/${last.id}`)).json).toEqual(last);
    expect(await codeOf("GET", `${path}/${other}/builds/${last.id}`)).toEqual([404, "build_not_found"]);
    expect(await codeOf("GET", `${path}/${id}/builds?limit=5`)).toEqual([400, "validation_error"]);
  });

  it("decide what agents start from: the newest one that succeeded and is not a draft, or the universal image", async () => {
    const { call, createEnvironment, emulator } = setUp();
    const id = await createEnvironment();
    const active = async () => (await call("GET", `${path}/${id}/builds/active`)).json;
    expect(await active()).toEqual({ type: "universal_image" });
    const build = emulator.environments.addBuild(id);
    emulator.environments.addBuild(id, { draft: true });
    emulator.environments.addBuild(id, { status: "FAILED" });
    emulator.environments.addBuild(id, { status: "SKIPPED" });
    expect(await active()).toEqual({ type: "build", buildId: build.id });
  });
});
