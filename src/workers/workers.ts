import type { ApiPromise } from "../api-promise.ts";
import { segment } from "../check.ts";
import { ArgumentError } from "../errors.ts";
import type { Transport } from "../http/transport.ts";
import type { RequestOptions } from "../options.ts";
import type { PagePromise } from "../pagination.ts";
import { byToken, listPages } from "../resources/list.ts";
import type { FleetSummary, Worker } from "../types.ts";
import { Claims } from "./claims.ts";
import { Pools } from "./pools.ts";
import { PendingRequests } from "./requests.ts";

/** Filters of {@link Workers.list}, by the wire's names. */
export interface ListWorkersQuery {
  /** @default "all" */
  status?: "all" | "in_use" | "idle" | (string & {}) | undefined;
  /** @default "all" */
  scope?: "all" | "team_pool" | "personal" | (string & {}) | undefined;
  /** Workers per page, 1 to 100. @default 50 */
  limit?: number | undefined;
  /** Where to begin: a page's `nextCursor`. */
  pageToken?: string | undefined;
}

/** Routes that a worker's id can't be told from. */
const routes = new Set(["summary", "pools", "pending-requests"]);

/** Self-hosted workers that are connected. */
export class Workers {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Connected workers of the service account's team, newest first, page by page. A page's `totalCount` counts all
   * workers that match; its `nextCursor` is the wire's `nextPageToken`.
   * @throws ApiError 403 with a key of another kind
   * @see List Workers
   * @example
   * for await (const worker of cursor.fleet.workers.list({ status: "idle" })) console.log(worker.workerId);
   */
  list(
    query?: ListWorkersQuery,
    options?: RequestOptions,
  ): PagePromise<Worker, { readonly totalCount: number }> {
    return listPages(
      this.#transport,
      "/v0/private-workers",
      { names: { ...byToken, itemsKey: "workers", idKey: "workerId" }, query },
      options,
    );
  }

  /**
   * One worker. The page shows no answer; it is taken to be an item of the list.
   * @throws ApiError 404 when no such worker is connected
   * @see Get Worker By ID
   */
  get(workerId: string, options?: RequestOptions): ApiPromise<Worker> {
    return this.#transport.call(
      "GET",
      "/v0/private-workers/{id}",
      () => {
        const id = segment("workerId", workerId);
        if (routes.has(id)) throw new ArgumentError("workerId", `${JSON.stringify(id)} is an endpoint`);
        return { path: { id } };
      },
      {},
      options,
    );
  }
}

/** Self-hosted workers, their pools, and the requests that wait for them. Needs a service-account key. */
export class Fleet {
  /** Workers that are connected. */
  readonly workers: Workers;
  /** Named groups of workers. */
  readonly pools: Pools;
  /** Requests that wait for a worker. */
  readonly requests: PendingRequests;
  /** Reservations of requests for workers. */
  readonly claims: Claims;
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
    this.workers = new Workers(transport);
    this.pools = new Pools(transport);
    this.claims = new Claims(transport);
    this.requests = new PendingRequests(transport, this.claims);
  }

  /**
   * Counts connected and busy workers, for scaling decisions. Either part may be missing.
   * @throws ApiError 403 with a key of another kind
   * @see Get Fleet Summary
   * @example
   * const { teamSummary } = await cursor.fleet.summary();
   * if (teamSummary && teamSummary.inUse >= 0.9 * teamSummary.totalConnected) await addWorkers();
   */
  summary(options?: RequestOptions): ApiPromise<FleetSummary> {
    return this.#transport.call("GET", "/v0/private-workers/summary", undefined, {}, options);
  }
}
