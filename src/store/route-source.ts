import { Backoff, type BackoffOptions, type Clock, follow, systemClock } from "../async.ts";
import {
  type Check,
  checkCallback,
  checkClock,
  checkCount,
  checkOptions,
  checkTimeout,
  flattenHeaders,
  type HeadersInput,
  type OptionTable,
  oneOf,
  orDefault,
} from "../check.ts";
import { ApiError, ArgumentError, StreamError, unexpected } from "../errors.ts";
import type { WebFetch } from "../options.ts";
import type { ServedFrame } from "../serve/served-frame.ts";
import { FrameTooLargeError } from "../sse.ts";
import { isHidden, isOffline, onPage, waking } from "./page.ts";
import { type Route, RouteConnection } from "./route-connection.ts";
import type { RunSource } from "./run-source.ts";

/** How a page reads a run from its own server. */
export interface RouteSourceOptions {
  /** Sent with each request, `Authorization` too; a function is called before each. */
  headers?: HeadersInput | (() => HeadersInput | Promise<HeadersInput>) | undefined;
  /** Whether cookies are sent. @default "same-origin", the default of fetch */
  credentials?: "omit" | "same-origin" | "include" | undefined;
  /**
   * How the resume position is sent: in the header `Last-Event-ID`, or in the query parameter `lastEventId`, for which
   * another origin needs no CORS permission. A position that can't be a header's value is always sent as the parameter.
   * @default "header"
   */
  position?: "header" | "query" | undefined;
  /** Milliseconds without a byte after which a connection counts as dead; keep-alives come every 15 s. @default 45_000 */
  idleTimeout?: number | undefined;
  /** Reconnects in a row without progress before the source gives up; those without a network don't count. @default 10 */
  maxReconnects?: number | undefined;
  /** The largest message accepted, in bytes. @default 33_554_432 (32 MiB) */
  maxEventBytes?: number | undefined;
  /** Sends the requests. @default the global fetch, looked up at each call */
  fetch?: WebFetch | undefined;
  /** Where time comes from, for tests. @default the system's clock */
  clock?: Clock | undefined;
  /** Where jitter comes from, for tests: 0 <= x < 1. @default Math.random */
  random?: (() => number) | undefined;
}

const checkRouteHeaders: Check<unknown> = (argument, value) =>
  typeof value === "function" ? value : flattenHeaders(argument, value);

const routeOptions = {
  headers: checkRouteHeaders,
  credentials: oneOf(["omit", "same-origin", "include"]),
  position: orDefault(oneOf(["header", "query"]), "header"),
  idleTimeout: orDefault(checkTimeout, 45_000),
  maxReconnects: orDefault(checkCount, 10),
  maxEventBytes: orDefault(checkTimeout, 32 * 1024 * 1024),
  fetch: checkCallback,
  clock: orDefault(checkClock, systemClock),
  random: checkCallback,
} satisfies OptionTable<RouteSourceOptions>;

/** Milliseconds before the first reconnect, unless the server sets them (`retry:`), and the longest they grow to. */
const firstPause = 1_000;
const longestPause = 30_000;
/** The longest pause that a server may ask for, in milliseconds. */
const longestAskedPause = 300_000;

/**
 * Reads a run from the page's own server, which uses `cursor-cloud-agents/serve`: the key stays there.
 *
 * Reconnects by itself: after pauses that grow, and at once when the network is back or the page wakes from sleep to a
 * dead connection. A 204 means that the run is over. Gives up at once on 401, 403, 404 and every other status that
 * waiting can't change, and on a response that is not an event stream ({@link ApiError}); after `maxReconnects` failed
 * reconnects in a row with a {@link StreamError}.
 *
 * @throws ArgumentError for an option that can't work
 * @example
 * const store = createRunStore(routeSource(`/api/agents/${agentId}/runs/${runId}`));
 */
export function routeSource(url: string, options: RouteSourceOptions = {}): RunSource {
  if (typeof url !== "string") throw unexpected("url", "a string", url);
  if (url === "") throw new ArgumentError("url", "must not be empty");
  const { random = Math.random, ...checked } = checkOptions(routeOptions, options);
  const path = url.replace(/[?#].*/s, "").replace(/^\w+:\/\/[^/]*/, "");
  const own: SourceRoute = { ...checked, random, url, path };
  const source: RunSource = Object.assign(
    (...[position, signal, report, latest]: Parameters<RunSource>) =>
      readRoute(() => routes.get(latest?.() ?? source) ?? own, position, signal, report),
    { key: url },
  );
  routes.set(source, own);
  return source;
}

type SourceRoute = Route & { maxReconnects: number; random: () => number };

/** The route of each source. Not a property of it, since headers may hold a token, and a source may be logged. */
const routes = new WeakMap<RunSource, SourceRoute>();

/** @param latest The route as the newest source has it; asked before each connection */
async function* readRoute(
  latest: () => SourceRoute,
  ...[from, signal, report]: Parameters<RunSource>
): AsyncGenerator<ServedFrame, void, undefined> {
  let route = latest();
  const pauses: BackoffOptions = {
    clock: route.clock,
    random: () => route.random(),
    base: firstPause,
    cap: longestPause,
    // Upwards only: the server's `retry:` is the least. Many pages lose one server at the same moment.
    jitter: [1, 1.5],
    longestRetryAfter: longestAskedPause,
  };
  const backoff = new Backoff(pauses);
  let position = from;
  /** Failed attempts in a row, without those that had no network: they prove nothing about the server. */
  let attempts = 0;
  const listener = {
    onOpen: () => report("open"),
    onRetry: (ms: number) => {
      pauses.base = Math.min(ms, longestAskedPause);
      pauses.cap = Math.max(longestPause, pauses.base);
    },
  };
  for (; ; route = latest()) {
    const connection = new RouteConnection(route, position, signal, listener);
    let failure: unknown;
    try {
      for await (const frame of connection.frames()) {
        yield frame;
        if (frame.type === "end" || frame.type === "failure") return;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof FrameTooLargeError) {
        const lastEventId = connection.position;
        throw new StreamError(error.message, { reason: "event_too_large", lastEventId });
      }
      if (isFinal(error)) throw error;
      failure = error;
    } finally {
      connection.close();
    }
    position = connection.position;
    if (connection.hasProgressed) {
      attempts = 0;
      backoff.reset();
    }
    if (attempts >= route.maxReconnects) {
      throw new StreamError(`GET ${route.path}: gave up after ${attempts + 1} failed attempts`, {
        reason: "disconnected",
        code: ApiError.isInstance(failure) || StreamError.isInstance(failure) ? failure.code : undefined,
        lastEventId: position,
        cause: failure,
      });
    }
    if (!isOffline()) attempts++;
    report("reconnecting");
    await pauseUntilAwake(backoff, ApiError.isInstance(failure) ? failure.retryAfterMs : undefined, signal);
  }
}

/** Waits before a reconnect, but no longer than until the page wakes or the network is back. */
async function pauseUntilAwake(
  backoff: Backoff,
  retryAfterMs: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  const wait = follow(signal);
  const stopPageEvents = onPage(waking, () => isHidden() || wait.abort());
  try {
    await backoff.pause(wait.signal, retryAfterMs).catch(() => signal.throwIfAborted());
  } finally {
    stopPageEvents();
    wait.release();
  }
}

/** Whether another attempt would get the same response. */
function isFinal(error: unknown): boolean {
  if (ArgumentError.isInstance(error)) return true; // headers that can't be sent
  return ApiError.isInstance(error) && error.status < 500 && ![408, 425, 429].includes(error.status);
}
