import * as z from "zod/mini";
import type { components } from "../../../generated/openapi.ts";
import type { Call, Route } from "../core.ts";
import { json } from "../exchange.ts";
import { titledFailedResponse } from "../failed-response.ts";
import { emptyQuery, limit, rule, text } from "../validate.ts";
import { type PoolRecord, TEAM_ID } from "./pool-registry.ts";
import type { WorkerRecord } from "./worker-records.ts";
import { badRequest, validateInput, workerRoute } from "./worker-route.ts";
import type { WorkersStore } from "./workers-store.ts";

type Pool = components["schemas"]["Pool"];

type Worker = components["schemas"]["Worker"];

/** An item of List Workers. @internal */
export function toWorker(worker: WorkerRecord, store: WorkersStore): Worker {
  const { repo, serviceAccountId, workerId } = worker;
  const active = store.turnOn(workerId);
  return {
    workerId,
    repoOwner: repo?.owner ?? "",
    repoName: repo?.name ?? "",
    ...(repo === undefined ? {} : { repoUrl: repo.url }),
    workspaceRootPath: worker.workspaceRootPath,
    connectedAtMs: worker.connectedAtMs,
    userId: worker.userId,
    ...(worker.pool === undefined ? {} : { teamId: TEAM_ID }),
    ...(serviceAccountId === undefined ? {} : { serviceAccountId }),
    isInUse: active !== undefined,
    ...(active === undefined ? {} : { activeBcId: active.id }),
    name: worker.name,
  };
}

/** An item of List Pools. @internal */
export function toPool(pool: PoolRecord, owner: string, store: WorkersStore, now: number): Pool {
  const members = store.workersOf(pool, owner);
  const { repo } = pool;
  return {
    scope: pool.scope,
    ownerId: pool.ownerId,
    poolName: pool.poolName,
    ...(repo === undefined ? {} : { repoOwner: repo.owner, repoName: repo.name, repoUrl: repo.url }),
    connectedWorkerCount: members.length,
    inUseWorkerCount: members.filter((worker) => store.turnOn(worker.workerId) !== undefined).length,
    firstSeenAtMs: pool.firstSeenAtMs,
    lastSeenAtMs: members.length === 0 ? pool.lastSeenAtMs : now,
    isStale: store.pools.isStale(pool, members.length, now),
    offlineReconnectTimeoutSeconds: pool.offlineReconnectTimeoutSeconds,
  };
}

const scope = z.enum(["all", "team_pool", "personal"]);

const poolScope = z.enum(["user", "team"]);

const seconds = z.int().check(z.minimum(0));

/** Query of List Workers. */
export const listWorkersQuery = z.strictObject({
  status: z.optional(z.enum(["all", "in_use", "idle"])),
  scope: z.optional(scope),
  limit: z.optional(limit),
  pageToken: z.optional(text),
});

/** Query of List Pools. */
export const listPoolsQuery = z.strictObject({
  scope: z.optional(scope),
  includeStale: z.optional(z.enum(["true", "false"])),
});

/** Body of Register A Pool. `workerReadyTimeoutSeconds` is the newer name of the reconnect window. */
export const registerPoolBody = z
  .strictObject({
    scope: poolScope,
    poolName: text,
    repoOwner: z.optional(text),
    repoName: z.optional(text),
    repoUrl: z.optional(text),
    offlineReconnectTimeoutSeconds: z.optional(seconds),
    workerReadyTimeoutSeconds: z.optional(seconds),
  })
  .check(
    rule(
      (body) => (body.repoOwner === undefined) === (body.repoName === undefined),
      "Provide repoOwner and repoName together, or neither",
    ),
    rule(
      (body) => body.repoUrl === undefined || (body.repoOwner !== undefined && body.repoName !== undefined),
      "repoUrl requires repoOwner and repoName",
    ),
  );

/** Query of Deregister A Pool: in snake case. */
export const deregisterPoolQuery = z
  .strictObject({
    scope: poolScope,
    pool_name: text,
    repo_owner: z.optional(text),
    repo_name: z.optional(text),
  })
  .check(
    rule(
      (query) => (query.repo_owner === undefined) === (query.repo_name === undefined),
      "Provide repo_owner and repo_name together, or neither",
    ),
  );

function workersOf({ core, caller }: Call): WorkerRecord[] {
  return core.workers.connected.filter((worker) => worker.owner === caller.owner).reverse();
}

