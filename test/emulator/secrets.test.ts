import { describe, expect, it } from "vitest";
import type { EmulatorOptions } from "../../src/emulator/index.ts";
import { base, emulate, key, type Reply, speakTo } from "./helpers.ts";

const code = (reply: Reply) => [reply.status, reply.json.error.code];

async function setUp(options: EmulatorOptions = {}) {
  const setup = emulate(options);
  const as = (apiKey: string) => speakTo(setup.emulator.fetch, base, apiKey).call;
  const environment = async (more: object = {}, call = setup.call) => {
    const body = { owner: "team", name: "Web app", repos: [{ url: "https://github.com/acme/web" }] };
    return (await call("POST", "/v1/environments", { ...body, environmentJson: "{}", ...more })).json
      .id as string;
  };
  const id = await environment();
  const inEnvironment = `/v1/environments/${id}/secrets`;
  const all = (query = "", call = setup.call) => call("GET", `/v1/secrets${query}`);
  return { ...setup, as, environment, id, inEnvironment, all };
}

/** The environment's secrets, and the team's. */
const places = [
  ["an environment", (inEnvironment: string) => inEnvironment],
  ["the team", () => "/v1/team/secrets"],
] as const;

describe.each(places)("secrets of %s", (_name, place) => {
  it("are set, listed without their values, changed and deleted", async () => {
    const { call, inEnvironment, emulator, clock } = await setUp();
    const path = place(inEnvironment);
    const created = await call("PUT", `${path}/NPM_TOKEN`, { value: "hush", repos: ["Acme/API"] });
    const secret = {
      id: expect.stringMatching(/^secv_\w{22}$/),
      name: "NPM_TOKEN",
      type: "runtime_secret",
      repos: ["github.com/acme/api"],
      createdAt: new Date(clock.now()).toISOString(),
    };
    expect([created.status, created.json]).toEqual([201, secret]);
    await call("PUT", `${path}/A`, { value: "1", type: "environment_variable" });
    expect((await call("GET", path)).json).toEqual({
      items: [expect.objectContaining({ name: "A", type: "environment_variable", repos: [] }), created.json],
      nextCursor: null,
    });
    await clock.advance(1000);
    const rotated = await call("PUT", `${path}/NPM_TOKEN`, { value: "hush hush" });
    expect([rotated.status, rotated.json]).toEqual([200, created.json]);
    expect(emulator.secrets.all.map(({ value }) => value)).toEqual(["hush hush", "1"]);
    const widened = await call("PUT", `${path}/NPM_TOKEN?id=${created.json.id}`, { value: "x", repos: [] });
    expect(widened.json).toEqual({ ...created.json, repos: [] });
    expect((await call("DELETE", `${path}/NPM_TOKEN`)).json).toEqual({ name: "NPM_TOKEN" });
    expect(code(await call("DELETE", `${path}/NPM_TOKEN`))).toEqual([404, "secret_not_found"]);
    expect(emulator.secrets.all).toHaveLength(1);
  });

  it("can have several versions of a name, which ids tell apart", async () => {
    const { call, inEnvironment, emulator, id } = await setUp();
    const path = place(inEnvironment);
    const holder = path === inEnvironment ? { environmentId: id } : {};
    const add = (repo: string) =>
      emulator.secrets.add({ ...holder, name: "TOKEN", value: "v", repos: [repo] });
    const [api, web] = [add("acme/api"), add("acme/web")];
    for (const reply of [
      await call("PUT", `${path}/TOKEN`, { value: "x" }),
      await call("DELETE", `${path}/TOKEN`),
    ]) {
      expect(code(reply)).toEqual([409, "secret_name_ambiguous"]);
      for (const part of [api, web, "github.com/acme/api"]) expect(reply.json.error.message).toContain(part);
    }
    const put = (body: object) => call("PUT", `${path}/TOKEN?id=${api}`, { value: "x", ...body });
    for (const repos of [["acme/web"], ["acme/api", "https://github.com/Acme/Web.git"], []]) {
      expect(code(await put({ repos }))).toEqual([409, "secret_scope_conflict"]);
    }
    expect((await put({ repos: ["git@gitlab.com:group/sub/project.git", "acme/api"] })).json.repos).toEqual([
      "github.com/acme/api",
      "gitlab.com/group/sub/project",
    ]);
    expect(emulator.secrets.all.map(({ value }) => value)).toEqual(["x", "v"]);
    expect(code(await call("PUT", `${path}/OTHER?id=${api}`, { value: "x" }))).toEqual([
      404,
      "secret_not_found",
    ]);
    expect((await call("DELETE", `${path}/TOKEN?id=${api}`)).status).toBe(200);
    expect((await call("PUT", `${path}/TOKEN`, { value: "only one now" })).status).toBe(200);
    expect(emulator.secrets.all).toMatchObject([{ id: web, value: "only one now" }]);
  });

  it.each([
    ["without a value", "A", { value: undefined }],
    ["with an empty value", "A", { value: "" }],
    ["with a value over 4096 bytes", "A", { value: "é".repeat(2049) }],
    ["as a build secret", "A", { type: "build_secret" }],
    ["with 101 repositories", "A", { repos: Array.from({ length: 101 }, (_, index) => `o/r${index}`) }],
    ["with a repository that is none", "A", { repos: ["acme"] }],
    ["with another field", "A", { name: "A" }],
    ["with a digit first", "1A", {}],
    ["with a dash", "A-B", {}],
    ["with 256 letters", "A".repeat(256), {}],
    ["for a proxy", "https_proxy", {}],
    ["for the sandbox", "MY_CURSOR_SANDBOX_X", {}],
  ])("are not set %s", async (_what, name, more) => {
    const { call, inEnvironment, emulator } = await setUp();
    const reply = await call("PUT", `${place(inEnvironment)}/${name}`, { value: "v", ...more });
    expect(code(reply)).toEqual([400, "validation_error"]);
    expect(emulator.secrets.all).toEqual([]);
  });

  it("of builds can be deleted only", async () => {
    const { call, inEnvironment, emulator, id } = await setUp();
    const path = place(inEnvironment);
    const holder = path === inEnvironment ? { environmentId: id } : {};
    emulator.secrets.add({ ...holder, name: "DOCKER", value: "v", type: "build_secret" });
    expect(code(await call("PUT", `${path}/DOCKER`, { value: "x" }))).toEqual([400, "validation_error"]);
    expect((await call("DELETE", `${path}/DOCKER`)).status).toBe(200);
  });

  it("are found by exact name, and conflict in any letter case", async () => {
    const { call, inEnvironment } = await setUp();
    const path = place(inEnvironment);
    await call("PUT", `${path}/NPM_TOKEN`, { value: "v" });
    expect(code(await call("PUT", `${path}/npm_token`, { value: "v" }))).toEqual([
      409,
      "secret_name_conflict",
    ]);
    expect(code(await call("DELETE", `${path}/npm_token`))).toEqual([404, "secret_not_found"]);
  });

  it("are limited in number; at the limit they can still be changed", async () => {
    const { call, inEnvironment } = await setUp({ secrets: { limit: 2 } });
    const path = place(inEnvironment);
    const put = (name: string) => call("PUT", `${path}/${name}`, { value: "v" });
    expect([(await put("A")).status, (await put("B")).status]).toEqual([201, 201]);
    expect(code(await put("C"))).toEqual([409, "secret_limit_reached"]);
    expect((await put("B")).status).toBe(200);
  });

  it("are answered without an id where they can't be read yet", async () => {
    const { call, inEnvironment } = await setUp({ secrets: { lateIds: true } });
    const reply = await call("PUT", `${place(inEnvironment)}/A`, { value: "v" });
    expect(reply.json).toEqual({ name: "A", type: "runtime_secret", repos: [] });
  });

  it("can be changed by admins only, where the team restricts it", async () => {
    const keys = [
      { key },
      { key: "admin", role: "admin" as const },
      { key: "sa_TEST", kind: "service-account" as const },
    ];
    const { call, as, inEnvironment } = await setUp({ keys, secrets: { adminsOnly: true } });
    const path = place(inEnvironment);
    for (const asked of [call, as("sa_TEST")]) {
      expect(code(await asked("PUT", `${path}/A`, { value: "v" }))).toEqual([403, "team_admin_required"]);
      expect(code(await asked("DELETE", `${path}/A`))).toEqual([403, "team_admin_required"]);
      expect((await asked("GET", path)).status).toBe(200);
    }
    expect((await as("admin")("PUT", `${path}/A`, { value: "v" })).status).toBe(201);
    expect((await as("admin")("DELETE", `${path}/A`)).status).toBe(200);
  });

  it("reject keys of another product", async () => {
    const { as, inEnvironment } = await setUp();
    expect(code(await as("grok_x")("GET", place(inEnvironment)))).toEqual([403, "key_not_supported"]);
  });
});

