import {
  type Clock,
  type Cursor,
  type RunEvent,
  type RunRef,
  type RunStream,
  StreamError,
} from "../index.ts";
import { report } from "./answers.ts";
import { type Failure, failureOf } from "./failure.ts";
import type { ServedFrame } from "./frames.ts";
import { endFrame, failureFrame, keepAlive, messageOf, opening, retryIn } from "./messages.ts";

/** After this many fruitless tries in a row, about a minute, the browser is sent away for a while. */
const maxReconnects = 8;
/** How long it is sent away: longer than a reconnect takes, since the service was down for a minute. */
const retryAfterFailure = 10_000;

/** What a feed needs beside the client and the run. */
export interface FeedSettings {
  clock: Clock;
  signal: AbortSignal | undefined;
  named: boolean;
  retry: number;
  keepAlive: number;
  maxDuration: number | undefined;
  onError: ((error: unknown) => void) | undefined;
}

type Arrival = { next: IteratorResult<RunEvent, undefined> } | { error: unknown };

/**
 * The body of one response: a run's events as SSE messages, one for each pull.
 *
 * Nothing is written by itself: the next event and the keep-alive's timer race inside a pull, so a browser that doesn't
 * read holds up the API, not the memory, and nothing is left to write to a response that is gone. Only the end comes by
 * itself: the browser's leaving, and `maxDuration`.
 */
export class RunFeed {
  readonly #cursor: Cursor;
  readonly #ref: RunRef;
  readonly #settings: FeedSettings;
  readonly #encoder = new TextEncoder();
  /** Ends the response in time, also while nobody reads: nothing else would look at the clock then. */
  readonly #deadline: unknown;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #stream: RunStream | undefined;
  #events: AsyncIterator<RunEvent, undefined> | undefined;
  /** An event was asked for; it goes to `#arrival`, whoever waits then. */
  #isAsking = false;
  #arrival: Arrival | undefined;
  #wake: () => void = () => {};
  /** What goes out before the next event. */
  #texts: string[];
  #writtenAt: number;
  /** Nothing follows behind `#texts`. */
  #isLast = false;
  #isClosed = false;

  constructor(cursor: Cursor, ref: RunRef, settings: FeedSettings) {
    this.#cursor = cursor;
    this.#ref = ref;
    this.#settings = settings;
    this.#texts = [opening(settings.retry)];
    this.#writtenAt = settings.clock.now();
    if (settings.signal?.aborted) {
      this.#close();
      return;
    }
    settings.signal?.addEventListener("abort", this.#close);
    if (settings.maxDuration !== undefined) {
      this.#deadline = settings.clock.setTimeout(this.#close, settings.maxDuration);
    }
  }

  /** Frames and nothing else: the run isn't looked at. */
  replay(frames: readonly ServedFrame[]): void {
    for (const frame of frames) this.#write(frame);
    this.#isLast = true;
  }

  /** Reads the run, from a position or its start, or, where the position is no good, from its start after saying so. */
  read(position: { at?: string } | "unreadable"): void {
    if (position === "unreadable") this.#restart();
    else this.#open(position.at);
  }

  /**
   * Waits for the first event, or for a refusal that is worth an answer of its own, but not longer than `ms`: then the
   * browser gets its first bytes, and hears of a refusal in a `failure` frame.
   */
  async refusal(ms: number): Promise<Failure | undefined> {
    if (ms === 0 || this.#isClosed) return undefined;
    await this.#arrivalBefore(this.#settings.clock.now() + ms);
    if (this.#isClosed || !this.#arrival || !("error" in this.#arrival)) return undefined;
    const { error } = this.#arrival;
    const failure = failureOf(error);
    if (isRefusedPosition(error) || !failure.isFinal) return undefined;
    report(this.#settings.onError, error);
    this.#close();
    return failure;
  }

  body(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          if (this.#isClosed) controller.close();
          else this.#controller = controller;
        },
        pull: async () => {
          const text = await this.#next().catch((error: unknown) => {
            // The stream is broken by this: what closes it later must not find it open.
            this.#controller = undefined;
            this.#close();
            throw error;
          });
          if (text === undefined) this.#close();
          // Gone if the response was left while this waited.
          else this.#controller?.enqueue(this.#encoder.encode(text));
        },
        cancel: () => {
          this.#controller = undefined;
          this.#close();
        },
      },
      // Nothing is read ahead of the browser.
      { highWaterMark: 0 },
    );
  }

