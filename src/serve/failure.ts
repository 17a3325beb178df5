import { ApiError, type Cursor, CursorError, StreamError, TimeoutError } from "../index.ts";

/**
 * What a page learns when something fails: `{ error: { code, message } }` in an answer, `code` and `message` in a
 * `failure` frame. Codes and messages are this library's own: nothing from the API's response is passed on.
 *
 * - `not_found`: the agent, run or artifact does not exist, or not for this caller
 * - `method_not_allowed`, `cross_origin`, `unsupported_media_type`, `body_too_large`, `range_not_satisfiable`,
 *   `invalid_request`: the request is wrong
 * - `agent_busy`, `agent_archived`, `run_not_cancellable`, `conflict`: not possible in the present state
 * - `rate_limited`: try again later; `usage_limit_exceeded`: the account's spending limit is reached
 * - `upstream_refused`: the API doesn't accept the server's key, or the key is not allowed to do this
 * - `upstream_unavailable`, `upstream_timeout`: the API can't be reached
 * - `outcome_unknown`: no answer came, so the request may or may not have been carried out
 * - `event_too_large`: one of the run's events is too large to read, so its stream can't be followed any further
 * - `internal_error`: the server's own code failed
 */
export type ServeErrorCode =
  | "not_found"
  | "method_not_allowed"
  | "cross_origin"
  | "unsupported_media_type"
  | "body_too_large"
  | "range_not_satisfiable"
  | "invalid_request"
  | "agent_busy"
  | "agent_archived"
  | "run_not_cancellable"
  | "conflict"
  | "rate_limited"
  | "usage_limit_exceeded"
  | "upstream_refused"
  | "upstream_unavailable"
  | "upstream_timeout"
  | "outcome_unknown"
  | "event_too_large"
  | "internal_error";

/** A failure, reduced to what the browser may know. */
export interface Failure {
  status: number;
  code: ServeErrorCode;
  message: string;
  /** Whether another attempt would fail, too. */
  isFinal: boolean;
  retryAfterMs?: number;
}

const messages: Record<ServeErrorCode, string> = {
  not_found: "Not found.",
  method_not_allowed: "This method is not allowed here.",
  cross_origin: "Requests from other sites are not accepted.",
  unsupported_media_type: "The request must be sent as application/json.",
  body_too_large: "The request body is too large.",
  range_not_satisfiable: "The file has no such bytes.",
  invalid_request: "The request is not valid.",
  agent_busy: "The agent is still working on another prompt.",
  agent_archived: "The agent is archived.",
  run_not_cancellable: "The run is already over.",
  conflict: "This is not possible at the moment.",
  rate_limited: "Too many requests; try again later.",
  usage_limit_exceeded: "The account's usage limit is reached.",
  upstream_refused: "The server is not allowed to do this.",
  upstream_unavailable: "The service can't be reached at the moment.",
  upstream_timeout: "The service did not answer in time.",
  outcome_unknown: "No answer came, so this may or may not have been done. Check before you repeat it.",
  event_too_large: "The run can't be read any further.",
  internal_error: "Something went wrong on the server.",
};

export const fail = (
  status: number,
  code: ServeErrorCode,
  more: Partial<Omit<Failure, "status" | "code">> = {},
): Failure => ({ status, code, message: messages[code], isFinal: true, ...more });

/** Maps anything that was thrown to what the browser may know of it. */
export function failureOf(error: unknown): Failure {
  if (!CursorError.isInstance(error)) return fail(500, "internal_error");
  if (error.outcome === "unknown") return fail(TimeoutError.isInstance(error) ? 504 : 502, "outcome_unknown");
  if (ApiError.isInstance(error)) return ofApiError(error);
  if (StreamError.isInstance(error) && error.reason !== "disconnected") {
    return fail(502, error.reason === "event_too_large" ? "event_too_large" : "upstream_unavailable");
  }
  if (error.kind === "timeout") return fail(504, "upstream_timeout", { isFinal: false });
  if (error.kind === "connection" || error.kind === "stream") {
    return fail(502, "upstream_unavailable", { isFinal: false });
  }
  return fail(500, "internal_error");
}

