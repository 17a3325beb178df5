import { ApiError, CursorError, StreamError, TimeoutError } from "../index.ts";

/**
 * What a page is told when something fails: `{ error: { code, message } }` in an answer, `code` and `message` in a
 * `failure` frame. The wording is this library's; nothing of the API's answer is in it.
 *
 * - `not_found`: no such agent, run or artifact, or not for this caller
 * - `method_not_allowed`, `cross_origin`, `unsupported_media_type`, `body_too_large`, `invalid_request`: of the request
 * - `agent_busy`, `agent_archived`, `run_not_cancellable`, `conflict`: not in this state
 * - `rate_limited`: later; `usage_limit_exceeded`: the account's spending limit is reached
 * - `upstream_refused`: the API doesn't accept the server's key, or the key may not do this
 * - `upstream_unavailable`, `upstream_timeout`: the API can't be reached
 * - `outcome_unknown`: no answer came; what was asked for may have happened
 * - `event_too_large`: the run's stream can't be read past one of its events
 * - `internal_error`: the server's own code failed
 */
export type ServeErrorCode =
  | "not_found"
  | "method_not_allowed"
  | "cross_origin"
  | "unsupported_media_type"
  | "body_too_large"
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

/** A failure as the browser may know it. */
export interface Failure {
  status: number;
  code: ServeErrorCode;
  message: string;
  /** Asking again changes nothing. */
  isFinal: boolean;
  retryAfterMs?: number;
}

const messages: Record<ServeErrorCode, string> = {
  not_found: "There is no such thing here.",
  method_not_allowed: "This address doesn't take requests of this kind.",
  cross_origin: "Requests from other sites are not accepted.",
  unsupported_media_type: "The request must be sent as application/json.",
  body_too_large: "The request is too large.",
  invalid_request: "The request can't be carried out as it is.",
  agent_busy: "The agent is still working on another prompt.",
  agent_archived: "The agent is archived.",
  run_not_cancellable: "The run is over already.",
  conflict: "This can't be done at the moment.",
  rate_limited: "Too many requests; try again later.",
  usage_limit_exceeded: "The account's usage limit is reached.",
  upstream_refused: "The server is not allowed to do this.",
  upstream_unavailable: "The service can't be reached at the moment.",
  upstream_timeout: "The service did not answer in time.",
  outcome_unknown: "No answer came: it may have been done. Look before you repeat it.",
  event_too_large: "The run can't be read any further.",
  internal_error: "Something went wrong on the server.",
};

export const fail = (
  status: number,
  code: ServeErrorCode,
  more: Partial<Omit<Failure, "status" | "code">> = {},
): Failure => ({ status, code, message: messages[code], isFinal: true, ...more });

/** Codes of the API that a page can act on. All others stay on the server. */
const told = ["agent_busy", "agent_archived", "run_not_cancellable"] as const;

/** What may be told of anything that was thrown. */
export function failureOf(error: unknown): Failure {
  if (!CursorError.isInstance(error)) return fail(500, "internal_error");
  if (error.outcome === "unknown") return fail(TimeoutError.isInstance(error) ? 504 : 502, "outcome_unknown");
  if (ApiError.isInstance(error)) return ofAnswer(error);
  if (StreamError.isInstance(error) && error.reason !== "disconnected") {
    return fail(502, error.reason === "event_too_large" ? "event_too_large" : "upstream_unavailable");
  }
  if (error.kind === "timeout") return fail(504, "upstream_timeout", { isFinal: false });
  if (error.kind === "connection" || error.kind === "stream") {
    return fail(502, "upstream_unavailable", { isFinal: false });
  }
  return fail(500, "internal_error");
}

function ofAnswer({ status, code, retryAfterMs }: ApiError): Failure {
  const later = { isFinal: false, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  if (code === "usage_limit_exceeded") return fail(503, "usage_limit_exceeded");
  if (status === 404) return fail(404, "not_found");
  if (status === 409) return fail(409, told.find((known) => known === code) ?? "conflict");
  if (status === 429) return fail(429, "rate_limited", later);
  if (status === 503) return fail(503, "upstream_unavailable", later);
  if (status >= 500 || status === 408) return fail(502, "upstream_unavailable", later);
  if (status === 400 || status === 413 || status === 422) return fail(400, "invalid_request");
  // 401 and 403 are about the server's key. Passed on as they are, they would make a page log its user out.
  return fail(502, "upstream_refused");
}
