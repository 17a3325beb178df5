import type { components } from "../../../generated/openapi.ts";
import type { WorkerRepo } from "../repository.ts";

/** Who created an agent. */
export interface Requester {
  userId: number;
  userEmail?: string;
  serviceAccountId?: string;
}

/**
 * Where a request stands. `pending` and `claimed_offline` are listed; `claimed` waits for its worker to start; `running` has
 * it; `idle` has no turn that waits; `expired` left the queue unclaimed.
 */
export type WorkerRequestState = "pending" | "claimed" | "claimed_offline" | "running" | "idle" | "expired";

/** The turn that waits for a worker: a run of an agent, or nothing for requests that tests make up. @internal */
export interface Turn {
  start(): void;
  end(status: "ERROR" | "EXPIRED"): void;
  isOver(): boolean;
}

/** A request of the queue. @internal */
export interface RequestRecord extends Requester {
  id: string;
  owner: string;
  order: number;
  /** For one user's machine: never listed, and without events. */
  isPersonal: boolean;
  machineName?: string;
  repo?: WorkerRepo;
  labels: { key: string; value: string }[];
  createdAtMs: number;
  state: WorkerRequestState;
  /** The live claim. */
  claim?: { workerId: string };
  /** The worker of the running turn, even if its claim was released meanwhile. */
  runningOn?: string;
  /** End of the reconnect window of a claimed request whose worker is offline. */
  lapsesAtMs?: number;
  lapseTimer?: unknown;
  turn?: Turn;
  /** The message of Fail A Claim for the waiting user. */
  failure?: string;
}

/** A connected worker. @internal */
export interface WorkerRecord {
  workerId: string;
  owner: string;
  order: number;
  pool?: string;
  repo?: WorkerRepo;
  name: string;
  userId: number;
  serviceAccountId?: string;
  workspaceRootPath: string;
  connectedAtMs: number;
}

/** The pool that a request is for: its label, or `default`. @internal */
export function poolOf(record: Pick<RequestRecord, "labels">): string {
  return poolLabelOf(record) ?? "default";
}

/** The `pool` label, with which filters are compared. @internal */
export function poolLabelOf(record: Pick<RequestRecord, "labels">): string | undefined {
  return record.labels.find(({ key }) => key === "pool")?.value;
}

type PendingRequest = components["schemas"]["PendingRequest"];

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
