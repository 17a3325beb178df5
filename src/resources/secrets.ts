import type { ApiPromise } from "../api-promise.ts";
import { segment } from "../check.ts";
import type { Transport } from "../http/transport.ts";
import type { RequestOptions } from "../options.ts";
import type { PagePromise } from "../pagination.ts";
import type { Secret, SecretScope, SetSecretParams } from "../types.ts";
import { checkParams, deletion, toQuery } from "./params.ts";
import { byCursor, byId, Resource } from "./resource.ts";

/** Secrets are not told apart by id, since a new one may lack it. */
const names = { ...byCursor, idKey: "" };

/** Filters and page of {@link Secrets.list}. */
export interface ListSecretsQuery {
  /** Only the secrets of this kind of holder. */
  scope?: SecretScope | undefined;
  /** Only those of this environment. */
  environmentId?: string | undefined;
  /** Only those with this name. */
  name?: string | undefined;
  /** Only secrets that apply to this repository. */
  repo?: string | undefined;
  /** Secrets per page, 1 to 100. @default 100 */
  limit?: number | undefined;
  /** Where to start: a page's `nextCursor`. */
  cursor?: string | undefined;
}

/** {@link RequestOptions}, and which of several secrets with one name is meant. */
export interface SecretVersionOptions extends RequestOptions {
  /** Its id (`secv_…`), needed where several share the name (409 `secret_name_ambiguous`). */
  id?: string | undefined;
}

/**
 * Stored secrets; the API never returns their values. Newer than the baseline page of the API: only the newer edition of
 * the official documentation has these calls. In a run, `envVars` take precedence over an
 * environment's secrets, those over personal ones, and those over the team's.
 */
export class Secrets extends Resource {
  /** The team's. */
  readonly team: TeamSecrets;
  /** Those of one environment. */
  readonly environment: EnvironmentSecrets;

  /** @internal */
  constructor(transport: Transport) {
    super(transport);
    this.team = new TeamSecrets(transport);
    this.environment = new EnvironmentSecrets(transport);
  }

  /** The secrets that the key can see, page by page. */
  list(query?: ListSecretsQuery, options?: RequestOptions): PagePromise<Secret> {
    return this.pages("/v1/secrets", { names, query }, options);
  }
}

/**
 * The team's secrets. Needs a seat in the team, and a team admin where only those may change secrets. Newer than the
 * baseline page of the API.
 */
export class TeamSecrets extends Resource {
  /** The team's secrets, sorted by name, in one page. */
  list(options?: RequestOptions): PagePromise<Secret> {
    return this.pages("/v1/team/secrets", { names }, options);
  }

  /**
   * Creates or changes a secret; a new one may lack `id` and `createdAt`. Repeated when its answer is lost.
   * @param name Letters, digits and `_`, no digit first, at most 255
   * @throws ApiError `secret_name_ambiguous`, `secret_limit_reached`, `team_admin_required`, …
   */
  set(name: string, params: SetSecretParams, options: SecretVersionOptions = {}): ApiPromise<Secret> {
    const { id, ...rest } = options ?? {};
    return this.call(
      "PUT",
      "/v1/team/secrets/{name}",
      () => ({ path: { name: segment("name", name) }, query: toQuery({ id }), body: checkParams(params) }),
      { has: ["name"] },
      rest,
    );
  }

  /**
   * Deletes a secret.
   * @throws ApiError `secret_not_found`, `secret_name_ambiguous`
   */
  delete(name: string, options: SecretVersionOptions = {}): ApiPromise<{ name: string }> {
    const { id, ...rest } = options ?? {};
    return this.call(
      "DELETE",
      "/v1/team/secrets/{name}",
      () => ({ path: { name: segment("name", name) }, query: toQuery({ id }) }),
      deletion({ name }),
      rest,
    );
  }
}

/** The secrets of environments. Newer than the baseline page of the API. */
export class EnvironmentSecrets extends Resource {
  /** An environment's secrets, sorted by name, in one page. */
  list(environmentId: string, options?: RequestOptions): PagePromise<Secret> {
    return this.pages(
      "/v1/environments/{id}/secrets",
      { names, input: byId("environmentId", environmentId) },
      options,
    );
  }

  /**
   * Creates or changes a secret; a new one may lack `id` and `createdAt`. Repeated when its answer is lost.
   * @param name Letters, digits and `_`, no digit first, at most 255
   * @throws ApiError `environment_not_found`, `secret_name_ambiguous`, `secret_limit_reached`, …
   */
  set(
    environmentId: string,
    name: string,
    params: SetSecretParams,
    options: SecretVersionOptions = {},
  ): ApiPromise<Secret> {
    const { id, ...rest } = options ?? {};
    return this.call(
      "PUT",
      "/v1/environments/{id}/secrets/{name}",
      () => ({ path: pathOf(environmentId, name), query: toQuery({ id }), body: checkParams(params) }),
      { has: ["name"] },
      rest,
    );
  }

  /**
   * Deletes a secret.
   * @throws ApiError `environment_not_found`, `secret_not_found`, `secret_name_ambiguous`
   */
  delete(
    environmentId: string,
    name: string,
    options: SecretVersionOptions = {},
  ): ApiPromise<{ name: string }> {
    const { id, ...rest } = options ?? {};
    return this.call(
      "DELETE",
      "/v1/environments/{id}/secrets/{name}",
      () => ({ path: pathOf(environmentId, name), query: toQuery({ id }) }),
      deletion({ name }),
      rest,
    );
  }
}

const pathOf = (environmentId: string, name: string) => ({
  id: segment("environmentId", environmentId),
  name: segment("name", name),
});
