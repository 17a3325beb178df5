import * as z from "zod/mini";
import { fingerprint, toBytes } from "../body-source.ts";
import type { Call, Route } from "../core.ts";
import { json } from "../exchange.ts";
import { titledFailedResponse } from "../failed-response.ts";
import { emptyBody, emptyQuery, text } from "../validate.ts";
import type { RequestRecord } from "./worker-records.ts";
import { findRequest, validateInput, workerRoute } from "./worker-route.ts";

/** Body of Claim A Pending Request. */
export const claimBody = z.strictObject({ id: text, workerId: text, sessionToken: z.optional(z.boolean()) });

/** Body of Create A Session Token. */
export const claimTokenBody = z.strictObject({ id: text, workerId: text });

/** Body of Fail A Claim: control characters but line breaks and tabs are removed before it is measured. */
export const failClaimBody = z.strictObject({
  message: z.pipe(
    z.pipe(
      z.string(),
      z.transform((message: string) => message.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, "").trim()),
    ),
    z.string().check(z.minLength(1), z.maxLength(500)),
  ),
});

const TOKEN_LIFETIME_MS = 7 * 24 * 3_600_000;

function tokenFor(call: Call, id: string, workerId: string) {
  const { ids } = call.core.store;
  const expiresAt = new Date(call.core.store.now() + TOKEN_LIFETIME_MS).toISOString();
  return { token: `eyJ.${fingerprint(toBytes(`${id} ${workerId} ${ids.uuid()}`))}`, expiresAt };
}

/** The request that the path names, with its live claim. */
function liveClaim(call: Call): { request: RequestRecord; id: string; workerId: string } {
  const id = call.params["id"] ?? "";
  const request = findRequest(call, id);
  if (request?.claim === undefined) throw titledFailedResponse(404, "Not found", "There is no live claim");
  return { request, id, workerId: request.claim.workerId };
}

function claimPendingRequest(call: Call) {
  validateInput(emptyQuery, call.query);
  const { id, workerId, sessionToken = false } = validateInput(claimBody, call.body);
  const request = findRequest(call, id);
  const outcome = request === undefined ? "gone" : call.core.workers.claim(request, workerId);
  if (outcome === "gone") throw titledFailedResponse(404, "Not found", "There is no such pending request");
  if (outcome === "live-claim") {
    throw titledFailedResponse(409, "Already claimed", "A claim of this request is live; release it first");
  }
  return json(200, { id, workerId, ...(sessionToken ? tokenFor(call, id, workerId) : {}) });
}

function releaseClaim(call: Call) {
  validateInput(emptyQuery, call.query);
  validateInput(emptyBody, call.body ?? {});
  const { request, id, workerId } = liveClaim(call);
  call.core.workers.release(request);
  return json(200, { id, workerId });
}

function failClaim(call: Call) {
  const { workers } = call.core;
  validateInput(emptyQuery, call.query);
  const { message } = validateInput(failClaimBody, call.body);
  const { request, id, workerId } = liveClaim(call);
  const isWaiting = request.state === "claimed" || request.state === "claimed_offline";
  if (!isWaiting && request.state !== "running") {
    throw titledFailedResponse(400, "No turn waiting", "No turn waits for this claim; release it instead");
  }
  if (!isWaiting || workers.worker(workerId) !== undefined) {
    throw titledFailedResponse(
      400,
      "Worker connected",
      "The claimed worker is connected; release the claim later",
    );
  }
  workers.fail(request, message);
  return json(200, { id, workerId });
}

function createClaimToken(call: Call) {
  validateInput(emptyQuery, call.query);
  const { id, workerId } = validateInput(claimTokenBody, call.body);
  if (findRequest(call, id)?.claim?.workerId !== workerId) {
    throw titledFailedResponse(404, "Not found", "No claim binds this worker to this agent");
  }
  return json(200, { id, workerId, ...tokenFor(call, id, workerId) });
}

/** Claims and their session tokens. */
export const claimRoutes: readonly Route[] = [
  workerRoute("POST", "/claim", "claimPendingRequest", claimPendingRequest),
  workerRoute("POST", "/claims/{id}/release", "releaseClaim", releaseClaim),
  workerRoute("POST", "/claims/{id}/fail", "failClaim", failClaim),
  workerRoute("POST", "/tokens", "createClaimToken", createClaimToken),
];