  /** Ends the response, and the reading of the run; never the run. */
  readonly #close = (): void => {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#settings.signal?.removeEventListener("abort", this.#close);
    if (this.#deadline !== undefined) this.#settings.clock.clearTimeout(this.#deadline);
    this.#stream?.close();
    this.#wake();
    this.#controller?.close();
    this.#controller = undefined;
  };

  /** The next text, or undefined when the response is over. */
  async #next(): Promise<string | undefined> {
    while (!this.#isClosed) {
      const text = this.#texts.shift();
      if (text !== undefined) return this.#written(text);
      if (this.#isLast) return undefined;
      await this.#arrivalBefore(this.#writtenAt + this.#settings.keepAlive);
      if (this.#arrival) this.#take(this.#arrival);
      else if (!this.#isClosed) return this.#written(keepAlive);
    }
    return undefined;
  }

  #written(text: string): string {
    this.#writtenAt = this.#settings.clock.now();
    return text;
  }

  /** Resolves when an event or a failure is here, at a time, or when the response is closed. */
  async #arrivalBefore(at: number): Promise<void> {
    this.#ask();
    if (this.#arrival) return;
    const { clock } = this.#settings;
    await new Promise<void>((resolve) => {
      const timer = clock.setTimeout(resolve, Math.max(0, at - clock.now()));
      this.#wake = () => {
        clock.clearTimeout(timer);
        resolve();
      };
    });
  }

  #ask(): void {
    const events = this.#events;
    if (this.#isAsking || this.#arrival || !events) return;
    this.#isAsking = true;
    const arrive = (arrival: Arrival) => {
      this.#isAsking = false;
      this.#arrival = arrival;
      this.#wake();
    };
    events.next().then(
      (next) => arrive({ next }),
      (error: unknown) => arrive({ error }),
    );
  }

  #take(arrival: Arrival): void {
    this.#arrival = undefined;
    if ("error" in arrival) this.#failed(arrival.error);
    else if (!arrival.next.done) this.#write(arrival.next.value);
    else {
      this.#write(endFrame(this.#ref));
      this.#isLast = true;
    }
  }

  #failed(error: unknown): void {
    if (isRefusedPosition(error)) {
      this.#restart();
      return;
    }
    const failure = failureOf(error);
    report(this.#settings.onError, error);
    if (!failure.isFinal) this.#texts.push(retryIn(retryAfterFailure));
    this.#write(failureFrame(failure, this.#ref));
    this.#isLast = true;
  }

  #restart(): void {
    this.#write({ type: "reset" });
    this.#open(undefined);
  }

  #open(position: string | undefined): void {
    if (this.#isClosed) return;
    this.#stream?.close();
    const { agentId, id: runId } = this.#ref;
    // As a checkpoint: an id is opaque, and as a text it could be mistaken for one.
    const from = position === undefined ? undefined : { agentId, runId, lastEventId: position };
    this.#stream = this.#cursor.runs.stream(this.#ref, { from, maxReconnects });
    this.#events = this.#stream[Symbol.asyncIterator]();
  }

  #write(frame: ServedFrame): void {
    const { head, data } = messageOf(frame, this.#ref, this.#settings.named);
    // Whole: an event's name and id are the API's words, too.
    this.#texts.push(this.#cursor.redact(`${head}data: ${data}\n\n`));
  }
}

/** The API doesn't know the browser's position: no fault of the run. */
const isRefusedPosition = (error: unknown): boolean =>
  StreamError.isInstance(error) && error.reason === "invalid_position";
