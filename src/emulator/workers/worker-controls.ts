import type { components } from "../../../generated/openapi.ts";
import {
  bool,
  checkOptions,
  count,
  duration,
  enforce,
  limit,
  name as nameCheck,
  type OptionTable,
  oneOf,
  record,
} from "../check-options.ts";
import type { EmulatorMember } from "../emulator-options.ts";
import { toWorkerRepo } from "../repository.ts";
import type { Ids } from "../store.ts";
import { TEAM_ID } from "./pool-registry.ts";
import type { RequestRecord, WorkerRequestState } from "./worker-records.ts";
import { toPool, toWorker } from "./worker-routes.ts";
import type { WorkersStore } from "./workers-store.ts";

type PendingRequest = components["schemas"]["PendingRequest"];

type Pool = components["schemas"]["Pool"];

type Worker = components["schemas"]["Worker"];

/** A pool request for {@link WorkerControls.addRequest}. */
export interface AddRequestInit {
  /** @default a new `bc-<uuid>` */
  id?: string;
  /** `owner/name` or a URL. @default any repository */
  repo?: string;
  /** @default no `pool` label, which means the pool `default` */
  pool?: string;
  /** More labels. */
  labels?: Readonly<Record<string, string>>;
  /** @default 42 */
  userId?: number;
  /** @default the member's with this `userId`, if there is one */
  userEmail?: string;
  /** The team, as in the keys of the emulator. @default the one of keys without an owner */
  owner?: string;
}

/** A worker for {@link WorkerControls.connectWorker}. */
export interface ConnectWorkerInit {
  /** The worker's id. A request that is claimed for it starts. */
  workerId: string;
  /** A worker without a pool is personal. @default the pool of the request that is claimed for it */
  pool?: string;
  /** `owner/name` or a URL. @default any repository */
  repo?: string;
  /** @default the worker's id */
  name?: string;
  /** @default 0 for pool workers, 42 for personal ones */
  userId?: number;
  /** The team, as in the keys of the emulator. @default the one of keys without an owner */
  owner?: string;
}

/** A pool for {@link WorkerControls.addPool}. */
export interface AddPoolInit {
  /** The pool's name. */
  poolName: string;
  /** @default "team" */
  scope?: "user" | "team";
  /** `owner/name` or a URL. @default any repository */
  repo?: string;
  /** @default 0 */
  offlineReconnectTimeoutSeconds?: number;
  /** The team, as in the keys of the emulator. @default the one of keys without an owner */
  owner?: string;
}

const requestInit: OptionTable<AddRequestInit> = {
  id: nameCheck,
  repo: nameCheck,
  pool: nameCheck,
  labels: record,
  userId: count,
  userEmail: nameCheck,
  owner: nameCheck,
};

const workerInit: OptionTable<ConnectWorkerInit> = {
  workerId: nameCheck,
  pool: nameCheck,
  repo: nameCheck,
  name: nameCheck,
  userId: count,
  owner: nameCheck,
};

const poolInit: OptionTable<AddPoolInit> = {
  poolName: nameCheck,
  scope: oneOf("user", "team"),
  repo: nameCheck,
  offlineReconnectTimeoutSeconds: count,
  owner: nameCheck,
};

/** A request with its real state, listed or not. */
export interface WorkerRequest extends PendingRequest {
  /** Its state in the queue. */
  readonly state: WorkerRequestState;
  /** The message of Fail A Claim. */
  readonly failure?: string;
}

/** The state that {@link WorkerControls} change. @internal */
export interface WorkerContext {
  workers: WorkersStore;
  ids: Ids;
  members: readonly EmulatorMember[];
  now(): number;
}

/**
 * Controls workers, pools and their queue: does what users and machines do outside of the API.
 *
 * @example
 * emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
 * emulator.workers.connectWorker({ workerId: "pw_123" }); // after a claim: the request's turn runs
 */
export class WorkerControls {
  readonly #context: () => WorkerContext;

  /** @internal */
  constructor(context: () => WorkerContext) {
    this.#context = context;
  }

