import type { Cursor } from "cursor-cloud-agents";
import { watchRequests } from "cursor-cloud-agents/workers";
import { describe, expect, it } from "vitest";
import { END, fake, reply, STALL } from "../support/fake-api.ts";

// The request examples of the official page, in its order.
const id = "bc-00000000-0000-0000-0000-000000000001";
const runId = "run-00000000-0000-0000-0000-000000000001";
const agent = `/v1/agents/${id}`;
const run = `${agent}/runs/${runId}`;
const at = { agentId: id, id: runId };

const createBody = {
  prompt: { text: "Add a README with setup instructions" },
  model: { id: "composer-2", params: [{ id: "fast", value: "true" }] },
  repos: [{ url: "https://github.com/your-org/your-repo", startingRef: "main" }],
  mcpServers: [
    {
      name: "linear",
      type: "http" as const,
      url: "https://mcp.linear.app/sse",
      headers: { Authorization: "Bearer YOUR_LINEAR_API_KEY" },
    },
    {
      name: "github",
      type: "stdio" as const,
      command: "npx",
      args: ["-y", "@modelcontextprotocol/server-github"],
      env: { GITHUB_TOKEN: "YOUR_GITHUB_TOKEN" },
    },
  ],
  autoCreatePR: true,
};
const poolBody = {
  prompt: { text: "Clone the payments service and add a health check" },
  env: { type: "pool" as const, name: "sandbox" },
};
const followUpBody = {
  prompt: { text: "Also add troubleshooting steps" },
  mcpServers: [{ name: "docs", type: "http" as const, url: "https://example.com/mcp" }],
};

const poolToRegister = {
  scope: "team" as const,
  poolName: "payments-pool",
  repoOwner: "acme",
  repoName: "payments-service",
  repoUrl: "https://github.com/acme/payments-service",
};
const requestId = "bc-00000000-0000-0000-0000-000000000002";
const workersPath = "/v0/private-workers";

interface Example {
  title: string;
  call: (cursor: Cursor) => PromiseLike<unknown>;
  method: string;
  target: string;
  body?: object;
}

const examples: Example[] = [
  {
    title: "Create An Agent",
    call: (cursor) => cursor.agents.create(createBody),
    method: "POST",
    target: "/v1/agents",
    body: createBody,
  },
  {
    title: "Create An Agent on a worker pool",
    call: (cursor) => cursor.agents.create(poolBody),
    method: "POST",
    target: "/v1/agents",
    body: poolBody,
  },
  {
    title: "List Agents",
    call: (cursor) => cursor.agents.list({ limit: 20 }),
    method: "GET",
    target: "/v1/agents?limit=20",
  },
  { title: "Get An Agent", call: (cursor) => cursor.agents.get(id), method: "GET", target: agent },
  {
    title: "Create A Run",
    call: (cursor) => cursor.runs.create(id, followUpBody),
    method: "POST",
    target: `${agent}/runs`,
    body: followUpBody,
  },
  {
    title: "List Runs",
    call: (cursor) => cursor.runs.list(id, { limit: 20 }),
    method: "GET",
    target: `${agent}/runs?limit=20`,
  },
  { title: "Get A Run", call: (cursor) => cursor.runs.get(at), method: "GET", target: run },
  {
    title: "Cancel A Run",
    call: (cursor) => cursor.runs.cancel(at),
    method: "POST",
    target: `${run}/cancel`,
  },
  {
    title: "Get Agent Usage",
    call: (cursor) => cursor.usage.get(id),
    method: "GET",
    target: `${agent}/usage`,
  },
  {
    title: "Get Agent Usage of one run",
    call: (cursor) => cursor.usage.get(id, { runId }),
    method: "GET",
    target: `${agent}/usage?runId=${runId}`,
  },
  {
    title: "List Artifacts",
    call: (cursor) => cursor.artifacts.list(id),
    method: "GET",
    target: `${agent}/artifacts`,
  },
  {
    title: "Download An Artifact",
    call: (cursor) => cursor.artifacts.url(id, "artifacts/screenshot.png"),
    method: "GET",
    target: `${agent}/artifacts/download?path=artifacts/screenshot.png`,
  },
  {
    title: "Archive An Agent",
    call: (cursor) => cursor.agents.archive(id),
    method: "POST",
    target: `${agent}/archive`,
  },
  {
    title: "Unarchive An Agent",
    call: (cursor) => cursor.agents.unarchive(id),
    method: "POST",
    target: `${agent}/unarchive`,
  },
  { title: "Delete An Agent", call: (cursor) => cursor.agents.delete(id), method: "DELETE", target: agent },
  {
    title: "List Workers",
    call: (cursor) => cursor.workers.list({ status: "idle", scope: "team_pool", limit: 50 }),
    method: "GET",
    target: `${workersPath}?status=idle&scope=team_pool&limit=50`,
  },
  {
    title: "Get Fleet Summary",
    call: (cursor) => cursor.workers.summary(),
    method: "GET",
    target: `${workersPath}/summary`,
  },
  {
    title: "Get Worker By ID",
    call: (cursor) => cursor.workers.get("pw_123"),
    method: "GET",
    target: `${workersPath}/pw_123`,
  },
  {
    title: "List Pools",
    call: (cursor) => cursor.workers.pools.list({ scope: "team_pool", includeStale: false }),
    method: "GET",
    target: `${workersPath}/pools?scope=team_pool&includeStale=false`,
  },
  {
    title: "Register A Pool",
    call: (cursor) => cursor.workers.pools.register(poolToRegister),
    method: "POST",
    target: `${workersPath}/pools`,
    body: poolToRegister,
  },
  {
    title: "Deregister A Pool",
    call: (cursor) => cursor.workers.pools.deregister({ scope: "team", pool_name: "sandbox" }),
    method: "DELETE",
    target: `${workersPath}/pools?scope=team&pool_name=sandbox`,
  },
  {
    title: "List Pending Pool Requests",
    call: (cursor) =>
      cursor.workers.requests.list({ limit: 50, repository: "https://github.com/acme/payments-service" }),
    method: "GET",
    target: `${workersPath}/pending-requests?limit=50&repository=https%3A%2F%2Fgithub.com%2Facme%2Fpayments-service`,
  },
  {
    title: "Claim A Pending Request",
    call: (cursor) => cursor.workers.claims.create({ id: requestId, workerId: "pw_123" }),
    method: "POST",
    target: `${workersPath}/claim`,
    body: { id: requestId, workerId: "pw_123" },
  },
  {
    title: "Release A Claim",
    call: (cursor) => cursor.workers.claims.release(requestId),
    method: "POST",
    target: `${workersPath}/claims/${requestId}/release`,
  },
  { title: "API Key Info", call: (cursor) => cursor.me(), method: "GET", target: "/v1/me" },
  { title: "List Models", call: (cursor) => cursor.models.list(), method: "GET", target: "/v1/models" },
  {
    title: "List GitHub Repositories",
    call: (cursor) => cursor.repositories.list(),
    method: "GET",
    target: "/v1/repositories",
  },
];

