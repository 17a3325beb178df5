import * as z from "zod/mini";
import type { Call, Route } from "../core.ts";
import { type Answer, json } from "../exchange.ts";
import { failedResponse } from "../failed-response.ts";
import { pageAt, readOffset } from "../page.ts";
import { toRepoPath } from "../repository.ts";
import { limit, rule, text, validate } from "../validate.ts";
import { environmentOf } from "./environment-routes.ts";
import { checkSecretsKey, checkTeam, checkUnlimited } from "./secret-routes.ts";
import { type SecretRecord, toSecret, toSecretOwner } from "./secret-store.ts";

/** Query of List Secrets. */
export const listSecretsQuery = z
  .strictObject({
    scope: z.optional(z.enum(["team", "user", "environment"])),
    environmentId: z.optional(z.uuid()),
    name: z.optional(text),
    repo: z.optional(text),
    limit: z.optional(limit),
    cursor: z.optional(text),
  })
  .check(
    rule(
      (query) => query.environmentId === undefined || !["team", "user"].includes(query.scope ?? ""),
      "environmentId can't be combined with scope team or user",
    ),
  );

/** A secret to list. Team admins see those of other members (`isOthers`) without their repositories. */
type Listed = SecretRecord & { isOthers?: true };

function teams({ core, caller }: Call): Listed[] {
  return core.secrets.heldBy({ type: "team", team: caller.owner });
}

function users({ core, caller }: Call): Listed[] {
  const { userId } = caller.info;
  return userId === undefined ? [] : core.secrets.heldBy({ type: "user", team: caller.owner, userId });
}

function environments({ core, caller }: Call): Listed[] {
  return core.environments
    .visibleTo(caller)
    .flatMap(({ id }) => core.secrets.heldBy({ type: "environment", environmentId: id }));
}

function others({ core, caller }: Call): Listed[] {
  const isOthers = ({ holder }: SecretRecord) => {
    const place = holder.type === "environment" ? core.environments.get(holder.environmentId) : holder;
    return place?.team === caller.owner && "userId" in place && place.userId !== caller.info.userId;
  };
  return core.secrets.all.filter(isOthers).map((secret) => ({ ...secret, isOthers: true }));
}

/** The secrets that a key can list without a scope. */
function everything(call: Call, repo: string | undefined): Listed[] {
  const { caller } = call;
  const isLimited = caller.repositories !== undefined;
  const seesOthers = caller.role === "admin" && caller.kind === "user" && !isLimited && repo === undefined;
  return [
    ...(isLimited || caller.role === "none" ? [] : teams(call)),
    ...(isLimited ? [] : users(call)),
    ...environments(call),
    ...(seesOthers ? others(call) : []),
  ];
}

function listed(call: Call, query: { scope?: string; environmentId?: string; repo?: string }): Listed[] {
  const { scope, environmentId, repo } = query;
  if (environmentId !== undefined) {
    const { id } = environmentOf({ ...call, params: { id: environmentId } });
    return call.core.secrets.heldBy({ type: "environment", environmentId: id });
  }
  if (scope === "team") {
    checkTeam(call.caller);
    return teams(call);
  }
  if (scope === "user") {
    if (call.caller.info.userId === undefined) {
      throw failedResponse(403, "user_required", "This key does not act for a user.");
    }
    checkUnlimited(call.caller);
    return users(call);
  }
  const all = everything(call, repo);
  return scope === "environment" ? all.filter(({ holder }) => holder.type === "environment") : all;
}

/** Every secret that the key can list, in pages; `nextCursor` is null on the last page. */
function listSecrets(call: Call): Answer {
  const { core, caller } = call;
  const query = validate(listSecretsQuery, call.query);
  checkSecretsKey(caller);
  const { name, repo, limit = "100", cursor, scope, environmentId } = query;
  const start = readOffset(cursor);
  const path = repo === undefined ? undefined : toRepoPath(repo);
  const filters = {
    ...(scope === undefined ? {} : { scope }),
    ...(environmentId === undefined ? {} : { environmentId }),
    ...(repo === undefined ? {} : { repo }),
  };
  const all = listed(call, filters).filter(
    (secret) =>
      (name === undefined || secret.name.toLowerCase() === name.toLowerCase()) &&
      (path === undefined || secret.repos.length === 0 || secret.repos.includes(path)),
  );
  const size = core.options.shortPages ? Math.ceil(Number(limit) / 2) : Number(limit);
  const page = pageAt(all, start, size);
  const items = page.items.map((secret) => {
    const { repos, ...rest } = toSecret(secret);
    const owner = toSecretOwner(secret, core.environments);
    return { ...rest, ...(secret.isOthers ? {} : { repos }), owner };
  });
  return json(200, { items, nextCursor: page.nextCursor ?? null });
}

/** List Secrets: the secrets of all holders in one list. */
export const listSecretsRoute: Route = {
  method: "GET",
  path: "/v1/secrets",
  operationId: "listSecrets",
  handle: listSecrets,
};
