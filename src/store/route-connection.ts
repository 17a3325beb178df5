import { type Clock, follow, race } from "../async.ts";
import { flattenHeaders, type HeadersInput } from "../check.ts";
import { ApiError, StreamError } from "../errors.ts";
import { discard, retryAfter } from "../http/response.ts";
import type { WebFetch } from "../options.ts";
import type { ServedFrame } from "../serve/served-frame.ts";
import { type FrameReader, IdleError, NotEventStreamError, openEventStream } from "../sse.ts";
import { parseJson } from "../text.ts";
import { isHidden, onPage, waking } from "./page.ts";

/** A route of the page's own server, and how it is read. */
export interface Route {
  url: string;
  /** The path alone, for messages: a query may hold secrets. */
  path: string;
  headers: HeadersInput | (() => HeadersInput | Promise<HeadersInput>) | undefined;
  credentials: "omit" | "same-origin" | "include" | undefined;
  position: "header" | "query";
  /** Milliseconds without a byte, of the headers or the body, after which the connection counts as dead. */
  idleTimeout: number;
  maxEventBytes: number;
  fetch: WebFetch | undefined;
  clock: Clock;
}

/** Receives what a connection learns beside its frames. */
export interface RouteListener {
  onOpen(): void;
  /** The server asks for this many milliseconds before the next connection. */
  onRetry(ms: number): void;
}

/** A connection that lasted this long counts as progress, even without events: the agent may be silent for hours. */
const lastingTime = 10_000;

/** One request of a page to its server's route. */
export class RouteConnection {
  readonly #route: Route;
  readonly #listener: RouteListener;
  readonly #controller: ReturnType<typeof follow>;
  readonly #stopPageEvents: () => void;
  #position: string | undefined;
  /** `delivering`: a frame with a position has arrived. `failed`: the server sent a failure before any such frame. */
  #state: "connecting" | "open" | "delivering" | "failed" = "connecting";
  #openedAt: number;
  #lastByteAt: number;
  /** When the server was last known to be there: its last byte, or the end of a connection that it ended itself. */
  #lastSignAt: number;
  #hasBytes = false;

  /** @param position Where to continue; undefined: from the run's start */
  constructor(
    route: Route,
    position: string | undefined,
    signal: AbortSignal | undefined,
    listener: RouteListener,
  ) {
    const { clock, idleTimeout } = route;
    this.#route = route;
    this.#position = position;
    this.#listener = listener;
    this.#controller = follow(signal);
    this.#openedAt = this.#lastByteAt = this.#lastSignAt = clock.now();
    // A frozen page freezes its timers and sockets, too. Once awake, it must not wait for a timeout that is long overdue.
    this.#stopPageEvents = onPage(waking, () => {
      const silence = clock.now() - this.#lastByteAt;
      if (isHidden() || silence <= idleTimeout / 2) return;
      this.#controller.abort(new IdleError(`no byte for ${silence} ms`));
    });
  }

  /** Where the next connection continues. */
  get position(): string | undefined {
    return this.#position;
  }

  /** Whether the route works: it delivered something, or stayed open for a while without a failure. */
  get hasProgressed(): boolean {
    const hasLasted = this.#hasBytes && this.#lastSignAt - this.#openedAt >= lastingTime;
    return this.#state === "delivering" || (this.#state === "open" && hasLasted);
  }

  /**
   * The frames, until the response ends. A 204 means that the run is over.
   * @throws ApiError for any other response that is not an event stream
   * @throws StreamError for a failure of the server that is not final
   * @throws FrameTooLargeError, IdleError, the signal's reason, or the error with which the connection fails
   */
  async *frames(): AsyncGenerator<ServedFrame, void, undefined> {
    const { clock, idleTimeout } = this.#route;
    const { signal } = this.#controller;
    const reason = () => new IdleError(`no response for ${idleTimeout} ms`);
    // Raced, since not every custom fetch listens to its signal.
    const response = await race(this.#send(signal), {
      signal,
      deadline: { clock, ms: idleTimeout, reason },
      late: ({ body }) => discard(body),
    });
    this.#openedAt = this.#lastByteAt = this.#lastSignAt = clock.now();
    if (response.status === 204) return yield { type: "end", id: "" };
    const reader = this.#open(response);
    this.#state = "open";
    this.#listener.onOpen();
    try {
      let messages = await reader.read(idleTimeout);
      for (; messages; messages = await reader.read(idleTimeout)) {
        for (const { id, data } of messages) {
          const frame = toFrame(data);
          if (frame) yield this.#accept(id || undefined, frame);
        }
      }
      this.#lastSignAt = clock.now();
    } catch (error) {
      this.#lastSignAt = error instanceof IdleError ? this.#lastByteAt : clock.now();
      throw error;
    } finally {
      reader.cancel();
    }
  }

  /** Ends the request and everything that waits for it. */
  close(): void {
    this.#stopPageEvents();
    this.#controller.release();
    this.#controller.abort();
  }

  async #send(signal: AbortSignal): Promise<Response> {
    const { url, headers: given, credentials, fetch = globalThis.fetch } = this.#route;
    const position = this.#position;
    const headers = new Headers(
      flattenHeaders("headers", typeof given === "function" ? await given() : given),
    );
    headers.set("accept", "text/event-stream");
    let address = url.replace(/#.*/s, "");
    if (position !== undefined) {
      if (this.#route.position === "query" || !/^[\x21-\x7e]+$/.test(position)) {
        address += `${address.includes("?") ? "&" : "?"}lastEventId=${encodeURIComponent(position)}`;
      } else headers.set("last-event-id", position);
    }
    const cache = { cache: "no-store" } as const; // not in every platform's RequestInit
    return fetch(address, { headers, signal, ...cache, ...(credentials && { credentials }) });
  }

  #open(response: Response): FrameReader {
    const { clock, maxEventBytes } = this.#route;
    if (response.status !== 200) {
      discard(response.body);
      throw this.#failedResponse(response, `${response.status}`);
    }
    try {
      return openEventStream(response, {
        clock,
        signal: this.#controller.signal,
        maxBytes: maxEventBytes,
        onRetry: (ms) => this.#listener.onRetry(ms),
        onChunk: () => {
          this.#hasBytes = true;
          this.#lastByteAt = clock.now();
        },
      });
    } catch (error) {
      if (!(error instanceof NotEventStreamError)) throw error;
      throw this.#failedResponse(response, "200, but not an event stream", "invalid_response");
    }
  }

  #failedResponse(response: Response, problem: string, code?: string): ApiError {
    const { path, clock } = this.#route;
    const { status, headers } = response;
    const retryAfterMs = retryAfter(headers, clock.now());
    return new ApiError(`GET ${path} -> ${problem}`, { status, method: "GET", path, code, retryAfterMs });
  }

  /** Notes what a frame means for the connection; throws for a failure after which the page may connect again. */
  #accept(id: string | undefined, frame: ServedFrame): ServedFrame {
    if (frame.type === "failure" && !frame.data.final) {
      if (this.#state === "open") this.#state = "failed";
      throw new StreamError(frame.data.message, { reason: "disconnected", code: frame.data.code });
    }
    if (frame.type === "reset") this.#position = undefined;
    if (id !== undefined) {
      this.#position = id;
      this.#state = "delivering";
    }
    return frame;
  }
}

/** Anything else in the stream, such as a proxy's message or a named event of the same route, is ignored. */
function toFrame(data: string): ServedFrame | undefined {
  const frame = parseJson(data) as ServedFrame | null | undefined;
  return typeof frame?.type === "string" ? frame : undefined;
}
