/**
 * The source of time. The default is the system's clock; tests pass their own and never wait.
 * Times are milliseconds since the Unix epoch.
 */
export interface Clock {
  /** The time: milliseconds since the Unix epoch. */
  now(): number;
  /** Calls back once after `ms` milliseconds; returns a handle. */
  setTimeout(callback: () => void, ms: number): unknown;
  /** Cancels a timer by its handle. */
  clearTimeout(handle: unknown): void;
}

/**
 * The longest timer in milliseconds, about 25 days. JavaScript engines fire a longer one at once, so a longer wait is
 * shortened to this.
 */
export const longestTimer = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, ms) => globalThis.setTimeout(callback, Math.min(ms, longestTimer)),
  clearTimeout: (handle) => globalThis.clearTimeout(handle as ReturnType<typeof globalThis.setTimeout>),
};

/** Resolves after `ms`; when the signal aborts, rejects at once with its reason and cancels the timer. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = clock.setTimeout(() => {
      release();
      resolve();
    }, ms);
    const release = onAbort(signal, () => {
      clock.clearTimeout(timer);
      reject(signal?.reason);
    });
  });
}

// ── Aborting ─────────────────────────────────────────────────────────────────────────────────────────────────────

/** A limit of time: after `ms` milliseconds the work rejects with what `reason` makes. `Infinity` sets no timer. */
export interface Deadline {
  clock: Clock;
  ms: number;
  reason(): unknown;
}

/** What may end a {@link race} before its promise does. */
export interface RaceOptions<T> {
  signal?: AbortSignal | undefined;
  deadline?: Deadline | undefined;
  /** Receives a value that arrives after the race was lost, so that it can be cleaned up. */
  late?: ((value: T) => void) | undefined;
}

/**
 * Settles as `promise` does, unless the signal aborts or the deadline passes first: then it rejects with the signal's
 * reason, or the deadline's. For work that may ignore a signal: a custom fetch, a body reader, a callback.
 */
export function race<T>(promise: PromiseLike<T>, options: RaceOptions<T>): Promise<T> {
  const { signal, deadline, late } = options;
  return new Promise((resolve, reject) => {
    let isLost = false;
    let release = () => {};
    const lose = (reason: unknown) => {
      isLost = true;
      release();
      reject(reason);
    };
    const stopTimer = startDeadline(deadline, lose);
    const stopListening = onAbort(signal, () => lose(signal?.reason));
    release = () => {
      stopTimer();
      stopListening();
    };
    // A signal that had aborted before lost the race while `release` still did nothing.
    if (isLost) release();
    promise.then(
      (value) => {
        if (isLost) return late?.(value);
        release();
        resolve(value);
      },
      (error: unknown) => {
        if (isLost) return;
        release();
        reject(error);
      },
    );
  });
}

/** An AbortController that follows a caller's signal until {@link Follower.release}. */
export interface Follower extends AbortController {
  /** Stops following and stops the deadline, so that a long-lived signal collects no listeners. */
  release(): void;
}

/**
 * Returns a controller that aborts, with the signal's reason, when the signal does. With a deadline it also aborts, with
 * the deadline's reason, when that passes.
 */
export function follow(signal: AbortSignal | undefined, deadline?: Deadline): Follower {
  const controller = new AbortController();
  const stopTimer = startDeadline(deadline, (reason) => controller.abort(reason));
  const stopListening = onAbort(signal, () => controller.abort(signal?.reason));
  return Object.assign(controller, {
    release: () => {
      stopTimer();
      stopListening();
    },
  });
}

function startDeadline(deadline: Deadline | undefined, onExpiry: (reason: unknown) => void): () => void {
  if (deadline === undefined || deadline.ms === Number.POSITIVE_INFINITY) return () => {};
  const { clock, ms, reason } = deadline;
  const timer = clock.setTimeout(() => onExpiry(reason()), ms);
  return () => clock.clearTimeout(timer);
}

/** The callbacks of each signal share one listener, since Node warns of a leak when a signal gets its eleventh. */
const listeners = new WeakMap<AbortSignal, { callbacks: Set<() => void>; stop(): void }>();

