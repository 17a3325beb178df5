import type {
  CreateAgentParams,
  CreateRunParams,
  CreateWorkerTokenParams,
  Cursor,
  Prompt,
  PromptImage,
  PromptParams,
} from "cursor-cloud-agents";
import { expectTypeOf } from "vitest";

// What callers may give: each good value compiles, each bad one doesn't. Checked by `npx tsc`.

declare const cursor: Cursor;
declare const other: Cursor;
const prompt = "x";
const repos = [{ url: "https://github.com/o/r" }];
const agentId = "bc-1";
const envVars = { TOKEN: "t" };

// ── Creating an agent ──

export const goodCreates: CreateAgentParams[] = [
  { prompt },
  { prompt: { text: "x" } },
  { prompt: { text: "x", images: [] } },
  { prompt, repos },
  {
    prompt,
    repos: [
      { url: "u", startingRef: "main" },
      { url: "u", prUrl: "p" },
    ],
  },
  { prompt, repos, env: { type: "cloud" } },
  { prompt, repos, env: { type: "pool" } },
  { prompt, repos, env: { type: "pool", name: "gpu" } },
  { prompt, repos, env: { type: "machine", name: "mine" } },
  { prompt, env: { type: "cloud", name: "prod" } },
  { prompt, env: { type: "cloud", name: "prod" }, envVars },
  { prompt, agentId },
  { prompt, envVars },
  { prompt, mode: "plan" },
  { prompt, mode: "a mode of tomorrow" },
  { prompt, model: { id: "composer-2", params: [{ id: "fast", value: "true" }] } },
  { prompt, customSubagents: [{ name: "n", description: "d", prompt: "p", model: "inherit" }] },
  {
    prompt,
    mcpServers: [
      { name: "n", url: "https://m" },
      { name: "n", command: "npx", args: [], env: {} },
    ],
  },
  { prompt, name: "n", workOnCurrentBranch: true, autoCreatePR: true, skipReviewerRequest: false },
];

export const badCreates: CreateAgentParams[] = [
  // @ts-expect-error a prompt is required
  {},
  // @ts-expect-error text is required
  { prompt: {} },
  // @ts-expect-error repositories beside a named cloud environment
  { prompt, repos, env: { type: "cloud", name: "prod" } },
  // @ts-expect-error secrets beside an id of the caller's
  { prompt, agentId, envVars },
  // @ts-expect-error a repository without its url
  { prompt, repos: [{ prUrl: "p" }] },
  // @ts-expect-error a name of v0
  { prompt, source: { repository: "r" } },
  // @ts-expect-error a name of v0
  { prompt, branchName: "b" },
  // @ts-expect-error what the client does is an option, not a parameter
  { prompt, onConflict: "adopt" },
  // @ts-expect-error an unknown kind of place
  { prompt, env: { type: "moon" } },
  // @ts-expect-error a place without its kind
  { prompt, env: { name: "prod" } },
  // @ts-expect-error secrets are strings
  { prompt, envVars: { PORT: 80 } },
  // @ts-expect-error a model is named by its id
  { prompt, model: "composer-2" },
  // @ts-expect-error an MCP server is remote or a command
  { prompt, mcpServers: [{ name: "n" }] },
];

// ── Images ──

export const goodImages: PromptImage[] = [
  { url: "https://i" },
  { url: "https://i", dimension: { width: 1, height: 1 } },
  { data: "AA==", mimeType: "image/png" },
  { data: "AA==", mimeType: "image/webp", dimension: { width: 1, height: 1 } },
];

export const badImages: PromptImage[] = [
  // @ts-expect-error neither bytes nor an address
  {},
  // @ts-expect-error both
  { data: "AA==", mimeType: "image/png", url: "https://i" },
  // @ts-expect-error bytes without their type
  { data: "AA==" },
  // @ts-expect-error a type that is not taken
  { data: "AA==", mimeType: "image/bmp" },
  // @ts-expect-error a type beside an address
  { url: "https://i", mimeType: "image/png" },
];

