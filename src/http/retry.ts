import pRetry from "p-retry";
import { Backoff, type Clock, sleep } from "../async.ts";
import { ApiError, ConnectionError, CursorError, factsOf, TimeoutError } from "../errors.ts";

/** The longest `Retry-After` that a call waits for; above it the caller gets the error, and decides. */
const longestRetryAfter = 60_000;
/** The pauses between attempts, in milliseconds, before jitter. */
const pauses = { base: 500, cap: 8_000 };

/**
 * When a failed request may be sent again.
 *
 * - `safe`: repeating does no harm: GET, DELETE, archive, unarchive
 * - `guarded`: a create that carries its own id: the server rejects a second one, so repeating does no harm either
 * - `unsafe`: any other POST: repeated only when the server cannot have acted
 */
export type RetryPolicy = "safe" | "guarded" | "unsafe";

const transientStatus = new Set([408, 429, 500, 502, 503, 504]);

/** Whether the reason of a failed response is missing because its body did not arrive whole. */
export const isTorn = (error: ApiError): boolean =>
  error.code === undefined && factsOf(error).isTorn === true;

/** A conflict without a reason: on a create, it may be a conflict with the agent that an earlier attempt made. */
const isTornConflict = (error: ApiError, policy: RetryPolicy | undefined): boolean =>
  policy === "guarded" && error.status === 409 && isTorn(error);

/** Whether the server may have carried out a request that failed in this way. After a 4xx or a redirect it has not. */
export function isAmbiguous(error: unknown, policy?: RetryPolicy): boolean {
  if (factsOf(error).isUnsent) return false;
  if (ConnectionError.isInstance(error) || TimeoutError.isInstance(error)) return true;
  // An error of a middleware, thrown after the request was sent.
  if (!ApiError.isInstance(error)) return CursorError.isInstance(error) && error.kind === "error";
  if (isTornConflict(error, policy)) return true;
  // The server reported success, in a body that can't be read.
  if (error.status < 300) return true;
  return error.status >= 500 && !wasNotProcessed(error);
}

/** A 429, or a 503 with Retry-After, was rejected before the server processed it, so it is safe to repeat. */
const wasNotProcessed = (error: ApiError): boolean =>
  error.status === 429 || (error.status === 503 && error.retryAfterMs !== undefined);

/** Whether another attempt may help, and can't do harm. */
export function isRetryable(error: unknown, policy: RetryPolicy): boolean {
  if (ConnectionError.isInstance(error) || TimeoutError.isInstance(error)) return policy !== "unsafe";
  if (!ApiError.isInstance(error)) return false;
  // The account's spending limit stays reached, however long a call waits.
  if (error.code === "usage_limit_exceeded") return false;
  if ((error.retryAfterMs ?? 0) > longestRetryAfter) return false;
  if (policy === "unsafe") return wasNotProcessed(error);
  if (policy === "guarded" && (error.status < 300 || isTornConflict(error, policy))) return true;
  return transientStatus.has(error.status);
}

/** Whether, when and how often a request is sent again. */
export interface RetryOptions {
  policy: RetryPolicy;
  /** Further attempts after the first one. */
  maxRetries: number;
  signal: AbortSignal | undefined;
  clock: Clock;
  random: () => number;
  /** Called with each failure that another attempt follows. */
  onRetry?: ((error: unknown) => void) | undefined;
}

/**
 * The one place that sends a request again: resolves or rejects as the last attempt does. Rejects with `failure`, the
 * first attempt's, where no other attempt may follow.
 */
export async function retry<T>(
  failure: unknown,
  options: RetryOptions,
  attempt: () => Promise<T>,
): Promise<T> {
  const { policy, maxRetries, signal, clock, random, onRetry } = options;
  if (maxRetries === 0 || !isRetryable(failure, policy)) throw failure;
  const schedule = new Backoff({ clock, random, ...pauses });
  let pause = 0;
  try {
    return await pRetry(
      async (number) => {
        // The first attempt was made without p-retry, which counts it as number 1, and learns that it failed.
        if (number === 1) throw failure;
        await sleep(clock, pause, signal);
        return attempt();
      },
      {
        retries: maxRetries,
        minTimeout: 0,
        shouldRetry: ({ error }) => {
          if (signal?.aborted || !isRetryable(error, policy)) return false;
          pause = schedule.next((error as Partial<ApiError>).retryAfterMs);
          onRetry?.(error);
          return true;
        },
      },
    );
  } catch (error) {
    // p-retry wraps a reason that is not an Error; the caller's reason comes back as it is.
    if (signal?.aborted && !CursorError.isInstance(error)) throw signal.reason;
    throw error;
  }
}