/** Calls back once when the signal aborts, at once when it already has; returns a function that cancels this. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (!signal) return () => {};
  if (signal.aborted) {
    callback();
    return () => {};
  }
  const { callbacks, stop } = listeners.get(signal) ?? listen(signal);
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
    if (callbacks.size === 0) stop();
  };
}

function listen(signal: AbortSignal) {
  const callbacks = new Set<() => void>();
  const listener = () => {
    listeners.delete(signal);
    for (const callback of [...callbacks]) if (callbacks.has(callback)) callback();
  };
  const stop = () => {
    if (listeners.get(signal)?.callbacks !== callbacks) return;
    listeners.delete(signal);
    signal.removeEventListener("abort", listener);
  };
  signal.addEventListener("abort", listener, { once: true });
  const entry = { callbacks, stop };
  listeners.set(signal, entry);
  return entry;
}

// ── Pauses after failures ────────────────────────────────────────────────────────────────────────────────────────

/**
 * How the pauses of a {@link Backoff} grow. The options are read again for each pause, because a server may change `base`
 * with an SSE `retry:` line.
 */
export interface BackoffOptions {
  clock: Clock;
  /** Where jitter comes from: 0 <= x < 1. */
  random: () => number;
  /**
   * Milliseconds of the first pause, before jitter; each further failure in a row multiplies it. Half a second at least,
   * since a server may set it.
   */
  base: number;
  /** Milliseconds beyond which no pause grows, before jitter. */
  cap: number;
  /** @default 2 */
  factor?: number;
  /**
   * The pause is multiplied by a random number from this range, so that clients that failed together do not return
   * together. @default [0, 1], "full jitter"
   */
  jitter?: readonly [from: number, to: number];
  /** The longest wait that a server may ask for, in milliseconds. @default no limit */
  longestRetryAfter?: number;
}

/** No server is asked more often than this, in milliseconds, whatever it says itself. */
const shortestBase = 500;

/** The pauses between attempts: they grow with each failure in a row and are never shorter than the server asks for. */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** Failures in a row since the last success. */
  get failures(): number {
    return this.#failures;
  }

  /** An attempt succeeded: the next failure is a first one again. */
  reset(): void {
    this.#failures = 0;
  }

  /**
   * Counts a failure and returns the milliseconds to wait before the next attempt.
   * @param retryAfterMs What the server asked for, where it did
   */
  next(retryAfterMs = 0): number {
    const { random, base, cap, factor = 2, jitter = [0, 1], longestRetryAfter } = this.#options;
    const [from, to] = jitter;
    // The exponent is bounded, since a loop that never gives up would otherwise reach Infinity.
    const step = Math.min(cap, Math.max(base, shortestBase) * factor ** Math.min(this.#failures++, 30));
    const least = Math.min(retryAfterMs, longestRetryAfter ?? Number.POSITIVE_INFINITY);
    // Jitter may lengthen the wait that the server asks for, so that clients with the same answer do not return together.
    // It never shortens that wait.
    return Math.max(Math.max(step, least) * (from + (to - from) * random()), least);
  }

  /** Counts a failure and waits; rejects with the signal's reason as soon as it aborts. */
  pause(signal?: AbortSignal, retryAfterMs?: number): Promise<void> {
    return sleep(this.#options.clock, this.next(retryAfterMs), signal);
  }
}

// ── Shared work ──────────────────────────────────────────────────────────────────────────────────────────────────

/** Work that is under way, and how many callers wait for it. */
interface Shared<T> {
  promise: Promise<T>;
  controller: AbortController;
  waiting: number;
}

/** Work that callers share: a caller who asks for a key while its work is under way joins that work. */
export class SharedWork<T> {
  readonly #works = new Map<string, Shared<T>>();

  /** Joins the work under `key`, or starts it. The work is aborted when the last caller who waits for it has left. */
  async join(
    key: string,
    signal: AbortSignal | undefined,
    start: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    const work = this.#works.get(key) ?? this.#start(key, start);
    work.waiting++;
    try {
      return await race(work.promise, { signal });
    } finally {
      if (--work.waiting === 0) {
        this.#forget(key, work);
        work.controller.abort();
      }
    }
  }

  #start(key: string, start: (signal: AbortSignal) => Promise<T>): Shared<T> {
    const controller = new AbortController();
    const work: Shared<T> = {
      controller,
      waiting: 0,
      promise: start(controller.signal).finally(() => this.#forget(key, work)),
    };
    // Mark as handled: a failure after every caller has left must not cause an unhandled rejection.
    work.promise.catch(() => {});
    this.#works.set(key, work);
    return work;
  }

  #forget(key: string, work: Shared<T>): void {
    if (this.#works.get(key) === work) this.#works.delete(key);
  }
}
