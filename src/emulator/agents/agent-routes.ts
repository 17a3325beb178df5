import * as z from "zod/mini";
import type { Caller } from "../authenticate.ts";
import type { Call, Core, Route } from "../core.ts";
import { json } from "../exchange.ts";
import { failedResponse, invalid } from "../failed-response.ts";
import { messageOf } from "../failures.ts";
import { pageAfter } from "../page.ts";
import { startRun } from "../runs/start-run.ts";
import type { AgentEnv, AgentRecord, RepoConfig, RunRecord } from "../store.ts";
import { emptyBody, emptyQuery, isAgentId, isHttpUrl, limit, rule, text, validate } from "../validate.ts";
import type { Requester } from "../workers/worker-records.ts";
import { type CreateAgentBody, createAgentBody } from "./agent-schemas.ts";
import { toAgent, toAgentSummary, toRun } from "./agent-views.ts";

/** Query of List Agents. */
export const listAgentsQuery = z.strictObject({
  limit: z.optional(limit),
  cursor: z.optional(text),
  prUrl: z.optional(z.string().check(rule(isHttpUrl, "Invalid url"))),
  includeArchived: z.optional(z.enum(["true", "false"])),
});

/**
 * The agent that the path names.
 *
 * @throws FailedResponse 400 `validation_error` for an id of another form, 404 `agent_not_found` for an unknown one and for
 *   agents of another owner.
 */
export function agentOf(call: Call): AgentRecord {
  const { id = "" } = call.params;
  if (!isAgentId(id)) throw invalid("Agent id must be in the format 'bc-<uuid>'");
  const agent = call.core.store.agents.get(id);
  if (agent === undefined || agent.owner !== call.caller.owner) {
    throw failedResponse(404, "agent_not_found", "Agent not found");
  }
  return agent;
}

/** Whether this is the id or an alias of a known model. */
export function knowsModel(core: Core, id: string): boolean {
  return core.options.models.some((model) => model.id === id || model.aliases?.includes(id) === true);
}

function checkPool(core: Core, owner: string, body: CreateAgentBody): void {
  if (body.env?.type !== "pool") return;
  const { name = "default" } = body.env;
  const pools = core.workers.pools.named(owner, name);
  if (pools.length === 0) throw invalid(`Pool '${name}' does not exist`);
  const isForAnyRepo = name !== "default" && pools.some((pool) => pool.repo === undefined);
  if ((body.repos?.length ?? 0) > 1 && !isForAnyRepo) {
    throw invalid(messageOf("several_repositories"));
  }
}

function checkCreate(core: Core, owner: string, body: CreateAgentBody): void {
  if (body.model !== undefined && !knowsModel(core, body.model.id)) {
    throw failedResponse(400, "invalid_model", `Model '${body.model.id}' is not available or invalid`);
  }
  checkPool(core, owner, body);
  if (body.agentId !== undefined && core.store.agents.has(body.agentId)) {
    throw failedResponse(409, "agent_id_conflict", "An agent with this agentId already exists.");
  }
}

/** Stores a new agent and starts its first run. @internal */
export function addAgent(
  core: Core,
  body: CreateAgentBody,
  owner: string,
  requester: Requester = { userId: 42 },
): { agent: AgentRecord; run: RunRecord } {
  const { store } = core;
  const now = store.now();
  const agent: AgentRecord = {
    id: body.agentId ?? `bc-${store.ids.uuid()}`,
    owner,
    requester,
    order: store.nextOrder(),
    name: body.name ?? body.prompt.text.replace(/\s+/g, " ").trim().slice(0, 100),
    env: (body.env ?? { type: "cloud" }) as AgentEnv,
    repos: (body.repos ?? []).map((repo) => ({ ...repo }) as RepoConfig),
    workOnCurrentBranch: body.workOnCurrentBranch ?? false,
    autoCreatePR: body.autoCreatePR ?? false,
    skipReviewerRequest: body.skipReviewerRequest ?? false,
    mode: body.mode ?? "agent",
    archived: false,
    createdAt: now,
    updatedAt: now,
    runs: [],
    updates: 0,
    branches: [],
    gitKnown: false,
    artifacts: new Map(),
    overrides: {},
    ...(body.customSubagents === undefined ? {} : { customSubagents: body.customSubagents }),
    ...(body.openAsCursorGithubApp === undefined
      ? {}
      : { openAsCursorGithubApp: body.openAsCursorGithubApp }),
    ...(body.metadata === undefined ? {} : { metadata: body.metadata }),
  };
  const run = startRun(core, agent, body.prompt.text, body.mode);
  store.agents.set(agent.id, agent);
  return { agent, run };
}

