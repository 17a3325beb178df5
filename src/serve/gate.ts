import { longestTimer } from "../async.ts";
import {
  type Check,
  type Checked,
  checkCallback,
  checkObject,
  checkOptions,
  type OptionTable,
  orDefault,
} from "../check.ts";
import { ArgumentError, type Cursor, type RunRef } from "../index.ts";
import { empty, fail, failureResponse } from "./failure.ts";

/** Names an agent, and one of its runs where the request is about a run. */
export interface AgentRef {
  /** The agent's id. */
  agentId: string;
  /** The run's id. */
  id?: string;
}

/**
 * Decides who may see or do this. The key reaches every agent of its account, so only you know whose agent and run it is.
 *
 * - `true`, and nothing else, lets the request through.
 * - `false`, or nothing, is answered with 404, as if the run did not exist, so that a stranger learns nothing.
 * - A `Response` is sent as it is: 401 to say "log in", 403 to say "not yours".
 *
 * It is called before anything else is done, with ids that are well-formed. The route rejects with whatever it throws,
 * and with an ArgumentError where it returns anything else, such as a user.
 * Its `request` is the one that you passed: leave the body of a POST alone, or read a `clone()`.
 */
export type Authorize<Ref extends AgentRef = AgentRef> = (
  request: Request,
  ref: Ref,
) => boolean | Response | Promise<boolean | Response>;

/** Options of every route. */
export interface ServeOptions<Ref extends AgentRef = AgentRef> {
  /** The browser's request. */
  request: Request;
  /** Called first. It has no default: a route that is open to everyone says `() => true`. */
  authorize: Authorize<Ref>;
  /** Receives every error, for your log: the browser learns only a code and a short message. */
  onError?: ((error: unknown) => void) | undefined;
}

/** Options of every route that changes something. */
export interface ServePostOptions<Ref extends AgentRef = AgentRef> extends ServeOptions<Ref> {
  /** Origins of other sites whose pages may post here, such as `https://app.example.com`. @default none */
  allowedOrigins?: readonly string[] | undefined;
}

// ── Checking options ─────────────────────────────────────────────────────────────────────────────────────────────

const checkAuthorize: Check<unknown> = (argument, value) => {
  if (typeof value === "function") return value;
  throw new ArgumentError(argument, "is missing: a function that decides who may see this agent or run");
};

/** Checks the request's members, not its class, because frameworks have Request classes of their own. */
const checkRequest: Check<Request> = (argument, value) => {
  const request = value as Request | null | undefined;
  if (typeof request?.url === "string" && typeof request.headers?.get === "function") return request;
  throw new ArgumentError(argument, "expected a Request");
};

const checkOrigins: Check<readonly string[] | undefined> = (argument, value) => {
  const isOrigin = (item: unknown) =>
    typeof item === "string" && URL.canParse(item) && new URL(item).origin === item;
  if (value === undefined || (Array.isArray(value) && value.every(isOrigin))) return value;
  throw new ArgumentError(argument, "expected a list of origins such as https://app.example.com");
};

export const serveTable = {
  // Checked first, since a route without it would be open to everyone.
  authorize: checkAuthorize,
  request: checkRequest,
  onError: checkCallback,
} satisfies OptionTable<ServeOptions>;

const originsTable = {
  allowedOrigins: orDefault(checkOrigins, []),
} satisfies OptionTable<Pick<ServePostOptions, "allowedOrigins">>;

export const servePostTable = {
  ...serveTable,
  ...originsTable,
} satisfies OptionTable<ServePostOptions>;

/** A whole number within bounds; by default, a number of milliseconds that a timer can wait. */
export const wholeNumber =
  (least: number, most = longestTimer): Check<number | undefined> =>
  (argument, value) => {
    if (value === undefined) return undefined;
    if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) {
      return value as number;
    }
    throw new ArgumentError(argument, `expected a whole number from ${least} to ${most}`);
  };

/** Checks what a route was called with, before anything happens. */
export function checkRoute<Options extends object, Table extends OptionTable<Options>>(
  table: Table,
  cursor: Cursor,
  options: Options,
): Checked<Options, Table> {
  if (typeof cursor?.runs?.stream !== "function") throw new ArgumentError("cursor", "expected a Cursor");
  checkObject("options", options);
  return checkOptions<Options, Table>(table, options);
}

/** The API's ids: a prefix, then letters, digits, `-` and `_`. Nothing in them has a meaning in a URL. */
const idForms = { agentId: /^bc-[0-9A-Za-z_-]{1,128}$/, id: /^run-[0-9A-Za-z_-]{1,128}$/ };

const isId = (kind: keyof typeof idForms, value: unknown): value is string =>
  typeof value === "string" && idForms[kind].test(value);

/** Undefined where the text, which may come from a URL, can't be an agent's id. */
export function toAgentRef(agentId: unknown): { agentId: string } | undefined {
  return isId("agentId", agentId) ? { agentId } : undefined;
}

/**
 * Undefined where the texts, which may come from a URL, can't be ids. Throws for what no URL can cause, since a 404 would
 * hide the mistake in the route: the promise that Next.js passes for `params`, or other names of its parameters.
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

// ── Checking the request ─────────────────────────────────────────────────────────────────────────────────────────

/** The checked options that the gate reads. */
type GateOptions<Ref extends AgentRef> = Pick<ServeOptions<Ref>, "request" | "authorize"> & {
  allowedOrigins?: readonly string[];
};

