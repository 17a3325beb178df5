import { isObject, parseJson } from "./json.ts";

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
