import type * as z from "zod/mini";
import type { Call, Route } from "../core.ts";
import type { Answer } from "../exchange.ts";
import { failedResponse, titledFailedResponse } from "../failed-response.ts";
import { isSameUrl } from "../repository.ts";
import { validate } from "../validate.ts";
import type { RequestRecord } from "./worker-records.ts";

/** An operation of the workers' endpoints, which only keys of service accounts may call. @internal */
export function workerRoute(
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
        throw failedResponse(
          403,
          "service_account_required",
          "This endpoint requires a service account API key.",
        );
      }
      return handle(call);
    },
  };
}

/** 400 in the form of the workers' endpoints. @internal */
export function badRequest(message: string) {
  return titledFailedResponse(400, "Bad Request", message);
}

/** Validates a query or a body; fails with 400 in the form of the workers' endpoints. @internal */
export function validateInput<Schema extends z.core.$ZodType>(schema: Schema, value: unknown) {
  return validate(schema, value, badRequest);
}

/**
 * Checks the repository filter of a key that is limited to some repositories: it must be present and in the key's scope.
 *
 * @internal
 */
export function checkRepository(call: Call, repository: string | undefined): void {
  const { repositories } = call.caller;
  if (repositories === undefined) return;
  if (repository === undefined) throw badRequest("repository is required for a repository-scoped key");
  if (!repositories.some((url) => isSameUrl(url, repository))) {
    throw failedResponse(403, "repository_access", "The repository is not in the scope of this key.");
  }
}

/** A request of the caller's team and within the scope of its key; `undefined` for all others. @internal */
export function findRequest(call: Call, id: string): RequestRecord | undefined {
  const { caller, core } = call;
  const request = core.workers.request(id);
  if (request === undefined || request.owner !== caller.owner) return undefined;
  const inScope = (url: string) => isSameUrl(request.repo?.url, url);
  return caller.repositories === undefined || caller.repositories.some(inScope) ? request : undefined;
}
