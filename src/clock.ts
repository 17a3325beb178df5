/**
 * Where time comes from. The default is the system's; tests pass their own and never wait.
 * Times are milliseconds since the Unix epoch.
 */
export interface Clock {
  /** The time: milliseconds since the Unix epoch. */
  now(): number;
  /** Calls back once after `ms` milliseconds; returns a handle. */
  setTimeout(callback: () => void, ms: number): unknown;
  /** Calls a timer off, by its handle. */
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

/**
 * Settles as `promise` does, unless the signal aborts first: then it rejects with the signal's reason.
 * For what can't be trusted to listen to a signal by itself: a custom fetch, a body reader, a callback.
 */
export function orAbort<T>(promise: PromiseLike<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return Promise.resolve(promise);
  return new Promise((resolve, reject) => {
    const release = onAbort(signal, () => reject(signal.reason));
    promise.then(resolve, reject).then(release);
  });
}

/** An AbortController that follows a signal until it is released, so that long-lived signals collect no listeners. */
export function follow(signal: AbortSignal | undefined): AbortController & { release(): void } {
  const controller = new AbortController();
  return Object.assign(controller, { release: onAbort(signal, () => controller.abort(signal?.reason)) });
}

/** Who waits for a signal: all behind one listener, since Node warns of a leak when a signal gets its eleventh. */
const waiting = new WeakMap<AbortSignal, { callbacks: Set<() => void>; stop(): void }>();

/** Calls back, once, when the signal aborts, and at once when it has; returns what calls it off. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (!signal) return () => {};
  if (signal.aborted) {
    callback();
    return () => {};
  }
  const { callbacks, stop } = waiting.get(signal) ?? listen(signal);
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
    if (callbacks.size === 0) stop();
  };
}

function listen(signal: AbortSignal) {
  const callbacks = new Set<() => void>();
  const listener = () => {
    waiting.delete(signal);
    for (const callback of callbacks) callback();
  };
  const stop = () => {
    if (waiting.get(signal)?.callbacks !== callbacks) return;
    waiting.delete(signal);
    signal.removeEventListener("abort", listener);
  };
  signal.addEventListener("abort", listener, { once: true });
  const entry = { callbacks, stop };
  waiting.set(signal, entry);
  return entry;
}
