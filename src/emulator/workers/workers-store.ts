import type { Clock } from "../clock.ts";
import { SealedCursors } from "../page.ts";
import { isSameRepo } from "../repository.ts";
import { type PoolRecord, PoolRegistry, TEAM_ID } from "./pool-registry.ts";
import { type QueueEventName, QueueLog } from "./queue-log.ts";
import type { WatchConnection } from "./watch-connection.ts";
import {
  poolLabelOf,
  poolOf,
  type RequestRecord,
  type Turn,
  toPendingRequest,
  type WorkerRecord,
} from "./worker-records.ts";

let generations = 0;

/** The outcome of a claim. @internal */
export type ClaimOutcome = "claimed" | "live-claim" | "gone";

/** Workers, pools, and the queue of requests. Every change of state is made here and written to the log. @internal */
export class WorkersStore {
  readonly pools = new PoolRegistry();
  readonly log: QueueLog;
  readonly cursors = new SealedCursors(++generations);
  /** The open watch streams, each with its service account. */
  readonly watches = new Map<WatchConnection, string>();
  readonly #clock: Clock;
  readonly #repoUrls: boolean;
  readonly #workers = new Map<string, WorkerRecord>();
  readonly #requests = new Map<string, RequestRecord>();
  #order = 0;

  constructor(clock: Clock, options: { pools: readonly string[]; repoUrls: boolean }) {
    this.#clock = clock;
    this.#repoUrls = options.repoUrls;
    this.log = new QueueLog(clock);
    for (const poolName of options.pools) {
      this.pools.register({ owner: undefined, scope: "team", ownerId: TEAM_ID, poolName }, clock.now());
    }
  }

  nextOrder(): number {
    return ++this.#order;
  }

