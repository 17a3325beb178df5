import { checkCallback, checkNames } from "../check.ts";
import { ArgumentError, type Cursor, type RunRef } from "../index.ts";

/** Names an agent, and the run of it that a request is about, where it is about one. */
export interface AgentRef {
  /** The agent's id. */
  agentId: string;
  /** The run's id. */
  id?: string;
}

/**
 * Says who may. The key reaches every agent of its account, so only you know whose agent and run this is.
 *
 * - `true`, and nothing else, lets the request through
 * - `false` is answered with 404, as if there were no such run: a stranger learns nothing
 * - a `Response` is sent as it is: 401 to say "log in", 403 to say "not yours"
 *
 * Called before anything else is done, with ids that are well-formed. What it throws is thrown on. Its `request` is the
 * one that was given: leave the body of a POST alone, or read a `clone()`.
 */
export type Authorize<Ref extends AgentRef = AgentRef> = (
  request: Request,
  ref: Ref,
) => boolean | Response | Promise<boolean | Response>;

/** What every route needs. */
export interface ServeOptions<Ref extends AgentRef = AgentRef> {
  /** The browser's request. */
  request: Request;
  /** Asked first. There is no default: a route that is open to all says `() => true`. */
  authorize: Authorize<Ref>;
  /** Hears of what failed, for your log: the browser is told little. */
  onError?: ((error: unknown) => void) | undefined;
}

/** What a route that changes something needs. */
export interface ServePostOptions<Ref extends AgentRef = AgentRef> extends ServeOptions<Ref> {
  /** Origins of other sites whose pages may post here, such as `https://app.example.com`. @default none */
  allowedOrigins?: readonly string[] | undefined;
}

export const commonNames = ["request", "authorize", "onError"];

/** Refuses what can't work, before anything happens. The most important one is a route without `authorize`. */
export function checkOptions(cursor: Cursor, options: ServeOptions<never>, names: readonly string[]): void {
  if (typeof cursor?.runs?.stream !== "function") throw new ArgumentError("cursor", "expected a Cursor");
  if (typeof options !== "object" || options === null) {
    throw new ArgumentError("options", `expected an object, got ${typeof options}`);
  }
  checkNames(options, names);
  const { request, authorize, onError } = options;
  if (typeof authorize !== "function") {
    throw new ArgumentError("authorize", "is missing: a function that says who may see this agent or run");
  }
  if (typeof request?.url !== "string" || typeof request.headers?.get !== "function") {
    throw new ArgumentError("request", "expected a Request");
  }
  checkCallback("onError", onError);
}

/** A whole number within bounds, or the default. */
export function checkNumber(
  argument: string,
  value: number | undefined,
  { least, most = 2 ** 31 - 1, otherwise }: { least: number; most?: number; otherwise: number },
): number {
  if (value === undefined) return otherwise;
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new ArgumentError(argument, `expected a whole number from ${least} to ${most}`);
  }
  return value;
}

export function checkFlag(argument: string, value: unknown): boolean {
  if (value !== undefined && typeof value !== "boolean") {
    throw new ArgumentError(argument, `expected true or false, got ${typeof value}`);
  }
  return value ?? false;
}

/** An id of the API: its prefix, then letters, digits, `-` and `_`. Nothing that means something in a URL. */
const idForms = { agentId: /^bc-[0-9A-Za-z_-]{1,128}$/, id: /^run-[0-9A-Za-z_-]{1,128}$/ };

const isId = (kind: keyof typeof idForms, value: unknown): value is string =>
  typeof value === "string" && idForms[kind].test(value);

export function toAgentRef(agentId: unknown): { agentId: string } | undefined {
  return isId("agentId", agentId) ? { agentId } : undefined;
}

/**
 * Both ids, or undefined for what can't be ids: they may come from a URL. What no URL can bring about is a mistake in
 * the route, and a 404 would hide it: the promise that Next.js has for `params`, other names of its parameters.
 */
export function toRunRef(ref: RunRef): RunRef | undefined {
  if (typeof ref !== "object" || ref === null) {
    throw new ArgumentError("ref", `expected a run ({ agentId, id }), got ${typeof ref}`);
  }
  for (const name of ["agentId", "id"] as const) {
    if (name in ref) continue;
    if ("then" in ref) throw new ArgumentError("ref", "expected a run, got a promise: await it");
    throw new ArgumentError(`ref.${name}`, "is missing: a run is { agentId, id }");
  }
  const { agentId, id } = ref;
  return isId("agentId", agentId) && isId("id", id) ? { agentId, id } : undefined;
}