/** Enough of an answer for every call above. */
const anything = reply(200, {
  items: [],
  agent: {},
  run: {},
  workers: [],
  pools: [],
  requests: [],
  id: "x",
  workerId: "x",
  registered: true,
  deregistered: true,
});

describe("the request examples of the official page, with -u KEY:", () => {
  it.each(examples)("$title", async ({ call, method, target, body }) => {
    const { cursor, requests } = fake(anything, { apiKey: "YOUR_API_KEY", auth: "basic" });
    await call(cursor);
    expect(requests).toHaveLength(1);
    const request = requests[0]!;
    const expected = new URL(target, "https://api.cursor.com");
    expect(request.method).toBe(method);
    expect(request.url.origin + request.url.pathname).toBe(expected.origin + expected.pathname);
    expect([...request.url.searchParams]).toEqual([...expected.searchParams]);
    expect(request.headers.get("authorization")).toBe(`Basic ${btoa("YOUR_API_KEY:")}`);
    if (body === undefined) {
      expect([request.text, request.headers.get("content-type")]).toEqual(["", null]);
    } else {
      // The id is what makes a create safe to repeat; it is the only key the page's body doesn't have.
      const { agentId, ...sent } = request.json;
      expect(sent).toEqual(body);
      expect(agentId === undefined || /^bc-[0-9a-f-]{36}$/.test(agentId)).toBe(true);
      expect(request.headers.get("content-type")).toBe("application/json");
    }
  });

  it("Stream A Run", async () => {
    const {
      cursor,
      requests,
      run: pass,
    } = fake([END("event: result\ndata: {}\n\n")], {
      apiKey: "YOUR_API_KEY",
      auth: "basic",
    });
    await pass(cursor.runs.stream(at)[Symbol.asyncIterator]().next());
    const [request] = requests;
    expect([request?.method, request?.target]).toEqual(["GET", `${run}/stream`]);
    expect(request?.headers.get("accept")).toBe("text/event-stream");
    expect(request?.headers.get("authorization")).toBe(`Basic ${btoa("YOUR_API_KEY:")}`);
  });

  it("Watch Pending Pool Requests", async () => {
    const list = reply(200, { requests: [], streamCursor: "STREAM_CURSOR" });
    const { cursor, requests } = fake([list, STALL(": connected\n\n")], {
      apiKey: "YOUR_API_KEY",
      auth: "basic",
    });
    const queue = watchRequests(cursor);
    await queue.synced;
    await new Promise((resolve) => setTimeout(resolve));
    const request = requests[1];
    queue.stop();
    expect([request?.method, request?.target]).toEqual([
      "GET",
      `${workersPath}/pending-requests/stream?cursor=STREAM_CURSOR`,
    ]);
    expect(request?.headers.get("accept")).toBe("text/event-stream");
    expect(request?.headers.get("authorization")).toBe(`Basic ${btoa("YOUR_API_KEY:")}`);
  });
});

describe("the request examples of the official page, with a Bearer token", () => {
  it.each([{ forUserEmail: "alice@company.com" }, { forUserId: 42 }] as const)(
    "Create A User-Scoped Worker Token for %j",
    async (params) => {
      const { cursor, requests } = fake(reply(200, { accessToken: "eyJ..." }), { apiKey: "service_key" });
      await cursor.workerTokens.create(params);
      const [request] = requests;
      expect([request?.method, request?.url.href]).toEqual(["POST", "https://api.cursor.com/v1/sub-tokens"]);
      expect(request?.headers.get("authorization")).toBe("Bearer service_key");
      expect(request?.json).toEqual(params);
    },
  );
});
