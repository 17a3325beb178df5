import type * as z from "zod/mini";
import type { Call, Route } from "../core-context.ts";
import { toRepoPath } from "../environments/environment-store.ts";
import type { Answer } from "../exchange.ts";
import { refusal, textRefusal } from "../refusal.ts";
import { validate } from "../validation.ts";
import type { RequestRecord } from "./fleet-records.ts";

/** An operation of the fleet: for service account keys only. @internal */
export function fleetRoute(
  method: Route["method"],
  path: string,
  operationId: string,
  handle: (call: Call) => Answer,
): Route {
  return {
    method,
    path: `/v0/private-workers${path}`,
    operationId,
    handle: (call) => {
      if (call.caller.kind !== "service-account") {
        throw refusal(403, "service_account_required", "This endpoint requires a service account API key.");
      }
      return handle(call);
    },
  };
}

/** 400 in the fleet's form. @internal */
export function badRequest(message: string) {
  return textRefusal(400, "Bad Request", message);
}

/** The value, if the schema takes it; 400 in the fleet's form otherwise. @internal */
export function validateFleet<Schema extends z.core.$ZodType>(schema: Schema, value: unknown) {
  return validate(schema, value, badRequest);
}

/** Do two URLs name one repository? @internal */
export function isSameUrl(one: string | undefined, other: string): boolean {
  return one !== undefined && toRepoPath(one) === toRepoPath(other);
}

/**
 * Refuses a repository filter that is not in a key's scope, and none at all of a key that has one.
 *
 * @internal
 */
export function checkRepository(call: Call, repository: string | undefined): void {
  const { repositories } = call.caller;
  if (repositories === undefined) return;
  if (repository === undefined) throw badRequest("repository is required for a repository-scoped key");
  if (!repositories.some((url) => isSameUrl(url, repository))) {
    throw refusal(403, "repository_access", "The repository is not in the scope of this key.");
  }
}

/** A request of the caller's team; of others, and of repositories outside of the key's scope, there is none. @internal */
export function findRequest(call: Call, id: string): RequestRecord | undefined {
  const { caller, core } = call;
  const request = core.fleet.request(id);
  if (request === undefined || request.owner !== caller.owner) return undefined;
  const inScope = (url: string) => isSameUrl(request.repo?.url, url);
  return caller.repositories === undefined || caller.repositories.some(inScope) ? request : undefined;
}
