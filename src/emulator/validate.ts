import * as z from "zod/mini";
import { type FailedResponse, invalid } from "./failed-response.ts";

type Issue = z.core.$ZodIssue;

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const key of path) value = (value as Record<PropertyKey, unknown> | undefined)?.[key];
  return value;
}

/** An issue in the words of zod 3, as the service words it. */
function describe(issue: Issue, root: unknown): string {
  const path = issue.path.map(String).join(".");
  const at = path === "" ? "" : `${path}: `;
  switch (issue.code) {
    case "unrecognized_keys":
      return `${at}Unrecognized key(s) in object: ${issue.keys.map((key) => `'${key}'`).join(", ")}`;
    case "invalid_type": {
      const value = valueAt(root, issue.path);
      if (value === undefined) return `${at}Required`;
      const received = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
      return `${at}Expected ${issue.expected}, received ${received}`;
    }
    case "too_big":
      return `${at}Must be at most ${issue.maximum}`;
    case "too_small":
      return `${at}Must be at least ${issue.minimum}`;
    case "invalid_value":
      return `${at}Invalid enum value. Expected ${issue.values.map((value) => `'${String(value)}'`).join(" | ")}`;
    default:
      return `${at}${issue.message}`;
  }
}

/**
 * Validates a query or a body, and returns it.
 *
 * @throws FailedResponse 400 that names everything wrong: a `validation_error`, or what `fail` makes of the message.
 */
export function validate<Schema extends z.core.$ZodType>(
  schema: Schema,
  value: unknown,
  fail: (message: string) => FailedResponse = invalid,
): z.core.output<Schema> {
  const result = (schema as unknown as z.ZodMiniType).safeParse(value);
  if (result.success) return result.data as z.core.output<Schema>;
  throw fail(result.error.issues.map((issue) => describe(issue, value)).join("; "));
}

/** A check with its own message; the mini build of zod has no messages. */
export function rule<T>(test: (value: T) => boolean, message: string) {
  return z.refine<T>(test, message);
}

/** A non-empty string. */
export const text = z.string().check(z.minLength(1));

/** Whether this is a valid URL with the scheme http or https. */
export const isHttpUrl = (text: string) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && (url.protocol === "http:" || url.protocol === "https:");
};

/** URL of a repository: http or https, with a host and a path. The service's own rule is not known. */
export const repositoryUrl = z
  .string()
  .check(
    rule(
      (value) => isHttpUrl(value) && /[^/]/.test(new URL(value).pathname),
      "Invalid url. Expected the http or https URL of a repository",
    ),
  );

/** Whether this has the form of an agent id. */
export const isAgentId = (text: string) => /^bc-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

/** Page size in a query, 1 to 100. */
export const limit = z.string().check(
  rule((value) => /^\d+$/.test(value) && Number(value) >= 1, "limit must be at least 1"),
  rule((value) => !(Number(value) > 100), "limit must be at most 100"),
);

/** Body of operations that take none. */
export const emptyBody = z.strictObject({});

/** Query of operations that take none. */
export const emptyQuery = z.strictObject({});
