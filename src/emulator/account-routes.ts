import * as z from "zod/mini";
import { agentOf } from "./agents/agent-routes.ts";
import { completeUsage } from "./agents/agent-views.ts";
import type { Call, Route } from "./core.ts";
import { json } from "./exchange.ts";
import { failedResponse } from "./failed-response.ts";
import { rateLimited } from "./rate-limits.ts";
import type { RunRecord, Usage } from "./store.ts";
import { emptyQuery, rule, text, validate } from "./validate.ts";

/** Query of Get Agent Usage. */
export const usageQuery = z.strictObject({ runId: z.optional(text) });

/** Body of Create A User-Scoped Worker Token. */
export const createSubTokenBody = z
  .strictObject({
    forUserEmail: z.optional(
      z.string().check(rule((value) => /^[^\s@]+@[^\s@]+$/.test(value), "Invalid email")),
    ),
    forUserId: z.optional(z.int().check(z.minimum(1))),
  })
  .check(
    rule(
      (body) => (body.forUserEmail === undefined) !== (body.forUserId === undefined),
      "Specify exactly one of forUserEmail or forUserId",
    ),
  );

function addUsage(sum: Usage, usage: Usage): Usage {
  return completeUsage({
    inputTokens: sum.inputTokens + usage.inputTokens,
    outputTokens: sum.outputTokens + usage.outputTokens,
    cacheWriteTokens: sum.cacheWriteTokens + usage.cacheWriteTokens,
    cacheReadTokens: sum.cacheReadTokens + usage.cacheReadTokens,
  });
}

/** The undocumented cost fields, in fractional cents. */
function costOf(usage: Usage, shown: boolean) {
  if (!shown) return {};
  const rawCostCents =
    (usage.inputTokens * 3 + usage.outputTokens * 15 + usage.cacheReadTokens * 0.3) / 10_000;
  return { cost: { rawCostCents, chargedCents: rawCostCents } };
}

function getAgentUsage(call: Call) {
  const { usage: switches } = call.core.options;
  const { runId } = validate(usageQuery, call.query);
  const agent = agentOf(call);
  if (!switches.enabled)
    throw failedResponse(403, "feature_unavailable", "Agent usage is not enabled for this account.");
  const runs = [...agent.runs].reverse().filter((run) => runId === undefined || run.id === runId);
  if (runId !== undefined && runs.length === 0) throw failedResponse(404, "run_not_found", "Run not found");
  const toItem = (run: RunRecord) => {
    const usage = completeUsage(run.usage);
    const uuid = run.usageUuid === undefined ? {} : { usageUuid: run.usageUuid };
    return { id: run.id, ...uuid, usage, ...costOf(usage, switches.cost) };
  };
  const totalUsage = runs.map((run) => completeUsage(run.usage)).reduce(addUsage, completeUsage());
  return json(200, { totalUsage, ...costOf(totalUsage, switches.cost), runs: runs.map(toItem) });
}

function getApiKeyInfo(call: Call) {
  validate(emptyQuery, call.query);
  return json(200, call.caller.info);
}

function listModels(call: Call) {
  validate(emptyQuery, call.query);
  return json(200, { items: call.core.options.models });
}

function listRepositories({ core, query, caller }: Call) {
  validate(emptyQuery, query);
  if (core.options.repositoriesLimit) {
    const wait = core.rateLimits.take(`repositories ${caller.key}`, [
      { count: 1, windowMs: 60_000 },
      { count: 30, windowMs: 3_600_000 },
    ]);
    if (wait > 0) throw rateLimited("flat", [["retry-after", String(Math.ceil(wait / 1000))]], wait / 1000);
  }
  return json(200, { items: core.options.repositories.map((url) => ({ url })) });
}

function base64Url(value: unknown): string {
  return btoa(JSON.stringify(value)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function createSubToken({ core, caller, body, query }: Call) {
  validate(emptyQuery, query);
  if (caller.kind !== "service-account") {
    throw failedResponse(
      403,
      "service_account_required",
      "This endpoint requires a team service account API key.",
    );
  }
  const input = validate(createSubTokenBody, body);
  const email = input.forUserEmail?.toLowerCase();
  const member = core.options.members.find(
    (candidate) => candidate.userId === input.forUserId || candidate.email.toLowerCase() === email,
  );
  if (member === undefined)
    throw failedResponse(404, "user_not_found", "User is not an active member of the team");
  const expiresAt = core.store.now() + 3_600_000;
  const claims = { sub: member.userId, exp: Math.floor(expiresAt / 1000) };
  const accessToken = `${base64Url({ alg: "HS256", typ: "JWT" })}.${base64Url(claims)}.${core.store.ids.uuid().slice(-12)}`;
  return json(200, {
    accessToken,
    expiresAt: new Date(expiresAt).toISOString(),
    userId: member.userId,
    teamId: 456,
  });
}

/** Usage, API key info, models, repositories and worker tokens. */
export const accountRoutes: readonly Route[] = [
  { method: "GET", path: "/v1/agents/{id}/usage", operationId: "getAgentUsage", handle: getAgentUsage },
  { method: "GET", path: "/v1/me", operationId: "getApiKeyInfo", handle: getApiKeyInfo },
  { method: "GET", path: "/v1/models", operationId: "listModels", handle: listModels },
  { method: "GET", path: "/v1/repositories", operationId: "listRepositories", handle: listRepositories },
  { method: "POST", path: "/v1/sub-tokens", operationId: "createSubToken", handle: createSubToken },
];