describe("keys", () => {
  it("without a team, and those limited to some repositories, cannot use the team's secrets", async () => {
    const keys = [
      { key },
      { key: "loner", role: "none" as const },
      { key: "sa_web", kind: "service-account" as const, repositories: ["https://github.com/acme/web"] },
    ];
    const { as, inEnvironment, environment, call } = await setUp({ keys });
    for (const [apiKey, expected] of [
      ["loner", "team_membership_required"],
      ["sa_web", "repository_access"],
    ] as const) {
      expect(code(await as(apiKey)("GET", "/v1/team/secrets"))).toEqual([403, expected]);
      expect(code(await as(apiKey)("PUT", "/v1/team/secrets/A", { value: "v" }))).toEqual([403, expected]);
      expect(code(await as(apiKey)("GET", "/v1/secrets?scope=team"))).toEqual([403, expected]);
    }
    expect((await as("sa_web")("PUT", `${inEnvironment}/A`, { value: "v" })).status).toBe(201);
    const bare = await environment({ name: "bare", repos: [] });
    expect((await call("GET", `/v1/environments/${bare}/secrets`)).status).toBe(200);
    expect(code(await as("sa_web")("GET", `/v1/environments/${bare}/secrets`))).toEqual([
      404,
      "environment_not_found",
    ]);
  });
});

