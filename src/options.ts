import { type Clock, systemClock } from "./clock.ts";
import { ArgumentError, unexpected } from "./errors.ts";
import type { Middleware } from "./middleware.ts";
import type { WebFetch } from "./web.ts";

/** Headers in any usual form: a plain object (undefined values are left out), pairs, or a `Headers`. */
export type HeadersInput = Record<string, string | undefined> | Iterable<readonly [string, string]>;

/** How a {@link Cursor} talks to the API. */
export interface CursorOptions {
  /**
   * A user or service-account key. A function is asked once per request, so that keys can rotate.
   * White space and quotes around it are removed.
   * @default the environment variable CURSOR_API_KEY
   */
  apiKey?: string | (() => string | Promise<string>) | undefined;
  /** The form in which the key is sent; the API treats both alike. @default "bearer" */
  auth?: "bearer" | "basic" | undefined;
  /**
   * Where the API is: https, or http on a loopback address; a path in it is kept as a prefix.
   * @default the environment variable CURSOR_BASE_URL, then https://api.cursor.com
   */
  baseUrl?: string | undefined;
  /** Sends the requests. @default the global fetch, looked up at each call */
  fetch?: WebFetch | undefined;
  /** Sent with each request to the API, never to artifact storage. */
  headers?: HeadersInput | undefined;
  /** openapi-fetch middleware: sees every request (without the key) and every answer. */
  middleware?: Middleware[] | undefined;
  /**
   * Milliseconds one attempt may take, headers and body; of a stream, the headers alone.
   * @default 60_000; 180_000 for a create and a follow-up, 120_000 for repositories. A value here holds for all.
   */
  timeout?: number | undefined;
  /** How often a failed request is sent again, where that is safe; streams have their own budget. @default 2 */
  maxRetries?: number | undefined;
  /** Where time comes from, for tests. @default the system's clock */
  clock?: Clock | undefined;
  /** Where jitter comes from, for tests: 0 <= x < 1. @default Math.random */
  random?: (() => number) | undefined;
}

/** What can be said for one call; it is the last argument of every method. */
export interface RequestOptions {
  /** Aborts the call, its retries and its waits; the call rejects with `signal.reason`. */
  signal?: AbortSignal | undefined;
  /** Milliseconds one attempt may take. */
  timeout?: number | undefined;
  /** How often a failed request is sent again, where that is safe. */
  maxRetries?: number | undefined;
  /** Added to (and before) the client's own headers. */
  headers?: HeadersInput | undefined;
}

/** {@link CursorOptions}, checked and completed. */
export interface Settings {
  apiKey: () => string | Promise<string>;
  /** The key, where it is no function's. */
  fixedKey: string | undefined;
  auth: "bearer" | "basic";
  baseUrl: string;
  origin: string;
  fetch: WebFetch;
  headers: Record<string, string>;
  middleware: Middleware[];
  timeout: number | undefined;
  maxRetries: number;
  clock: Clock;
  random: () => number;
}

const optionNames: (keyof CursorOptions)[] = [
  "apiKey",
  "auth",
  "baseUrl",
  "fetch",
  "headers",
  "middleware",
  "timeout",
  "maxRetries",
  "clock",
  "random",
];

/** The names of {@link RequestOptions}. */
export const requestOptionNames: (keyof RequestOptions)[] = ["signal", "timeout", "maxRetries", "headers"];

export function checkObject(argument: string, value: unknown): void {
  if (typeof value !== "object" || value === null) {
    throw unexpected(argument, "an object", value);
  }
}

/** Refuses a misspelt option where no compiler looks: ignored, it would be a surprise at the worst time. */
export function checkNames(options: unknown, names: readonly string[]): void {
  if (options === undefined || options === null) return;
  if (typeof options !== "object") throw unexpected("options", "an object", options);
  for (const name of Object.keys(options)) {
    if (!names.includes(name))
      throw new ArgumentError(name, `is no option here; there are ${names.join(", ")}`);
  }
}

export function checkOneOf(argument: string, value: unknown, known: readonly string[]): void {
  if (known.includes(value as string)) return;
  const names = known.map((name) => JSON.stringify(name));
  const last = names.pop();
  throw new ArgumentError(argument, `expected ${names.join(", ")} or ${last}`);
}

export function checkCallback(argument: string, value: unknown): void {
  if (value !== undefined && typeof value !== "function") {
    throw unexpected(argument, "a function", value);
  }
}

export function resolveOptions(options: CursorOptions): Settings {
  checkObject("options", options);
  checkNames(options, optionNames);
  const base = checkBaseUrl(options.baseUrl ?? environment("CURSOR_BASE_URL") ?? "https://api.cursor.com");
  const custom = options.fetch;
  checkCallback("fetch", custom);
  const { auth = "bearer" } = options;
  checkOneOf("auth", auth, ["bearer", "basic"]);
  // Called as a bare function (a platform's fetch refuses any other `this`), and the global one looked up late, so
  // that what is installed after us is used.
  const fetch: WebFetch = (...input) => (custom ?? globalThis.fetch)(...input);
  const key = keySource(options.apiKey ?? environment("CURSOR_API_KEY"));
  return {
    apiKey: typeof key === "string" ? () => key : key,
    fixedKey: typeof key === "string" ? key : undefined,
    auth,
    // Not `href`: that keeps the mark of an empty query.
    baseUrl: base.origin + base.pathname.replace(/\/+$/, ""),
    origin: base.origin,
    fetch,
    headers: checkHeaders("headers", options.headers),
    middleware: checkMiddleware(options.middleware),
    timeout: checkTimeout("timeout", options.timeout),
    maxRetries: checkCount("maxRetries", options.maxRetries) ?? 2,
    clock: checkClock(options.clock) ?? systemClock,
    random: options.random ?? Math.random,
  };
}

