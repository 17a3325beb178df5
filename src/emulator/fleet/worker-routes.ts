import type { Call, Route } from "../core-context.ts";
import { json } from "../exchange.ts";
import { textRefusal } from "../refusal.ts";
import { emptyQuery } from "../schemas.ts";
import { badRequest, fleetRoute, validateFleet } from "./fleet-call.ts";
import type { WorkerRecord } from "./fleet-records.ts";
import { deregisterPoolQuery, listPoolsQuery, listWorkersQuery, registerPoolBody } from "./fleet-schemas.ts";
import { toPool, toWorker } from "./fleet-views.ts";
import { TEAM_ID } from "./pool-registry.ts";

function workersOf({ core, caller }: Call): WorkerRecord[] {
  return core.fleet.workers.filter((worker) => worker.owner === caller.owner).reverse();
}

function listWorkers(call: Call) {
  const { fleet } = call.core;
  const query = validateFleet(listWorkersQuery, call.query);
  const { status = "all", scope = "all", limit = "50", pageToken } = query;
  const filters = { owner: call.caller.owner, status, scope };
  const behind = pageToken === undefined ? [Infinity] : fleet.cursors.read("workers", filters, pageToken);
  if (behind === undefined) throw badRequest("Invalid pageToken");
  const matching = workersOf(call).filter(
    (worker) =>
      (status === "all" || (status === "in_use") === (fleet.turnOn(worker.workerId) !== undefined)) &&
      (scope === "all" || (scope === "team_pool") === (worker.pool !== undefined)),
  );
  const rest = matching.filter((worker) => worker.order < (behind[0] as number));
  const page = rest.slice(0, Number(limit));
  const last = page.length < rest.length ? page.at(-1) : undefined;
  return json(200, {
    workers: page.map((worker) => toWorker(worker, fleet)),
    totalCount: matching.length,
    ...(last === undefined ? {} : { nextPageToken: fleet.cursors.mint("workers", filters, [last.order]) }),
  });
}

function getFleetSummary(call: Call) {
  validateFleet(emptyQuery, call.query);
  const { fleet } = call.core;
  const count = (workers: WorkerRecord[]) => ({
    totalConnected: workers.length,
    inUse: workers.filter((worker) => fleet.turnOn(worker.workerId) !== undefined).length,
  });
  const personal = workersOf(call).filter((worker) => worker.pool === undefined);
  return json(200, {
    ...(personal.length === 0 ? {} : { userSummary: count(personal) }),
    teamSummary: count(workersOf(call).filter((worker) => worker.pool !== undefined)),
  });
}

function getWorker(call: Call) {
  validateFleet(emptyQuery, call.query);
  const worker = workersOf(call).find(({ workerId }) => workerId === call.params["id"]);
  if (worker === undefined) throw textRefusal(404, "Not found", "There is no such worker");
  return json(200, toWorker(worker, call.core.fleet));
}

function listPools({ core, caller, query }: Call) {
  const { fleet, store } = core;
  const { scope = "all", includeStale = "false" } = validateFleet(listPoolsQuery, query);
  const pools = fleet.pools
    .visibleTo(caller.owner)
    .filter((pool) => scope === "all" || (scope === "team_pool") === (pool.scope === "team"))
    .map((pool) => toPool(pool, caller.owner, fleet, store.now()));
  return json(200, { pools: pools.filter((pool) => includeStale === "true" || !pool.isStale) });
}

function registerPool({ core, caller, query, body }: Call) {
  validateFleet(emptyQuery, query);
  const input = validateFleet(registerPoolBody, body);
  const { scope, poolName, repoOwner, repoName } = input;
  const url = input.repoUrl ?? `https://github.com/${repoOwner}/${repoName}`;
  core.fleet.pools.register(
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
  const input = validateFleet(deregisterPoolQuery, query);
  const { scope, pool_name: poolName, repo_owner: owner, repo_name: name } = input;
  const repo = owner === undefined || name === undefined ? {} : { repo: { owner, name } };
  const deregistered = core.fleet.pools.deregister({ owner: caller.owner, scope, poolName, ...repo });
  return json(200, { deregistered });
}

/** Workers and pools. */
export const workerRoutes: readonly Route[] = [
  fleetRoute("GET", "", "listWorkers", listWorkers),
  fleetRoute("GET", "/summary", "getFleetSummary", getFleetSummary),
  fleetRoute("GET", "/pools", "listPools", listPools),
  fleetRoute("POST", "/pools", "registerPool", registerPool),
  fleetRoute("DELETE", "/pools", "deregisterPool", deregisterPool),
];

/** Behind the routes whose last segment is no id. */
export const workerByIdRoutes: readonly Route[] = [fleetRoute("GET", "/{id}", "getWorker", getWorker)];
