/**
 * Where time comes from. The default is the system's; tests pass their own and never wait.
 * Times are milliseconds since the Unix epoch.
 */
export interface Clock {
  now(): number;
  setTimeout(callback: () => void, ms: number): unknown;
  clearTimeout(handle: unknown): void;
}

/** Timers longer than this fire at once in every JavaScript engine, so longer waits are cut to it. */
const longestTimer = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, ms) => globalThis.setTimeout(callback, Math.min(ms, longestTimer)),
  clearTimeout: (handle) => globalThis.clearTimeout(handle as ReturnType<typeof globalThis.setTimeout>),
};

/** Resolves after `ms`; rejects with the signal's reason, at once and with the timer gone, when aborted. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clock.clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = clock.setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/**
 * Settles as `promise` does, unless the signal aborts first: then it rejects with the signal's reason.
 * For what can't be trusted to listen to a signal by itself: a custom fetch, a body reader, a callback.
 */
export function orAbort<T>(promise: PromiseLike<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return Promise.resolve(promise);
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).then(() => signal.removeEventListener("abort", onAbort));
  });
}

/** An AbortController that follows a signal until it is released, so that long-lived signals collect no listeners. */
export function follow(signal: AbortSignal | undefined): AbortController & { release(): void } {
  const controller = new AbortController();
  const onAbort = () => controller.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  else signal?.addEventListener("abort", onAbort, { once: true });
  return Object.assign(controller, { release: () => signal?.removeEventListener("abort", onAbort) });
}
