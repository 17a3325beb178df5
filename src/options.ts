import { type Clock, systemClock } from "./async.ts";
import {
  anyValue,
  checkCallback,
  checkClock,
  checkCount,
  checkHeaders,
  checkObject,
  checkOptions,
  checkSignal,
  checkTimeout,
  type HeadersInput,
  isSafeTransport,
  type OptionTable,
  oneOf,
  orDefault,
} from "./check.ts";
import { ArgumentError, unexpected } from "./errors.ts";
import { trimKey } from "./text.ts";

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

const clientOptions = {
  apiKey: anyValue,
  auth: orDefault(oneOf(["bearer", "basic"]), "bearer"),
  baseUrl: anyValue,
  fetch: checkCallback,
  headers: checkHeaders,
  middleware: checkMiddleware,
  timeout: checkTimeout,
  maxRetries: orDefault(checkCount, 2),
  clock: orDefault(checkClock, systemClock),
  random: anyValue,
} satisfies OptionTable<CursorOptions>;

/** The checks of {@link RequestOptions}. */
export const requestOptions = {
  signal: checkSignal,
  timeout: checkTimeout,
  maxRetries: checkCount,
  headers: checkHeaders,
} satisfies OptionTable<RequestOptions>;

export function resolveOptions(options: CursorOptions): Settings {
  checkObject("options", options);
  const { fetch: custom, random = Math.random, ...checked } = checkOptions(clientOptions, options);
  const base = checkBaseUrl(options.baseUrl ?? environment("CURSOR_BASE_URL") ?? "https://api.cursor.com");
  const key = keySource(options.apiKey ?? environment("CURSOR_API_KEY"));
  return {
    ...checked,
    apiKey: typeof key === "string" ? () => key : key,
    fixedKey: typeof key === "string" ? key : undefined,
    // Not `href`: that keeps the mark of an empty query.
    baseUrl: base.origin + base.pathname.replace(/\/+$/, ""),
    origin: base.origin,
    // Called as a bare function, since a platform's fetch rejects any other `this`. The global one is looked up at each
    // call, so that one that is installed later is used.
    fetch: (...input) => (custom ?? globalThis.fetch)(...input),
    random,
  };
}

function checkMiddleware(argument: string, value: unknown): Middleware[] {
  const hooks = ["onRequest", "onResponse", "onError"] as const;
  const isMiddleware = (entry: unknown) =>
    typeof entry === "object" &&
    entry !== null &&
    hooks.some((hook) => typeof (entry as Middleware)[hook] === "function");
  if (value === undefined) return [];
  if (!Array.isArray(value) || !value.every(isMiddleware)) {
    throw new ArgumentError(argument, `expected a list of objects with one of ${hooks.join(", ")}`);
  }
  return value;
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
  const trimmed = trimKey(key);
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

/** The request that a {@link Middleware} looks at. */
export interface MiddlewareCall {
  /** As it would be sent, but without the key. */
  request: Request;
  /** The path with its placeholders: `/v1/agents/{id}`. */
  readonly schemaPath: string;
  /** What fills the placeholders, the query and the headers. */
  readonly params: {
    query?: Record<string, unknown>;
    header?: Record<string, unknown>;
    path?: Record<string, unknown>;
    cookie?: Record<string, unknown>;
  };
  /** The same in all hooks of one attempt. */
  readonly id: string;
  /** Where the API is. */
  readonly options: { readonly baseUrl: string };
}

/**
 * Sees every attempt of every request: one hook at least. It is openapi-fetch's middleware, and takes what is written
 * for that.
 *
 * @example
 * const timing: Middleware = {
 *   onRequest({ request }) {
 *     request.headers.set("x-trace", crypto.randomUUID());
 *   },
 * };
 */
export interface Middleware {
  /** Before it is sent. Returns another request to send, a response to take for the answer, or nothing. */
  onRequest?(
    call: MiddlewareCall,
  ): Request | Response | undefined | void | Promise<Request | Response | undefined | void>;
  /** Behind the answer. Returns another response, or nothing; clones a body before it reads it. */
  onResponse?(
    call: MiddlewareCall & { response: Response },
  ): Response | undefined | void | Promise<Response | undefined | void>;
  /** Behind a failure without an answer. Returns a response to take for one, another error, or nothing. */
  onError?(
    call: MiddlewareCall & { error: unknown },
  ): Response | Error | undefined | void | Promise<Response | Error | undefined | void>;
}

/**
 * The platform's `fetch`. Not `typeof globalThis.fetch`: a project whose types know none must compile with our
 * declarations, too.
 */
export type WebFetch = typeof globalThis extends { fetch: infer Type }
  ? Type
  : (input: string, init?: { method?: string; signal?: AbortSignal }) => Promise<Response>;
