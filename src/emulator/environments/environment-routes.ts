import * as z from "zod/mini";
import type { Call, Route } from "../core.ts";
import { json } from "../exchange.ts";
import { FailedResponse, failedResponse } from "../failed-response.ts";
import { pageAfter, pageAt, readOffset } from "../page.ts";
import { emptyQuery, limit, repositoryUrl, rule, text, validate } from "../validate.ts";
import { type EnvironmentRecord, isInScope } from "./environment-store.ts";

const name = z.string().check(z.minLength(1), z.maxLength(255));

const environmentJson = z.string().check(
  rule((value) => {
    try {
      const parsed: unknown = JSON.parse(value);
      return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
    } catch {
      return false;
    }
  }, "environmentJson must be the text of a JSON object"),
);

/** Body of Create An Environment. */
export const createEnvironmentBody = z.strictObject({
  owner: z.enum(["personal", "team"]),
  name,
  repos: z.array(z.strictObject({ url: repositoryUrl })).check(z.maxLength(100)),
  environmentJson,
});

/** Body of Update An Environment. */
export const updateEnvironmentBody = z.strictObject({
  name: z.optional(name),
  environmentJson: z.optional(environmentJson),
});

/** Query of List Environments and of List Environment History. */
export const pageQuery = z.strictObject({ limit: z.optional(limit), cursor: z.optional(text) });

/** Query of List Environment Builds, whose pages have one size. */
export const buildsQuery = z.strictObject({ cursor: z.optional(text) });

const iso = (ms: number) => new Date(ms).toISOString();

/** An item of List Environments. */
function toEnvironment(environment: EnvironmentRecord) {
  const { id, name, owner, repos, createdAt, updatedAt } = environment;
  return { id, name, owner, repos, createdAt: iso(createdAt), updatedAt: iso(updatedAt) };
}

/**
 * The environment that the path names.
 *
 * @throws FailedResponse 404 `environment_not_found`, even if it exists but the key can't see it.
 * @internal
 */
export function environmentOf({ core, caller, params }: Call): EnvironmentRecord {
  const found = core.environments.visibleTo(caller).find(({ id }) => id === params["id"]);
  if (found === undefined) throw failedResponse(404, "environment_not_found", "Environment not found");
  return found;
}

function nameConflict(existing: EnvironmentRecord): FailedResponse {
  const message = "An environment with this name already exists.";
  const error = { code: "environment_name_conflict", message, environmentId: existing.id };
  return new FailedResponse(json(409, { error }), message);
}

function createEnvironment({ core, caller, query, body }: Call) {
  validate(emptyQuery, query);
  const { owner, name, repos, environmentJson } = validate(createEnvironmentBody, body);
  const { userId, userEmail } = caller.info;
  if (owner === "personal" && userId === undefined) {
    throw failedResponse(403, "user_required", "A personal environment needs a key that acts for a user.");
  }
  if (owner === "team" && caller.role === "none") {
    throw failedResponse(403, "team_membership_required", "This key does not work in a team.");
  }
  if (!isInScope(caller, repos)) {
    throw failedResponse(400, "repository_access", "Cursor can't access a repository of this environment.");
  }
  const whose = owner === "personal" ? { userId: userId as number } : {};
  const taken = core.environments.namesake(name, { team: caller.owner, ...whose });
  if (taken !== undefined) throw nameConflict(taken);
  const email = owner === "personal" && userEmail !== undefined ? { userEmail } : {};
  const init = { owner, name, repos, environmentJson, team: caller.owner, ...whose, ...email };
  return json(201, toEnvironment(core.environments.create(init)));
}

function listEnvironments({ core, caller, query }: Call) {
  const { limit = "20", cursor } = validate(pageQuery, query);
  const start = readOffset(cursor);
  const size = core.options.shortPages ? Math.ceil(Number(limit) / 2) : Number(limit);
  const page = pageAt(core.environments.visibleTo(caller), start, size);
  return json(200, { ...page, items: page.items.map(toEnvironment) });
}

function getEnvironment(call: Call) {
  validate(emptyQuery, call.query);
  const environment = environmentOf(call);
  const { environmentJson, versionId } = environment;
  return json(200, { ...toEnvironment(environment), environmentJson, versionId });
}

function updateEnvironment(call: Call) {
  const { environments } = call.core;
  validate(emptyQuery, call.query);
  const environment = environmentOf(call);
  const changes = validate(updateEnvironmentBody, call.body);
  const taken = changes.name === undefined ? undefined : environments.namesake(changes.name, environment);
  if (taken !== undefined) throw nameConflict(taken);
  environments.update(environment, changes);
  return { status: 204, headers: [], body: new Uint8Array() };
}

function deleteEnvironment(call: Call) {
  validate(emptyQuery, call.query);
  const environment = environmentOf(call);
  call.core.environments.delete(environment);
  call.core.secrets.forget(environment.id);
  return json(200, { id: environment.id });
}

function listEnvironmentHistory(call: Call) {
  const { limit = "20", cursor } = validate(pageQuery, call.query);
  return json(200, pageAfter(environmentOf(call).history, cursor, Number(limit)));
}

function listEnvironmentBuilds(call: Call) {
  const { cursor } = validate(buildsQuery, call.query);
  return json(200, pageAfter(environmentOf(call).builds, cursor, 10));
}

function getActiveEnvironmentBuild(call: Call) {
  validate(emptyQuery, call.query);
  const { builds } = environmentOf(call);
  const active = builds.find(({ status, draft }) => status === "SUCCEEDED" && !draft);
  return json(
    200,
    active === undefined ? { type: "universal_image" } : { type: "build", buildId: active.id },
  );
}

function getEnvironmentBuild(call: Call) {
  validate(emptyQuery, call.query);
  const build = environmentOf(call).builds.find(({ id }) => id === call.params["buildId"]);
  if (build === undefined) throw failedResponse(404, "build_not_found", "Build not found");
  return json(200, build);
}

const path = "/v1/environments";

/** Operations on environments, their history and their builds. */
export const environmentRoutes: readonly Route[] = [
  { method: "POST", path, operationId: "createEnvironment", handle: createEnvironment },
  { method: "GET", path, operationId: "listEnvironments", handle: listEnvironments },
  { method: "GET", path: `${path}/{id}`, operationId: "getEnvironment", handle: getEnvironment },
  { method: "PATCH", path: `${path}/{id}`, operationId: "updateEnvironment", handle: updateEnvironment },
  { method: "DELETE", path: `${path}/{id}`, operationId: "deleteEnvironment", handle: deleteEnvironment },
  {
    method: "GET",
    path: `${path}/{id}/history`,
    operationId: "listEnvironmentHistory",
    handle: listEnvironmentHistory,
  },
  {
    method: "GET",
    path: `${path}/{id}/builds`,
    operationId: "listEnvironmentBuilds",
    handle: listEnvironmentBuilds,
  },
  {
    method: "GET",
    path: `${path}/{id}/builds/active`,
    operationId: "getActiveEnvironmentBuild",
    handle: getActiveEnvironmentBuild,
  },
  {
    method: "GET",
    path: `${path}/{id}/builds/{buildId}`,
    operationId: "getEnvironmentBuild",
    handle: getEnvironmentBuild,
  },
];
