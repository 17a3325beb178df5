import { type Clock, follow, race } from "../async.ts";
import { ApiError } from "../errors.ts";
import type { ServedFrame } from "../serve/served-frame.ts";
import { FrameReader, IdleError, isEventStream } from "../sse.ts";
import { isHidden, onPage, waking } from "./page-events.ts";

/** What one message of a route says. */
export interface RouteMessage {
  /** The message's own id, where it has one. */
  id: string | undefined;
  frame: ServedFrame;
}

export interface RouteConnectionOptions {
  clock: Clock;
  /** Milliseconds without a byte, of the headers or the body, after which the connection counts as dead. */
  idleTimeout: number;
  maxEventBytes: number;
  /** The server's wish: how long to wait before the next connection. */
  onRetry(ms: number): void;
  onOpen(): void;
}

/** One request of a page to its server's route, and what comes of it. */
export class RouteConnection {
  readonly #options: RouteConnectionOptions;
  readonly #controller: ReturnType<typeof follow>;
  readonly #endPageEvents: () => void;
  #openedAt: number;
  #heardAt: number;

  constructor(options: RouteConnectionOptions, signal: AbortSignal) {
    this.#options = options;
    this.#controller = follow(signal);
    this.#openedAt = this.#heardAt = options.clock.now();
    // Timers and sockets sleep with a page that is frozen. Once awake it needn't wait for what is long overdue.
    this.#endPageEvents = onPage(waking, () => {
      const silence = options.clock.now() - this.#heardAt;
      if (!isHidden() && silence > options.idleTimeout / 2) this.#giveUp(`no byte for ${silence} ms`);
    });
  }

  /**
   * The messages, until the response ends. A 204 is the end of the run.
   * @throws ApiError for any other answer that is no event stream; what the connection fails with; FrameTooLargeError
   */
  async *messages(
    send: (signal: AbortSignal) => Promise<Response>,
    path: string,
  ): AsyncGenerator<RouteMessage> {
    const { clock, idleTimeout, maxEventBytes: maxBytes, onRetry, onOpen } = this.#options;
    const { signal } = this.#controller;
    const timer = clock.setTimeout(() => this.#giveUp(`no answer for ${idleTimeout} ms`), idleTimeout);
    // Raced: not every custom fetch listens to its signal.
    const response = await race(send(signal), { signal }).finally(() => clock.clearTimeout(timer));
    this.#openedAt = this.#heardAt = clock.now();
    if (response.status === 204) return yield { id: undefined, frame: { type: "end", id: "" } };
    if (response.status !== 200 || !isEventStream(response) || !response.body) {
      void response.body?.cancel().catch(() => {});
      throw refusal(response, path, clock);
    }
    onOpen();
    const onChunk = () => {
      this.#heardAt = clock.now();
    };
    const reader = new FrameReader(response.body, { clock, signal, maxBytes, onRetry, onChunk });
    try {
      for (
        let messages = await reader.read(idleTimeout);
        messages;
        messages = await reader.read(idleTimeout)
      ) {
        for (const { id, data } of messages) {
          const frame = parse(data);
          if (frame) yield { id: id || undefined, frame };
        }
      }
    } finally {
      reader.cancel();
    }
  }

  /** Milliseconds from the answer's headers to the last byte behind them. */
  get lasted(): number {
    return this.#heardAt - this.#openedAt;
  }

  /** Ends the request and all that waits for it. */
  close(): void {
    this.#endPageEvents();
    this.#controller.release();
    this.#controller.abort();
  }

  #giveUp(why: string): void {
    this.#controller.abort(new IdleError(why));
  }
}

/** What is no frame of ours is not for us: a proxy's word, a named event of the same route. */
function parse(data: string): ServedFrame | undefined {
  try {
    const frame = JSON.parse(data) as ServedFrame | null;
    return typeof frame?.type === "string" ? frame : undefined;
  } catch {
    return undefined;
  }
}

function refusal(response: Response, path: string, clock: Clock): ApiError {
  const { status } = response;
  const isAnswer = status === 200;
  const problem = isAnswer ? "200, but no event stream" : `${status}`;
  return new ApiError(`GET ${path} -> ${problem}`, {
    status,
    method: "GET",
    path,
    code: isAnswer ? "invalid_response" : undefined,
    retryAfterMs: retryAfter(response.headers.get("retry-after"), clock.now()),
  });
}

/** Seconds or a date, as milliseconds from now. */
function retryAfter(value: string | null, now: number): number | undefined {
  const ms = /^\d+$/.test(value ?? "") ? Number(value) * 1_000 : Date.parse(value ?? "") - now;
  return ms > 0 ? ms : undefined;
}
