import { ApiPromise, type WithResponse } from "../api-promise.ts";
import { SharedWork } from "../async.ts";
import { checkSignal } from "../check.ts";
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
import { checkParams, toQuery } from "./params.ts";
import { byId, onePage, Resource } from "./resource.ts";

/** The owner of the key. */
export function getApiKeyInfo(transport: Transport, options?: RequestOptions): ApiPromise<ApiKeyInfo> {
  return ApiPromise.of(transport.run("GET", "/v1/me", undefined, {}, options));
}

/** Models. */
export class Models extends Resource {
  /**
   * The recommended models, with the parameters and variants each accepts, in one page. Other models may work, too.
   * @see List Models
   */
  list(options?: RequestOptions): PagePromise<Model> {
    return this.pages("/v1/models", { names: onePage }, options);
  }
}

type Answer = WithResponse<{ items: Repository[] }>;

const timeout = 120_000;
/** The API allows one request a minute per user. */
const rememberedFor = 60_000;

/** The repositories that Cursor can reach for the user. */
export class Repositories extends Resource {
  #underWay = new SharedWork<Answer>();
  #remembered: { answer: Answer; at: number } | undefined;

  /**
   * The repositories, in one page. The API allows one request a minute and 30 an hour, and may take tens of seconds: so
   * callers share a request that is under way, and an answer is reused for a minute.
   * @param query.fresh Send a new request even if there is an answer to reuse.
   * @throws ApiError `rate_limit_exceeded` with `retryAfterMs`: expect it, and continue without the list
   * @see List GitHub Repositories
   */
  list(query: { fresh?: boolean | undefined } = {}, options?: RequestOptions): PagePromise<Repository> {
    return new PagePromise<Repository>({
      path: "/v1/repositories",
      itemsKey: "items",
      fetch: async () => {
        const { data, ...around } = await this.#answer(query?.fresh === true, options);
        // A copy for each caller, so that one who sorts the list does not sort it for the others.
        const { items } = data;
        return { ...around, data: { ...data, items: Array.isArray(items) ? [...items] : items } };
      },
    });
  }

  async #answer(isFresh: boolean, options?: RequestOptions): Promise<Answer> {
    const signal = checkSignal("signal", options?.signal);
    signal?.throwIfAborted();
    const { clock } = this.transport().settings;
    const remembered = this.#remembered;
    if (remembered && !isFresh && clock.now() - remembered.at < rememberedFor) return remembered.answer;
    // One caller's signal must not end the request of the others. Once all have aborted, it ends, so that it does not
    // keep a process alive.
    return this.#underWay.join("list", signal, async (shared) => {
      this.#remembered = undefined;
      const answer = await this.transport().run(
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
export class UsageResource extends Resource {
  /**
   * Tokens used by an agent, in total and per run; a run without usage so far is listed with zeros.
   * @throws ApiError `run_not_found` for an unknown `runId`; `feature_unavailable` where usage isn't enabled
   * @see Get Agent Usage
   */
  get(
    agentId: string,
    query?: { /** Only this run. */ runId?: string | undefined },
    options?: RequestOptions,
  ): ApiPromise<AgentUsage> {
    return this.call(
      "GET",
      "/v1/agents/{id}/usage",
      () => ({ ...byId("agentId", agentId)(), query: toQuery(query) }),
      { agentId, runId: query?.runId },
      options,
    );
  }
}

/** Tokens for workers that run as a team member. */
export class WorkerTokens extends Resource {
  /**
   * Makes a token for a team member: it lives one hour and can't be refreshed, so make a new one then.
   * Needs a service-account key of the team.
   * @throws ApiError `service_account_required`; 404 when there is no such active member
   * @see Create A User-Scoped Worker Token
   */
  create(params: CreateWorkerTokenParams, options?: RequestOptions): ApiPromise<WorkerToken> {
    return this.call(
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
