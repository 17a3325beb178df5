import { ApiPromise, type WithResponse } from "../api-promise.ts";
import { checkNames, segment } from "../check.ts";
import { CursorError, unexpected } from "../errors.ts";
import { isAmbiguous } from "../http/retry.ts";
import type { RequestOptions } from "../options.ts";
import type { PagePromise } from "../pagination.ts";
import type { Claim, ClaimToken, CreateClaimParams, PendingRequest } from "../types.ts";
import { checkParams, toQuery } from "./params.ts";
import { byId, byToken, Resource } from "./resource.ts";

/** Which pending requests are meant, by the wire's names. */
export interface PendingRequestFilters {
  /** Only requests for this repository URL. Required for a key that is limited to repositories. */
  repository?: string | undefined;
  /** Only requests of this pool; exact and case-sensitive. */
  pool?: string | undefined;
}

/** Filters and page of {@link PendingRequests.list}, by the wire's names. */
export interface ListPendingRequestsQuery extends PendingRequestFilters {
  /** Requests per page, 1 to 100. @default 50 */
  limit?: number | undefined;
  /** Where to start: a page's `nextCursor`, which is valid for the same filters only. */
  pageToken?: string | undefined;
}

type RequestPages = PagePromise<PendingRequest, { readonly streamCursor: string }>;

/**
 * Requests that wait for a worker of a pool. `watchRequests` of `cursor-cloud-agents/workers` keeps a view of them
 * current, and `controlRequests` claims them as they arrive.
 */
export class PendingRequests extends Resource {
  /**
   * The team's requests that no worker has taken, and those claimed by a worker that is offline, page by page. A page's
   * `streamCursor` is where a watch would start (`watchRequests` does that by itself); its `nextCursor` is the wire's
   * `nextPageToken`.
   * @throws ApiError 403 with a key of another kind, or of another repository
   * @see List Pending Pool Requests
   */
  list(
    query?: ListPendingRequestsQuery,
    options?: RequestOptions,
  ): PagePromise<PendingRequest, { readonly streamCursor: string }> {
    const names = { ...byToken, itemsKey: "requests", idKey: "id" };
    const input = () => ({ query: checkFilters(query) });
    return this.pages("/v0/private-workers/pending-requests", { names, query, input }, options);
  }

  /**
   * What a watch needs of the client. Equal filters have the same `key`.
   * @throws ArgumentError at once
   * @internal
   */
  watchSource(filters: PendingRequestFilters | undefined) {
    const checked = checkFilters(filters);
    // A misspelt filter would mean every pool of the team.
    checkNames(filters, ["repository", "pool"] satisfies (keyof PendingRequestFilters)[], "filters");
    const { clock, random } = this.transport().settings;
    return {
      key: JSON.stringify([checked.repository, checked.pool]),
      clock,
      random,
      list: (options?: RequestOptions): RequestPages => this.list({ ...checked, limit: 100 }, options),
      open: (cursor: string, signal: AbortSignal): Promise<{ response: Response; close(): void }> =>
        this.transport().open(
          "/v0/private-workers/pending-requests/stream",
          () => ({ query: { ...checked, cursor } }),
          { signal },
        ),
    };
  }
}

/** The filters that are set. */
function checkFilters(filters: PendingRequestFilters | undefined): { repository?: string; pool?: string } {
  if (filters !== undefined && filters !== null && typeof filters !== "object") {
    throw unexpected("filters", "an object", filters);
  }
  const { repository, pool } = filters ?? {};
  for (const [name, value] of Object.entries({ repository, pool }) as [string, unknown][]) {
    if (value !== undefined && value !== null && typeof value !== "string") {
      throw unexpected(name, "a string", value);
    }
  }
  return toQuery({ repository, pool });
}

/** Claims: each binds one pending request to one worker, atomically across all controllers. */
export class Claims extends Resource {
  /**
   * Reserves a request for a worker, which is then to be started with this id (`CURSOR_AGENT_WORKER_ID`).
   *
   * Sent once. After an error with `outcome: "unknown"` the claim may exist: look at `workers.requests.list()` before
   * anything else. A request that is still listed without `claimedWorkerId` is unclaimed; the claim is yours if it names
   * your worker.
   *
   * @throws ApiError 409 when another claim is live (another controller was faster), 404 when the request is gone
   * @see Claim A Pending Request
   */
  create(params: CreateClaimParams, options?: RequestOptions): ApiPromise<Claim> {
    return this.call(
      "POST",
      "/v0/private-workers/claim",
      () => ({ body: checkClaim(params) }),
      { policy: "unsafe", agentId: params?.id, has: ["id", "workerId"], isSecret: true },
      options,
    );
  }

  /**
   * Ends an agent's preference for one machine: its request returns to the queue, and another worker can claim it at
   * once. A running turn continues. Sent once: a repeated release could end the next controller's claim.
   * @throws ApiError 404 when no claim is live: released before, expired, or taken over
   * @see Release A Claim
   */
  release(id: string, options?: RequestOptions): ApiPromise<Claim> {
    return this.call(
      "POST",
      "/v0/private-workers/claims/{id}/release",
      byId("id", id),
      { policy: "unsafe", agentId: id, has: ["id"] },
      options,
    );
  }

  /**
   * Tells the user who waits for a claim that no worker will come. Newer than the baseline page: a server without it
   * answers 404. Repeating it is harmless.
   * @param message 1 to 500 characters
   * @throws ApiError 400 when no turn waits or the worker is connected, 404 without a live claim; with
   *   `outcome: "unknown"` where an earlier attempt of this call may have reached the server
   */
  fail(id: string, message: string, options?: RequestOptions): ApiPromise<Claim> {
    return ApiPromise.of(this.#fail(id, message, options));
  }

  async #fail(id: string, message: string, options?: RequestOptions): Promise<WithResponse<Claim>> {
    let mayBeDone = false;
    try {
      return await this.transport().run(
        "POST",
        "/v0/private-workers/claims/{id}/fail",
        () => ({ ...byId("id", id)(), body: { message: checkMessage(message) } }),
        {
          agentId: id,
          has: ["id"],
          onRetry: (error) => {
            mayBeDone ||= isAmbiguous(error);
          },
        },
        options,
      );
    } catch (error) {
      if (CursorError.isInstance(error) && (mayBeDone || isAmbiguous(error))) error.outcome = "unknown";
      throw error;
    }
  }

  /**
   * Makes a session token for the worker of a live claim; it lives seven days. Newer than the baseline page.
   * @throws ApiError 404 without a live claim of this worker
   */
  token(params: { id: string; workerId: string }, options?: RequestOptions): ApiPromise<ClaimToken> {
    return this.call(
      "POST",
      "/v0/private-workers/tokens",
      () => ({ body: checkClaim(params) }),
      { policy: "unsafe", agentId: params?.id, has: ["token"], isSecret: true },
      options,
    );
  }
}

function checkClaim<Params extends { id: string; workerId: string }>(params: Params) {
  const body = checkParams(params);
  segment("id", params.id);
  segment("workerId", params.workerId);
  return body;
}

function checkMessage(message: string): string {
  if (typeof message !== "string") throw unexpected("message", "a string", message);
  return checkParams({ message }).message;
}
