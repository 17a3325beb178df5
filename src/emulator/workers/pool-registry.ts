import { isSameRepo, type WorkerRepo } from "../repository.ts";

/** A registered pool. @internal */
export interface PoolRecord {
  /** `undefined` for pools of every team, such as those of the emulator's options. */
  owner: string | undefined;
  scope: "user" | "team";
  ownerId: number;
  poolName: string;
  repo?: WorkerRepo;
  firstSeenAtMs: number;
  lastSeenAtMs: number;
  offlineReconnectTimeoutSeconds: number;
}

/** Id of the team that all service account keys belong to. */
export const TEAM_ID = 456;

/** A pool without workers is stale after 30 days. */
const STALE_AFTER_MS = 30 * 24 * 3_600_000;

/** The values that identify a pool. @internal */
export interface PoolIdentity {
  owner: string | undefined;
  scope: PoolRecord["scope"];
  poolName: string;
  repo?: Pick<WorkerRepo, "owner" | "name">;
}

/** What a registration says about a pool. @internal */
export interface PoolRegistration extends PoolIdentity {
  ownerId: number;
  repo?: WorkerRepo;
  offlineReconnectTimeoutSeconds?: number;
}

/** The durable pools. @internal */
export class PoolRegistry {
  readonly #pools: PoolRecord[] = [];

  /** Registers a pool, or changes it. */
  register(pool: PoolRegistration, now: number): PoolRecord {
    const known = this.#find(pool);
    const record: PoolRecord = known ?? {
      owner: pool.owner,
      scope: pool.scope,
      ownerId: pool.ownerId,
      poolName: pool.poolName,
      firstSeenAtMs: now,
      lastSeenAtMs: now,
      offlineReconnectTimeoutSeconds: 0,
    };
    if (known === undefined) this.#pools.push(record);
    record.lastSeenAtMs = now;
    if (pool.repo !== undefined) record.repo = pool.repo;
    if (pool.offlineReconnectTimeoutSeconds !== undefined) {
      record.offlineReconnectTimeoutSeconds = pool.offlineReconnectTimeoutSeconds;
    }
    return record;
  }

  /** Returns `false` if there was no such pool. */
  deregister(pool: PoolIdentity): boolean {
    const known = this.#find(pool);
    if (known === undefined) return false;
    this.#pools.splice(this.#pools.indexOf(known), 1);
    return true;
  }

  visibleTo(owner: string): PoolRecord[] {
    return this.#pools.filter((pool) => pool.owner === undefined || pool.owner === owner);
  }

  named(owner: string, poolName: string): PoolRecord[] {
    return this.visibleTo(owner).filter((pool) => pool.poolName === poolName);
  }

  /** The reconnect window of a request: the longest one of the pools that it fits. */
  windowMs(owner: string, poolName: string, repo: WorkerRepo | undefined): number {
    const fitting = this.named(owner, poolName).filter(
      (pool) => pool.repo === undefined || isSameRepo(pool.repo, repo),
    );
    return Math.max(0, ...fitting.map((pool) => pool.offlineReconnectTimeoutSeconds * 1000));
  }

  isStale(pool: PoolRecord, connected: number, now: number): boolean {
    return connected === 0 && now - pool.lastSeenAtMs >= STALE_AFTER_MS;
  }

  #find({ owner, scope, poolName, repo }: PoolIdentity): PoolRecord | undefined {
    return this.#pools.find(
      (pool) =>
        (pool.owner === undefined || pool.owner === owner) &&
        pool.scope === scope &&
        pool.poolName === poolName &&
        isSameRepo(pool.repo, repo),
    );
  }
}
