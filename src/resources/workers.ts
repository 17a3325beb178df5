import type { ApiPromise } from "../api-promise.ts";
import { segment } from "../check.ts";
import { ArgumentError } from "../errors.ts";
import type { Transport } from "../http/transport.ts";
import type { RequestOptions } from "../options.ts";
import type { PagePromise } from "../pagination.ts";
import type { DeregisterPoolParams, FleetSummary, Pool, RegisterPoolParams, Worker } from "../types.ts";
import { checkParams, deletion, toQuery } from "./params.ts";
import { Claims, PendingRequests } from "./pending-requests.ts";
import { byToken, onePage, Resource } from "./resource.ts";

/** Filters of {@link Workers.list}, by the wire's names. */
export interface ListWorkersQuery {
  /** @default "all" */
  status?: "all" | "in_use" | "idle" | (string & {}) | undefined;
  /** @default "all" */
  scope?: "all" | "team_pool" | "personal" | (string & {}) | undefined;
  /** Workers per page, 1 to 100. @default 50 */
  limit?: number | undefined;
  /** Where to start: a page's `nextCursor`. */
  pageToken?: string | undefined;
}

/** Endpoints beside that of one worker: a worker with such an id could not be addressed. */
const reservedIds = new Set(["summary", "pools", "pending-requests"]);

/**
 * Self-hosted workers that are connected, their pools, and the requests that wait for them. Needs a service-account key.
 * `watchRequests` and `controlRequests` of `cursor-cloud-agents/workers` build on these operations.
 */
export class Workers extends Resource {
  /** Named groups of workers. */
  readonly pools: Pools;
  /** Requests that wait for a worker. */
  readonly requests: PendingRequests;
  /** Reservations of requests for workers. */
  readonly claims: Claims;

  /** @internal */
  constructor(transport: Transport) {
    super(transport);
    this.pools = new Pools(transport);
    this.requests = new PendingRequests(transport);
    this.claims = new Claims(transport);
  }

  /**
   * Connected workers of the service account's team, newest first, page by page. A page's `totalCount` counts all
   * workers that match; its `nextCursor` is the wire's `nextPageToken`.
   * @throws ApiError 403 with a key of another kind
   * @see List Workers
   * @example
   * for await (const worker of cursor.workers.list({ status: "idle" })) console.log(worker.workerId);
   */
  list(
    query?: ListWorkersQuery,
    options?: RequestOptions,
  ): PagePromise<Worker, { readonly totalCount: number }> {
    const names = { ...byToken, itemsKey: "workers", idKey: "workerId" };
    return this.pages("/v0/private-workers", { names, query }, options);
  }

  /**
   * One worker. The API's page shows no response body; it is assumed to be an item of the list.
   * @throws ApiError 404 when no such worker is connected
   * @see Get Worker By ID
   */
  get(workerId: string, options?: RequestOptions): ApiPromise<Worker> {
    return this.call(
      "GET",
      "/v0/private-workers/{id}",
      () => {
        const id = segment("workerId", workerId);
        if (reservedIds.has(id)) throw new ArgumentError("workerId", `${JSON.stringify(id)} is an endpoint`);
        return { path: { id } };
      },
      {},
      options,
    );
  }

  /**
   * Counts connected and busy workers, for scaling decisions. Either part may be missing.
   * @throws ApiError 403 with a key of another kind
   * @see Get Fleet Summary
   * @example
   * const { teamSummary } = await cursor.workers.summary();
   * if (teamSummary && teamSummary.inUse >= 0.9 * teamSummary.totalConnected) await addWorkers();
   */
  summary(options?: RequestOptions): ApiPromise<FleetSummary> {
    return this.call("GET", "/v0/private-workers/summary", undefined, {}, options);
  }
}

/** Filters of {@link Pools.list}. */
export interface ListPoolsQuery {
  /** Whose pools. @default "all" */
  scope?: "all" | "team_pool" | "personal" | (string & {}) | undefined;
  /** Include pools that are marked stale after long inactivity. @default false */
  includeStale?: boolean | undefined;
}

/** Durable pools: they stay registered with no worker connected. */
export class Pools extends Resource {
  /**
   * The team's pools, in one page. Idle capacity is `connectedWorkerCount - inUseWorkerCount`.
   * @see List Pools
   */
  list(query?: ListPoolsQuery, options?: RequestOptions): PagePromise<Pool> {
    const names = { ...onePage, itemsKey: "pools" };
    return this.pages("/v0/private-workers/pools", { names, query }, options);
  }

  /**
   * Registers a pool, so that it can be chosen before a worker connects. Repeated when its answer is lost: a pool is
   * identified by its names, and each worker that starts with `--pool` registers it again, so a repetition is harmless.
   * @throws ArgumentError when only one of `repoOwner` and `repoName` is given; ApiError
   * @see Register A Pool
   */
  register(params: RegisterPoolParams, options?: RequestOptions): ApiPromise<{ registered: boolean }> {
    return this.call(
      "POST",
      "/v0/private-workers/pools",
      () => {
        checkParams(params);
        bothOrNeither(params, "repoOwner", "repoName");
        if (params.repoUrl !== undefined && params.repoOwner === undefined) {
          throw new ArgumentError("repoUrl", "needs `repoOwner` and `repoName`");
        }
        return { body: params as never };
      },
      { has: ["registered"] },
      options,
    );
  }

  /**
   * Removes a pool from lists and pickers; its connected workers keep running. A team pool needs a team admin, a user
   * pool its owner. Repeated when its answer is lost; a pool that is gone by then counts as deregistered.
   * @throws ArgumentError when only one of `repo_owner` and `repo_name` is given; ApiError
   * @see Deregister A Pool
   */
  deregister(params: DeregisterPoolParams, options?: RequestOptions): ApiPromise<{ deregistered: boolean }> {
    return this.call(
      "DELETE",
      "/v0/private-workers/pools",
      () => {
        checkParams(params);
        bothOrNeither(params, "repo_owner", "repo_name");
        return { query: toQuery(params) as never };
      },
      deletion({ deregistered: true }),
      options,
    );
  }
}

function bothOrNeither(params: object, owner: string, name: string): void {
  const given = params as Record<string, unknown>;
  const isMissing = (field: string) => given[field] === undefined || given[field] === null;
  if (isMissing(owner) === isMissing(name)) return;
  const missing = isMissing(owner) ? owner : name;
  throw new ArgumentError(missing, `is missing: give both \`${owner}\` and \`${name}\`, or neither`);
}
