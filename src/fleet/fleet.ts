import type { ApiPromise } from "../api-promise.ts";
import type { Transport } from "../http/transport.ts";
import type { RequestOptions } from "../options.ts";
import type { FleetSummary } from "../types.ts";
import { Claims } from "./claims.ts";
import { Pools } from "./pools.ts";
import { PendingRequests } from "./requests.ts";
import { Workers } from "./workers.ts";

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
