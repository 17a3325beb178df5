import { type Clock, follow, SharedWork, sleep } from "../async.ts";
import { ApiError, ConnectionError, TimeoutError } from "../errors.ts";
import { isRetryable } from "../http/retry.ts";
import { isTerminalStatus, type Run, type RunRef } from "../types.ts";

/** Get A Run allows about 20 requests a minute; a client leaves room for its own direct calls. */
const requestsPerMinute = 12;
const minute = 60_000;
const firstPause = 5_000;
const longestPause = 15_000;
const longestRetryAfter = 5 * minute;
/** So many failed reads in a row end the wait with the last failure. */
const failuresInARow = 10;

/** One attempt. */
type GetRun = (ref: RunRef, options: { signal: AbortSignal; maxRetries: 0 }) => Promise<Run>;

/**
 * Asks Get A Run on behalf of everyone on one client who waits for a run: one request at a time and one loop per run,
 * within the API's budget, whatever the number of waiters.
 */
export class RunPoller {
  readonly #get: GetRun;
  readonly #clock: Clock;
  readonly #random: () => number;
  #asks = new SharedWork<Run>();
  #loops = new SharedWork<Run>();
  #watchers = new Map<string, Set<(run: Run) => void>>();
  #askedAt = new Map<string, number[]>();

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
      // One attempt: who asks again are the loop and the reader, in their own time; retries below them would multiply.
      return this.#get(ref, { signal: shared, maxRetries: 0 });
    });
  }

  /** {@link ask}; undefined where the failure may be over the next time. */
  askPatiently(ref: RunRef, signal?: AbortSignal): Promise<Run | undefined> {
    return this.ask(ref, signal).catch((error: unknown) => {
      if (!isPassing(error)) throw error;
      return undefined;
    });
  }

  /** The run once it is over. Asks at once, then after 5 s, growing to 15 s. `onRun` sees every answer. */
  async untilTerminal(
    ref: RunRef,
    {
      signal,
      onRun = () => {},
    }: { signal?: AbortSignal | undefined; onRun?: ((run: Run) => void) | undefined } = {},
  ): Promise<Run> {
    const key = keyOf(ref);
    const first = await this.askPatiently(ref, signal);
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

  /** A pause of the polite length, growing with `round`; for those who wait beside something else. */
  pause(round: number, signal: AbortSignal): Promise<void> {
    return sleep(this.#clock, this.#pauseOf(round), signal);
  }

  async #loop(ref: RunRef, signal: AbortSignal): Promise<Run> {
    let failures = 0;
    let asked = 0;
    for (let round = 0; ; round++) {
      await sleep(this.#clock, Math.max(this.#pauseOf(round), asked), signal);
      asked = 0;
      try {
        const run = await this.ask(ref, signal);
        failures = 0;
        for (const watcher of this.#watchers.get(keyOf(ref)) ?? []) watcher(run);
        if (isTerminalStatus(run.status)) return run;
      } catch (error) {
        if (!isPassing(error) || ++failures >= failuresInARow) throw error;
        asked = Math.min((ApiError.isInstance(error) && error.retryAfterMs) || 0, longestRetryAfter);
      }
    }
  }

  /** Growing to the longest, and up to a sixth shorter by chance: the first is 5 to 6 s. */
  #pauseOf(round: number): number {
    const longest = Math.min(longestPause, firstPause * 1.2 * 1.5 ** Math.min(round, 10));
    return longest * (1 - this.#random() / 6);
  }

  /** Waits until the last minute holds fewer requests for this run than the budget. */
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

/** Not joined by a slash: an id may have one. */
const keyOf = (ref: RunRef): string => JSON.stringify([ref.agentId, ref.id]);

/** A failure that says nothing about the run and may be over the next time. */
export const isPassing = (error: unknown): boolean =>
  ConnectionError.isInstance(error) ||
  TimeoutError.isInstance(error) ||
  (ApiError.isInstance(error) &&
    (isRetryable(error, "safe") || (error.status === 429 && !error.code?.startsWith("usage"))));
