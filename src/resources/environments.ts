import type { ApiPromise } from "../api-promise.ts";
import { segment } from "../check.ts";
import { ArgumentError } from "../errors.ts";
import type { Transport } from "../http/transport.ts";
import type { RequestOptions } from "../options.ts";
import type { PagePromise } from "../pagination.ts";
import type {
  ActiveEnvironmentBuild,
  CreateEnvironmentParams,
  Environment,
  EnvironmentBuild,
  EnvironmentChange,
  EnvironmentDetails,
  UpdateEnvironmentParams,
} from "../types.ts";
import { checkParams, deletion } from "./params.ts";
import { byId, Resource } from "./resource.ts";

/** A page of environments or of their changes. */
export interface ListEnvironmentsQuery {
  /** Items per page, 1 to 100. @default 20 */
  limit?: number | undefined;
  /** Where to start: a page's `nextCursor`. */
  cursor?: string | undefined;
}

/** A page of builds; its size is fixed at ten. */
export interface ListEnvironmentBuildsQuery {
  /** Where to start: a page's `nextCursor`. */
  cursor?: string | undefined;
}

/**
 * Named cloud environments. Newer than the baseline page of the API: only the newer edition of the official
 * documentation has these calls.
 */
export class Environments extends Resource {
  /** Builds of environments. */
  readonly builds: EnvironmentBuilds;

  /** @internal */
  constructor(transport: Transport) {
    super(transport);
    this.builds = new EnvironmentBuilds(transport);
  }

  /**
   * Creates an environment. Sent once: after an error with `outcome: "unknown"`, look for its name, which is unique.
   * @param params.environmentJson The configuration as JSON text
   * @throws ApiError `environment_name_conflict`, `repository_access`, `validation_error`, …
   */
  create(params: CreateEnvironmentParams, options?: RequestOptions): ApiPromise<Environment> {
    return this.call(
      "POST",
      "/v1/environments",
      () => ({ body: checkParams(params) }),
      { policy: "unsafe", has: ["id"] },
      options,
    );
  }

  /** Lists environments by their last update, page by page; a page may be short while more follow. */
  list(query?: ListEnvironmentsQuery, options?: RequestOptions): PagePromise<Environment> {
    return this.pages("/v1/environments", { query }, options);
  }

  /**
   * An environment with its configuration.
   * @throws ApiError `environment_not_found`
   */
  get(environmentId: string, options?: RequestOptions): ApiPromise<EnvironmentDetails> {
    return this.call(
      "GET",
      "/v1/environments/{id}",
      byId("environmentId", environmentId),
      { has: ["id"] },
      options,
    );
  }

  /**
   * Renames an environment or replaces its configuration. It sets a state, so it is repeated when its answer is lost.
   * @throws ApiError `environment_not_found`, `environment_name_conflict`
   */
  update(
    environmentId: string,
    params: UpdateEnvironmentParams,
    options?: RequestOptions,
  ): ApiPromise<undefined> {
    return this.call(
      "PATCH",
      "/v1/environments/{id}",
      () => ({ ...byId("environmentId", environmentId)(), body: checkParams(params) }),
      { empty: undefined },
      options,
    );
  }

  /**
   * Deletes an environment.
   * @throws ApiError `environment_not_found`
   */
  delete(environmentId: string, options?: RequestOptions): ApiPromise<{ id: string }> {
    return this.call(
      "DELETE",
      "/v1/environments/{id}",
      byId("environmentId", environmentId),
      deletion({ id: environmentId }),
      options,
    );
  }

  /** What changed in an environment, when and how. */
  history(
    environmentId: string,
    query?: ListEnvironmentsQuery,
    options?: RequestOptions,
  ): PagePromise<EnvironmentChange> {
    return this.pages(
      "/v1/environments/{id}/history",
      { query, input: byId("environmentId", environmentId) },
      options,
    );
  }
}

/** Builds of environments. Newer than the baseline page of the API. */
export class EnvironmentBuilds extends Resource {
  /** The builds of an environment, ten a page. */
  list(
    environmentId: string,
    query?: ListEnvironmentBuildsQuery,
    options?: RequestOptions,
  ): PagePromise<EnvironmentBuild> {
    return this.pages(
      "/v1/environments/{id}/builds",
      { query, input: byId("environmentId", environmentId) },
      options,
    );
  }

  /**
   * One build.
   * @throws ApiError `environment_not_found`, `build_not_found`
   */
  get(environmentId: string, buildId: string, options?: RequestOptions): ApiPromise<EnvironmentBuild> {
    return this.call(
      "GET",
      "/v1/environments/{id}/builds/{buildId}",
      () => {
        const { path } = byId("environmentId", environmentId)();
        segment("buildId", buildId);
        if (buildId === "active") {
          throw new ArgumentError("buildId", '"active" is an endpoint: use `active()`');
        }
        return { path: { ...path, buildId } };
      },
      { has: ["id"] },
      options,
    );
  }

  /** What the agents of an environment start from: one of its builds, or the universal image. */
  active(environmentId: string, options?: RequestOptions): ApiPromise<ActiveEnvironmentBuild> {
    return this.call(
      "GET",
      "/v1/environments/{id}/builds/active",
      byId("environmentId", environmentId),
      { has: ["type"] },
      options,
    );
  }
}
