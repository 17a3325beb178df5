import type { ApiPromise } from "../api-promise.ts";
import { segment } from "../http/path.ts";
import type { Transport } from "../http/transport.ts";
import type { RequestOptions } from "../options.ts";
import type { AgentUsage } from "../types.ts";
import { toQuery } from "./params.ts";

/** Token usage. */
export class UsageResource {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Tokens used by an agent, in total and per run; a run without usage yet is there with zeros.
   * @throws ApiError `run_not_found` for an unknown `runId`; `feature_unavailable` where usage isn't enabled
   * @see Get Agent Usage
   */
  get(
    agentId: string,
    query?: { /** Only this run. */ runId?: string | undefined },
    options?: RequestOptions,
  ): ApiPromise<AgentUsage> {
    return this.#transport.call(
      "GET",
      "/v1/agents/{id}/usage",
      () => ({ path: { id: segment("agentId", agentId) }, query: toQuery(query) }),
      { agentId, runId: query?.runId },
      options,
    );
  }
}
