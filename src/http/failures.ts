import { ApiError, type ApiErrorInit, addFacts, ConnectionError } from "../errors.ts";
import { copyText, isObject, messageOf, parseJson } from "../text.ts";
import type { Redactor } from "./redact.ts";
import { requestIdOf, retryAfter } from "./response.ts";

/** The most characters of a body that an error keeps: 4 KB. */
const bodyKept = 4096;
/** Shorter secrets are not replaced in a code: programs compare codes, and a short secret may be a word of one. */
const shortestInCode = 8;

/** The request that a failure is about. */
export interface RequestInfo {
  readonly method: string;
  readonly url: string;
  /** Without the query. */
  readonly path: string;
  readonly redactor: Redactor;
}

/** The body of a failed response. */
export interface ErrorBody {
  /** As it came. */
  text: string;
  /** The same body as JSON, where it has been parsed already; text that isn't JSON stays text. */
  parsed?: unknown;
  /** False where the body broke off, stalled or ran over the limit. */
  isComplete: boolean;
}

/** The error of a failed response. */
export function toApiError(response: Response, request: RequestInfo, body: ErrorBody, now: number): ApiError {
  // The details are read before anything is redacted, because a secret may be equal to the name of a field.
  const details = readDetails("parsed" in body ? body.parsed : (parseJson(body.text) ?? body.text));
  const redact = (value = "", shortest?: number) => request.redactor.text(value, shortest) || undefined;
  const code = redact(details.code, shortestInCode);
  const message = redact(details.message ?? response.statusText);
  const error = responseError(response, request, code, message, {
    helpUrl: redact(details.helpUrl),
    provider: redact(details.provider),
    retryAfterMs: retryAfter(response.headers, now) ?? details.retryAfterMs,
    body: body.text === "" ? undefined : excerpt(body.text, request),
  });
  if (!body.isComplete) addFacts(error, { isTorn: true });
  return error;
}

/**
 * The error of a success whose body can't be used.
 * @param text The body; undefined where it was too large to read
 * @param missing The name of a field that the body should have and doesn't
 */
export function toInvalidResponse(
  response: Response,
  request: RequestInfo,
  text: string | undefined,
  isSecret = false,
  missing?: string,
): ApiError {
  const type = request.redactor.text(response.headers.get("content-type") ?? "no content type");
  let problem = `not a JSON object (${type})`;
  if (missing !== undefined) problem = `without "${missing}"`;
  else if (text === undefined) problem = "too large";
  else if (text.trim() === "") problem = "empty";
  // A body that begins like JSON may be part of a real response, whose data is not for logs. The error page of a proxy
  // does not begin like that, and shows what went wrong.
  const isShown = !isSecret && text !== undefined && !/^\s*([{["]|$)/.test(text);
  const body = isShown ? excerpt(text, request) : undefined;
  return responseError(response, request, "invalid_response", `the body is ${problem}`, { body });
}

/** The error of a redirect, which is never followed: it names the host that the redirect leads to. */
export function toRedirectError(response: Response, request: RequestInfo): ApiError {
  const location = response.headers.get("location") ?? "";
  const isUrl = URL.canParse(location, request.url);
  const host = isUrl ? new URL(location, request.url).host : "an unnamed host";
  const message = `redirects to ${request.redactor.text(host)}, not followed`;
  return responseError(response, request, "redirect_refused", message);
}

/** The error of a connection that failed before or inside the response. */
export function toConnectionError(error: unknown, { method, path, redactor }: RequestInfo): ConnectionError {
  const cause = redactor.error(error);
  const message = `${method} ${path}: connection failed: ${describeCause(cause)}`;
  return new ConnectionError(message, { cause, method, path });
}

/** The message of a cause, with its code where the message doesn't contain it. */
export function describeCause(error: unknown): string {
  const message = messageOf(error);
  const code = ((error as Error | undefined)?.cause as { code?: unknown } | undefined)?.code;
  return typeof code === "string" && !message.includes(code) ? `${message} (${code})` : message;
}

function responseError(
  response: Response,
  { method, path, redactor }: RequestInfo,
  code: string | undefined,
  message: string | undefined,
  more?: Partial<ApiErrorInit>,
): ApiError {
  const { status } = response;
  const id = requestIdOf(response);
  const requestId = id && redactor.text(id);
  const text = `${method} ${path} -> ${status}${code ? ` ${code}` : ""}${message ? `: ${message}` : ""}`;
  return new ApiError(text, { status, method, path, code, requestId, ...more });
}

/** The beginning of a body, character for character, except that secrets are replaced. */
const excerpt = (text: string, { redactor }: RequestInfo): string =>
  copyText(redactor.text(text).slice(0, bodyKept));

// ── Bodies of failed responses ───────────────────────────────────────────────────────────────────────────────────

/** What the body of a failed response says, whichever of the API's forms it has. */
interface ErrorDetails {
  code?: string | undefined;
  message?: string | undefined;
  helpUrl?: string | undefined;
  provider?: string | undefined;
  /** From a Connect-style body, which says in its details, and not in a header, how long to wait. */
  retryAfterMs?: number | undefined;
}

type Json = Record<string, unknown>;

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;

/** The longest plain-text body that is taken for a message, in characters. */
const longestPlainText = 300;

/**
 * Reads the body of a failed response: `{error: {code, message}}`, `{error: "text"}`, flat `{code, message}` (with the
 * literal code "error" where the framework answered), Connect's `{code, message, details}`, plain text, HTML, nothing.
 * Never throws.
 */
function readDetails(body: unknown): ErrorDetails {
  if (isObject(body)) {
    if (isObject(body["error"])) return fields(body["error"], body);
    const title = text(body["error"]);
    if (title !== undefined) return { code: code(body), message: text(body["message"]) ?? title };
    return fields(body, body);
  }
  const plain = text(body);
  // Markup is for browsers, and broken JSON tells a person nothing.
  const readable = plain !== undefined && plain.length <= longestPlainText && !/^\{|</.test(plain);
  return readable ? { message: plain } : {};
}

/**
 * @param from The part of the body that has the code and the message
 * @param whole The whole body, which has Connect's details
 */
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

/** The literal code "error" marks the framework's own responses and says nothing. */
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

// ── Failures of fetch ────────────────────────────────────────────────────────────────────────────────────────────

/** The messages with which each runtime's fetch reports a broken network. All of them throw a bare TypeError. */
const networkMessages =
  /^(fetch failed|failed to fetch|load failed|terminated|network ?error\b|network request failed|the internet connection appears|networkerror when attempting|the network connection was lost|error sending request|client error|connection (closed|refused|reset)|body timeout|other side closed)/i;

/** Codes of a mistake in the call. `fetch` reports it like a broken connection: as the cause of a TypeError. */
const usageCodes = /^(ERR_INVALID|UND_ERR_INVALID|UND_ERR_NOT_SUPPORTED)/;

/**
 * Tells a broken connection, which is worth another attempt, from a mistake in the call, which never is. A TypeError may
 * be either, so its system code and the known messages decide; any other class of error means the network.
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

/** A DOMException from another realm fails `instanceof Error`. */
const isErrorLike = (error: unknown): boolean =>
  typeof error === "object" && error !== null && typeof (error as Error).message === "string";
