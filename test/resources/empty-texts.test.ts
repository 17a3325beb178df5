import { Cursor } from "cursor-cloud-agents";
import { CursorEmulator } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { fake, reply } from "../support/fake-api.ts";
import { agentId, ref, runId } from "../support/sample-run.ts";
import { failure } from "../support/waiting.ts";

// A variable that isn't set is often an empty text. Where leaving a text out means "any" or "the default", an empty one
// must not do the same: the call is rejected with the name of the argument, and nothing is sent.

/** A call with the text at one place of its arguments. */
type Call = (cursor: Cursor, text: string) => PromiseLike<unknown>;
/** For each argument of one method that takes a text: the call with it. */
type Arguments = Record<string, Call>;

const prompt = "x";
const url = "https://github.com/acme/web";
const repo_owner = "acme";
const team = "team" as const;
const value = "v";
/** Beyond what the types allow. */
const any = (object: object) => object as never;

const create = (make: (text: string) => object): Call => {
  return (c, text) => c.agents.create(any({ prompt, ...make(text) }));
};

const methods: Record<string, Arguments> = {
  me: {},
  redact: {},
  prompt: {
    prompt: (c, text) => c.prompt(text),
    "prompt.text": (c, text) => c.prompt({ text }),
    "env.name": (c, name) => c.prompt(prompt, { env: { type: "pool", name } }),
    "repos[0].startingRef": (c, startingRef) => c.prompt(prompt, { repos: [{ url, startingRef }] }),
    "model.id": (c, id) => c.prompt(prompt, { model: { id } }),
  },
  "agents.create": {
    prompt: (c, text) => c.agents.create({ prompt: text }),
    "prompt.text": create((text) => ({ prompt: { text } })),
    "prompt.images[1].url": create((text) => ({ prompt: { text: "x", images: [{ url }, { url: text }] } })),
    "prompt.images[0].data": create((data) => ({
      prompt: { text: "x", images: [{ data, mimeType: "image/png" }] },
    })),
    agentId: create((agentId) => ({ agentId })),
    mode: create((mode) => ({ mode })),
    "model.id": create((id) => ({ model: { id } })),
    "env.type": create((type) => ({ env: { type } })),
    "env.name": create((name) => ({ env: { type: "machine", name } })),
    "repos[0].url": create((text) => ({ repos: [{ url: text }] })),
    "repos[1].startingRef": create((startingRef) => ({ repos: [{ url }, { url, startingRef }] })),
    "repos[0].prUrl": create((prUrl) => ({ repos: [{ url, prUrl }] })),
    "envVars.TOKEN": create((TOKEN) => ({ envVars: { TOKEN } })),
    "mcpServers[0].name": create((name) => ({ mcpServers: [{ name, url }] })),
    "mcpServers[0].url": create((text) => ({ mcpServers: [{ name: "n", url: text }] })),
    "mcpServers[0].command": create((command) => ({ mcpServers: [{ name: "n", command }] })),
    "customSubagents[0].name": create((name) => ({ customSubagents: [{ name, description: "d", prompt }] })),
    "customSubagents[0].model": create((model) => ({
      customSubagents: [{ name: "n", description: "d", prompt, model }],
    })),
  },
  "agents.list": {
    prUrl: (c, prUrl) => c.agents.list({ prUrl }),
    limit: (c, limit) => c.agents.list(any({ limit })),
    includeArchived: (c, includeArchived) => c.agents.list(any({ includeArchived })),
  },
  "agents.get": { agentId: (c, id) => c.agents.get(id) },
  "agents.archive": { agentId: (c, id) => c.agents.archive(id) },
  "agents.unarchive": { agentId: (c, id) => c.agents.unarchive(id) },
  "agents.delete": { agentId: (c, id) => c.agents.delete(id) },
  "runs.create": {
    agentId: (c, id) => c.runs.create(id, { prompt }),
    prompt: (c, text) => c.runs.create(agentId, { prompt: text }),
    mode: (c, mode) => c.runs.create(agentId, { prompt, mode }),
    "model.id": (c, id) => c.runs.create(agentId, { prompt, model: { id } }),
    "mcpServers[0].name": (c, name) => c.runs.create(agentId, { prompt, mcpServers: [{ name, url }] }),
  },
  "runs.list": {
    agentId: (c, id) => c.runs.list(id),
    limit: (c, limit) => c.runs.list(agentId, any({ limit })),
  },
  "runs.get": {
    "ref.agentId": (c, id) => c.runs.get({ agentId: id, id: runId }),
    "ref.id": (c, id) => c.runs.get({ agentId, id }),
  },
  "runs.cancel": {
    "ref.agentId": (c, id) => c.runs.cancel({ agentId: id, id: runId }),
    "ref.id": (c, id) => c.runs.cancel({ agentId, id }),
  },
  "runs.stream": { "ref.id": async (c, id) => c.runs.stream({ agentId, id }) },
  "runs.wait": { "ref.id": (c, id) => c.runs.wait({ agentId, id }) },
  "artifacts.list": { agentId: (c, id) => c.artifacts.list(id) },
  "artifacts.url": {
    agentId: (c, id) => c.artifacts.url(id, "artifacts/a"),
    path: (c, path) => c.artifacts.url(agentId, path),
  },
  "artifacts.download": {
    agentId: (c, id) => c.artifacts.download(id, "artifacts/a"),
    path: (c, path) => c.artifacts.download(agentId, path),
  },
  "usage.get": {
    agentId: (c, id) => c.usage.get(id),
    runId: (c, id) => c.usage.get(agentId, { runId: id }),
  },
  "models.list": {},
  "repositories.list": {},
  "workerTokens.create": { forUserEmail: (c, forUserEmail) => c.workerTokens.create({ forUserEmail }) },
  "workers.list": {
    status: (c, status) => c.workers.list({ status }),
    scope: (c, scope) => c.workers.list({ scope }),
  },
  "workers.get": { workerId: (c, id) => c.workers.get(id) },
  "workers.summary": {},
  "workers.pools.list": { scope: (c, scope) => c.workers.pools.list({ scope }) },
  "workers.pools.register": {
    scope: (c, scope) => c.workers.pools.register(any({ scope, poolName: "gpu" })),
    poolName: (c, poolName) => c.workers.pools.register({ scope: team, poolName }),
    repoOwner: (c, text) =>
      c.workers.pools.register({ scope: team, poolName: "gpu", repoOwner: text, repoName: text }),
    repoName: (c, repoName) =>
      c.workers.pools.register({ scope: team, poolName: "gpu", repoOwner: "acme", repoName }),
    repoUrl: (c, repoUrl) =>
      c.workers.pools.register({
        scope: team,
        poolName: "gpu",
        repoOwner: "acme",
        repoName: "web",
        repoUrl,
      }),
  },
  "workers.pools.deregister": {
    scope: (c, scope) => c.workers.pools.deregister(any({ scope, pool_name: "gpu" })),
    pool_name: (c, pool_name) => c.workers.pools.deregister({ scope: team, pool_name }),
    repo_owner: (c, text) =>
      c.workers.pools.deregister({ scope: team, pool_name: "gpu", repo_owner: text, repo_name: text }),
    repo_name: (c, repo_name) =>
      c.workers.pools.deregister({ scope: team, pool_name: "gpu", repo_owner, repo_name }),
  },
  "workers.requests.list": {
    pool: (c, pool) => c.workers.requests.list({ pool }),
    repository: (c, repository) => c.workers.requests.list({ repository }),
  },
  "workers.claims.create": {
    id: (c, id) => c.workers.claims.create({ id, workerId: "pw_1" }),
    workerId: (c, workerId) => c.workers.claims.create({ id: agentId, workerId }),
  },
  "workers.claims.release": { id: (c, id) => c.workers.claims.release(id) },
  "workers.claims.fail": {
    id: (c, id) => c.workers.claims.fail(id, "no machine"),
    message: (c, message) => c.workers.claims.fail(agentId, message),
  },
  "workers.claims.token": {
    id: (c, id) => c.workers.claims.token({ id, workerId: "pw_1" }),
    workerId: (c, workerId) => c.workers.claims.token({ id: agentId, workerId }),
  },
  "environments.create": {
    name: (c, name) => c.environments.create({ name, owner: team, environmentJson: "{}", repos: [] }),
    owner: (c, owner) =>
      c.environments.create(any({ name: "n", owner, environmentJson: "{}", repos: [{ url }] })),
    environmentJson: (c, environmentJson) =>
      c.environments.create({ name: "n", owner: team, environmentJson, repos: [] }),
    "repos[0].url": (c, text) =>
      c.environments.create({ name: "n", owner: team, environmentJson: "{}", repos: [{ url: text }] }),
  },
  "environments.list": { limit: (c, limit) => c.environments.list(any({ limit })) },
  "environments.get": { environmentId: (c, id) => c.environments.get(id) },
  "environments.update": {
    environmentId: (c, id) => c.environments.update(id, { name: "n" }),
    name: (c, name) => c.environments.update("env", { name }),
    environmentJson: (c, environmentJson) => c.environments.update("env", { environmentJson }),
  },
  "environments.delete": { environmentId: (c, id) => c.environments.delete(id) },
  "environments.history": { environmentId: (c, id) => c.environments.history(id) },
  "environments.builds.list": { environmentId: (c, id) => c.environments.builds.list(id) },
  "environments.builds.get": {
    environmentId: (c, id) => c.environments.builds.get(id, "b"),
    buildId: (c, id) => c.environments.builds.get("env", id),
  },
  "environments.builds.active": { environmentId: (c, id) => c.environments.builds.active(id) },
  "secrets.list": {
    scope: (c, scope) => c.secrets.list(any({ scope })),
    environmentId: (c, environmentId) => c.secrets.list({ environmentId }),
    name: (c, name) => c.secrets.list({ name }),
    repo: (c, repo) => c.secrets.list({ repo }),
  },
  "secrets.team.list": {},
  "secrets.team.set": {
    name: (c, name) => c.secrets.team.set(name, { value }),
    value: (c, text) => c.secrets.team.set("X", { value: text }),
    "repos[0]": (c, repo) => c.secrets.team.set("X", { value, repos: [repo] }),
    id: (c, id) => c.secrets.team.set("X", { value }, { id }),
  },
  "secrets.team.delete": {
    name: (c, name) => c.secrets.team.delete(name),
    id: (c, id) => c.secrets.team.delete("X", { id }),
  },
  "secrets.environment.list": { environmentId: (c, id) => c.secrets.environment.list(id) },
  "secrets.environment.set": {
    environmentId: (c, id) => c.secrets.environment.set(id, "X", { value }),
    name: (c, name) => c.secrets.environment.set("env", name, { value }),
    type: (c, type) => c.secrets.environment.set("env", "X", any({ value, type })),
    id: (c, id) => c.secrets.environment.set("env", "X", { value }, { id }),
  },
  "secrets.environment.delete": {
    environmentId: (c, id) => c.secrets.environment.delete(id, "X"),
    name: (c, name) => c.secrets.environment.delete("env", name),
    id: (c, id) => c.secrets.environment.delete("env", "X", { id }),
  },
};

