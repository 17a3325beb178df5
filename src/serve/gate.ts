import { empty, notFound, refusal } from "./answers.ts";
import { fail } from "./failure.ts";
import type { AgentRef, ServeOptions } from "./options.ts";
import { isFromElsewhere } from "./same-origin.ts";

/** Who gets past it. */
export interface GateRules {
  method: "GET" | "POST";
  /** Checked origins; of use to a POST. */
  allowedOrigins?: readonly string[];
}

/**
 * Everything that can be refused before the API is touched: the method, ids that can't be ids, a page of another site,
 * and whoever `authorize` doesn't let in. Undefined: go on.
 *
 * OPTIONS is answered with the methods and no CORS header: to allow other origins is up to the server around this. HEAD
 * is refused like any other method, since only the API could say what a GET would answer.
 */
export async function refuseAtGate<Ref extends AgentRef>(
  { method, allowedOrigins = [] }: GateRules,
  ref: Ref | undefined,
  { request, authorize }: ServeOptions<Ref>,
): Promise<Response | undefined> {
  const allow = { allow: `${method}, OPTIONS` };
  if (request.method === "OPTIONS") return empty(204, allow);
  if (request.method !== method) return refusal(fail(405, "method_not_allowed"), allow);
  if (ref === undefined) return notFound();
  if (method === "POST" && isFromElsewhere(request, allowedOrigins))
    return refusal(fail(403, "cross_origin"));
  const verdict: unknown = await authorize(request, ref);
  if (verdict === true) return undefined;
  // Only a plain `true` opens: an answer that was forgotten, or a truthy something, does not.
  return isResponse(verdict) ? verdict : notFound();
}

/** By its shape: frameworks bring Response classes of their own. */
const isResponse = (value: unknown): value is Response =>
  typeof value === "object" &&
  value !== null &&
  typeof (value as Response).status === "number" &&
  typeof (value as Response).headers === "object";
