import { type Clock, race, sleep } from "../async.ts";
import { ApiError, ConnectionError, CursorError, TimeoutError } from "../errors.ts";
import { lazy } from "../lazy.ts";

/** Longest `Retry-After` that is waited for inside a call; beyond it the caller gets the error, and decides. */
const longestRetryAfter = 60_000;
const backoffBase = 500;
const backoffCap = 8_000;

/**
 * What may be sent again after a failure.
 *
 * - `safe`: repeating does no harm: GET, DELETE, archive, unarchive
 * - `guarded`: a create with an id of its own: the server refuses a second one, so everything may be repeated
 * - `unsafe`: any other POST: repeated only when the server cannot have acted
 */
export type RetryPolicy = "safe" | "guarded" | "unsafe";

const loadRetries = lazy("retries", () => import("p-retry"));

const transientStatus = new Set([408, 429, 500, 502, 503, 504]);

const unsent = new WeakSet<object>();

/** Notes that an attempt failed before its request left: by a slow key function or middleware, not by the server. */
export function markUnsent(error: unknown): void {
  if (typeof error === "object" && error !== null) unsent.add(error);
}

const torn = new WeakSet<object>();

/** Notes that a refusal's body did not come whole: what it was about isn't known. */
export function markTorn(refusal: ApiError): void {
  torn.add(refusal);
}

/** Whether a refusal's reason is missing because its body did not come whole. */
export const isTorn = (error: ApiError): boolean => error.code === undefined && torn.has(error);

/** A conflict that doesn't say with what: on a create it may be with the agent that an earlier attempt made. */
const isTornConflict = (error: ApiError, policy: RetryPolicy | undefined): boolean =>
  policy === "guarded" && error.status === 409 && isTorn(error);

/** Whether the server may have carried out a request that failed so. A 4xx is a refusal, and so is a redirect. */
export function isAmbiguous(error: unknown, policy?: RetryPolicy): boolean {
  if (typeof error === "object" && error !== null && unsent.has(error)) return false;
  if (ConnectionError.isInstance(error) || TimeoutError.isInstance(error)) return true;
  if (!ApiError.isInstance(error)) return CursorError.isInstance(error) && error.kind === "error"; // a middleware's
  if (isTornConflict(error, policy)) return true;
  if (error.status < 300) return true; // it answered success, but what it said can't be read
  return error.status >= 500 && !refusesForNow(error);
}

/** A 503 that names a time to come back was turned away at the door. */
const refusesForNow = (error: ApiError): boolean =>
  error.status === 429 || (error.status === 503 && error.retryAfterMs !== undefined);

export function isRetryable(error: unknown, policy: RetryPolicy): boolean {
  if (ConnectionError.isInstance(error) || TimeoutError.isInstance(error)) return policy !== "unsafe";
  if (!ApiError.isInstance(error)) return false;
  if (error.code === "usage_limit_exceeded") return false; // no waiting brings the money back
  if ((error.retryAfterMs ?? 0) > longestRetryAfter) return false;
  if (policy === "unsafe") return refusesForNow(error);
  if (policy === "guarded" && (error.status < 300 || isTornConflict(error, policy))) return true;
  return transientStatus.has(error.status);
}

export interface RetryOptions {
  policy: RetryPolicy;
  maxRetries: number;
  signal: AbortSignal | undefined;
  clock: Clock;
  random: () => number;
  onRetry?: ((error: unknown) => void) | undefined;
}

/** Full jitter: anything between nothing and the doubled step, so that clients that failed together don't return together. */
export function backoff(attempt: number, base: number, cap: number, random: () => number): number {
  return random() * Math.min(cap, base * 2 ** Math.min(attempt, 30));
}

/**
 * The one place that sends a request again. Delays are ours; the loop is p-retry's, and is loaded and set up only when
 * the first attempt has failed and may be repeated: most don't.
 */
export async function withRetries<T>(options: RetryOptions, attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (options.maxRetries === 0 || !isRetryable(error, options.policy)) throw error;
    return repeat(error, options, attempt);
  }
}

async function repeat<T>(failure: unknown, options: RetryOptions, attempt: () => Promise<T>): Promise<T> {
  const { policy, maxRetries, signal, clock, random, onRetry } = options;
  // What failed is what the caller hears of, not that the way to another try could not be loaded.
  const { default: pRetry } = await race(loadRetries(), { signal }).catch(() => {
    throw signal?.aborted ? signal.reason : failure;
  });
  let delay = 0;
  try {
    return await pRetry(
      async (number) => {
        if (number === 1) throw failure;
        await sleep(clock, delay, signal);
        return attempt();
      },
      {
        retries: maxRetries,
        minTimeout: 0,
        shouldRetry: ({ error, retriesConsumed }) => {
          if (signal?.aborted || !isRetryable(error, policy)) return false;
          delay =
            (error as Partial<ApiError>).retryAfterMs ??
            backoff(retriesConsumed, backoffBase, backoffCap, random);
          onRetry?.(error);
          return true;
        },
      },
    );
  } catch (error) {
    // p-retry wraps reasons that are no errors; a caller's reason comes back as it is.
    if (signal?.aborted && !CursorError.isInstance(error)) throw signal.reason;
    throw error;
  }
}