  /** Every request, oldest first. */
  get requests(): RequestRecord[] {
    return [...this.#requests.values()];
  }

  /** Connected workers, oldest first. */
  get connected(): WorkerRecord[] {
    return [...this.#workers.values()];
  }

  request(id: string): RequestRecord | undefined {
    return this.#requests.get(id);
  }

  worker(workerId: string): WorkerRecord | undefined {
    return this.#workers.get(workerId);
  }

  /** The request whose turn runs on a worker. */
  turnOn(workerId: string): RequestRecord | undefined {
    return this.requests.find((request) => request.state === "running" && request.runningOn === workerId);
  }

  workersOf(pool: PoolRecord, owner: string): WorkerRecord[] {
    return this.connected.filter(
      (worker) =>
        worker.owner === owner &&
        worker.pool === pool.poolName &&
        pool.scope === "team" &&
        isSameRepo(worker.repo, pool.repo),
    );
  }

  /** The wire form of a request at this moment. */
  view(request: RequestRecord) {
    return toPendingRequest(request, this.#clock.now(), this.#repoUrls);
  }

  /** Puts a new request into the queue. */
  add(init: Omit<RequestRecord, "order" | "state" | "createdAtMs">): RequestRecord {
    const request: RequestRecord = {
      ...init,
      order: this.nextOrder(),
      state: "pending",
      createdAtMs: this.#clock.now(),
    };
    this.#requests.set(request.id, request);
    const own = request.isPersonal ? this.#machineOf(request) : undefined;
    if (own === undefined) this.#enqueue(request);
    else this.#start(request, own.workerId);
    return request;
  }

  /** Reserves a request for a worker, and starts its turn if that worker is connected and idle. */
  claim(request: RequestRecord, workerId: string): ClaimOutcome {
    if (request.claim !== undefined) return "live-claim";
    if (request.state === "expired" || request.isPersonal) return "gone";
    request.claim = { workerId };
    if (request.state !== "pending") return "claimed";
    request.state = "claimed";
    this.#publish("claimed", request, { id: request.id });
    const worker = this.#workers.get(workerId);
    if (worker !== undefined && this.turnOn(workerId) === undefined) this.#start(request, workerId);
    return "claimed";
  }

  /** Connects a worker, which starts the request that is claimed for it. */
  connect(worker: WorkerRecord): void {
    this.#workers.set(worker.workerId, worker);
    const now = this.#clock.now();
    if (worker.pool !== undefined) {
      const { owner, pool: poolName, repo } = worker;
      const registration = { owner, scope: "team" as const, ownerId: TEAM_ID, poolName };
      this.pools.register(repo === undefined ? registration : { ...registration, repo }, now);
    }
    const waiting = this.requests.find((request) => this.#waitsFor(request, worker));
    if (waiting === undefined) return;
    const wasOffline = waiting.state === "claimed_offline";
    this.#start(waiting, worker.workerId);
    if (wasOffline) this.#publish("claimed", waiting, { id: waiting.id });
  }

  /** Disconnects a worker; its claims stay. */
  disconnect(workerId: string): void {
    const worker = this.#workers.get(workerId);
    if (worker === undefined) return;
    const turn = this.turnOn(workerId);
    if (turn !== undefined) this.#becomeIdle(turn);
    this.#workers.delete(workerId);
    for (const pool of this.pools.visibleTo(worker.owner)) {
      if (pool.poolName === worker.pool && isSameRepo(pool.repo, worker.repo)) {
        pool.lastSeenAtMs = this.#clock.now();
      }
    }
  }

  /** Starts a further turn of a known request, or lets it wait for the claimed worker or for any worker. */
  followUp(request: RequestRecord, turn?: Turn): void {
    if (turn !== undefined) request.turn = turn;
    else if (request.state !== "idle" && request.state !== "expired") return;
    const workerId = request.claim?.workerId ?? this.#machineOf(request)?.workerId;
    if (workerId !== undefined && this.#workers.has(workerId)) {
      this.#start(request, workerId);
      return;
    }
    request.createdAtMs = this.#clock.now();
    const windowMs = this.pools.windowMs(request.owner, poolOf(request), request.repo);
    if (request.claim === undefined || windowMs === 0) {
      this.#enqueue(request);
      return;
    }
    request.state = "claimed_offline";
    request.lapsesAtMs = this.#clock.now() + windowMs;
    request.lapseTimer = this.#clock.setTimeout(() => this.#enqueue(request), windowMs);
    this.#publish("claimed_offline", request, this.view(request));
  }

  /** Makes a request idle if the turn that its worker runs is over. */
  turnEnded(request: RequestRecord): void {
    if (request.state === "running" && request.turn?.isOver() === true) this.#becomeIdle(request);
  }

  /** Ends the claim. A turn that waits for it returns to the queue; a running one continues. */
  release(request: RequestRecord): void {
    if (request.state === "claimed" || request.state === "claimed_offline") this.#enqueue(request);
    delete request.claim;
  }

  /** Ends the claim, and the turn that waits for the claimed worker. */
  fail(request: RequestRecord, message: string): void {
    request.failure = message;
    const { turn } = request;
    this.withdraw(request, "idle");
    delete request.claim;
    turn?.end("ERROR");
  }

  /** Lets a request expire because no worker has taken it. */
  expire(request: RequestRecord): void {
    const { turn } = request;
    this.withdraw(request, "expired");
    delete request.claim;
    turn?.end("EXPIRED");
  }

  /** Ends the waiting of a turn. If the request was listed, watches receive an event. */
  withdraw(request: RequestRecord, state: "idle" | "expired"): void {
    const wasListed = request.state === "pending" || request.state === "claimed_offline";
    this.#becomeIdle(request);
    request.state = state;
    if (wasListed) this.#publish("expired", request, { id: request.id });
  }

  /** Ends the claim and the waiting turn of a request whose agent was archived. */
  retire(request: RequestRecord): void {
    if (request.state !== "running") this.withdraw(request, "idle");
    delete request.claim;
  }

  /** Removes a request whose agent was deleted. */
  remove(request: RequestRecord): void {
    this.withdraw(request, "expired");
    this.#requests.delete(request.id);
  }

  /** Ends all watch streams and clears all timers. */
  close(): void {
    for (const request of this.#requests.values()) this.#clock.clearTimeout(request.lapseTimer);
    for (const watch of [...this.watches.keys()]) watch.close();
    this.log.close();
  }

  #waitsFor(request: RequestRecord, worker: WorkerRecord): boolean {
    if (request.owner !== worker.owner) return false;
    if (request.isPersonal) return request.state === "pending" && this.#machineOf(request) === worker;
    const isWaiting = request.state === "claimed" || request.state === "claimed_offline";
    return isWaiting && request.claim?.workerId === worker.workerId;
  }

  /** The machine that a personal request is for, if it is connected. */
  #machineOf(request: RequestRecord): WorkerRecord | undefined {
    if (!request.isPersonal) return undefined;
    const { machineName, owner } = request;
    return this.connected.find(
      (worker) =>
        worker.owner === owner &&
        worker.pool === undefined &&
        (machineName === undefined || worker.name === machineName || worker.workerId === machineName),
    );
  }

  #start(request: RequestRecord, workerId: string): void {
    this.#forgetWindow(request);
    request.state = "running";
    request.runningOn = workerId;
    request.turn?.start();
    this.turnEnded(request);
  }

  /** Puts a request into the queue for any worker. */
  #enqueue(request: RequestRecord): void {
    this.#forgetWindow(request);
    delete request.claim;
    delete request.runningOn;
    request.state = "pending";
    this.#publish("created", request, this.view(request));
  }

  #becomeIdle(request: RequestRecord): void {
    this.#forgetWindow(request);
    delete request.runningOn;
    request.state = "idle";
  }

  #forgetWindow(request: RequestRecord): void {
    this.#clock.clearTimeout(request.lapseTimer);
    delete request.lapseTimer;
    delete request.lapsesAtMs;
  }

  #publish(name: QueueEventName, request: RequestRecord, data: object): void {
    if (request.isPersonal) return;
    this.log.append({
      name,
      data,
      owner: request.owner,
      pool: poolLabelOf(request),
      repoUrl: request.repo?.url,
    });
  }
}