const calls = Object.entries(methods).flatMap(([method, texts]) =>
  Object.entries(texts).map(([argument, call]) => ({ method, argument, call })),
);

describe("an empty text", () => {
  it.each(calls)("as $argument of $method is rejected by its name", async ({ argument, call }) => {
    const { cursor, requests } = fake(reply(200, {}));
    const error = await failure(call(cursor, ""));
    expect(error).toMatchObject({ kind: "argument", argument });
    expect(error.message).toContain("empty");
    expect(requests).toHaveLength(0);
  });

  it("is looked for in each method of a client", () => {
    const { cursor } = fake([]);
    // `isStorageUrl` is internal, and sends nothing.
    const own = methodsOf(cursor).filter((name) => name !== "artifacts.isStorageUrl");
    expect(own.sort()).toEqual(Object.keys(methods).sort());
  });

  it("as a filter leaves every pool in place", async () => {
    const emulator = new CursorEmulator();
    const cursor = new Cursor({ apiKey: "sa_service", fetch: emulator.fetch });
    const repo = { repoOwner: "acme", repoName: "web" };
    await cursor.workers.pools.register({ scope: team, poolName: "gpu" });
    await cursor.workers.pools.register({ scope: team, poolName: "gpu", ...repo });
    const before = await cursor.workers.pools.list();
    const unset = { repo_owner: "", repo_name: "" };
    await failure(cursor.workers.pools.deregister({ scope: team, pool_name: "gpu", ...unset }));
    expect(await cursor.workers.pools.list()).toEqual(before);
  });
});

