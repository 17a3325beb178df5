import { watchRequests } from "cursor-cloud-agents/workers";
import { expect, it } from "vitest";
import { END, fake, reply, STALL } from "../support/fake-api.ts";

// The response examples of the official page, in its order: each comes out as the typed value, unchanged.
const id = "bc-00000000-0000-0000-0000-000000000001";
const first = "run-00000000-0000-0000-0000-000000000001";
const second = "run-00000000-0000-0000-0000-000000000002";
const repo = { url: "https://github.com/your-org/your-repo" };
const branch = { repoUrl: "github.com/your-org/your-repo", branch: "cursor/add-readme-a1b2" };

const agent = {
  id,
  name: "Add README with setup instructions",
  status: "ACTIVE",
  env: { type: "cloud" },
  repos: [{ ...repo, startingRef: "main" }],
  workOnCurrentBranch: false,
  autoCreatePR: true,
  url: `https://cursor.com/agents/${id}`,
  createdAt: "2026-04-13T18:30:00.000Z",
  updatedAt: "2026-04-13T18:30:00.000Z",
  latestRunId: first,
};
const newRun = (runId: string, time: string) => ({
  id: runId,
  agentId: id,
  status: "CREATING",
  createdAt: time,
  updatedAt: time,
});

it("Create An Agent", async () => {
  const answer = { agent, run: newRun(first, "2026-04-13T18:30:00.000Z") };
  const { cursor } = fake([reply(201, answer)]);
  expect(await cursor.agents.create({ prompt: "Add a README with setup instructions" })).toEqual(answer);
});

it("List Agents", async () => {
  const { repos: _, workOnCurrentBranch: __, autoCreatePR: ___, ...summary } = agent;
  const answer = {
    items: [{ ...summary, updatedAt: "2026-04-13T18:45:00.000Z" }],
    nextCursor: "bc-00000000-0000-0000-0000-000000000002",
  };
  const { cursor } = fake([reply(200, answer)]);
  expect(await cursor.agents.list({ limit: 20 })).toEqual(answer);
});

it("Get An Agent", async () => {
  const { cursor } = fake([reply(200, agent)]);
  expect(await cursor.agents.get(id)).toEqual(agent);
});

it("Create A Run: the run itself", async () => {
  const run = newRun(second, "2026-04-13T18:50:00.000Z");
  const { cursor } = fake([reply(201, { run })]);
  expect(await cursor.runs.create(id, { prompt: "Also add troubleshooting steps" })).toEqual(run);
});

it("List Runs", async () => {
  const run = {
    ...newRun(second, "2026-04-13T18:50:00.000Z"),
    status: "RUNNING",
    git: { branches: [branch] },
  };
  const answer = { items: [{ ...run, updatedAt: "2026-04-13T18:51:00.000Z" }] };
  const { cursor } = fake([reply(200, answer)]);
  expect(await cursor.runs.list(id, { limit: 20 })).toEqual(answer);
});

it("Get A Run", async () => {
  const run = {
    id: first,
    agentId: id,
    status: "FINISHED",
    createdAt: "2026-04-13T18:30:00.000Z",
    updatedAt: "2026-04-13T18:45:00.000Z",
    durationMs: 12357,
    result: "Added README.md with installation instructions and usage examples.",
    git: { branches: [{ ...branch, prUrl: "https://github.com/your-org/your-repo/pull/123" }] },
  };
  const { cursor } = fake([reply(200, run)]);
  expect(await cursor.runs.get({ agentId: id, id: first })).toEqual(run);
});

