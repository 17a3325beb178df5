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

interface Timer {
  at: number;
  order: number;
  callback: () => void;
}

/** How {@link ManualClock.run} looks after a promise. */
export interface ManualClockRunOptions {
  /** Turns of the event loop given to pending I/O before each jump. @default 25 */
  turns?: number;
  /** Jumps after which the promise is given up. @default 100000 */
  maxJumps?: number;
  /** Real milliseconds without a timer and without a result after which the promise is given up. @default 2000 */
  patience?: number;
}

// Taken once, before any fake timers: a turn of the real event loop must stay one.
const realSetTimeout = globalThis.setTimeout;

const realNow = Date.now;

const setImmediate = (globalThis as { setImmediate?: (callback: () => void) => unknown }).setImmediate;

function turn(): Promise<void> {
  return new Promise((resolve) => {
    if (setImmediate !== undefined) setImmediate(resolve);
    else realSetTimeout(resolve, 0);
  });
}

/**
 * A clock that stands still until it is told to move: tests of heartbeats, retention and backoff take no real time.
 * Give the same one to the emulator and to whatever else has timers.
 *
 * @example
 * const clock = new ManualClock();
 * const emulator = new CursorEmulator({ clock });
 * await clock.advance(30_000); // the first heartbeat is due
 */
export class ManualClock implements Clock {
  #now: number;
  #order = 0;
  readonly #timers = new Map<object, Timer>();

  /** @param start Milliseconds since the Unix epoch. Default 1767225600000 (2026-01-01T00:00:00Z). */
  constructor(start = 1_767_225_600_000) {
    this.#now = start;
  }

  /** Timers that have not fired yet. */
  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, ms: number): unknown {
    const handle = {};
    const delay = Number.isFinite(ms) ? Math.max(0, ms) : 0;
    this.#timers.set(handle, { at: this.#now + delay, order: this.#order++, callback });
    return handle;
  }

  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as object);
  }

  /** Moves on by `ms`, firing on the way, in order, each timer that falls due (those set meanwhile too). */
  async advance(ms: number): Promise<void> {
    const target = this.#now + ms;
    await this.#settle(5);
    for (let due = this.#earliest(); due !== undefined && due.at <= target; due = this.#earliest()) {
      this.#now = Math.max(this.#now, due.at);
      this.#fireDue();
      await this.#settle(5);
    }
    this.#now = target;
  }

  /** Jumps to the next timer and fires all that are due then. `false`: there was none. */
  async next(): Promise<boolean> {
    const due = this.#earliest();
    if (due === undefined) return false;
    this.#now = Math.max(this.#now, due.at);
    this.#fireDue();
    await this.#settle(5);
    return true;
  }

  /**
   * Jumps from timer to timer until the promise settles, and hands out what it settles with.
   *
   * @throws Error when nothing is left that could settle it, or after too many jumps.
   */
  async run<T>(promise: Promise<T>, options: ManualClockRunOptions = {}): Promise<T> {
    const { turns = 25, maxJumps = 100_000, patience = 2000 } = options;
    let settled = false;
    const mark = () => {
      settled = true;
    };
    promise.then(mark, mark);
    let quietSince = realNow();
    for (let jumps = 0; ; ) {
      for (let count = 0; count < turns && !settled; count++) await turn();
      if (settled) return promise;
      if (await this.next()) {
        quietSince = realNow();
        if (++jumps >= maxJumps) throw new Error(`ManualClock.run: still unsettled after ${maxJumps} jumps`);
      } else if (realNow() - quietSince > patience) {
        throw new Error(`ManualClock.run: unsettled, and no timer has been pending for ${patience} ms`);
      }
    }
  }

  #earliest(): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of this.#timers.values()) {
      if (
        earliest === undefined ||
        timer.at < earliest.at ||
        (timer.at === earliest.at && timer.order < earliest.order)
      ) {
        earliest = timer;
      }
    }
    return earliest;
  }

  #fireDue(): void {
    const due = [...this.#timers].filter(([, timer]) => timer.at <= this.#now);
    due.sort(([, one], [, other]) => one.at - other.at || one.order - other.order);
    for (const [handle, timer] of due) {
      // A timer fired just before may have cleared this one.
      if (this.#timers.delete(handle)) timer.callback();
    }
  }

  async #settle(turns: number): Promise<void> {
    for (let count = 0; count < turns; count++) await turn();
  }
}