// ── Follow-ups and worker tokens ──

export const goodRuns: CreateRunParams[] = [
  { prompt },
  { prompt: { text: "x", images: goodImages }, mode: "agent" },
];
export const badRuns: CreateRunParams[] = [
  // @ts-expect-error a prompt is required
  { mode: "agent" },
  // @ts-expect-error repositories belong to the agent
  { prompt, repos },
  // @ts-expect-error an option, not a parameter
  { prompt, whenBusy: "wait" },
];

export const goodTokens: CreateWorkerTokenParams[] = [{ forUserEmail: "a@b.c" }, { forUserId: 42 }];
export const badTokens: CreateWorkerTokenParams[] = [
  // @ts-expect-error exactly one
  {},
  // @ts-expect-error not both
  { forUserEmail: "a@b.c", forUserId: 42 },
  // @ts-expect-error an id is a number
  { forUserId: "42" },
];

// ── Calls ──

export function goodCalls() {
  cursor.agents.create({ prompt, agentId }, { onConflict: "adopt", extraBody: { metadata: {} }, timeout: 1 });
  cursor.runs.create(agentId, { prompt }, { whenBusy: "wait", signal: AbortSignal.timeout(1) });
  cursor.prompt({ text: "x" }, { repos }, { onText: (delta) => expectTypeOf(delta).toEqualTypeOf<string>() });
  cursor.agents.list({ limit: 1, cursor: "c", prUrl: "p", includeArchived: false });
  cursor.usage.get(agentId, { runId: "run-1" });
  cursor.repositories.list({ fresh: true });
  cursor.me({ headers: new Headers() });
  cursor.me({ headers: [["x-a", "1"]] });
  cursor.me({ headers: { "x-a": undefined } });
}

export function badPrompts() {
  // @ts-expect-error secrets beside an id of the caller's
  cursor.prompt("x", { agentId, envVars });
  // @ts-expect-error repositories beside a named cloud environment
  cursor.prompt("x", { env: { type: "cloud", name: "e" }, repos });
  // @ts-expect-error the same through a variable of the parameters' type
  const secrets: PromptParams = { agentId, envVars };
  // @ts-expect-error a place without its kind
  cursor.prompt("x", { env: { name: "e" } });
  return secrets;
}

export function goodPrompts() {
  cursor.prompt("x", { agentId, repos, env: { type: "cloud" } });
  cursor.prompt("x", { envVars, env: { type: "cloud", name: "e" } });
  cursor.prompt("x", { envVars, repos, env: { type: "pool", name: "p" } });
  cursor.prompt("x", {}, { onAgentId: (id) => expectTypeOf(id).toEqualTypeOf<string>() });
}

export function badCalls() {
  // @ts-expect-error no such choice
  cursor.agents.create({ prompt }, { onConflict: "merge" });
  // @ts-expect-error no such choice
  cursor.runs.create(agentId, { prompt }, { whenBusy: "queue" });
  // @ts-expect-error a misspelt option
  cursor.agents.get(agentId, { retries: 3 });
  // @ts-expect-error a filter that the server refuses
  cursor.agents.list({ status: "ACTIVE" });
  // @ts-expect-error the prompt is the first argument
  cursor.prompt("x", { prompt });
  // @ts-expect-error a run is named by both ids
  cursor.runs.get("run-1");
  // @ts-expect-error an id is a string
  cursor.agents.get(7);
  // @ts-expect-error a download sends no headers of ours
  cursor.artifacts.download(agentId, "artifacts/a", { headers: {} });
  // @ts-expect-error the transport is nobody's business
  cursor.transport;
  // @ts-expect-error a client's parts stay what they are
  cursor.agents = other.agents;
}

expectTypeOf<Prompt>().toExtend<CreateAgentParams["prompt"]>();
expectTypeOf<string>().toExtend<CreateRunParams["prompt"]>();
