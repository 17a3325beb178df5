import { type Clock, onAbort } from "../clock.ts";
import type { Redactor } from "./redact.ts";

/** One attempt's state: nothing of it outlives the attempt, so a late failure can't touch a newer one. */
export class Connection {
  readonly redactor: Redactor;
  readonly timeout: number;
  phase: "connect" | "body" = "connect";
  timedOut = false;
  isSent = false;
  /** The answer is an error whose body did not come whole. */
  isTorn = false;
  method = "request";
  url = "";
  /** Held, so that its signal, which the one that is sent follows, lives as long as the attempt. */
  request: unknown;
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  readonly #waiting = new Set<() => void>();
  readonly #timer: unknown;
  /** Ends the following of the caller's signal. */
  readonly release: () => void;

  /** Begins an attempt that follows the caller's signal and ends after `timeout` milliseconds. */
  constructor(clock: Clock, timeout: number, signal: AbortSignal | undefined, redactor: Redactor) {
    this.#clock = clock;
    this.timeout = timeout;
    this.redactor = redactor;
    this.release = onAbort(signal, () => this.abort(signal?.reason));
    if (timeout === Number.POSITIVE_INFINITY) return;
    this.#timer = clock.setTimeout(() => {
      if (this.signal.aborted) return;
      this.timedOut = true;
      this.abort();
    }, timeout);
  }

  /** The path without its query, for errors. */
  get path(): string {
    return this.url === "" ? "" : new URL(this.url).pathname;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason?: unknown): void {
    this.#controller.abort(reason);
    for (const callback of this.#waiting) callback();
    this.#waiting.clear();
  }

  /** Ends the timeout. */
  stop(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
  }

  /** Calls back when the attempt ends, and at once when it has; returns what calls it off. No event of the signal: those cost. */
  onAbort(callback: () => void): () => void {
    if (this.signal.aborted) callback();
    else this.#waiting.add(callback);
    return () => this.#waiting.delete(callback);
  }

  /**
   * Settles as `promise` does, unless the attempt ends first: then it rejects with the signal's reason. Not every fetch
   * listens to the signal, and one that doesn't may still answer when nobody waits for it: `late` gets that answer.
   */
  race<T>(promise: PromiseLike<T>, late?: (value: T) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const off = this.onAbort(() => reject(this.signal.reason));
      Promise.resolve(promise).then(
        (value) => {
          off();
          if (this.signal.aborted) late?.(value);
          resolve(value);
        },
        (error: unknown) => {
          off();
          reject(error);
        },
      );
    });
  }
}
