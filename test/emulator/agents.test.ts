import { describe, expect, it } from "vitest";
import { waive } from "../support/checked-emulator.ts";
import { emulate } from "./helpers.ts";

const agentId = "bc-12345678-1234-1234-1234-123456789abc";

describe("create", () => {
  it("answers with the agent and its first run, which is CREATING", async () => {
    const { call, clock } = emulate();
    const repos = [{ url: "https://github.com/your-org/your-repo", startingRef: "main" }];
    const reply = await call("POST", "/v1/agents", {
      prompt: { text: "Add a README" },
      repos,
      autoCreatePR: true,
    });
    const at = new Date(clock.now()).toISOString();
    expect(reply.status).toBe(201);
    const { id } = reply.json.agent;
    expect(reply.json.agent).toEqual({
      id: expect.stringMatching(/^bc-[0-9a-f-]{36}$/),
      name: "Add a README",
      status: "ACTIVE",
      env: { type: "cloud" },
      repos,
      workOnCurrentBranch: false,
      autoCreatePR: true,
      skipReviewerRequest: false,
      url: `https://cursor.com/agents/${id}`,
      createdAt: at,
      updatedAt: at,
      latestRunId: reply.json.run.id,
    });
    expect(reply.json.run).toEqual({
      id: expect.stringMatching(/^run-[0-9a-f-]{36}$/),
      agentId: id,
      status: "CREATING",
      createdAt: at,
      updatedAt: at,
    });
  });

  const image = { data: "aGk=", mimeType: "image/png" };
  const mcp = (index: number) => ({ name: `m${index}`, url: "https://mcp.example.com" });
  const many = <T>(count: number, make: (index: number) => T) =>
    Array.from({ length: count }, (_, index) => make(index));
  const rejected: [what: string, body: object][] = [
    ["a model as a bare string", { model: "composer-2" }],
    ["an empty prompt", { prompt: { text: "" } }],
    ["no prompt", { prompt: undefined }],
    ["six images", { prompt: { text: "x", images: many(6, () => image) } }],
    [
      "an image with data and url",
      { prompt: { text: "x", images: [{ ...image, url: "https://x.com/a.png" }] } },
    ],
    ["an image without a MIME type", { prompt: { text: "x", images: [{ data: "aGk=" }] } }],
    [
      "an image of another type",
      { prompt: { text: "x", images: [{ data: "aGk=", mimeType: "image/svg+xml" }] } },
    ],
    ["an image url that is not http", { prompt: { text: "x", images: [{ url: "ftp://x.com/a.png" }] } }],
    [
      "an image over 15 MB",
      { prompt: { text: "x", images: [{ ...image, data: "a".repeat(21 * 1024 * 1024) }] } },
    ],
    ["an agentId of another form", { agentId: "bc-1" }],
    ["an agentId with envVars", { agentId, envVars: { A: "1" } }],
    ["envVars that start with CURSOR_", { envVars: { CURSOR_X: "1" } }],
    ["51 envVars", { envVars: Object.fromEntries(many(51, (index) => [`A${index}`, "1"])) }],
    ["an envVars value over 4096 bytes", { envVars: { A: "é".repeat(2049) } }],
    ["a name over 100 characters", { name: "n".repeat(101) }],
    ["21 repositories", { repos: many(21, () => ({ url: "https://github.com/o/r" })) }],
    [
      "repositories beside a named cloud environment",
      { env: { type: "cloud", name: "e" }, repos: [{ url: "https://github.com/o/r" }] },
    ],
    ["a pool that does not exist", { env: { type: "pool", name: "nowhere" } }],
    ["MCP servers of one name", { mcpServers: [mcp(1), mcp(1)] }],
    ["51 MCP servers", { mcpServers: many(51, mcp) }],
    ["an MCP url with a password", { mcpServers: [{ name: "m", url: "https://u:p@mcp.example.com" }] }],
    ["an MCP server with url and command", { mcpServers: [{ ...mcp(1), command: "npx" }] }],
    [
      "21 subagents",
      { customSubagents: many(21, (index) => ({ name: `s${index}`, description: "d", prompt: "p" })) },
    ],
    [
      "a subagent with a built-in name",
      { customSubagents: [{ name: "explore", description: "d", prompt: "p" }] },
    ],
    ["a mode that does not exist", { mode: "ask" }],
    ["image data that is not base64", { prompt: { text: "x", images: [{ ...image, data: "a b" }] } }],
    ["openAsCursorGithubApp as a text", { openAsCursorGithubApp: "yes" }],
    ["agentServeAgent as a number", { agentServeAgent: 1 }],
    ["runEnvVars that start with CURSOR_", { runEnvVars: { CURSOR_X: "1" } }],
    ["a prUrl that is not a URL", { repos: [{ url: "https://github.com/o/r", prUrl: "o/r#1" }] }],
  ];
  it.each(rejected)("rejects %s", async (_what, body) => {
    const { call, emulator } = emulate();
    const reply = await call("POST", "/v1/agents", { prompt: { text: "x" }, ...body });
    expect([reply.status, reply.json.error.code]).toEqual([400, "validation_error"]);
    expect(emulator.agents).toEqual([]);
  });

  it.each([
    "not a url",
    "your-org/your-repo",
    "github.com/your-org/your-repo",
    "git@github.com:a/b.git",
    "ssh://git@github.com/a/b",
    "ftp://x/y",
    "https://",
    "https://github.com",
    "https://github.com/",
    "",
  ])("rejects %j as the URL of a repository, and names the field", async (url) => {
    const { call } = emulate();
    const repos = [{ url: "https://github.com/o/r" }, { url }];
    const reply = await call("POST", "/v1/agents", { prompt: { text: "x" }, repos });
    expect([reply.status, reply.json.error.code]).toEqual([400, "validation_error"]);
    expect(reply.json.error.message).toContain("repos.1.url");
  });

  it.each(["https://github.com/o/r", "http://git.example:8080/o/r.git", "https://dev.azure.com/a/b/_git/c"])(
    "accepts %s as the URL of a repository",
    async (url) => {
      const { create } = emulate();
      await create("x", { repos: [{ url }] });
    },
  );

  it("accepts every documented field, and repeats no secrets", async () => {
    const { call } = emulate();
    const body = {
      prompt: { text: "x", images: [image, { url: "https://x.com/a.png" }] },
      model: { id: "composer-latest", params: [{ id: "fast", value: "true" }] },
      name: "n".repeat(100),
      env: { type: "pool", name: "sandbox" },
      repos: [{ url: "https://github.com/o/r", prUrl: "https://github.com/o/r/pull/1" }],
      workOnCurrentBranch: true,
      skipReviewerRequest: true,
      envVars: { SECRET: "hush" },
      mcpServers: [
        { name: "a", type: "sse", url: "https://mcp.example.com", headers: { Authorization: "hush" } },
        { name: "b", command: "npx", args: ["x"], env: { TOKEN: "hush" } },
      ],
      customSubagents: [{ name: "mine", description: "d", prompt: "p", model: "inherit" }],
      mode: "plan",
    };
    const reply = await call("POST", "/v1/agents", body);
    expect(reply.status, reply.text).toBe(201);
    expect(reply.text).not.toContain("hush");
    expect(reply.json.agent).not.toHaveProperty("model");
  });

  it("rejects an unknown model, and metadata that is not enabled", async () => {
    const { call } = emulate();
    const model = await call("POST", "/v1/agents", { prompt: { text: "x" }, model: { id: "nope" } });
    expect([model.status, model.json.error.code]).toEqual([400, "invalid_model"]);
    const metadata = await call("POST", "/v1/agents", { prompt: { text: "x" }, metadata: { a: "b" } });
    expect([metadata.status, metadata.json.error.code]).toEqual([403, "feature_unavailable"]);
  });

  it("accepts what the vendor's SDK sends beside that, and repeats what Get An Agent has a field for", async () => {
    const { call, create } = emulate({ metadata: true });
    const shown = { openAsCursorGithubApp: true, metadata: { ticket: "T-1", empty: "" } };
    const { path } = await create("x", {
      ...shown,
      agentServeAgent: "any text",
      runEnvVars: { TOKEN: "hush" },
    });
    const agent = (await call("GET", path)).json;
    expect(agent).toMatchObject(shown);
    expect(agent).not.toHaveProperty("agentServeAgent");
    expect(agent).not.toHaveProperty("runEnvVars");
    const reply = await call("POST", `${path}/runs`, { prompt: { text: "y" }, envVars: { TOKEN: "hush" } });
    expect(reply.status, reply.text).toBe(201);
    const rejected = await call("POST", `${path}/runs`, {
      prompt: { text: "y" },
      envVars: { CURSOR_A: "1" },
    });
    expect([rejected.status, rejected.json.error.code]).toEqual([400, "validation_error"]);
  });

  it.each([
    ["51 entries", Object.fromEntries(many(51, (index) => [`k${index}`, "v"]))],
    ["a name over 255 characters", { ["k".repeat(256)]: "v" }],
    ["a value over 4096 bytes", { k: "é".repeat(2049) }],
    ["a value that is not a text", { k: 1 }],
  ])("rejects metadata with %s", async (_, metadata) => {
    const { call } = emulate({ metadata: true });
    const reply = await call("POST", "/v1/agents", { prompt: { text: "x" }, metadata });
    expect([reply.status, reply.json.error.code]).toEqual([400, "validation_error"]);
  });

  it("shows a run's requestId and error if a test sets them", async () => {
    const { call, create, emulator } = emulate();
    const { run, runId } = await create("x");
    emulator.setRun(runId, { requestId: "req-1", error: { message: "no machine" } });
    expect((await call("GET", run)).json).toMatchObject({
      requestId: "req-1",
      error: { message: "no machine" },
    });
  });

  it("ignores Idempotency-Key; only the agentId prevents duplicates", async () => {
    const { call, emulator } = emulate();
    const headers = { "Idempotency-Key": "same" };
    for (let count = 0; count < 3; count++)
      await call("POST", "/v1/agents", { prompt: { text: "x" } }, headers);
    expect(emulator.agents).toHaveLength(3);
    expect((await call("POST", "/v1/agents", { prompt: { text: "x" }, agentId })).status).toBe(201);
    const again = await call("POST", "/v1/agents", { prompt: { text: "x" }, agentId });
    expect([again.status, again.json.error]).toEqual([
      409,
      { code: "agent_id_conflict", message: "An agent with this agentId already exists." },
    ]);
  });

  it("can answer late: the agent exists at once, and createdAt is the time of the request", async () => {
    const { call, clock, emulator } = emulate({ createDelayMs: 60_000 });
    const start = clock.now();
    const creating = call("POST", "/v1/agents", { prompt: { text: "x" } });
    await clock.advance(1000);
    expect(emulator.agents).toHaveLength(1);
    const reply = await clock.run(creating);
    expect(clock.now()).toBe(start + 60_000);
    expect(reply.json.run).toMatchObject({ status: "CREATING", createdAt: new Date(start).toISOString() });
  });
});

