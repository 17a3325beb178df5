import type { ApiPromise, WithResponse } from "../api-promise.ts";
import { SharedWork } from "../async.ts";
import { checkSignal, segment } from "../check.ts";
import { ArgumentError } from "../errors.ts";
import type { Transport } from "../http/transport.ts";
import type { RequestOptions } from "../options.ts";
import { PagePromise } from "../pagination.ts";
import type {
  AgentUsage,
  ApiKeyInfo,
  CreateWorkerTokenParams,
  Model,
  Repository,
  WorkerToken,
} from "../types.ts";
import { listPages, onePage } from "./list.ts";
import { checkParams, toQuery } from "./params.ts";

/** Whose key it is. */
export function getApiKeyInfo(transport: Transport, options?: RequestOptions): ApiPromise<ApiKeyInfo> {
  return transport.call("GET", "/v1/me", undefined, {}, options);
}

/** Models. */
export class Models {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * The recommended models, with the parameters and variants each accepts; one page. Others may work, too.
   * @see List Models
   */
  list(options?: RequestOptions): PagePromise<Model> {
    return listPages(this.#transport, "/v1/models", { names: onePage }, options);
  }
}

type Answer = WithResponse<{ items: Repository[] }>;

const timeout = 120_000;
/** The API answers once a minute per user. */
const rememberedFor = 60_000;

/** The repositories that Cursor can reach for the user. */
export class Repositories {
  readonly #transport: Transport;
  #underWay = new SharedWork<Answer>();
  #remembered: { answer: Answer; at: number } | undefined;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * The repositories; one page. The API allows one request a minute and 30 an hour, and may take tens of seconds: so
   * callers share a request under way, and an answer is given again for a minute.
   * @param query.fresh Ask anew, whatever is remembered.
   * @throws ApiError `rate_limit_exceeded` with `retryAfterMs`: be ready to do without
   * @see List GitHub Repositories
   */
  list(query: { fresh?: boolean | undefined } = {}, options?: RequestOptions): PagePromise<Repository> {
    return new PagePromise<Repository>({
      path: "/v1/repositories",
      itemsKey: "items",
      fetch: async () => {
        const { data, ...around } = await this.#answer(query?.fresh === true, options);
        // A copy of the list for each caller: sorting it must not sort everyone's.
        const { items } = data;
        return { ...around, data: { ...data, items: Array.isArray(items) ? [...items] : items } };
      },
    });
  }

  async #answer(isFresh: boolean, options?: RequestOptions): Promise<Answer> {
    const signal = checkSignal("signal", options?.signal);
    signal?.throwIfAborted();
    const { clock } = this.#transport.settings;
    const remembered = this.#remembered;
    if (remembered && !isFresh && clock.now() - remembered.at < rememberedFor) return remembered.answer;
    // Shared, so no single caller's signal ends it; the last one's does, lest it hold a process that is done.
    return this.#underWay.join("list", signal, async (shared) => {
      this.#remembered = undefined;
      const answer = await this.#transport.run(
        "GET",
        "/v1/repositories",
        undefined,
        { timeout },
        { ...options, signal: shared },
      );
      this.#remembered = { answer, at: clock.now() };
      return answer;
    });
  }
}

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
