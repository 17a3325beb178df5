import { type Clock, follow, sleep, systemClock } from "../async.ts";
import { checkCallback, checkCount, checkHeaders, checkNames, checkTimeout, oneOf } from "../check.ts";
import { ApiError, ArgumentError, describe, StreamError } from "../errors.ts";
import type { WebFetch } from "../options.ts";
import type { ServedFrame } from "../serve/served-frame.ts";
import { FrameTooLargeError } from "../sse.ts";
import { isHidden, isOffline, onPage, waking } from "./page-events.ts";
import { RouteConnection } from "./route-connection.ts";
import type { RunSource } from "./run-source.ts";

/** How a page reads a run from its own server. */
export interface RouteSourceOptions {
  /** Sent with each request; a function is asked before each. */
  headers?:
    | Record<string, string>
    | (() => Record<string, string> | Promise<Record<string, string>>)
    | undefined;
  /** Whether cookies go along. @default "same-origin", fetch's own */
  credentials?: "omit" | "same-origin" | "include" | undefined;
  /**
   * How the position is sent: the header `Last-Event-ID`, or the query parameter `lastEventId`, which asks another
   * origin for no permission. What can't be a header's value is sent as the parameter in any case. @default "header"
   */
  position?: "header" | "query" | undefined;
  /** Milliseconds without a byte after which a connection counts as dead; keep-alives come every 15 s. @default 45_000 */
  idleTimeout?: number | undefined;
  /** Fruitless tries in a row before the source gives up; those without a network don't count. @default 10 */
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

const optionNames: (keyof RouteSourceOptions)[] = [
  "headers",
  "credentials",
  "position",
  "idleTimeout",
  "maxReconnects",
  "maxEventBytes",
  "fetch",
  "clock",
  "random",
];

/** Milliseconds before the first reconnect where the server doesn't say (`retry:`), and how far they grow. */
const firstPause = 1_000;
const longestPause = 30_000;
/** The longest that a server may ask for. */
const longestWish = 300_000;
/** A connection that held so long was none in vain, though the agent said nothing meanwhile. */
const lasting = 10_000;

/**
 * A run as the page's own server sends it, with `cursor-cloud-agents/serve`: the key stays there.
 *
 * Reconnects by itself: with a growing pause, at once when the network is back or the page wakes from sleep to a dead
 * connection. A 204 means that the run is over. Gives up for good on 401, 403, 404 and any other refusal that waiting
 * can't change, on an answer that is no event stream ({@link ApiError}), and after `maxReconnects`
 * ({@link StreamError}).
 *
 * @throws ArgumentError for an option that can't work
 * @example
 * const store = createRunStore(routeSource(`/api/agents/${agentId}/runs/${runId}`));
 */
export function routeSource(url: string, options: RouteSourceOptions = {}): RunSource {
  if (typeof url !== "string" || url === "") {
    throw new ArgumentError(
      "url",
      typeof url === "string" ? "must not be empty" : `expected a string, got ${describe(url)}`,
    );
  }
  const route = new Route(url, options);
  return Object.assign((...given: Parameters<RunSource>) => route.read(...given), { key: url });
}

class Route {
  readonly #url: string;
  readonly #options: RouteSourceOptions;
  readonly #clock: Clock;
  readonly #maxReconnects: number;
  readonly #limits: { clock: Clock; idleTimeout: number; maxEventBytes: number };

  constructor(url: string, options: RouteSourceOptions) {
    checkNames(options, optionNames);
    checkCallback("fetch", options.fetch);
    checkCallback("random", options.random);
    if (typeof options.headers !== "function") checkHeaders("headers", options.headers);
    oneOf(["omit", "same-origin", "include"])("credentials", options.credentials ?? "same-origin");
    oneOf(["header", "query"])("position", options.position ?? "header");
    this.#url = url;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#maxReconnects = checkCount("maxReconnects", options.maxReconnects) ?? 10;
    this.#limits = {
      clock: this.#clock,
      idleTimeout: checkTimeout("idleTimeout", options.idleTimeout) ?? 45_000,
      maxEventBytes: checkTimeout("maxEventBytes", options.maxEventBytes) ?? 32 * 1024 * 1024,
    };
  }

