import type { Clock } from "./async.ts";
import { ArgumentError, unexpected } from "./errors.ts";
import type { RunRef } from "./types.ts";

/** Headers in any usual form: a plain object (undefined values are left out), pairs, or a `Headers` object. */
export type HeadersInput = Record<string, string | undefined> | Iterable<readonly [string, string]>;

// Arguments are checked before anything is sent, so that a mistake ends in an error that names it.

/** Checks one value and returns it, completed or converted. @throws ArgumentError that names `argument` */
export type Check<T> = (argument: string, value: unknown) => T;

/** One check for each option of a set. No other option names are accepted. */
export type OptionTable<Options> = { readonly [Name in keyof Required<Options>]: Check<unknown> };

/** The options as the checks of a table return them; a check that returns `unknown` leaves the option's own type. */
export type Checked<Options, Table> = {
  [Name in keyof Options & keyof Table]-?: Table[Name] extends Check<infer T>
    ? unknown extends T
      ? Options[Name]
      : T
    : never;
};

/**
 * Checks a set of options against its table. `null` and `undefined` stand for no options.
 * @param argument The name of the whole set, for the error where it is not an object
 */
export function checkOptions<Options extends object, Table extends OptionTable<Options>>(
  table: Table,
  options: Options | null | undefined,
  argument = "options",
): Checked<Options, Table> {
  checkNames(options, Object.keys(table), argument);
  const checked: Record<string, unknown> = {};
  for (const name of Object.keys(table)) {
    const check = table[name as keyof Table] as Check<unknown>;
    checked[name] = check(name, options?.[name as keyof Options]);
  }
  return checked as Checked<Options, Table>;
}

/** Rejects a misspelt option, which no compiler finds in JavaScript and which would be ignored otherwise. */
export function checkNames(options: unknown, names: readonly string[], argument = "options"): void {
  if (options === undefined || options === null) return;
  if (typeof options !== "object") throw unexpected(argument, "an object", options);
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue;
    throw new ArgumentError(
      name,
      `unknown option ${JSON.stringify(name)}; expected one of ${names.join(", ")}`,
    );
  }
}

// ── Checks for single values ─────────────────────────────────────────────────────────────────────────────────────

/** A check with a default for an option that is left out. */
export const orDefault =
  <T, const Default>(check: Check<T | undefined>, fallback: Default): Check<T | Default> =>
  (argument, value) =>
    value === undefined ? fallback : (check(argument, value) ?? fallback);

/** For options that are checked elsewhere, or that accept every value. */
export const anyValue: Check<unknown> = (_, value) => value;

export function checkObject(argument: string, value: unknown): void {
  if (typeof value !== "object" || value === null) throw unexpected(argument, "an object", value);
}

/** Accepts one of the known values, or undefined. */
export const oneOf =
  <const Known extends string>(known: readonly Known[]): Check<Known | undefined> =>
  (argument, value) => {
    if (value === undefined || known.includes(value as Known)) return value as Known | undefined;
    const names = known.map((name) => JSON.stringify(name));
    throw new ArgumentError(argument, `expected ${names.slice(0, -1).join(", ")} or ${names.at(-1)}`);
  };

export function checkCallback(argument: string, value: unknown): unknown {
  if (value !== undefined && typeof value !== "function") throw unexpected(argument, "a function", value);
  return value;
}

/** Like {@link checkCallback}, for a function that must be there. */
export function checkFunction(argument: string, value: unknown): void {
  if (typeof value !== "function") throw unexpected(argument, "a function", value);
}

export function checkFlag(argument: string, value: unknown): boolean | undefined {
  if (value !== undefined && typeof value !== "boolean") throw unexpected(argument, "true or false", value);
  return value;
}

/** A duration in milliseconds. */
export function checkTimeout(argument: string, value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !(value > 0)) {
    throw new ArgumentError(argument, "expected a number of milliseconds above 0 (Infinity: no limit)");
  }
  return value;
}

export function checkCount(argument: string, value: unknown, least = 0): number | undefined {
  if (value === undefined) return undefined;
  if (!(Number.isInteger(value) || value === Number.POSITIVE_INFINITY) || (value as number) < least) {
    throw new ArgumentError(argument, `expected a whole number, ${least} or more`);
  }
  return value as number;
}

/** Checks the signal's members, not its class, because it may come from another realm or from a polyfill. */
export function checkSignal(argument: string, value: unknown): AbortSignal | undefined {
  if (value === undefined || value === null) return undefined;
  const { addEventListener, aborted } = value as Partial<AbortSignal>;
  if (typeof addEventListener !== "function" || typeof aborted !== "boolean") {
    throw new ArgumentError(argument, "expected an AbortSignal");
  }
  return value as AbortSignal;
}