it("Stream A Run: the payloads untouched, in order", async () => {
  const readme = { success: { content: "# Project", totalLines: 1, fileSize: 9, path: "README.md" } };
  const call = { callId: "call-1", name: "read_file", args: { path: "README.md" } };
  const events = [
    { type: "status", data: { runId: first, status: "RUNNING" } },
    { type: "assistant", id: "1713033000000-0", data: { text: "I'll update the README now." } },
    { type: "tool_call", id: "1713033005000-0", data: { ...call, status: "running" } },
    { type: "tool_call", id: "1713033006000-0", data: { ...call, status: "completed", result: readme } },
    {
      type: "result",
      id: "1713033010000-0",
      data: {
        runId: first,
        status: "FINISHED",
        text: "Added README.md with installation instructions.",
        durationMs: 12357,
        git: { branches: [branch] },
      },
    },
    { type: "done", id: "1713033010000-0", data: {} },
  ];
  const frames = events.map(
    ({ type, id: eventId, data }) =>
      `${eventId === undefined ? "" : `id: ${eventId}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`,
  );
  const { cursor } = fake([END(...frames)]);
  const received = [];
  for await (const event of cursor.runs.stream({ agentId: id, id: first })) received.push(event);
  expect(received).toEqual(events);
});

it("Cancel A Run", async () => {
  const { cursor } = fake([reply(200, { id: first })]);
  expect(await cursor.runs.cancel({ agentId: id, id: first })).toEqual({ id: first });
});

it("Get Agent Usage", async () => {
  const usage = (input: number, output: number, written: number, read: number, total: number) => ({
    inputTokens: input,
    outputTokens: output,
    cacheWriteTokens: written,
    cacheReadTokens: read,
    totalTokens: total,
  });
  const answer = {
    totalUsage: usage(12480, 3110, 18200, 42600, 76390),
    runs: [
      {
        id: second,
        usageUuid: "00000000-0000-0000-0000-000000000002",
        usage: usage(6320, 1450, 7100, 21300, 36170),
      },
      {
        id: first,
        usageUuid: "00000000-0000-0000-0000-000000000001",
        usage: usage(6160, 1660, 11100, 21300, 40220),
      },
    ],
  };
  const { cursor } = fake([reply(200, answer)]);
  expect(await cursor.usage.get(id)).toEqual(answer);
});

it("List Artifacts", async () => {
  const answer = {
    items: [{ path: "artifacts/screenshot.png", sizeBytes: 12345, updatedAt: "2026-04-13T18:45:00.000Z" }],
  };
  const { cursor } = fake([reply(200, answer)]);
  expect(await cursor.artifacts.list(id)).toEqual(answer);
});

it("Download An Artifact: the presigned URL", async () => {
  const answer = {
    url: "https://cloud-agent-artifacts.s3.us-east-1.amazonaws.com/...",
    expiresAt: "2026-04-13T19:00:00.000Z",
  };
  const { cursor } = fake([reply(200, answer)]);
  expect(await cursor.artifacts.url(id, "artifacts/screenshot.png")).toEqual(answer);
});

it.each(["archive", "unarchive", "delete"] as const)("%s An Agent: its id", async (operation) => {
  const { cursor } = fake([reply(200, { id })]);
  expect(await cursor.agents[operation](id)).toEqual({ id });
});

it("Create A User-Scoped Worker Token", async () => {
  const answer = { accessToken: "eyJ...", expiresAt: "2026-04-24T19:00:00.000Z", userId: 42, teamId: 456 };
  const { cursor } = fake([reply(200, answer)]);
  expect(await cursor.workerTokens.create({ forUserId: 42 })).toEqual(answer);
});

const requestId = "bc-00000000-0000-0000-0000-000000000002";
const payments = {
  repoOwner: "acme",
  repoName: "payments-service",
  repoUrl: "https://github.com/acme/payments-service",
};

it("List Workers", async () => {
  const worker = {
    workerId: "a8574fe8-248e-424a-a078-7584a2b93724",
    ...payments,
    workspaceRootPath: "/home/agent/payments-service",
    connectedAtMs: 1737306880000,
    userId: 0,
    teamId: 456,
    serviceAccountId: "sa_abc123",
    isInUse: false,
    name: "gpu-worker-1",
  };
  const { cursor } = fake([reply(200, { workers: [worker], totalCount: 1 })]);
  expect(await cursor.workers.list({ status: "idle" })).toEqual({ items: [worker], totalCount: 1 });
});

it("Get Fleet Summary: what the page's scaling check reads", async () => {
  const { cursor } = fake([reply(200, { teamSummary: { totalConnected: 10, inUse: 9 } }), reply(200, {})]);
  const { teamSummary: team } = await cursor.workers.summary();
  expect(team && team.inUse / team.totalConnected).toBe(0.9);
  expect((await cursor.workers.summary()).teamSummary).toBeUndefined();
});

it("List Pools", async () => {
  const common = { scope: "team", ownerId: 456, isStale: false };
  const pools = [
    {
      ...common,
      poolName: "gpu",
      ...payments,
      connectedWorkerCount: 2,
      inUseWorkerCount: 1,
      firstSeenAtMs: 1737000000000,
      lastSeenAtMs: 1737306880000,
      offlineReconnectTimeoutSeconds: 900,
    },
    {
      ...common,
      poolName: "sandbox",
      connectedWorkerCount: 0,
      inUseWorkerCount: 0,
      firstSeenAtMs: 1737100000000,
      lastSeenAtMs: 1737200000000,
      offlineReconnectTimeoutSeconds: 0,
    },
  ];
  const { cursor } = fake([reply(200, { pools })]);
  expect(await cursor.workers.pools.list()).toEqual({ items: pools });
});

it("Register and Deregister A Pool", async () => {
  const { cursor } = fake([reply(200, { registered: true }), reply(200, { deregistered: true })]);
  expect(
    await cursor.workers.pools.register({ scope: "team", poolName: "payments-pool", ...payments }),
  ).toEqual({
    registered: true,
  });
  expect(await cursor.workers.pools.deregister({ scope: "team", pool_name: "sandbox" })).toEqual({
    deregistered: true,
  });
});

const pendingRequest = {
  id: requestId,
  userId: 321,
  userEmail: "owner@acme.example",
  ...payments,
  labels: [{ key: "pool", value: "gpu" }],
  createdAtMs: 1737306880000,
};

it("List Pending Pool Requests", async () => {
  const request = {
    ...pendingRequest,
    serviceAccountId: "sa_abc123",
    labels: [
      { key: "repo", value: "acme/payments-service" },
      { key: "pool", value: "gpu" },
      { key: "env", value: "production" },
    ],
  };
  const token = "eyJjcmVhdGVkQXRNcyI6MTczNzMwNjg4MDAwMH0=";
  const streamCursor = "djQuZXhhbXBsZS1vcGFxdWUtY3Vyc29y";
  const { cursor } = fake([reply(200, { requests: [request], nextPageToken: token, streamCursor })]);
  expect(await cursor.workers.requests.list({ limit: 50 })).toEqual({
    items: [request],
    nextCursor: token,
    streamCursor,
  });
});

it("Watch Pending Pool Requests: the example stream, as changes", async () => {
  const frames = [
    ": connected\n\n",
    "event: heartbeat\nid: djQuY3Vyc29yLWNoZWNrcG9pbnQ\ndata: {}\n\n",
    `event: created\nid: djQuY3Vyc29yLWFmdGVyLWNyZWF0ZWQ\ndata: ${JSON.stringify(pendingRequest)}\n\n`,
    `event: claimed\nid: djQuY3Vyc29yLWFmdGVyLWNsYWltZWQ\ndata: {"id":"${requestId}"}\n\n`,
  ];
  const { cursor } = fake([reply(200, { requests: [], streamCursor: "s" }), STALL(...frames)]);
  const changes = [];
  for await (const change of watchRequests(cursor)) if (changes.push(change) === 2) break;
  expect(changes).toEqual([
    { type: "added", id: requestId, request: pendingRequest, reason: "created" },
    { type: "removed", id: requestId, reason: "claimed" },
  ]);
});

it("Claim A Pending Request, Release A Claim", async () => {
  const claim = { id: requestId, workerId: "pw_123" };
  const { cursor } = fake(reply(200, claim));
  expect(await cursor.workers.claims.create(claim)).toEqual(claim);
  expect(await cursor.workers.claims.release(requestId)).toEqual(claim);
});

it.each([
  {
    apiKeyName: "Production API Key",
    userId: 42,
    createdAt: "2026-04-13T18:30:00.000Z",
    userEmail: "developer@example.com",
    userFirstName: "Alex",
    userLastName: "Rivera",
  },
  { apiKeyName: "Production Service Account", createdAt: "2026-04-13T18:30:00.000Z" },
])("API Key Info of $apiKeyName", async (answer) => {
  const { cursor } = fake([reply(200, answer)]);
  expect(await cursor.me()).toEqual(answer);
});

it("List Models", async () => {
  const thinking = "Claude 4.6 Sonnet (Thinking)";
  const answer = {
    items: [
      {
        id: "composer-2",
        displayName: "Composer 2",
        aliases: ["composer-latest", "composer"],
        parameters: [
          {
            id: "fast",
            displayName: "Fast",
            values: [{ value: "false" }, { value: "true", displayName: "Fast" }],
          },
        ],
        variants: [
          { params: [{ id: "fast", value: "true" }], displayName: "Composer 2", isDefault: true },
          { params: [{ id: "fast", value: "false" }], displayName: "Composer 2" },
        ],
      },
      {
        id: "claude-4.6-sonnet-thinking",
        displayName: thinking,
        variants: [{ params: [], displayName: thinking, isDefault: true }],
      },
    ],
  };
  const { cursor } = fake([reply(200, answer)]);
  expect(await cursor.models.list()).toEqual(answer);
});

it("List GitHub Repositories", async () => {
  const { cursor } = fake([reply(200, { items: [repo] })]);
  expect(await cursor.repositories.list()).toEqual({ items: [repo] });
});

it("unknown statuses, keys and enum values of future answers are passed on unchanged", async () => {
  const hibernated = { ...agent, status: "HIBERNATED", env: { type: "moon", base: 1 }, isNew: true };
  const paused = { ...newRun(first, agent.createdAt), status: "PAUSED", reason: { code: 7 } };
  const { cursor } = fake([reply(200, hibernated), reply(200, paused)]);
  expect(await cursor.agents.get(id)).toEqual(hibernated);
  expect(await cursor.runs.get({ agentId: id, id: first })).toEqual(paused);
});
