import { Backoff, type Clock, follow, SharedWork, sleep } from "../async.ts";
import { ApiError, ConnectionError, TimeoutError } from "../errors.ts";
import { isRetryable } from "../http/retry.ts";
import { isTerminalStatus, type Run, type RunRef } from "../types.ts";

/** Get A Run allows about 20 requests a minute; this leaves room for the client's direct calls. */
const requestsPerMinute = 12;
const minute = 60_000;
/** Pauses grow from 5 to 15 s, after jitter: the first is 5 to 6 s, the longest 12.5 to 15 s. */
const pauses = {
  base: 6_000,
  cap: 15_000,
  factor: 1.5,
  jitter: [1, 5 / 6],
  longestRetryAfter: 5 * minute,
} as const;
/** After this many failed attempts in a row, the wait rejects with the last failure. */
const failuresInARow = 10;

/** Makes one attempt. */
type GetRun = (ref: RunRef, options: { signal: AbortSignal; maxRetries: 0 }) => Promise<Run>;

/**
 * Asks Get A Run for all that wait for a run on one client: one request at a time and one loop per run, within the API's
 * budget, whatever the number of waiters.
 */
export class RunPoller {
  readonly #get: GetRun;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #asks = new SharedWork<Run>();
  readonly #loops = new SharedWork<Run>();
  readonly #watchers = new Map<string, Set<(run: Run) => void>>();
  /** When each run was asked for, within the last minute. */
  readonly #askedAt = new Map<string, number[]>();

  constructor(get: GetRun, settings: { clock: Clock; random: () => number }) {
    this.#get = get;
    this.#clock = settings.clock;
    this.#random = settings.random;
  }

  /** The run as it is now: as soon as the budget allows, sharing a request that is under way. */
  ask(ref: RunRef, signal?: AbortSignal): Promise<Run> {
    const key = keyOf(ref);
    return this.#asks.join(key, signal, async (shared) => {
      await this.#turn(key, shared);
      // One attempt: the loop and the reader repeat it at their own pace, and retries below theirs would multiply.
      return this.#get(ref, { signal: shared, maxRetries: 0 });
    });
  }

  /** {@link ask}; undefined after a failure that the next attempt may not meet. */
  tryAsk(ref: RunRef, signal?: AbortSignal): Promise<Run | undefined> {
    return this.ask(ref, signal).catch((error: unknown) => {
      if (!isPassing(error)) throw error;
      return undefined;
    });
  }

  /** The run once it is over. Asks at once, then after 5 s, growing to 15 s. `onRun` sees every response. */
  async untilTerminal(
    ref: RunRef,
    {
      signal,
      onRun = () => {},
    }: { signal?: AbortSignal | undefined; onRun?: ((run: Run) => void) | undefined } = {},
  ): Promise<Run> {
    const key = keyOf(ref);
    const first = await this.tryAsk(ref, signal);
    if (first) {
      onRun(first);
      if (isTerminalStatus(first.status)) return first;
    }
    const watchers = this.#watchers.get(key) ?? new Set();
    const own = follow(signal);
    // A callback that throws ends the wait of its owner, not everyone's.
    const watcher = (run: Run) => {
      try {
        onRun(run);
      } catch (error) {
        own.abort(error);
      }
    };
    this.#watchers.set(key, watchers.add(watcher));
    try {
      return await this.#loops.join(key, own.signal, (shared) => this.#loop(ref, shared));
    } finally {
      own.release();
      watchers.delete(watcher);
      if (watchers.size === 0) this.#watchers.delete(key);
    }
  }

  /** The pauses between two questions about a run; also for those who ask by themselves. */
  pace(): Backoff {
    return new Backoff({ clock: this.#clock, random: this.#random, ...pauses });
  }

  async #loop(ref: RunRef, signal: AbortSignal): Promise<Run> {
    const pace = this.pace();
    let failures = 0;
    let retryAfterMs: number | undefined;
    while (true) {
      await pace.pause(signal, retryAfterMs);
      retryAfterMs = undefined;
      try {
        const run = await this.ask(ref, signal);
        failures = 0;
        for (const watcher of this.#watchers.get(keyOf(ref)) ?? []) watcher(run);
        if (isTerminalStatus(run.status)) return run;
      } catch (error) {
        if (!isPassing(error) || ++failures >= failuresInARow) throw error;
        if (ApiError.isInstance(error)) retryAfterMs = error.retryAfterMs;
      }
    }
  }

  /** Waits until the requests for this run within the last minute are fewer than the budget. */
  async #turn(key: string, signal: AbortSignal): Promise<void> {
    for (const [other, times] of this.#askedAt) {
      if ((times.at(-1) ?? 0) <= this.#clock.now() - minute) this.#askedAt.delete(other);
    }
    while (true) {
      const now = this.#clock.now();
      const times = (this.#askedAt.get(key) ?? []).filter((at) => at > now - minute);
      const [oldest] = times;
      if (times.length < requestsPerMinute || oldest === undefined) {
        this.#askedAt.set(key, [...times, now]);
        return;
      }
      await sleep(this.#clock, oldest + minute - now, signal);
    }
  }
}

/** As JSON rather than joined by a slash, since an id may contain one. */
const keyOf = (ref: RunRef): string => JSON.stringify([ref.agentId, ref.id]);

/** Whether a failure says nothing about the run, so that the next attempt may succeed. */
export const isPassing = (error: unknown): boolean =>
  ConnectionError.isInstance(error) ||
  TimeoutError.isInstance(error) ||
  (ApiError.isInstance(error) &&
    (isRetryable(error, "safe") || (error.status === 429 && !error.code?.startsWith("usage"))));