describe("the list of all secrets", () => {
  const keys = [
    { key, info: { userId: 42 } },
    { key: "admin", role: "admin" as const, info: { userId: 41, userEmail: "admin@acme.example" } },
    { key: "sa_TEST", kind: "service-account" as const },
    { key: "sa_web", kind: "service-account" as const, repositories: ["https://github.com/acme/web"] },
  ];

  async function filled(options: EmulatorOptions = {}) {
    const setup = await setUp({ keys, ...options });
    const { emulator, id, environment } = setup;
    const personal = await environment({ owner: "personal", name: "mine" });
    emulator.secrets.add({ name: "B", value: "v", userId: 42, userEmail: "developer@example.com" });
    emulator.secrets.add({ name: "E", value: "v", environmentId: id, repos: ["acme/web"] });
    emulator.secrets.add({ name: "P", value: "v", environmentId: personal });
    emulator.secrets.add({ name: "T", value: "v", repos: ["acme/api"] });
    emulator.secrets.add({ name: "O", value: "v", userId: 43, repos: ["acme/web"] });
    const names = async (query = "", call = setup.call) =>
      (await setup.all(query, call)).json.items.map(({ name }: { name: string }) => name).join("");
    return { ...setup, personal, names };
  }

  it("names the owner of each, and has a null cursor on its last page", async () => {
    const { all, id, personal } = await filled();
    const { items, nextCursor } = (await all()).json;
    expect(nextCursor).toBeNull();
    const owners = items.map(({ name, owner }: { name: string; owner: unknown }) => [name, owner]);
    expect(owners).toEqual([
      ["T", { type: "team" }],
      ["B", { type: "user", user: { email: "developer@example.com" } }],
      ["P", { type: "environment", environmentId: personal, user: { email: "developer@example.com" } }],
      ["E", { type: "environment", environmentId: id }],
    ]);
    expect(items.every((item: object) => !("value" in item))).toBe(true);
  });

  it("contains what a key may list", async () => {
    const { names, as, all } = await filled();
    expect(await names("", as("sa_TEST"))).toBe("TE");
    expect(await names("", as("sa_web"))).toBe("E");
    // A team admin sees the members' too, at the end and without their repositories.
    expect(await names("", as("admin"))).toBe("TEBPO");
    const others = (await all("", as("admin"))).json.items.slice(2);
    expect(others.every((item: object) => !("repos" in item))).toBe(true);
    expect(others[2].owner).toEqual({ type: "user", user: { email: null } });
    expect(await names("?repo=acme/web", as("admin"))).toBe("E");
  });

  it("is narrowed by scope, environment, name and repository", async () => {
    const { names, id, personal, all } = await filled();
    expect(await names("?scope=team")).toBe("T");
    expect(await names("?scope=user")).toBe("B");
    expect(await names("?scope=environment")).toBe("PE");
    expect(await names(`?environmentId=${id}`)).toBe("E");
    expect(await names(`?scope=environment&environmentId=${personal}`)).toBe("P");
    expect(await names("?name=e")).toBe("E");
    expect(await names("?repo=https://github.com/ACME/api.git")).toBe("TBP");
    for (const query of [
      `scope=team&environmentId=${id}`,
      "scope=all",
      "environmentId=x",
      "limit=101",
      "cursor=x",
    ]) {
      expect(code(await all(`?${query}`))).toEqual([400, "validation_error"]);
    }
  });

  it("rejects scopes that a key does not have", async () => {
    const { all, as, personal } = await filled();
    expect(code(await all("?scope=user", as("sa_TEST")))).toEqual([403, "user_required"]);
    expect(code(await all(`?environmentId=${personal}`, as("sa_TEST")))).toEqual([
      404,
      "environment_not_found",
    ]);
  });

  it.each([false, true])("comes in pages (short ones: %s)", async (shortPages) => {
    const { all } = await filled({ shortPages });
    const seen: string[] = [];
    let cursor: string | null = "";
    let pages = 0;
    while (cursor !== null) {
      const { json } = await all(`?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`);
      seen.push(...json.items.map(({ name }: { name: string }) => name));
      cursor = json.nextCursor;
      pages += 1;
    }
    expect([seen.join(""), pages]).toEqual(["TBPE", shortPages ? 4 : 2]);
  });

  it("loses the secrets of a deleted environment", async () => {
    const { call, id, names } = await filled();
    await call("DELETE", `/v1/environments/${id}`);
    expect(await names()).toBe("TBP");
  });
});
