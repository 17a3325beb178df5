import type { ApiPromise } from "../api-promise.ts";
import { ArgumentError } from "../errors.ts";
import type { Transport } from "../http/transport.ts";
import type { RequestOptions } from "../options.ts";
import type { CreateWorkerTokenParams, WorkerToken } from "../types.ts";
import { checkParams } from "./params.ts";

/** Tokens with which a worker runs as a team member. */
export class WorkerTokens {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Makes a token for a team member: it lives one hour and can't be refreshed; make a new one.
   * Needs a service-account key of the team.
   * @throws ApiError `service_account_required`; 404 when nobody active is meant
   * @see Create A User-Scoped Worker Token
   */
  create(params: CreateWorkerTokenParams, options?: RequestOptions): ApiPromise<WorkerToken> {
    return this.#transport.call(
      "POST",
      "/v1/sub-tokens",
      () => {
        checkParams(params);
        if ((params.forUserEmail === undefined) === (params.forUserId === undefined)) {
          throw new ArgumentError("params", "needs exactly one of `forUserEmail` and `forUserId`");
        }
        return { body: params as never };
      },
      { policy: "unsafe", isSecret: true },
      options,
    );
  }
}
