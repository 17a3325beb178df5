import type { components } from "../../../generated/openapi.ts";
import type { Fleet } from "./fleet.ts";
import type { PoolRecord, RequestRecord, WorkerRecord } from "./fleet-records.ts";
import { TEAM_ID } from "./pool-registry.ts";

type PendingRequest = components["schemas"]["PendingRequest"];
type Pool = components["schemas"]["Pool"];
type Worker = components["schemas"]["Worker"];

/** An item of List Pending Pool Requests. @internal */
export function toPendingRequest(request: RequestRecord, now: number, repoUrls: boolean): PendingRequest {
  const { userEmail, serviceAccountId, repo, claim, lapsesAtMs } = request;
  return {
    id: request.id,
    userId: request.userId,
    ...(userEmail === undefined ? {} : { userEmail }),
    ...(serviceAccountId === undefined ? {} : { serviceAccountId }),
    ...(repo === undefined ? {} : { repoOwner: repo.owner, repoName: repo.name, repoUrl: repo.url }),
    ...(repoUrls ? { repoUrls: repo === undefined ? [] : [repo.url] } : {}),
    labels: request.labels.map((label) => ({ ...label })),
    createdAtMs: request.createdAtMs,
    ...(claim === undefined || lapsesAtMs === undefined
      ? {}
      : { claimedWorkerId: claim.workerId, wakeTimeoutMs: Math.max(0, lapsesAtMs - now) }),
  };
}

/** An item of List Workers. @internal */
export function toWorker(worker: WorkerRecord, fleet: Fleet): Worker {
  const { repo, serviceAccountId, workerId } = worker;
  const active = fleet.turnOn(workerId);
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
export function toPool(pool: PoolRecord, owner: string, fleet: Fleet, now: number): Pool {
  const workers = fleet.workersOf(pool, owner);
  const { repo } = pool;
  return {
    scope: pool.scope,
    ownerId: pool.ownerId,
    poolName: pool.poolName,
    ...(repo === undefined ? {} : { repoOwner: repo.owner, repoName: repo.name, repoUrl: repo.url }),
    connectedWorkerCount: workers.length,
    inUseWorkerCount: workers.filter((worker) => fleet.turnOn(worker.workerId) !== undefined).length,
    firstSeenAtMs: pool.firstSeenAtMs,
    lastSeenAtMs: workers.length === 0 ? pool.lastSeenAtMs : now,
    isStale: fleet.pools.isStale(pool, workers.length, now),
    offlineReconnectTimeoutSeconds: pool.offlineReconnectTimeoutSeconds,
  };
}