function listWorkers(call: Call) {
  const { workers } = call.core;
  const query = validateInput(listWorkersQuery, call.query);
  const { status = "all", scope = "all", limit = "50", pageToken } = query;
  const filters = { owner: call.caller.owner, status, scope };
  const after = pageToken === undefined ? [Infinity] : workers.cursors.read("workers", filters, pageToken);
  if (after === undefined) throw badRequest("Invalid pageToken");
  const matching = workersOf(call).filter(
    (worker) =>
      (status === "all" || (status === "in_use") === (workers.turnOn(worker.workerId) !== undefined)) &&
      (scope === "all" || (scope === "team_pool") === (worker.pool !== undefined)),
  );
  const rest = matching.filter((worker) => worker.order < (after[0] as number));
  const page = rest.slice(0, Number(limit));
  const last = page.length < rest.length ? page.at(-1) : undefined;
  return json(200, {
    workers: page.map((worker) => toWorker(worker, workers)),
    totalCount: matching.length,
    ...(last === undefined ? {} : { nextPageToken: workers.cursors.mint("workers", filters, [last.order]) }),
  });
}

function getFleetSummary(call: Call) {
  validateInput(emptyQuery, call.query);
  const { workers } = call.core;
  const count = (counted: WorkerRecord[]) => ({
    totalConnected: counted.length,
    inUse: counted.filter((worker) => workers.turnOn(worker.workerId) !== undefined).length,
  });
  const personal = workersOf(call).filter((worker) => worker.pool === undefined);
  return json(200, {
    ...(personal.length === 0 ? {} : { userSummary: count(personal) }),
    teamSummary: count(workersOf(call).filter((worker) => worker.pool !== undefined)),
  });
}

function getWorker(call: Call) {
  validateInput(emptyQuery, call.query);
  const worker = workersOf(call).find(({ workerId }) => workerId === call.params["id"]);
  if (worker === undefined) throw titledFailedResponse(404, "Not found", "There is no such worker");
  return json(200, toWorker(worker, call.core.workers));
}

function listPools({ core, caller, query }: Call) {
  const { workers, store } = core;
  const { scope = "all", includeStale = "false" } = validateInput(listPoolsQuery, query);
  const pools = workers.pools
    .visibleTo(caller.owner)
    .filter((pool) => scope === "all" || (scope === "team_pool") === (pool.scope === "team"))
    .map((pool) => toPool(pool, caller.owner, workers, store.now()));
  return json(200, { pools: pools.filter((pool) => includeStale === "true" || !pool.isStale) });
}

function registerPool({ core, caller, query, body }: Call) {
  validateInput(emptyQuery, query);
  const input = validateInput(registerPoolBody, body);
  const { scope, poolName, repoOwner, repoName } = input;
  const url = input.repoUrl ?? `https://github.com/${repoOwner}/${repoName}`;
  core.workers.pools.register(
    {
      owner: caller.owner,
      scope,
      ownerId: scope === "team" ? TEAM_ID : 0,
      poolName,
      ...(repoOwner === undefined || repoName === undefined
        ? {}
        : { repo: { owner: repoOwner, name: repoName, url } }),
      offlineReconnectTimeoutSeconds:
        input.offlineReconnectTimeoutSeconds ?? input.workerReadyTimeoutSeconds ?? 0,
    },
    core.store.now(),
  );
  return json(200, { registered: true });
}

function deregisterPool({ core, caller, query }: Call) {
  const input = validateInput(deregisterPoolQuery, query);
  const { scope, pool_name: poolName, repo_owner: owner, repo_name: name } = input;
  const repo = owner === undefined || name === undefined ? {} : { repo: { owner, name } };
  const deregistered = core.workers.pools.deregister({ owner: caller.owner, scope, poolName, ...repo });
  return json(200, { deregistered });
}

/** Workers and pools. */
export const workerRoutes: readonly Route[] = [
  workerRoute("GET", "", "listWorkers", listWorkers),
  workerRoute("GET", "/summary", "getFleetSummary", getFleetSummary),
  workerRoute("GET", "/pools", "listPools", listPools),
  workerRoute("POST", "/pools", "registerPool", registerPool),
  workerRoute("DELETE", "/pools", "deregisterPool", deregisterPool),
];

/** Comes after the routes whose last segment is not an id. */
export const workerByIdRoutes: readonly Route[] = [workerRoute("GET", "/{id}", "getWorker", getWorker)];
