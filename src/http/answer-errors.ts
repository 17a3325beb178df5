import { ApiError, type ApiErrorInit, ConnectionError } from "../errors.ts";
import type { Connection } from "./connection.ts";
import { copyText } from "./copy-text.ts";
import { readErrorBody } from "./error-body.ts";
import { messageOf, type Redactor } from "./redact.ts";
import { markTorn, retryAfter } from "./retry.ts";

const errorBodyKept = 4096;
/** A shorter secret may be a word, and codes are words that programs compare. */
const shortestInCode = 8;

/** The error of an answer that is no success; `error` is its body, parsed or not. */
export function toRefusal(response: Response, connection: Connection, error: unknown, now: number): ApiError {
  const raw = typeof error === "string" ? error : toJson(error);
  // Read first and redacted then: a secret may be a word that the body's own form needs.
  const details = readErrorBody(raw);
  const { redactor } = connection;
  const text = (value = "", shortest?: number) => redactor.text(value, shortest) || undefined;
  const code = text(details.code, shortestInCode);
  const message = text(details.message ?? response.statusText);
  const refusal = answerError(response, connection, code, message, {
    helpUrl: text(details.helpUrl),
    provider: text(details.provider),
    retryAfterMs: retryAfter(response.headers, now) ?? details.retryAfterMs,
    body: raw === "" ? undefined : copyText((text(raw) ?? "").slice(0, errorBodyKept)),
  });
  if (connection.isTorn) markTorn(refusal);
  return refusal;
}

/**
 * The error of a success that says nothing usable.
 * @param text Undefined: too large
 */
export function toInvalidAnswer(
  response: Response,
  connection: Connection,
  text: string | undefined,
  isSecret = false,
  lacking?: string,
): ApiError {
  const { redactor } = connection;
  const type = redactor.text(response.headers.get("content-type") ?? "no content type");
  const isEmpty = text?.trim() === "";
  const problem =
    lacking ?? (text === undefined ? "too large" : isEmpty ? "empty" : `not a JSON object (${type})`);
  return answerError(response, connection, "invalid_response", `the body is ${problem}`, {
    // The beginning of a real answer may hold what is nobody's business; a page from elsewhere doesn't.
    body:
      isSecret || text === undefined || /^\s*([{["]|$)/.test(text)
        ? undefined
        : copyText(redactor.text(text).slice(0, errorBodyKept)),
  });
}

/** The error of a redirect, which is never followed: it names the host it leads to. */
export function toRedirectError(response: Response, connection: Connection): ApiError {
  const location = response.headers.get("location") ?? "";
  const { url, redactor } = connection;
  const host = URL.canParse(location, url) ? new URL(location, url).host : "an unnamed place";
  const message = `redirects to ${redactor.text(host)}, not followed`;
  return answerError(response, connection, "redirect_refused", message);
}

/** The error of a connection that failed before or inside the answer. */
export function toConnectionError(error: unknown, { method, path, redactor }: Connection): ConnectionError {
  const cause = redactor.error(error);
  const message = `${method} ${path}: connection failed: ${describeCause(cause)}`;
  return new ConnectionError(message, { cause, method, path });
}

export const requestIdOf = ({ headers }: Response, redactor?: Redactor): string | undefined => {
  const id = headers.get("x-request-id") ?? undefined;
  return id && redactor ? redactor.text(id) : id;
};

/** A cause's message, with its code where the message doesn't say it. */
export function describeCause(error: unknown): string {
  const message = messageOf(error);
  const code = ((error as Error | undefined)?.cause as { code?: unknown } | undefined)?.code;
  return typeof code === "string" && !message.includes(code) ? `${message} (${code})` : message;
}

function answerError(
  response: Response,
  { method, path, redactor }: Connection,
  code: string | undefined,
  message: string | undefined,
  more?: Partial<ApiErrorInit>,
): ApiError {
  const { status } = response;
  const requestId = requestIdOf(response, redactor);
  const text = `${method} ${path} -> ${status}${code ? ` ${code}` : ""}${message ? `: ${message}` : ""}`;
  return new ApiError(text, { status, method, path, code, requestId, ...more });
}

/** Nested deep enough, what could be parsed can't be written again. */
function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}
