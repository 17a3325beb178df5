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

/** How a {@link Cursor} connects to the API. */
export interface CursorOptions {
  /**
   * A user or service-account key. A function is called once per attempt, so that keys can rotate.
   * White space and quotes around it are removed.
   * @default the environment variable CURSOR_API_KEY
   */
  apiKey?: string | (() => string | Promise<string>) | undefined;
  /** The form in which the key is sent; the API accepts both. @default "bearer" */
  auth?: "bearer" | "basic" | undefined;
  /**
   * The address of the API: https, or http on a loopback address. A path in it is kept as a prefix.
   * @default the environment variable CURSOR_BASE_URL, then https://api.cursor.com
   */
  baseUrl?: string | undefined;
  /** Sends the requests; always called with `(url, init)`. @default the global fetch, looked up at each call */
  fetch?: WebFetch | undefined;
  /** Sent with each request to the API, never to artifact storage. */
  headers?: HeadersInput | undefined;
  /** openapi-fetch middleware: sees every request (without the key) and every response. */
  middleware?: Middleware[] | undefined;
  /**
   * Milliseconds that one attempt may take, headers and body; for a stream, its headers only.
   * @default 60_000; 180_000 for a create and a follow-up, 120_000 for repositories. A value given here replaces all three.
   */
  timeout?: number | undefined;
  /** How often a failed request is sent again, where that is safe; streams have a limit of their own. @default 2 */
  maxRetries?: number | undefined;
  /** The source of time, for tests. @default the system's clock */
  clock?: Clock | undefined;
  /** The source of jitter, for tests: 0 <= x < 1. @default Math.random */
  random?: (() => number) | undefined;
}

/** The options of one call: the last argument of every method. */
export interface RequestOptions {
  /** Aborts the call, its retries and its waits; the call rejects with `signal.reason`. */
  signal?: AbortSignal | undefined;
  /** Milliseconds that one attempt may take. */
  timeout?: number | undefined;
  /** How often a failed request is sent again, where that is safe. */
  maxRetries?: number | undefined;
  /** Added to the client's own headers; a name that both have takes the value given here. */
  headers?: HeadersInput | undefined;
}

/** {@link CursorOptions}, checked and completed. */
export interface Settings {
  /** The key, or the function that returns one for each attempt. Both are checked. */
  apiKey: string | (() => Promise<string>);
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
  apiKey: checkApiKey,
  auth: orDefault(oneOf(["bearer", "basic"]), "bearer"),
  baseUrl: checkBaseUrl,
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

/** Checks the options of a client and completes them. */
export function resolveOptions(options: CursorOptions): Settings {
  checkObject("options", options);
  const { baseUrl, fetch, random = Math.random, ...checked } = checkOptions(clientOptions, options);
  return {
    ...checked,
    // Not `href`, which keeps a `?` or a `#` that nothing follows.
    baseUrl: baseUrl.origin + baseUrl.pathname.replace(/\/+$/, ""),
    origin: baseUrl.origin,
    // Bound, because some platforms' fetch throws when it is called as a method of another object. The global fetch is
    // looked up at each call, so that a replacement that is installed later is used.
    fetch: fetch?.bind(undefined) ?? ((...input) => globalThis.fetch(...input)),
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

/** The only function that reads environment variables. Runtimes without them have no `process`. */
function environment(name: string): string | undefined {
  try {
    const value = globalThis.process?.env?.[name]?.trim();
    return value === "" ? undefined : value;
  } catch {
    // Deno asks its user for permission to read the variable, and the user has denied it.
    return undefined;
  }
}

function checkApiKey(_: string, value: unknown): Settings["apiKey"] {
  const key = value ?? environment("CURSOR_API_KEY");
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

function checkBaseUrl(_: string, given: unknown): URL {
  const value = given ?? environment("CURSOR_BASE_URL") ?? "https://api.cursor.com";
  if (typeof value !== "string") throw unexpected("baseUrl", "a string", value);
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url) throw new ArgumentError("baseUrl", "not a valid URL (example: https://api.cursor.com)");
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

/** The request that a {@link Middleware} sees. */
export interface MiddlewareCall {
  /** The request as it would be sent, but without the key. */
  request: Request;
  /** The path with its placeholders: `/v1/agents/{id}`. */
  readonly schemaPath: string;
  /** The values of the placeholders, the query and the headers. */
  readonly params: {
    query?: Record<string, unknown>;
    header?: Record<string, unknown>;
    path?: Record<string, unknown>;
    cookie?: Record<string, unknown>;
  };
  /** The same in all hooks of one attempt. */
  readonly id: string;
  /** The client's settings. */
  readonly options: { readonly baseUrl: string };
}

/**
 * Sees every attempt of every request; at least one hook is required. This is openapi-fetch's middleware, so anything
 * written for that works here.
 *
 * @example
 * const timing: Middleware = {
 *   onRequest({ request }) {
 *     request.headers.set("x-trace", crypto.randomUUID());
 *   },
 * };
 */
export interface Middleware {
  /** Called before the request is sent. Returns another request to send, a response to use instead, or nothing. */
  onRequest?(
    call: MiddlewareCall,
  ): Request | Response | undefined | void | Promise<Request | Response | undefined | void>;
  /** Called with the response. Returns another response, or nothing. Must clone the response before it reads the body. */
  onResponse?(
    call: MiddlewareCall & { response: Response },
  ): Response | undefined | void | Promise<Response | undefined | void>;
  /** Called with a failure that has no response. Returns a response to use instead, another error, or nothing. */
  onError?(
    call: MiddlewareCall & { error: unknown },
  ): Response | Error | undefined | void | Promise<Response | Error | undefined | void>;
}

/**
 * The platform's `fetch`. Not `typeof globalThis.fetch`, because a project without the types of the web must compile with
 * our declarations, too.
 */
export type WebFetch = typeof globalThis extends { fetch: infer Type }
  ? Type
  : (input: string, init?: { method?: string; signal?: AbortSignal }) => Promise<Response>;
