import { ApiError, type ApiErrorInit, ConnectionError } from "../errors.ts";
import { copyText, isObject, messageOf, parseJson } from "../text.ts";
import type { Connection } from "./attempt.ts";
import type { Redactor } from "./redact.ts";
import { retryAfter } from "./response.ts";
import { markTorn } from "./retry.ts";

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

/** What can be read from the body of an error answer, whichever of the API's forms it has. */
export interface ErrorDetails {
  code?: string | undefined;
  message?: string | undefined;
  helpUrl?: string | undefined;
  provider?: string | undefined;
  /** Connect-style bodies say how long to wait inside, without a header. */
  retryAfterMs?: number | undefined;
}

type Json = Record<string, unknown>;

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;

/** Longest plain-text body that is taken for a message. */
const longestPlainText = 300;

/**
 * Reads an error body: `{error: {code, message}}`, `{error: "text"}`, flat `{code, message}` (with the literal code
 * "error" where the framework answered), Connect's `{code, message, details}`, plain text, HTML, nothing. Never throws.
 */
export function readErrorBody(body: string): ErrorDetails {
  const json = parseJson(body);
  if (isObject(json)) {
    if (isObject(json["error"])) return fields(json["error"], json);
    const title = text(json["error"]);
    if (title !== undefined) return { code: code(json), message: text(json["message"]) ?? title };
    return fields(json, json);
  }
  const plain = text(json === undefined ? body : json);
  // Markup is for browsers, and broken JSON says nothing to a person.
  const readable = plain !== undefined && plain.length <= longestPlainText && !/^\{|</.test(plain);
  return readable ? { message: plain } : {};
}

function fields(from: Json, whole: Json): ErrorDetails {
  const debug = connectDebug(whole);
  const title = debug && text(debug["title"]);
  const message = text(from["message"]);
  return {
    code: code(from),
    message: message && title ? `${message}: ${title}` : (message ?? title),
    helpUrl: text(from["helpUrl"]),
    provider: text(from["provider"]),
    retryAfterMs: retrySeconds(debug),
  };
}

/** The literal code "error" marks the framework's own answers and names nothing. */
function code(from: Json): string | undefined {
  const value = text(from["code"]);
  return value === "error" ? undefined : value;
}

function connectDebug(body: Json): Json | undefined {
  const details = Array.isArray(body["details"]) ? body["details"][0] : undefined;
  const debug = isObject(details) && isObject(details["debug"]) ? details["debug"] : undefined;
  return debug && isObject(debug["details"]) ? debug["details"] : undefined;
}

function retrySeconds(debug: Json | undefined): number | undefined {
  const info = debug && isObject(debug["additionalInfo"]) ? debug["additionalInfo"] : undefined;
  const seconds = info?.["retryAfter"];
  const number = typeof seconds === "string" && seconds.trim() !== "" ? Number(seconds) : seconds;
  return typeof number === "number" && Number.isFinite(number) && number >= 0 ? number * 1000 : undefined;
}

/** What each runtime's fetch says when the network, not the caller, is at fault. All of them throw a bare TypeError. */
const networkMessages =
  /^(fetch failed|failed to fetch|load failed|terminated|network ?error\b|network request failed|the internet connection appears|networkerror when attempting|the network connection was lost|error sending request|client error|connection (closed|refused|reset)|body timeout|other side closed)/i;

/** Codes of wrong use, which come in the same wrapping as those of a broken connection. */
const usageCodes = /^(ERR_INVALID|UND_ERR_INVALID|UND_ERR_NOT_SUPPORTED)/;

/**
 * Tells a broken connection (worth another try) from a mistake in the call (never). A TypeError may be either, so it
 * is judged by its system code and by the known texts; any other error class of a fetch stands for the network.
 */
export function isNetworkFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return isErrorLike(error);
  const code = codeOf(error) ?? codeOf(error.cause);
  if (code !== undefined && usageCodes.test(code)) return false;
  if (error instanceof RangeError || error instanceof SyntaxError || error instanceof ReferenceError)
    return false;
  if (error.name !== "TypeError") return true;
  return code !== undefined || networkMessages.test(error.message);
}

const codeOf = (error: unknown): string | undefined => {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : undefined;
};

/** A DOMException of another realm is no `instanceof Error`. */
const isErrorLike = (error: unknown): boolean =>
  typeof error === "object" && error !== null && typeof (error as Error).message === "string";
