import type { Call, Route } from "../core-context.ts";
import { json } from "../exchange.ts";
import { invalid, Refusal, refusal } from "../refusal.ts";
import { emptyQuery } from "../schemas.ts";
import { validate } from "../validation.ts";
import {
  buildsQuery,
  createEnvironmentBody,
  pageQuery,
  updateEnvironmentBody,
} from "./environment-schemas.ts";
import { type EnvironmentRecord, isInScope } from "./environment-store.ts";
import { offsetCursor, readOffset } from "./offset-cursor.ts";

const iso = (ms: number) => new Date(ms).toISOString();

/** An item of List Environments. */
function toEnvironment(environment: EnvironmentRecord) {
  const { id, name, owner, repos, createdAt, updatedAt } = environment;
  return { id, name, owner, repos, createdAt: iso(createdAt), updatedAt: iso(updatedAt) };
}

/**
 * The environment of the path.
 *
 * @throws Refusal 404 `environment_not_found`, also for one that the key can't see.
 * @internal
 */
export function environmentOf({ core, caller, params }: Call): EnvironmentRecord {
  const found = core.environments.visibleTo(caller).find(({ id }) => id === params["id"]);
  if (found === undefined) throw refusal(404, "environment_not_found", "Environment not found");
  return found;
}

function nameConflict(existing: EnvironmentRecord): Refusal {
  const message = "An environment with this name already exists.";
  const error = { code: "environment_name_conflict", message, environmentId: existing.id };
  return new Refusal(json(409, { error }), message);
}

function createEnvironment({ core, caller, query, body }: Call) {
  validate(emptyQuery, query);
  const { owner, name, repos, environmentJson } = validate(createEnvironmentBody, body);
  const { userId, userEmail } = caller.info;
  if (owner === "personal" && userId === undefined) {
    throw refusal(403, "user_required", "A personal environment needs a key that acts for a user.");
  }
  if (owner === "team" && caller.role === "none") {
    throw refusal(403, "team_membership_required", "This key does not work in a team.");
  }
  if (!isInScope(caller, repos)) {
    throw refusal(400, "repository_access", "Cursor can't access a repository of this environment.");
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
  const all = core.environments.visibleTo(caller);
  const size = core.options.shortPages ? Math.ceil(Number(limit) / 2) : Number(limit);
  const items = all.slice(start, start + size).map(toEnvironment);
  const end = start + items.length;
  return json(200, { items, ...(end < all.length ? { nextCursor: offsetCursor(end) } : {}) });
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

/** A page of what is listed newest first and continued behind an id. */
function pageBehind<Item extends { id: string }>(all: Item[], cursor: string | undefined, size: number) {
  const start = cursor === undefined ? 0 : all.findIndex(({ id }) => id === cursor) + 1;
  if (cursor !== undefined && start === 0) throw invalid("Invalid pagination cursor");
  const items = all.slice(start, start + size);
  const last = start + items.length < all.length ? items.at(-1) : undefined;
  return json(200, { items, ...(last === undefined ? {} : { nextCursor: last.id }) });
}

function listEnvironmentHistory(call: Call) {
  const { limit = "20", cursor } = validate(pageQuery, call.query);
  return pageBehind(environmentOf(call).history, cursor, Number(limit));
}

function listEnvironmentBuilds(call: Call) {
  const { cursor } = validate(buildsQuery, call.query);
  return pageBehind(environmentOf(call).builds, cursor, 10);
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
  if (build === undefined) throw refusal(404, "build_not_found", "Build not found");
  return json(200, build);
}

const path = "/v1/environments";

/** Environments, their history and builds. */
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