export function checkClock(argument: string, value: unknown): Clock | undefined {
  const names = ["now", "setTimeout", "clearTimeout"] as const;
  const clock = value as Clock | null | undefined;
  if (clock !== undefined && !names.every((name) => typeof clock?.[name] === "function")) {
    throw new ArgumentError(argument, `expected an object with ${names.join(", ")}`);
  }
  return clock as Clock | undefined;
}

/** Like {@link flattenHeaders}, for headers to the API: the client makes their `Authorization` itself. */
export function checkHeaders(argument: string, value: unknown): Record<string, string> {
  if (value === undefined) return Object.create(null);
  const flat = flattenHeaders(argument, value);
  if (flat["authorization"] === undefined) return flat;
  throw new ArgumentError(`${argument}.authorization`, "is made from `apiKey`; see `auth` for its form");
}

/** Headers for any server. Returns them with lower-case names; of names that differ in case only, the last one wins. */
export function flattenHeaders(argument: string, value: unknown): Record<string, string> {
  const flat: Record<string, string> = Object.create(null);
  if (value === undefined) return flat;
  if (typeof value !== "object" || value === null) throw unexpected(argument, "an object", value);
  const headers = value as HeadersInput;
  for (const entry of Symbol.iterator in headers ? headers : Object.entries(headers)) {
    if (typeof entry !== "object" || entry === null || !(Symbol.iterator in entry)) {
      throw unexpected(argument, "pairs", entry);
    }
    const [name, text] = entry;
    if (text === undefined || text === null) continue;
    if (typeof name !== "string" || !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)) {
      // The name is not shown: it may be a whole header line, passed by mistake, with its value.
      throw new ArgumentError(argument, "contains a name that is not a valid header name");
    }
    if (typeof text !== "string" || !/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) {
      throw new ArgumentError(`${argument}.${name}`, "contains a character that can't be sent in a header");
    }
    flat[name.toLowerCase()] = text;
  }
  return flat;
}

// ── Ids, refs and addresses ──────────────────────────────────────────────────────────────────────────────────────

/**
 * Checks a value that becomes one segment of a path. Every URL parser removes `.` and `..`, which would turn a request
 * for one agent into one for all, and an empty or missing id would lead to a different route. openapi-fetch encodes
 * everything else, once.
 */
export function segment(argument: string, value: unknown): string {
  if (typeof value !== "string") {
    const hint = typeof (value as { id?: unknown } | undefined)?.id === "string" ? ": pass its `id`" : "";
    throw unexpected(argument, "a non-empty string", value, hint);
  }
  if (value.trim() === "") throw new ArgumentError(argument, "must not be empty");
  if (value === "." || value === "..") {
    throw new ArgumentError(argument, `must not be ${JSON.stringify(value)}`);
  }
  // encodeURIComponent would throw a bare URIError for a lone surrogate.
  if (/[\uD800-\uDFFF]/u.test(value)) throw new ArgumentError(argument, "is not well-formed Unicode");
  return value;
}

/** Checks and returns both ids of a run; a whole `Run` is a ref, too. */
export function checkRef(ref: RunRef): RunRef {
  if (typeof ref !== "object" || ref === null) {
    throw unexpected("ref", "a run ({ agentId, id })", ref);
  }
  return { agentId: segment("ref.agentId", ref.agentId), id: segment("ref.id", ref.id) };
}

/** True for https to any host, and for http to this machine. */
export function isSafeTransport(url: URL): boolean {
  if (url.protocol === "https:") return true;
  return url.protocol === "http:" && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
}

/**
 * Whether a file may be at this address, which an API at `origin` gave: https to a public host. Only an API that is on
 * this machine or in a private network may lead there; otherwise its answer could open what only this machine can reach.
 */
export function isStorageUrl(url: string, origin: string): boolean {
  const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.username !== "" || parsed.password !== "") return false;
  const api = new URL(origin);
  if (parsed.protocol !== "https:" && !(api.protocol === "http:" && isSafeTransport(parsed))) return false;
  return isPrivateHost(api.hostname) || !isPrivateHost(parsed.hostname);
}

/** Whether a host name, as the URL parser writes it, is that of this machine or of a private network. */
function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/\.$/, "");
  if (host.startsWith("[")) {
    // Unspecified, this machine, embedded IPv4, unique local, link local.
    return /^\[(::\]|::1\]|::ffff:|::[\da-f]+:[\da-f]+\]|64:ff9b:|f[cd]|fe[89ab])/.test(host);
  }
  const [first = 0, second = 0] = /^\d+(\.\d+){3}$/.test(host) ? host.split(".").map(Number) : [256];
  if (first === 256)
    return /(^|\.)(localhost|local|internal|lan|home\.arpa)$/.test(host) || !host.includes(".");
  return (
    [0, 10, 127].includes(first) ||
    (first === 100 && second >= 64 && second < 128) ||
    (first === 169 && second === 254) ||
    (first === 172 && second >= 16 && second < 32) ||
    (first === 192 && second === 168)
  );
}