function requesterOf({ info, serviceAccountId }: Caller): Requester {
  const { userId = 0, userEmail } = info;
  return {
    userId,
    ...(userEmail === undefined ? {} : { userEmail }),
    ...(serviceAccountId === undefined ? {} : { serviceAccountId }),
  };
}

async function createAgent({ core, body, caller, query }: Call) {
  validate(emptyQuery, query);
  if (!core.options.metadata && typeof body === "object" && body !== null && "metadata" in body) {
    throw failedResponse(403, "feature_unavailable", "API v1 agent metadata is not enabled.");
  }
  const input = validate(createAgentBody, body);
  checkCreate(core, caller.owner, input);
  const { agent, run } = addAgent(core, input, caller.owner, requesterOf(caller));
  // The agent exists from now on; only the answer is delayed, so it shows the state before the delay.
  const answer = json(201, { agent: toAgent(agent, core.options), run: toRun(agent, run) });
  await core.sleep(core.options.createDelayMs);
  return answer;
}

function pullRequestsOf(agent: AgentRecord): (string | undefined)[] {
  return [...agent.branches.map((branch) => branch.prUrl), ...agent.repos.map((repo) => repo.prUrl)];
}

function visibleTo(core: Core, caller: Caller): AgentRecord[] {
  const agents = [...core.store.agents.values()].filter((agent) => agent.owner === caller.owner);
  return agents.sort((one, other) => other.updatedAt - one.updatedAt || other.order - one.order);
}

function listAgents({ core, query, caller }: Call) {
  const { limit = "20", cursor, prUrl, includeArchived = "true" } = validate(listAgentsQuery, query);
  const agents = visibleTo(core, caller).filter(
    (agent) =>
      (prUrl === undefined || pullRequestsOf(agent).includes(prUrl)) &&
      (includeArchived === "true" || !agent.archived),
  );
  // An unknown page cursor is not an error here, unlike in List Runs.
  const page = pageAfter(agents, cursor, Number(limit), "is empty");
  return json(200, { ...page, items: page.items.map(toAgentSummary) });
}

function getAgent(call: Call) {
  validate(emptyQuery, call.query);
  return json(200, toAgent(agentOf(call), call.core.options));
}

function deleteAgent(call: Call) {
  validate(emptyQuery, call.query);
  const agent = agentOf(call);
  const request = call.core.workers.request(agent.id);
  if (request !== undefined) call.core.workers.remove(request);
  call.core.store.deleteAgent(agent);
  return json(200, { id: agent.id });
}

function setArchived(archived: boolean) {
  return (call: Call) => {
    validate(emptyQuery, call.query);
    validate(emptyBody, call.body ?? {});
    const agent = agentOf(call);
    if (agent.archived !== archived) agent.updatedAt = call.core.store.now();
    agent.archived = archived;
    const request = call.core.workers.request(agent.id);
    // Archiving an agent ends the claim of its request.
    if (archived && request !== undefined) call.core.workers.retire(request);
    return json(200, { id: agent.id });
  };
}

/** Operations on agents: create, list, get, delete, archive, unarchive. */
export const agentRoutes: readonly Route[] = [
  { method: "POST", path: "/v1/agents", operationId: "createAgent", handle: createAgent },
  { method: "GET", path: "/v1/agents", operationId: "listAgents", handle: listAgents },
  { method: "GET", path: "/v1/agents/{id}", operationId: "getAgent", handle: getAgent },
  { method: "DELETE", path: "/v1/agents/{id}", operationId: "deleteAgent", handle: deleteAgent },
  { method: "POST", path: "/v1/agents/{id}/archive", operationId: "archiveAgent", handle: setArchived(true) },
  {
    method: "POST",
    path: "/v1/agents/{id}/unarchive",
    operationId: "unarchiveAgent",
    handle: setArchived(false),
  },
];
