import { type Clock, type Follower, follow, longestTimer, onAbort, race } from "./async.ts";

// Server-sent events as a server writes them: the format, and the body of a response.

/** The fields of one message. None of them may contain a line end: JSON never does. */
export interface EventStreamMessage {
  id?: string | undefined;
  event?: string | undefined;
  data: string;
}

/** One message, as its lines. */
export const encodeMessage = ({ id, event, data }: EventStreamMessage): string =>
  `${id === undefined ? "" : `id: ${id}\n`}${event === undefined ? "" : `event: ${event}\n`}data: ${data}\n\n`;

/** A comment: every parser skips it, but a proxy sees that the connection is alive. */
export const encodeComment = (text: string): string => `: ${text}\n\n`;

/** Sets how long the browser waits before it reconnects. */
export const encodeRetry = (ms: number): string => `retry: ${ms}\n\n`;

/** Headers that keep compressors and proxies from holding events back, caches from keeping them, browsers from guessing. */
export const unbuffered = {
  "cache-control": "no-cache, no-store, no-transform",
  "x-accel-buffering": "no",
  "x-content-type-options": "nosniff",
};

export interface EventStreamBodyOptions {
  clock: Clock;
  /** A comment is written this many milliseconds after the last write; never, if that is more than a timer can wait. */
  keepAlive: number;
  /** The comment, encoded. */
  keepAliveComment: string;
  /** Closes the body when it aborts. */
  signal?: AbortSignal | undefined;
  /** Closes the body after this many milliseconds. @default never */
  maxDuration?: number | undefined;
  /** Called once, as soon as the body is closed, whatever closed it. The place to stop producing messages. */
  onClose(): void;
}

/**
 * The body of one event stream. It writes only while the browser reads: each pull waits for the next message or for the
 * keep-alive, whichever is first. So a browser that doesn't read slows the source down instead of filling the memory, and
 * no timer runs for it. Three things close the body at any time, even while it is not read: a cancel, the signal and the
 * maximum duration.
 */
export class EventStreamBody {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #messages: AsyncIterator<string, undefined>;
  readonly #options: EventStreamBodyOptions;
  readonly #encoder = new TextEncoder();
  readonly #lifetime: Follower;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #state: "open" | "closed" = "open";
  /** The message that was asked for. It outlives a keep-alive, so that no message is lost to one. */
  #pending: Promise<IteratorResult<string, undefined>> | undefined;
  #writtenAt: number;

  /** @param messages Encoded text, one piece per write; asked for one at a time, and not at all once the body is closed */
  constructor(messages: AsyncIterator<string, undefined>, options: EventStreamBodyOptions) {
    const { clock, signal, maxDuration = Number.POSITIVE_INFINITY } = options;
    this.#messages = messages;
    this.#options = options;
    this.#writtenAt = clock.now();
    this.#lifetime = follow(signal, { clock, ms: maxDuration, reason: () => undefined });
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#pull(),
        cancel: () => void this.#release(),
      },
      // Nothing is read ahead of the browser.
      { highWaterMark: 0 },
    );
    onAbort(this.signal, () => this.close());
  }

  /** Aborts as soon as the body is closed. */
  get signal(): AbortSignal {
    return this.#lifetime.signal;
  }

  /** Ends the stream as if the last message had been written. */
  close(): void {
    if (this.#release()) this.#controller.close();
  }

  async #pull(): Promise<void> {
    try {
      const text = await this.#next();
      if (this.#state === "closed") return;
      if (text === undefined) return this.close();
      this.#writtenAt = this.#options.clock.now();
      this.#controller.enqueue(this.#encoder.encode(text));
    } catch (error) {
      // Closing the body ends a pull that waits, which is no failure. Any other error comes from the source of the messages,
      // and breaks the stream.
      if (this.#release()) throw error;
    }
  }

  /** The next message, or the comment when no message comes in time; undefined after the last message. */
  async #next(): Promise<string | undefined> {
    const { clock, keepAlive, keepAliveComment } = this.#options;
    const ms =
      keepAlive > longestTimer ? Number.POSITIVE_INFINITY : this.#writtenAt + keepAlive - clock.now();
    const deadline = { clock, ms: Math.max(0, ms), reason: () => keepAliveIsDue };
    this.#pending ??= this.#messages.next();
    try {
      const { value } = await race(this.#pending, { signal: this.signal, deadline });
      this.#pending = undefined;
      return value;
    } catch (error) {
      if (error === keepAliveIsDue) return keepAliveComment;
      throw error;
    }
  }

  /** Closes the body without touching its stream; returns false when it was closed already. */
  #release(): boolean {
    if (this.#state === "closed") return false;
    this.#state = "closed";
    this.#lifetime.release();
    this.#lifetime.abort();
    this.#options.onClose();
    return true;
  }
}

/** The reason with which a wait for a message ends when the keep-alive is due. */
const keepAliveIsDue = Symbol("no message came in time");