/**
 * Does a route's work if the request passes every check that does not need the API: its method, the form of its ids, its
 * origin, `authorize`, and the type of its body. Otherwise returns the answer that says why not.
 *
 * OPTIONS is answered with the methods and no CORS header: allowing other origins is up to the server around this route.
 * HEAD does what a GET does, and is answered without the body.
 *
 * @param method A POST must come from this site or an allowed origin, and must be JSON
 */
export async function throughGate<Ref extends AgentRef>(
  method: "GET" | "POST",
  ref: Ref | undefined,
  { request, authorize, allowedOrigins = [] }: GateOptions<Ref>,
  work: (ref: Ref) => Promise<Response>,
): Promise<Response> {
  const allow = { allow: method === "GET" ? "GET, HEAD, OPTIONS" : "POST, OPTIONS" };
  if (request.method === "OPTIONS") return empty(204, allow);
  if (method === "GET" && request.method === "HEAD") {
    return withoutBody(await admit(method, ref, { request, authorize, allowedOrigins }, work));
  }
  if (request.method !== method) return failureResponse(fail(405, "method_not_allowed"), allow);
  return admit(method, ref, { request, authorize, allowedOrigins }, work);
}

/** A HEAD's answer: that of a GET, without the body. */
async function withoutBody(response: Response): Promise<Response> {
  await response.body?.cancel();
  return new Response(null, response);
}

/** The checks that follow the method's. */
async function admit<Ref extends AgentRef>(
  method: "GET" | "POST",
  ref: Ref | undefined,
  { request, authorize, allowedOrigins }: Required<GateOptions<Ref>>,
  work: (ref: Ref) => Promise<Response>,
): Promise<Response> {
  if (ref === undefined) return notFound();
  const foreign = method === "POST" ? rejectionOfSite(request, allowedOrigins) : undefined;
  if (foreign) return foreign;
  const verdict: unknown = await authorize(request, ref);
  // Only a plain `true` lets through: a forgotten `return`, or another truthy value, does not.
  if (verdict !== true) return isResponse(verdict) ? verdict : denied(verdict);
  // A form on another site can't send this type, so JSON comes from a script that was allowed to send it.
  return (method === "POST" ? rejectionOfType(request) : undefined) ?? work(ref);
}

/**
 * Checks a POST of your own route as the POST routes of this package check theirs. A browser sends its user's cookies
 * along with requests that pages of other sites make, so a route that changes something, or costs something, must reject
 * those.
 *
 * @param options `allowedOrigins`: origins of other sites whose pages may post here
 * @returns The answer to send: 403 `cross_origin` or 415 `unsupported_media_type`. Undefined: go on
 * @throws ArgumentError when an option is not valid
 * @example
 * export async function POST(request: Request): Promise<Response> {
 *   const rejection = rejectionOf(request);
 *   if (rejection) return rejection;
 *   …
 * }
 */
export function rejectionOf(
  request: Request,
  options: Pick<ServePostOptions, "allowedOrigins"> = {},
): Response | undefined {
  const { allowedOrigins } = checkOptions(originsTable, options);
  return rejectionOfSite(checkRequest("request", request), allowedOrigins) ?? rejectionOfType(request);
}

const rejectionOfSite = (request: Request, allowedOrigins: readonly string[]): Response | undefined =>
  isFromOtherSite(request, allowedOrigins) ? failureResponse(fail(403, "cross_origin")) : undefined;

const rejectionOfType = (request: Request): Response | undefined =>
  isJson(request) ? undefined : failureResponse(fail(415, "unsupported_media_type"));

const notFound = (): Response => failureResponse(fail(404, "not_found"));

/** What stands for "no", which a function may also say by returning nothing. Anything else is a mistake in it. */
function denied(verdict: unknown): Response {
  if (verdict === false || verdict === undefined || verdict === null) return notFound();
  throw new ArgumentError(
    "authorize",
    `expected it to return true, false or a Response, got ${kindOf(verdict)}`,
  );
}

const kindOf = (value: unknown): string => (typeof value === "object" ? "an object" : `a ${typeof value}`);

/** By its shape: frameworks bring Response classes of their own. */
const isResponse = (value: unknown): value is Response =>
  typeof value === "object" &&
  value !== null &&
  typeof (value as Response).status === "number" &&
  typeof (value as Response).headers === "object";

const isJson = ({ headers }: Request): boolean =>
  /^application\/json\s*(;|$)/i.test(headers.get("content-type") ?? "");

/**
 * Whether a browser sent this for another site's page. Browsers say so in `Sec-Fetch-Site`, older ones only in `Origin`,
 * and no page can forge either. A request with neither header doesn't come from a browser, so it carries no user's cookies.
 */
function isFromOtherSite({ headers, url }: Request, allowedOrigins: readonly string[]): boolean {
  const origin = headers.get("origin");
  if (origin !== null && allowedOrigins.includes(origin)) return false;
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site !== "same-origin" && site !== "none";
  if (origin === null) return false;
  if (!URL.canParse(origin)) return true;
  const { protocol, host } = new URL(origin);
  // By host: behind a proxy that ends TLS, the request's own scheme differs from the browser's. The browser's scheme
  // says which port needs no mention, since some proxies mention it anyway.
  const own = `${protocol}//${headers.get("host") ?? new URL(url).host}/`;
  return (
    !URL.canParse(own) || new URL(own).host !== host || /[/?#@\\\s]/.test(own.slice(protocol.length + 2, -1))
  );
}
