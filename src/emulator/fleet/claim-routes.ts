import { toBytes } from "../body-source.ts";
import type { Call, Route } from "../core-context.ts";
import { json } from "../exchange.ts";
import { textRefusal } from "../refusal.ts";
import { emptyBody, emptyQuery } from "../schemas.ts";
import { fingerprint } from "../store.ts";
import { findRequest, fleetRoute, validateFleet } from "./fleet-call.ts";
import type { RequestRecord } from "./fleet-records.ts";
import { claimBody, claimTokenBody, failClaimBody } from "./fleet-schemas.ts";

const TOKEN_LIFETIME_MS = 7 * 24 * 3_600_000;

function tokenFor(call: Call, id: string, workerId: string) {
  const { ids } = call.core.store;
  const expiresAt = new Date(call.core.store.now() + TOKEN_LIFETIME_MS).toISOString();
  return { token: `eyJ.${fingerprint(toBytes(`${id} ${workerId} ${ids.uuid()}`))}`, expiresAt };
}

/** The request of the path and its live claim. */
function liveClaim(call: Call): { request: RequestRecord; id: string; workerId: string } {
  const id = call.params["id"] ?? "";
  const request = findRequest(call, id);
  if (request?.claim === undefined) throw textRefusal(404, "Not found", "There is no live claim");
  return { request, id, workerId: request.claim.workerId };
}

function claimPendingRequest(call: Call) {
  validateFleet(emptyQuery, call.query);
  const { id, workerId, sessionToken = false } = validateFleet(claimBody, call.body);
  const request = findRequest(call, id);
  const outcome = request === undefined ? "gone" : call.core.fleet.claim(request, workerId);
  if (outcome === "gone") throw textRefusal(404, "Not found", "There is no such pending request");
  if (outcome === "live-claim") {
    throw textRefusal(409, "Already claimed", "A claim of this request is live; release it first");
  }
  return json(200, { id, workerId, ...(sessionToken ? tokenFor(call, id, workerId) : {}) });
}

function releaseClaim(call: Call) {
  validateFleet(emptyQuery, call.query);
  validateFleet(emptyBody, call.body ?? {});
  const { request, id, workerId } = liveClaim(call);
  call.core.fleet.release(request);
  return json(200, { id, workerId });
}

function failClaim(call: Call) {
  const { fleet } = call.core;
  validateFleet(emptyQuery, call.query);
  const { message } = validateFleet(failClaimBody, call.body);
  const { request, id, workerId } = liveClaim(call);
  const isWaiting = request.state === "claimed" || request.state === "claimed_offline";
  if (!isWaiting && request.state !== "running") {
    throw textRefusal(400, "No turn waiting", "No turn waits for this claim; release it instead");
  }
  if (!isWaiting || fleet.worker(workerId) !== undefined) {
    throw textRefusal(400, "Worker connected", "The claimed worker is connected; release the claim later");
  }
  fleet.fail(request, message);
  return json(200, { id, workerId });
}

function createClaimToken(call: Call) {
  validateFleet(emptyQuery, call.query);
  const { id, workerId } = validateFleet(claimTokenBody, call.body);
  if (findRequest(call, id)?.claim?.workerId !== workerId) {
    throw textRefusal(404, "Not found", "No claim binds this worker to this agent");
  }
  return json(200, { id, workerId, ...tokenFor(call, id, workerId) });
}

/** Claims and their session tokens. */
export const claimRoutes: readonly Route[] = [
  fleetRoute("POST", "/claim", "claimPendingRequest", claimPendingRequest),
  fleetRoute("POST", "/claims/{id}/release", "releaseClaim", releaseClaim),
  fleetRoute("POST", "/claims/{id}/fail", "failClaim", failClaim),
  fleetRoute("POST", "/tokens", "createClaimToken", createClaimToken),
];
