import type { ApiPromise } from "../api-promise.ts";
import { ArgumentError } from "../errors.ts";
import type { Transport } from "../http/transport.ts";
import type { RequestOptions } from "../options.ts";
import type { PagePromise } from "../pagination.ts";
import { listPages, onePage } from "../resources/list.ts";
import { checkParams, deletion, toQuery } from "../resources/params.ts";
import type { DeregisterPoolParams, Pool, RegisterPoolParams } from "../types.ts";

/** Filters of {@link Pools.list}. */
export interface ListPoolsQuery {
  /** Whose pools. @default "all" */
  scope?: "all" | "team_pool" | "personal" | (string & {}) | undefined;
  /** Also those marked stale after long inactivity. @default false */
  includeStale?: boolean | undefined;
}

/** Durable pools: they stay registered with no worker connected. */
export class Pools {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * The team's pools, in one page. Idle capacity is `connectedWorkerCount - inUseWorkerCount`.
   * @see List Pools
   */
  list(query?: ListPoolsQuery, options?: RequestOptions): PagePromise<Pool> {
    return listPages(
      this.#transport,
      "/v0/private-workers/pools",
      { names: { ...onePage, itemsKey: "pools" }, query },
      options,
    );
  }

  /**
   * Registers a pool, so that it can be chosen before a worker connects. Repeated when its answer is lost: a pool is
   * known by its names, and each worker that starts with `--pool` registers it again, so a second time does no harm.
   * @throws ArgumentError for half a repository; ApiError
   * @see Register A Pool
   */
  register(params: RegisterPoolParams, options?: RequestOptions): ApiPromise<{ registered: boolean }> {
    return this.#transport.call(
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
   * Takes a pool out of lists and pickers; its connected workers go on. A team pool needs a team admin, a user pool its
   * owner. Repeated when its answer is lost; that the pool is gone by then counts as done.
   * @throws ArgumentError for half a repository; ApiError
   * @see Deregister A Pool
   */
  deregister(params: DeregisterPoolParams, options?: RequestOptions): ApiPromise<{ deregistered: boolean }> {
    return this.#transport.call(
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
  if ((given[owner] === undefined) === (given[name] === undefined)) return;
  throw new ArgumentError(
    given[owner] === undefined ? owner : name,
    `goes with \`${owner}\` and \`${name}\``,
  );
}
