import type { components } from "../../../generated/openapi.ts";
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
  /** The worker's id; a claim for it is taken up. */
  workerId: string;
  /** A worker without one is personal. @default the pool of the request that is claimed for it */
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

/** A request as it truly is, listed or not. */
export interface WorkerRequest extends PendingRequest {
  /** Where it stands, from pending to over. */
  readonly state: WorkerRequestState;
  /** What Fail A Claim said. */
  readonly failure?: string;
}

/** What {@link WorkerControls} work on. @internal */
export interface WorkerContext {
  workers: WorkersStore;
  ids: Ids;
  members: readonly EmulatorMember[];
  now(): number;
}

/**
 * Workers, pools and their queue, from behind: what users and machines do to them.
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

  /** Every request, whatever its state, in the order they came. `claimedWorkerId` names any live claim. */
  get requests(): readonly WorkerRequest[] {
    const { workers } = this.#context();
    return workers.requests.map((request) => this.#truth(request));
  }

  /** Connected workers as List Workers tells them, but oldest first. */
  get connected(): readonly Worker[] {
    const { workers } = this.#context();
    return workers.connected.map((worker) => toWorker(worker, workers));
  }

  /** Pools as List Pools tells them, stale ones too. */
  get pools(): readonly Pool[] {
    const { workers, now } = this.#context();
    return workers.pools.visibleTo("owner").map((pool) => toPool(pool, "owner", workers, now()));
  }

  /** Watch streams that are open now. */
  get watchers(): number {
    return this.#context().workers.watches.size;
  }

  /** A user asks for an agent on a pool; there is no agent of it, only the request. */
  addRequest(init: AddRequestInit = {}): WorkerRequest {
    const { workers, ids, members } = this.#context();
    const { id = `bc-${ids.uuid()}`, pool, labels = {}, userId = 42, owner = "owner" } = init;
    if (workers.request(id) !== undefined)
      throw new Error(`CursorEmulator: there is a request ${id} already`);
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
    return this.#truth(request);
  }

  /** A worker connects and takes up what is claimed for its id; its pool is registered if it is new. */
  connectWorker(init: ConnectWorkerInit): Worker {
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

  /** A worker goes offline; claims for it stay. */
  disconnectWorker(workerId: string): void {
    const { workers } = this.#context();
    if (workers.worker(workerId) === undefined) throw new Error(`CursorEmulator: no worker ${workerId}`);
    workers.disconnect(workerId);
  }

  /** Registers a pool, or changes it. */
  addPool(init: AddPoolInit): void {
    const { workers, now } = this.#context();
    const { poolName, scope = "team", owner = "owner", offlineReconnectTimeoutSeconds = 0 } = init;
    const repo = init.repo === undefined ? {} : { repo: toWorkerRepo(init.repo) };
    const ownerId = scope === "team" ? TEAM_ID : 42;
    workers.pools.register(
      { owner, scope, ownerId, poolName, offlineReconnectTimeoutSeconds, ...repo },
      now(),
    );
  }

  /** A request leaves the queue unclaimed; the run that waited ends EXPIRED. */
  expireRequest(id: string): void {
    this.#context().workers.expire(this.#request(id));
  }

  /**
   * A follow-up for a request whose turn is over: it runs on the claimed worker if that is connected; if not, it waits for it
   * (`claimed_offline`) while its pool has a reconnect window, and returns to the queue otherwise.
   */
  followUp(id: string): void {
    this.#context().workers.followUp(this.#request(id));
  }

  /** The running turn of a request ends; its worker is idle then, its claim stays. */
  endTurn(id: string): void {
    this.#context().workers.withdraw(this.#request(id), "idle");
  }

  /** The next changes happen, but nobody is ever told of them. */
  dropNextEvents(count: number): void {
    this.#context().workers.log.dropNext(count);
  }

  /** Keeps so many events, or those of so many milliseconds: cursors from before are 410. */
  retainEvents(window: number | { ms: number }): void {
    this.#context().workers.log.retain(typeof window === "number" ? { events: window } : window);
  }

  /** Destroys all open watch streams (or, `clean`, ends them as the service does). */
  cutWatchers(options: { clean?: boolean } = {}): void {
    for (const watch of [...this.#context().workers.watches.keys()]) watch.cut(options.clean ?? false);
  }

  #request(id: string): RequestRecord {
    const request = this.#context().workers.request(id);
    if (request === undefined) throw new Error(`CursorEmulator: there is no request ${id}`);
    return request;
  }

  #truth(request: RequestRecord): WorkerRequest {
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