describe("an id in a path", () => {
  const operations: [method: string, suffix: string, body?: object][] = [
    ["GET", ""],
    ["DELETE", ""],
    ["POST", "/archive"],
    ["POST", "/unarchive"],
    ["POST", "/runs", { prompt: { text: "x" } }],
    ["GET", "/runs"],
    ["GET", "/runs/run-1"],
    ["GET", "/runs/run-1/stream"],
    ["POST", "/runs/run-1/cancel"],
    ["GET", "/usage"],
    ["GET", "/artifacts"],
    ["GET", "/artifacts/download?path=artifacts/a.txt"],
  ];

  it.each(operations)("of another form than bc-<uuid> is 400: %s %s", async (method, suffix, body) => {
    const { call } = emulate();
    for (const id of [
      "bc-x",
      "models",
      agentId.slice(0, -1),
      `${agentId}0`,
      agentId.slice(3),
      "bc_1",
      "%20",
    ]) {
      const reply = await call(method, `/v1/agents/${id}${suffix}`, body);
      expect([id, reply.status, reply.json.error]).toEqual([
        id,
        400,
        { code: "validation_error", message: "Agent id must be in the format 'bc-<uuid>'" },
      ]);
    }
  });

  it.each(operations)("that is well-formed and unknown is 404: %s %s", async (method, suffix, body) => {
    const { call } = emulate();
    const reply = await call(method, `/v1/agents/${agentId}${suffix}`, body);
    expect([reply.status, reply.json.error.code]).toEqual([404, "agent_not_found"]);
  });

  it("is 404 where it is a run's, whatever its form", async () => {
    const { call, create } = emulate();
    const { path } = await create("x");
    const reply = await call("GET", `${path}/runs/nonsense`);
    expect([reply.status, reply.json.error.code]).toEqual([404, "run_not_found"]);
  });
});

