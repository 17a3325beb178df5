import * as z from "zod/mini";
import type { Caller } from "../authenticate.ts";
import type { Call, Route } from "../core.ts";
import { type Answer, json } from "../exchange.ts";
import { failedResponse, invalid } from "../failed-response.ts";
import { emptyQuery, rule, text, validate } from "../validate.ts";
import { environmentOf } from "./environment-routes.ts";
import { type SecretHolder, type SecretRecord, toSecret } from "./secret-store.ts";

/** Rejects keys of another product. @internal */
export function checkSecretsKey(caller: Caller): void {
  if (caller.key.startsWith("grok_")) {
    throw failedResponse(403, "key_not_supported", "This kind of API key is not supported here.");
  }
}

/** Rejects keys without a team and keys for some repositories only, because the team's secrets apply to all. @internal */
export function checkTeam(caller: Caller): void {
  if (caller.role === "none") {
    throw failedResponse(403, "team_membership_required", "This key does not work in a team.");
  }
  checkUnlimited(caller);
}

/** Rejects keys that are limited to some repositories. @internal */
export function checkUnlimited(caller: Caller): void {
  if (caller.repositories !== undefined) {
    throw failedResponse(403, "repository_access", "This key is limited to some repositories.");
  }
}

const secretName = z.string().check(
  rule(
    (value) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(value),
    "Secret name must be letters, digits and underscores",
  ),
  z.maxLength(255),
  rule(
    (value) => !/CURSOR_SANDBOX/.test(value) && !/^(HTTP|HTTPS|ALL)_PROXY$/i.test(value),
    "Secret name is reserved",
  ),
);

const bytesOf = (value: string) => new TextEncoder().encode(value).length;

/** Path and body of the operations that set a secret. */
export const putSecretInput = z.strictObject({
  name: secretName,
  body: z.strictObject({
    value: z.string().check(
      z.minLength(1),
      rule((value) => bytesOf(value) <= 4096, "value must be at most 4096 bytes"),
    ),
    type: z.optional(z.enum(["runtime_secret", "environment_variable"])),
    repos: z.optional(
      z
        .array(z.string().check(rule((repo) => /[^/]\/[^/]/.test(repo), "Not a repository")))
        .check(z.maxLength(100)),
    ),
  }),
});

/** Query of the operations on one secret. */
export const secretVersionQuery = z.strictObject({ id: z.optional(text) });

/** The owner of the secrets that a path names, and whether that is the team. */
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
    throw failedResponse(403, "team_admin_required", "Only team admins can change secrets.");
  }
}

/** The version that a request means; `undefined` if the name has no version. */
function versionOf(versions: SecretRecord[], id: string | undefined): SecretRecord | undefined {
  if (id !== undefined) {
    const version = versions.find((candidate) => candidate.id === id);
    if (version === undefined) throw failedResponse(404, "secret_not_found", "Secret not found");
    return version;
  }
  if (versions.length > 1) {
    const list = versions.map(
      (version) => `${version.id} (${version.repos.join(", ") || "every repository"})`,
    );
    const message = `Several versions have this name, pass one of their ids: ${list.join("; ")}`;
    throw failedResponse(409, "secret_name_ambiguous", message);
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
        throw failedResponse(
          409,
          "secret_scope_conflict",
          "Another version of this name has these repositories.",
        );
      }
      secrets.change(version, body);
      return json(200, toSecret(version));
    }
    if (held.some((secret) => secret.name.toLowerCase() === name.toLowerCase())) {
      throw failedResponse(409, "secret_name_conflict", "A secret has this name in other letter case.");
    }
    if (held.length >= options.secrets.limit) {
      throw failedResponse(409, "secret_limit_reached", `There can be ${options.secrets.limit} secrets.`);
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
    if (version === undefined) throw failedResponse(404, "secret_not_found", "Secret not found");
    secrets.delete(version);
    return json(200, { name });
  };
}

const inEnvironment = "/v1/environments/{id}/secrets";

const inTeam = "/v1/team/secrets";

/** Operations on the secrets of an environment and of the team. */
export const secretRoutes: readonly Route[] = [
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
