import { checkNames } from "../check.ts";
import { ArgumentError, unexpected } from "../errors.ts";
import type { Transport } from "../http/transport.ts";
import { lazy } from "../lazy.ts";
import type { RequestOptions } from "../options.ts";
import type { PagePromise } from "../pagination.ts";
import { byToken, listPages } from "../resources/list.ts";
import type { PendingRequest } from "../types.ts";
import type { Claims } from "./claims.ts";
import type { RequestControllerOptions } from "./controller-options.ts";
import { LazyRequestQueue } from "./lazy-request-queue.ts";
import type { QueueSource } from "./queue-loop.ts";
import { RequestController } from "./request-controller.ts";
import type { QueueHandle, RequestQueue, WatchRequestsOptions } from "./request-queue.ts";
import type { Watches } from "./watches.ts";

const loadWatches = lazy("watching the fleet's queue", () => import("./watches.ts"));

/** Filters and page of {@link PendingRequests.list}, by the wire's names. */
export interface ListPendingRequestsQuery extends PendingRequestFilters {
  /** Requests per page, 1 to 100. @default 50 */
  limit?: number | undefined;
  /** Where to begin: a page's `nextCursor`, which is good for the same filters only. */
  pageToken?: string | undefined;
}

/** Requests that wait for a worker of a pool. */
export class PendingRequests {
  readonly #transport: Transport;
  readonly #claims: Claims;
  #watches: Watches | undefined;

  /** @internal */
  constructor(transport: Transport, claims: Claims) {
    this.#transport = transport;
    this.#claims = claims;
  }

  /**
   * The team's requests that no worker has taken, and those claimed by a worker that is offline, page by page. A page's
   * `streamCursor` is where a watch would begin ({@link PendingRequests.watch} does that by itself); its `nextCursor` is
   * the wire's `nextPageToken`.
   * @throws ApiError 403 with a key of another kind, or of another repository
   * @see List Pending Pool Requests
   */
  list(
    query?: ListPendingRequestsQuery,
    options?: RequestOptions,
  ): PagePromise<PendingRequest, { readonly streamCursor: string }> {
    return listPages(
      this.#transport,
      "/v0/private-workers/pending-requests",
      {
        names: { ...byToken, itemsKey: "requests", idKey: "id" },
        query,
        input: () => ({ query: checkFilters(query) }),
      },
      options,
    );
  }

  /**
   * A local view of the queue that keeps itself current: lists, then follows the stream of changes, lists again before
   * the stream's position is five minutes old, and goes on through whatever breaks. It begins at once, and goes on until
   * it is stopped, by `stop()`, `signal`, `budgetMs` or by leaving its loop.
   *
   * All watches of one filter on one client share one connection; an account may hold four.
   *
   * @throws ArgumentError at once; the iteration and `synced` reject with ApiError where the server refuses (400, 401, 403)
   * @see Watch Pending Pool Requests
   * @example
   * for await (const change of cursor.fleet.requests.watch({ pool: "gpu" })) {
   *   if (change.type === "added") console.log("waiting:", change.request.repoUrl);
   * }
   */
  watch(filters?: PendingRequestFilters, options: WatchRequestsOptions = {}): RequestQueue {
    const checked = checkOnlyFilters(filters);
    return new LazyRequestQueue(options, () => this.#open(checked, options));
  }

  /**
   * Claims requests as they come, each once among all controllers of the team, and hands each to `start`; gives back
   * what could not be started, and revives workers whose claimed requests wait for them. Runs until it is stopped.
   *
   * @throws ArgumentError at once
   * @see Claim A Pending Request
   * @example
   * const controller = cursor.fleet.requests.controller({
   *   filters: { pool: "gpu" },
   *   concurrency: 10,
   *   claim: () => crypto.randomUUID(),
   *   start: (request, { workerId }) => startMachine({ CURSOR_AGENT_WORKER_ID: workerId }),
   *   onError: (error, request) => console.error(request?.id, error),
   *   signal,
   * });
   * await controller.done;
   */
  controller(options: RequestControllerOptions): RequestController {
    const { clock, random } = this.#transport.settings;
    return new RequestController(options, {
      watch: (filters) => this.#open(filters, {}),
      list: (filters) => this.list({ ...filters, limit: 100 }),
      claims: this.#claims,
      clock,
      random,
    });
  }

  async #open(filters: CheckedFilters, options: WatchRequestsOptions): Promise<QueueHandle> {
    const { Watches } = await loadWatches();
    this.#watches ??= new Watches((filters) => this.#source(filters));
    return this.#watches.open(filters, options);
  }

  #source(filters: CheckedFilters): QueueSource {
    const { clock, random } = this.#transport.settings;
    return {
      clock,
      random,
      // The queue has a patience of its own; two layers of retries would multiply.
      list: (signal) => this.list({ ...filters, limit: 100 }, { signal, maxRetries: 0 }),
      open: (cursor, signal) =>
        this.#transport.open(
          "/v0/private-workers/pending-requests/stream",
          () => ({ query: { ...filters, cursor } }),
          { signal },
        ),
    };
  }
}

/** Which pending requests are meant, by the wire's names. */
export interface PendingRequestFilters {
  /** Only requests for this repository URL. Required for a key that is limited to repositories. */
  repository?: string | undefined;
  /** Only requests of this pool; exact and case-sensitive. */
  pool?: string | undefined;
}

/** {@link PendingRequestFilters} with what is set, and only that. */
export interface CheckedFilters {
  repository?: string;
  pool?: string;
}

/** {@link checkFilters} where there is nothing else: a misspelt filter would mean every pool of the team. */
export function checkOnlyFilters(filters: PendingRequestFilters | undefined): CheckedFilters {
  const checked = checkFilters(filters);
  checkNames(filters, ["repository", "pool"] satisfies (keyof PendingRequestFilters)[]);
  return checked;
}

/** Only what is set. An empty filter is refused, not left out: it would mean every pool of the team. */
export function checkFilters(filters: PendingRequestFilters | undefined): CheckedFilters {
  if (filters === undefined || filters === null) return {};
  if (typeof filters !== "object") {
    throw unexpected("filters", "an object", filters);
  }
  const checked: CheckedFilters = {};
  for (const name of ["repository", "pool"] as const) {
    const value: unknown = filters[name];
    if (value === undefined || value === null) continue;
    if (typeof value !== "string") throw unexpected(name, "a string", value);
    if (value === "") throw new ArgumentError(name, "must not be empty: leave it out for all");
    checked[name] = value;
  }
  return checked;
}