describe("a filter", () => {
  it.each(["  ", "\t", [], {}, () => "x"])("that is %j is rejected, too", async (prUrl) => {
    const { cursor, requests } = fake(reply(200, { items: [] }));
    expect(await failure(cursor.agents.list(any({ prUrl })))).toMatchObject({ argument: "prUrl" });
    expect(requests).toHaveLength(0);
  });

  it("that is undefined or null is left out", async () => {
    const { cursor, requests } = fake(reply(200, { items: [] }));
    await cursor.agents.list(any({ prUrl: undefined, limit: null }));
    expect(requests[0]!.target).toBe("/v1/agents");
  });

  it.each([null, undefined])("of a pair of which one is %j is incomplete", async (absent) => {
    const { cursor, requests } = fake(reply(200, { deregistered: true }));
    const pool = { scope: team, pool_name: "gpu", repo_owner: absent, repo_name: "web" };
    const error = await failure(cursor.workers.pools.deregister(any(pool)));
    expect(error).toMatchObject({ kind: "argument", argument: "repo_owner" });
    expect(requests).toHaveLength(0);
  });
});

it("an empty page cursor stands for the first page", async () => {
  const { cursor, requests } = fake(
    reply(200, { items: [], workers: [], requests: [], totalCount: 0, streamCursor: "s" }),
  );
  await cursor.agents.list({ cursor: "" });
  await cursor.runs.list(agentId, { cursor: "" });
  await cursor.secrets.list({ cursor: "" });
  await cursor.workers.list({ pageToken: "" });
  await cursor.workers.requests.list({ pageToken: "" });
  expect(requests.map(({ url: { search } }) => search)).toEqual(["", "", "", "", ""]);
});

it("texts that are a program's own may be empty", async () => {
  const { cursor, requests } = fake(reply(201, { agent: { id: agentId }, run: ref }));
  const mcpServers = [
    { name: "a", command: "npx", args: ["--prefix", ""], env: { DEBUG: "" } },
    { name: "b", url, headers: { "x-empty": "" } },
  ];
  const model = { id: "m", params: [{ id: "fast", value: "" }] };
  await cursor.agents.create({ prompt, mcpServers, model });
  expect(requests[0]!.json).toMatchObject({ mcpServers, model });
});

/** The names of a client's methods and those of its parts. */
function methodsOf(part: object, prefix = ""): string[] {
  const { prototype } = part.constructor;
  const own = Object.getOwnPropertyNames(prototype).filter((name) => !internal.has(name));
  const parts = Object.entries(part).flatMap(([name, value]) => methodsOf(value, `${prefix}${name}.`));
  return [...own.map((name) => prefix + name), ...parts];
}

const internal = new Set(["constructor", "transport", "pages", "watchSource"]);
