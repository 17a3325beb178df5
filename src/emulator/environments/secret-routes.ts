import type { Call, Route } from "../core-context.ts";
import { type Answer, json } from "../exchange.ts";
import { invalid, refusal } from "../refusal.ts";
import { emptyQuery } from "../schemas.ts";
import { validate } from "../validation.ts";
import { environmentOf } from "./environment-routes.ts";
import { putSecretInput, secretVersionQuery } from "./environment-schemas.ts";
import { listSecrets } from "./list-secrets.ts";
import { checkSecretsKey, checkTeam } from "./secret-access.ts";
import type { SecretHolder, SecretRecord } from "./secret-store.ts";
import { toSecret } from "./secret-views.ts";

/** Who holds the secrets of this path, and whether only admins may change them. */
interface Place {
  holder: SecretHolder;
  isTeams: boolean;
}

function environmentPlace(call: Call): Place {
  checkSecretsKey(call.caller);
  const { id, owner } = environmentOf(call);
  return { holder: { type: "environment", environmentId: id }, isTeams: owner === "team" };
}

function teamPlace({ caller }: Call): Place {
  checkSecretsKey(caller);
  checkTeam(caller);
  return { holder: { type: "team", team: caller.owner }, isTeams: true };
}

function checkMayChange({ core, caller }: Call, { isTeams }: Place): void {
  if (core.options.secrets.adminsOnly && isTeams && caller.role !== "admin") {
    throw refusal(403, "team_admin_required", "Only team admins can change secrets.");
  }
}

/** The version a request means; `undefined`: the name has none. */
function versionOf(versions: SecretRecord[], id: string | undefined): SecretRecord | undefined {
  if (id !== undefined) {
    const version = versions.find((candidate) => candidate.id === id);
    if (version === undefined) throw refusal(404, "secret_not_found", "Secret not found");
    return version;
  }
  if (versions.length > 1) {
    const list = versions.map(
      (version) => `${version.id} (${version.repos.join(", ") || "every repository"})`,
    );
    const message = `Several versions have this name, pass one of their ids: ${list.join("; ")}`;
    throw refusal(409, "secret_name_ambiguous", message);
  }
  return versions[0];
}

function listOf(place: (call: Call) => Place) {
  return (call: Call): Answer => {
    validate(emptyQuery, call.query);
    const secrets = call.core.secrets.heldBy(place(call).holder);
    const items = secrets
      .sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0))
      .map(toSecret);
    return json(200, { items, nextCursor: null });
  };
}

function put(place: (call: Call) => Place) {
  return (call: Call): Answer => {
    const { secrets, options } = call.core;
    const { id } = validate(secretVersionQuery, call.query);
    const where = place(call);
    const { name, body } = validate(putSecretInput, { name: call.params["name"], body: call.body });
    checkMayChange(call, where);
    const held = secrets.heldBy(where.holder);
    const versions = held.filter((secret) => secret.name === name);
    const version = versionOf(versions, id);
    if (version !== undefined) {
      if (version.type === "build_secret") throw invalid("Build secrets can't be set through the API");
      const others = versions.filter((other) => other !== version);
      if (body.repos !== undefined && others.some((other) => secrets.overlap(body.repos ?? [], other))) {
        throw refusal(409, "secret_scope_conflict", "Another version of this name has these repositories.");
      }
      secrets.change(version, body);
      return json(200, toSecret(version));
    }
    if (held.some((secret) => secret.name.toLowerCase() === name.toLowerCase())) {
      throw refusal(409, "secret_name_conflict", "A secret has this name in other letter case.");
    }
    if (held.length >= options.secrets.limit) {
      throw refusal(409, "secret_limit_reached", `There can be ${options.secrets.limit} secrets.`);
    }
    const { id: newId, createdAt, ...rest } = toSecret(secrets.add(where.holder, name, body));
    return json(201, options.secrets.lateIds ? rest : { id: newId, ...rest, createdAt });
  };
}

function remove(place: (call: Call) => Place) {
  return (call: Call): Answer => {
    const { secrets } = call.core;
    const { id } = validate(secretVersionQuery, call.query);
    const where = place(call);
    checkMayChange(call, where);
    const name = call.params["name"] ?? "";
    const version = versionOf(
      secrets.heldBy(where.holder).filter((secret) => secret.name === name),
      id,
    );
    if (version === undefined) throw refusal(404, "secret_not_found", "Secret not found");
    secrets.delete(version);
    return json(200, { name });
  };
}

const inEnvironment = "/v1/environments/{id}/secrets";
const inTeam = "/v1/team/secrets";

/** Secrets of the environments and of the team, and all of them in one list. */
export const secretRoutes: readonly Route[] = [
  { method: "GET", path: "/v1/secrets", operationId: "listSecrets", handle: listSecrets },
  {
    method: "GET",
    path: inEnvironment,
    operationId: "listEnvironmentSecrets",
    handle: listOf(environmentPlace),
  },
  {
    method: "PUT",
    path: `${inEnvironment}/{name}`,
    operationId: "putEnvironmentSecret",
    handle: put(environmentPlace),
  },
  {
    method: "DELETE",
    path: `${inEnvironment}/{name}`,
    operationId: "deleteEnvironmentSecret",
    handle: remove(environmentPlace),
  },
  { method: "GET", path: inTeam, operationId: "listTeamSecrets", handle: listOf(teamPlace) },
  { method: "PUT", path: `${inTeam}/{name}`, operationId: "putTeamSecret", handle: put(teamPlace) },
  { method: "DELETE", path: `${inTeam}/{name}`, operationId: "deleteTeamSecret", handle: remove(teamPlace) },
];