function checkMiddleware(middleware: Middleware[] = []): Middleware[] {
  const hooks = ["onRequest", "onResponse", "onError"] as const;
  const isMiddleware = (entry: unknown) =>
    typeof entry === "object" &&
    entry !== null &&
    hooks.some((hook) => typeof (entry as Middleware)[hook] === "function");
  if (!Array.isArray(middleware) || !middleware.every(isMiddleware)) {
    throw new ArgumentError("middleware", `expected a list of objects with one of ${hooks.join(", ")}`);
  }
  return middleware;
}

function checkClock(clock: Clock | undefined): Clock | undefined {
  const names = ["now", "setTimeout", "clearTimeout"] as const;
  if (clock !== undefined && !names.every((name) => typeof clock?.[name] === "function")) {
    throw new ArgumentError("clock", `expected an object with ${names.join(", ")}`);
  }
  return clock;
}

/** The only reader of the environment: lazily, and where there is one. */
function environment(name: string): string | undefined {
  try {
    const value = globalThis.process?.env?.[name]?.trim();
    return value === "" ? undefined : value;
  } catch {
    return undefined; // a runtime that asks for permission, and was refused
  }
}

function keySource(key: CursorOptions["apiKey"]): string | (() => Promise<string>) {
  if (typeof key === "function") return async () => checkKey(await key());
  if (key === undefined) {
    throw new ArgumentError(
      "apiKey",
      "is missing: pass `apiKey` or set the environment variable CURSOR_API_KEY",
    );
  }
  return checkKey(key);
}

function checkKey(key: unknown): string {
  if (typeof key !== "string") throw unexpected("apiKey", "a string", key);
  const trimmed = key
    .trim()
    .replace(/^(["'])(.*)\1$/s, "$2")
    .trim();
  if (trimmed === "") throw new ArgumentError("apiKey", "must not be empty");
  if (!/^[\x21-\x7e]+$/.test(trimmed)) {
    throw new ArgumentError(
      "apiKey",
      "has a character that can't be sent in a header (white space, a control or an invisible character): paste it again",
    );
  }
  return trimmed;
}

function checkBaseUrl(value: unknown): URL {
  if (typeof value !== "string") throw unexpected("baseUrl", "a string", value);
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url) throw new ArgumentError("baseUrl", "is no URL such as https://api.cursor.com");
  if (url.username !== "" || url.password !== "") {
    throw new ArgumentError("baseUrl", "must not hold a user name or password: pass `apiKey`");
  }
  if (!isSafeTransport(url)) {
    throw new ArgumentError("baseUrl", "must be https (http is accepted on a loopback address only)");
  }
  if (url.search !== "" || url.hash !== "") {
    throw new ArgumentError("baseUrl", "must not hold a query or a fragment");
  }
  return url;
}

/** https anywhere, http to this machine only. */
export function isSafeTransport(url: URL): boolean {
  if (url.protocol === "https:") return true;
  return url.protocol === "http:" && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
}

/** Checked and flattened; a later name wins over an earlier one whatever its case. */
export function checkHeaders(argument: string, headers: HeadersInput | undefined): Record<string, string> {
  const flat: Record<string, string> = Object.create(null);
  if (headers === undefined) return flat;
  if (typeof headers !== "object" || headers === null) {
    throw unexpected(argument, "an object", headers);
  }
  for (const entry of Symbol.iterator in headers ? headers : Object.entries(headers)) {
    if (typeof entry !== "object" || entry === null || !(Symbol.iterator in entry)) {
      throw unexpected(argument, "pairs", entry);
    }
    const [name, value] = entry;
    if (value === undefined || value === null) continue;
    if (typeof name !== "string" || !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)) {
      // Not shown: a whole line with its value may have been given for a name.
      throw new ArgumentError(argument, "has a name that is no header's");
    }
    if (typeof value !== "string" || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw new ArgumentError(`${argument}.${name}`, "can't be sent as a header value");
    }
    if (name.toLowerCase() === "authorization") {
      throw new ArgumentError(`${argument}.${name}`, "is made from `apiKey`; see `auth` for its form");
    }
    flat[name.toLowerCase()] = value;
  }
  return flat;
}

export function checkTimeout(argument: string, value: number | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !(value > 0)) {
    throw new ArgumentError(argument, "expected a number of milliseconds above 0 (Infinity: no limit)");
  }
  return value;
}

export function checkCount(argument: string, value: number | undefined, least = 0): number | undefined {
  if (value === undefined) return undefined;
  if (!(Number.isInteger(value) || value === Number.POSITIVE_INFINITY) || value < least) {
    throw new ArgumentError(argument, `expected a whole number, ${least} or more`);
  }
  return value;
}

export function checkSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined || signal === null) return undefined;
  if (typeof signal.addEventListener !== "function" || typeof signal.aborted !== "boolean") {
    throw new ArgumentError("signal", "expected an AbortSignal");
  }
  return signal;
}
