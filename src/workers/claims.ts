import { ApiPromise, type WithResponse } from "../api-promise.ts";
import { segment } from "../check.ts";
import { CursorError } from "../errors.ts";
import { isAmbiguous } from "../http/retry.ts";
import type { Transport } from "../http/transport.ts";
import type { RequestOptions } from "../options.ts";
import { checkParams } from "../resources/params.ts";
import type { Claim, ClaimToken, CreateClaimParams } from "../types.ts";

/** Claims: each binds one pending request to one worker, atomically across all controllers. */
export class Claims {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Reserves a request for a worker, which is then to be started with this id (`CURSOR_AGENT_WORKER_ID`).
   *
   * Sent once. An error with `outcome: "unknown"` may have made the claim: look at `fleet.requests.list()` before
   * anything else. A request that is still there without `claimedWorkerId` is unclaimed; the claim is yours if it names
   * your worker.
   *
   * @throws ApiError 409 when another claim is live (someone was faster), 404 when the request is gone
   * @see Claim A Pending Request
   */
  create(params: CreateClaimParams, options?: RequestOptions): ApiPromise<Claim> {
    return this.#transport.call(
      "POST",
      "/v0/private-workers/claim",
      () => {
        const body = checkParams(params);
        segment("id", params.id);
        segment("workerId", params.workerId);
        return { body };
      },
      { policy: "unsafe", agentId: params?.id, has: ["id", "workerId"], isSecret: true },
      options,
    );
  }

  /**
   * Ends an agent's preference for one machine: its request returns to the queue, and another worker can claim it at
   * once. A running turn goes on. Sent once: a second release could end the claim of whoever came next.
   * @throws ApiError 404 when no claim is live: released before, run out, or taken over
   * @see Release A Claim
   */
  release(id: string, options?: RequestOptions): ApiPromise<Claim> {
    return this.#transport.call(
      "POST",
      "/v0/private-workers/claims/{id}/release",
      () => ({ path: { id: segment("id", id) } }),
      { policy: "unsafe", agentId: id, has: ["id"] },
      options,
    );
  }

  /**
   * Tells the user who waits for a claim that no worker will come. Newer than the baseline page: a server without it
   * answers 404. Repeating does no harm.
   * @param message 1 to 500 characters
   * @throws ApiError 400 when no turn waits or the worker is connected, 404 without a live claim; with
   *   `outcome: "unknown"` where an earlier attempt of this call may have been heard
   */
  fail(id: string, message: string, options?: RequestOptions): ApiPromise<Claim> {
    return ApiPromise.of(this.#fail(id, message, options));
  }

  async #fail(id: string, message: string, options?: RequestOptions): Promise<WithResponse<Claim>> {
    let mayBeDone = false;
    try {
      return await this.#transport.run(
        "POST",
        "/v0/private-workers/claims/{id}/fail",
        () => ({ path: { id: segment("id", id) }, body: { message } }),
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
    return this.#transport.call(
      "POST",
      "/v0/private-workers/tokens",
      () => ({ body: checkParams(params) }),
      { policy: "unsafe", agentId: params?.id, has: ["token"], isSecret: true },
      options,
    );
  }
}