  async *read(
    ...[from, signal, report]: Parameters<RunSource>
  ): AsyncGenerator<ServedFrame, void, undefined> {
    let position = from;
    let firstWait = firstPause;
    const onRetry = (ms: number) => {
      firstWait = Math.min(ms, longestWish);
    };
    const options = { ...this.#limits, onRetry, onOpen: () => report("open") };
    let tries = 0;
    for (let pauses = 0; ; pauses++) {
      const connection = new RouteConnection(options, signal);
      let hasProgress = false;
      let reason: unknown;
      try {
        const at = position;
        for await (const { id, frame } of connection.messages((own) => this.#send(at, own), this.#path)) {
          if (frame.type === "failure" && !frame.data.final) {
            reason = new StreamError(frame.data.message, { reason: "disconnected", code: frame.data.code });
            break;
          }
          if (frame.type === "reset") position = undefined;
          hasProgress ||= id !== undefined;
          position = id ?? position;
          yield frame;
          if (frame.type === "end" || frame.type === "failure") return;
        }
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof FrameTooLargeError) {
          throw new StreamError(error.message, { reason: "event_too_large", lastEventId: position });
        }
        if (isFinal(error)) throw error;
        reason = error;
      } finally {
        connection.close();
      }
      const hasFailed = StreamError.isInstance(reason);
      if (hasProgress || (!hasFailed && connection.lasted >= lasting)) tries = pauses = 0;
      if (tries >= this.#maxReconnects) throw this.#giveUp(tries, position, reason);
      // Without a network a try proves nothing.
      if (!isOffline()) tries++;
      report("reconnecting");
      await this.#pause(Math.max(firstWait, Math.min(firstWait * 2 ** pauses, longestPause)), reason, signal);
    }
  }

  async #send(position: string | undefined, signal: AbortSignal): Promise<Response> {
    const { credentials, fetch = globalThis.fetch, headers: given } = this.#options;
    const headers = new Headers(typeof given === "function" ? await given() : given);
    headers.set("accept", "text/event-stream");
    let url = this.#url.replace(/#.*/s, "");
    if (position !== undefined) {
      if (this.#options.position === "query" || !/^[\x21-\x7e]+$/.test(position)) {
        url += `${url.includes("?") ? "&" : "?"}lastEventId=${encodeURIComponent(position)}`;
      } else headers.set("last-event-id", position);
    }
    const cache = { cache: "no-store" } as const; // not in every platform's RequestInit
    return fetch(url, { headers, signal, ...cache, ...(credentials && { credentials }) });
  }

  /** Waits, but no longer than until the page wakes or the network is back. */
  async #pause(wanted: number, reason: unknown, signal: AbortSignal): Promise<void> {
    const { random = Math.random } = this.#options;
    const asked = ApiError.isInstance(reason) ? Math.min(reason.retryAfterMs ?? 0, longestWish) : 0;
    // Upwards only: what the server asks for is the least. Many pages lose one server at the same moment.
    const ms = Math.max(wanted, asked) * (1 + random() / 2);
    const wait = follow(signal);
    const endPageEvents = onPage(waking, () => isHidden() || wait.abort());
    try {
      await sleep(this.#clock, ms, wait.signal).catch(() => signal.throwIfAborted());
    } finally {
      endPageEvents();
      wait.release();
    }
  }

  /** For messages: a query may hold what is nobody's business. */
  get #path(): string {
    return this.#url.replace(/[?#].*/s, "").replace(/^\w+:\/\/[^/]*/, "");
  }

  #giveUp(tries: number, lastEventId: string | undefined, cause: unknown): StreamError {
    return new StreamError(`GET ${this.#path}: ${tries + 1} tries in a row were in vain`, {
      reason: "disconnected",
      lastEventId,
      cause,
    });
  }
}

/** What will be the same at the next try. */
function isFinal(error: unknown): boolean {
  return ApiError.isInstance(error) && error.status < 500 && ![408, 425, 429].includes(error.status);
}