/** The API's codes of a conflict that a page can act on. For any other code, a page gets `conflict`. */
const publicConflicts = ["agent_busy", "agent_archived", "run_not_cancellable"] as const;

function ofApiError({ status, code, retryAfterMs }: ApiError): Failure {
  const later = { isFinal: false, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  if (code === "usage_limit_exceeded") return fail(503, "usage_limit_exceeded");
  if (status === 404) return fail(404, "not_found");
  if (status === 409) return fail(409, publicConflicts.find((known) => known === code) ?? "conflict");
  if (status === 429) return fail(429, "rate_limited", later);
  if (status === 503) return fail(503, "upstream_unavailable", later);
  if (status >= 500 || status === 408) return fail(502, "upstream_unavailable", later);
  if (status === 400 || status === 413 || status === 422) return fail(400, "invalid_request");
  // 401 and 403 are about the server's key. Passed on as they are, they would make a page log its user out.
  return fail(502, "upstream_refused");
}

// ── Answers ──────────────────────────────────────────────────────────────────────────────────────────────────────

const jsonHeaders = {
  "content-type": "application/json; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
};

/** An answer as JSON, which no cache may keep. */
export const json = (status: number, body: unknown, more: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { ...jsonHeaders, ...more } });

/** A shape of JSON: the fields that an answer has, each as it is (`true`) or in a shape of its own; `[shape]`: a list. */
export type Shape = true | readonly [Shape] | { readonly [field: string]: Shape };

/** An answer of the API as a page gets it: its documented fields alone, without the client's keys. */
export function apiJson(cursor: Cursor, status: number, body: unknown, shape: Shape): Response {
  const redact = (_: string, value: unknown) => (typeof value === "string" ? cursor.redact(value) : value);
  return json(status, JSON.parse(JSON.stringify(pick(body, shape)), redact));
}

/** Undefined for what is not of this shape: an object where a text is documented could have anything in it. */
function pick(value: unknown, shape: Shape): unknown {
  if (shape === true) return typeof value === "object" ? undefined : value;
  if (isList(shape)) return Array.isArray(value) ? value.map((item) => pick(item, shape[0])) : undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(shape).filter(([field]) => Object.hasOwn(value, field));
  return Object.fromEntries(
    entries.map(([field, inner]) => [field, pick((value as Record<string, unknown>)[field], inner)]),
  );
}

const isList = (shape: Shape): shape is readonly [Shape] => Array.isArray(shape);

/** An answer without a body. */
export const empty = (status: number, more: Record<string, string> = {}): Response =>
  new Response(null, { status, headers: { "cache-control": "no-store", ...more } });

/** A failure as an answer, in the form that all routes share. */
export function failureResponse(
  { status, code, message, retryAfterMs }: Failure,
  more: Record<string, string> = {},
): Response {
  const retryAfter =
    retryAfterMs === undefined ? {} : { "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1000))) };
  return json(status, { error: { code, message } }, { ...retryAfter, ...more });
}

type OnError = ((error: unknown) => void) | undefined;

/** Does a route's work. An error goes to `onError`, and what the browser may know of it becomes the answer. */
export async function answer(
  { request, onError }: { request: Request; onError?: OnError },
  work: () => Promise<Response>,
): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    // The browser has left, so nobody reads this answer. Servers log such a request as 499.
    if (request.signal?.aborted && error === request.signal.reason) return empty(499);
    report(onError, error);
    return failureResponse(failureOf(error));
  }
}

/** Passes an error to the server's `onError`. An error that this throws is ignored: it must not break the response. */
export function report(onError: OnError, error: unknown): void {
  try {
    onError?.(error);
  } catch {}
}
