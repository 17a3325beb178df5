/** Where the emulator takes its time from: the real clock, or a {@link ManualClock} in tests. */
export interface Clock {
  /** Now, in milliseconds since the Unix epoch. */
  now(): number;
  /** Calls back once, `ms` milliseconds from now; the answer is a handle for {@link Clock.clearTimeout}. */
  setTimeout(callback: () => void, ms: number): unknown;
  /** Forgets a timer; unknown and spent handles are ignored. */
  clearTimeout(handle: unknown): void;
}

/** The real clock. The globals are looked up at each call, so that fake timers installed later are honoured. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, ms) => globalThis.setTimeout(callback, ms),
  clearTimeout: (handle) => globalThis.clearTimeout(handle as ReturnType<typeof globalThis.setTimeout>),
};