describe("list, get, archive, delete", () => {
  it("lists by the time of the last change; the last page has no nextCursor", async () => {
    const { call, create, clock } = emulate();
    const ids: string[] = [];
    for (const prompt of ["a", "b", "c"]) {
      ids.push((await create(prompt)).agentId);
      await clock.advance(10);
    }
    await call("POST", `/v1/agents/${ids[0]}/archive`);
    const first = await call("GET", "/v1/agents?limit=2");
    expect(first.json.items.map((item: { id: string }) => item.id)).toEqual([ids[0], ids[2]]);
    expect(first.json.items[0]).not.toHaveProperty("autoCreatePR");
    const second = await call("GET", `/v1/agents?limit=2&cursor=${first.json.nextCursor}`);
    expect(second.json).toEqual({ items: [expect.objectContaining({ id: ids[1] })] });
    const active = await call("GET", "/v1/agents?includeArchived=false");
    expect(active.json.items).toHaveLength(2);
  });

  it("answers an unknown page cursor with an empty page, and rejects limits outside 1 to 100", async () => {
    const { call, create } = emulate();
    await create("x");
    expect((await call("GET", "/v1/agents?cursor=bc-none")).json).toEqual({ items: [] });
    for (const limit of ["0", "101", "x", "1.5", "-1", ""]) {
      expect((await call("GET", `/v1/agents?limit=${limit}`)).status, limit).toBe(400);
    }
    expect((await call("GET", "/v1/agents?limit=1&limit=2")).status).toBe(400);
    expect((await call("GET", "/v1/agents?includeArchived=no")).status).toBe(400);
  });

  it("finds agents by pull request", async () => {
    const { call, create, emulator } = emulate();
    emulator.script("pr", (run) => run.finish({ prUrl: "https://github.com/o/r/pull/7?x=1&y=2" }));
    const { agentId } = await create("pr");
    await create("other");
    const url = encodeURIComponent("https://github.com/o/r/pull/7?x=1&y=2");
    const found = await call("GET", `/v1/agents?prUrl=${url}`);
    expect(found.json.items.map((item: { id: string }) => item.id)).toEqual([agentId]);
  });

  it("archives and unarchives in any state, and rejects runs of archived agents", async () => {
    const { call, create } = emulate();
    const { path, agentId } = await create("x");
    const statusOf = async () => (await call("GET", path)).json.status;
    expect(await statusOf()).toBe("IDLE");
    for (const verb of ["archive", "archive"]) {
      expect((await call("POST", `${path}/${verb}`)).json).toEqual({ id: agentId });
    }
    expect(await statusOf()).toBe("ARCHIVED");
    const archivedRun = await call("POST", `${path}/runs`, { prompt: { text: "y" } });
    expect([archivedRun.status, archivedRun.json.error.code]).toEqual([409, "agent_archived"]);
    for (const verb of ["unarchive", "unarchive"])
      expect((await call("POST", `${path}/${verb}`)).status).toBe(200);
    expect(await statusOf()).toBe("IDLE");
  });

  it("deletes for good, even under an active run", async () => {
    const { call, create, emulator, open } = emulate();
    emulator.script("long", (run) => run.hold("never"));
    const { path, run, agentId } = await create("long");
    const response = await open(run);
    expect((await call("DELETE", path)).json).toEqual({ id: agentId });
    await response.text();
    expect(emulator.connections).toBe(0);
    for (const [method, target] of [
      ["GET", path],
      ["DELETE", path],
      ["GET", run],
      ["POST", `${path}/archive`],
    ] as const) {
      const reply = await call(method, target);
      expect([reply.status, reply.json.error.code]).toEqual([404, "agent_not_found"]);
    }
  });

  it("can return repository URLs without a scheme, and fields that a test overrides", async () => {
    waive(/additionalProperty":"extra"/);
    const { call, create, emulator } = emulate({ schemelessRepoUrls: true });
    const { path, agentId } = await create("x", { repos: [{ url: "https://github.com/o/r" }] });
    emulator.setAgent(agentId, { status: "HIBERNATED", extra: 1 });
    const reply = await call("GET", path);
    expect(reply.json).toMatchObject({ repos: [{ url: "github.com/o/r" }], status: "HIBERNATED", extra: 1 });
  });
});
