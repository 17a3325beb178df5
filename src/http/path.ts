import { ArgumentError, unexpected } from "../errors.ts";

/**
 * Refuses what can't be one path segment. `.` and `..` would be folded away by every URL parser (turning a request for
 * one agent into one for all), and an empty or missing id leaves a different route behind.
 * Everything else is encoded by openapi-fetch, once.
 */
export function segment(argument: string, value: unknown): string {
  if (typeof value !== "string") {
    const hint = typeof (value as { id?: unknown } | undefined)?.id === "string" ? ": pass its `id`" : "";
    throw unexpected(argument, "a non-empty string", value, hint);
  }
  if (value.trim() === "") throw new ArgumentError(argument, "must not be empty");
  if (value === "." || value === "..")
    throw new ArgumentError(argument, `must not be ${JSON.stringify(value)}`);
  // A lone surrogate can't be encoded: encodeURIComponent would throw a bare URIError.
  if (!isWellFormed(value)) throw new ArgumentError(argument, "is not well-formed Unicode");
  return value;
}

const isWellFormed = (text: string): boolean => !/[\uD800-\uDFFF]/u.test(text);