  /** Every request in any state, oldest first. `claimedWorkerId` names any live claim. */
  get requests(): readonly WorkerRequest[] {
    const { workers } = this.#context();
    return workers.requests.map((request) => this.#toWorkerRequest(request));
  }

  /** Connected workers as List Workers returns them, but oldest first. */
  get connected(): readonly Worker[] {
    const { workers } = this.#context();
    return workers.connected.map((worker) => toWorker(worker, workers));
  }

  /** Pools as List Pools returns them, including stale ones. */
  get pools(): readonly Pool[] {
    const { workers, now } = this.#context();
    return workers.pools.visibleTo("owner").map((pool) => toPool(pool, "owner", workers, now()));
  }

  /** Number of open watch streams. */
  get watchers(): number {
    return this.#context().workers.watches.size;
  }

  /** Adds a pool request without an agent, as if a user had created one elsewhere. */
  addRequest(init: AddRequestInit = {}): WorkerRequest {
    checkOptions("CursorEmulator: addRequest", init, requestInit);
    const { workers, ids, members } = this.#context();
    const { id = `bc-${ids.uuid()}`, pool, labels = {}, userId = 42, owner = "owner" } = init;
    if (workers.request(id) !== undefined)
      throw new Error(`CursorEmulator: a request with the id ${id} exists already`);
    const repo = init.repo === undefined ? undefined : toWorkerRepo(init.repo);
    const userEmail = init.userEmail ?? members.find((member) => member.userId === userId)?.email;
    const all = {
      ...(repo === undefined ? {} : { repo: `${repo.owner}/${repo.name}` }),
      ...(pool === undefined ? {} : { pool }),
      ...labels,
    };
    const request = workers.add({
      id,
      owner,
      isPersonal: false,
      userId,
      labels: Object.entries(all).map(([key, value]) => ({ key, value })),
      ...(repo === undefined ? {} : { repo }),
      ...(userEmail === undefined ? {} : { userEmail }),
    });
    return this.#toWorkerRequest(request);
  }

  /** Connects a worker. A request that is claimed for it starts, and its pool is registered if it is new. */
  connectWorker(init: ConnectWorkerInit): Worker {
    checkOptions("CursorEmulator: connectWorker", init, workerInit);
    enforce(init.workerId, nameCheck, "CursorEmulator: connectWorker: workerId");
    const { workers, now } = this.#context();
    const { workerId, owner = "owner", name = workerId } = init;
    const claimed = workers.requests.find((request) => request.claim?.workerId === workerId);
    const pool = init.pool ?? (claimed === undefined ? undefined : (labelOf(claimed, "pool") ?? "default"));
    const repo = init.repo === undefined ? undefined : toWorkerRepo(init.repo);
    const worker = {
      workerId,
      owner,
      order: workers.nextOrder(),
      name,
      userId: init.userId ?? (pool === undefined ? 42 : 0),
      workspaceRootPath: repo === undefined ? "/workspace" : `/home/agent/${repo.name}`,
      connectedAtMs: now(),
      ...(pool === undefined ? {} : { pool, serviceAccountId: "sa_abc123" }),
      ...(repo === undefined ? {} : { repo }),
    };
    workers.connect(worker);
    return toWorker(worker, workers);
  }

  /** Disconnects a worker; claims for it stay. */
  disconnectWorker(workerId: string): void {
    const { workers } = this.#context();
    if (workers.worker(workerId) === undefined)
      throw new Error(`CursorEmulator: no connected worker has the id ${workerId}`);
    workers.disconnect(workerId);
  }

  /** Registers a pool, or changes it. */
  addPool(init: AddPoolInit): void {
    checkOptions("CursorEmulator: addPool", init, poolInit);
    enforce(init.poolName, nameCheck, "CursorEmulator: addPool: poolName");
    const { workers, now } = this.#context();
    const { poolName, scope = "team", owner = "owner", offlineReconnectTimeoutSeconds = 0 } = init;
    const repo = init.repo === undefined ? {} : { repo: toWorkerRepo(init.repo) };
    const ownerId = scope === "team" ? TEAM_ID : 42;
    workers.pools.register(
      { owner, scope, ownerId, poolName, offlineReconnectTimeoutSeconds, ...repo },
      now(),
    );
  }

  /** Removes a request from the queue unclaimed; the run that waited for it ends as EXPIRED. */
  expireRequest(id: string): void {
    this.#context().workers.expire(this.#request(id));
  }

  /**
   * Adds a turn to a request whose turn is over. It runs on the claimed worker if that is connected. If not, it waits for it
   * (`claimed_offline`) while its pool has a reconnect window, and returns to the queue otherwise.
   */
  followUp(id: string): void {
    this.#context().workers.followUp(this.#request(id));
  }

  /** Ends the running turn of a request. Its worker becomes idle, its claim stays. */
  endTurn(id: string): void {
    this.#context().workers.withdraw(this.#request(id), "idle");
  }

  /** The next changes happen, but their events are never sent. */
  dropNextEvents(events: number): void {
    enforce(events, count, "CursorEmulator: dropNextEvents");
    this.#context().workers.log.dropNext(events);
  }

  /** Retains this many events, or those of this many milliseconds. Older cursors get 410. */
  retainEvents(window: number | { ms: number }): void {
    if (typeof window === "number") enforce(window, limit, "CursorEmulator: retainEvents");
    else checkOptions<{ ms: number }>("CursorEmulator: retainEvents", window, { ms: duration });
    this.#context().workers.log.retain(typeof window === "number" ? { events: window } : window);
  }

  /** Destroys all open watch streams, or (`clean`) ends them as the service does. */
  cutWatchers(options: { clean?: boolean } = {}): void {
    checkOptions<{ clean?: boolean }>("CursorEmulator: cutWatchers", options, { clean: bool });
    for (const watch of [...this.#context().workers.watches.keys()]) watch.cut(options.clean ?? false);
  }

  #request(id: string): RequestRecord {
    const request = this.#context().workers.request(id);
    if (request === undefined) throw new Error(`CursorEmulator: no request has the id ${id}`);
    return request;
  }

  #toWorkerRequest(request: RequestRecord): WorkerRequest {
    const { claim, failure, state } = request;
    return {
      ...this.#context().workers.view(request),
      ...(claim === undefined ? {} : { claimedWorkerId: claim.workerId }),
      ...(failure === undefined ? {} : { failure }),
      state,
    };
  }
}

function labelOf(request: RequestRecord, key: string): string | undefined {
  return request.labels.find((label) => label.key === key)?.value;
}
