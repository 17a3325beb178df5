import { checkOptions, count, duration, type OptionTable } from "./check-options.ts";

/** The emulator's source of time: the real clock, or a {@link ManualClock} in tests. */
export interface Clock {
  /** Now, in milliseconds since the Unix epoch. */
  now(): number;
  /** Calls back once, `ms` milliseconds from now. Returns a handle for {@link Clock.clearTimeout}. */
  setTimeout(callback: () => void, ms: number): unknown;
  /** Cancels a timer; unknown handles and those of fired timers are ignored. */
  clearTimeout(handle: unknown): void;
}

/** The real clock. The globals are looked up at each call, so that fake timers installed later take effect. */
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

/** Limits of {@link ManualClock.run}. */
export interface ManualClockRunOptions {
  /** Turns of the event loop that pending I/O gets before each jump. @default 25 */
  turns?: number;
  /**
   * Gives up after this many jumps, however little real time they took.
   * @default 100000, or earlier: when `patience` is over, 3000 jumps while a script waits at a gate and 20000 otherwise
   */
  maxJumps?: number;
  /** Gives up after this many real milliseconds without a timer and without a result. @default 2000 */
  patience?: number;
}

const runOptions: OptionTable<ManualClockRunOptions> = { turns: count, maxJumps: count, patience: duration };

// Captured before any fake timers are installed: a turn must remain one of the real event loop.
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
 * A clock that moves only when it is told to: tests of heartbeats, retention and backoff take no real time.
 *
 * Pass the same clock to the emulator and to everything else that has timers, above all to the client. If only the emulator has
 * it, the client's pauses take real time, and {@link ManualClock.run} finds no timer. If only the client has it, its timeouts
 * are over before the emulator's scripts go on, and its calls fail.
 *
 * @example
 * const clock = new ManualClock();
 * const emulator = new CursorEmulator({ clock });
 * const cursor = new Cursor({ apiKey: "test", fetch: emulator.fetch, clock });
 * await clock.advance(30_000); // the first heartbeat is due
 */
export class ManualClock implements Clock {
  #now: number;
  #order = 0;
  readonly #timers = new Map<object, Timer>();
  /** What waits for the test rather than for time, in words. */
  readonly #holds = new Set<{ what: string }>();

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

  /** Notes that something waits for the test, for the message of {@link ManualClock.run}. Returns the end of the note. @internal */
  noteHold(what: string): () => void {
    const hold = { what };
    this.#holds.add(hold);
    return () => this.#holds.delete(hold);
  }

  /** Moves forward by `ms` and fires, in order, every timer that becomes due, including those set on the way. */
  async advance(ms: number): Promise<void> {
    const target = this.#now + ms;
    await this.#takeTurns(5);
    for (let due = this.#earliest(); due !== undefined && due.at <= target; due = this.#earliest()) {
      this.#now = Math.max(this.#now, due.at);
      this.#fireDue();
      await this.#takeTurns(5);
    }
    this.#now = target;
  }

  /** Jumps to the next timer and fires all timers that are due then. Returns `false` if there was no timer. */
  async next(): Promise<boolean> {
    const due = this.#earliest();
    if (due === undefined) return false;
    this.#now = Math.max(this.#now, due.at);
    this.#fireDue();
    await this.#takeTurns(5);
    return true;
  }

  /**
   * Jumps from timer to timer until the promise settles, and settles as that promise does.
   *
   * @throws Error when no timer is left that could settle it, or after too many jumps. It names the gates at which scripts
   *   wait, and the pending timers.
   */
  async run<T>(promise: Promise<T>, options: ManualClockRunOptions = {}): Promise<T> {
    checkOptions("ManualClock.run", options, runOptions);
    const { turns = 25, maxJumps = 100_000, patience = 2000 } = options;
    const isPatient = options.maxJumps !== undefined;
    let settled = false;
    const mark = () => {
      settled = true;
    };
    promise.then(mark, mark);
    const startedAt = realNow();
    let quietSince = startedAt;
    for (let jumps = 0; ; ) {
      for (let count = 0; count < turns && !settled; count++) await turn();
      if (settled) return promise;
      if (await this.next()) {
        quietSince = realNow();
        jumps += 1;
        // Within a test runner's own limit of some seconds, so that its message does not hide this one.
        const isLate = jumps >= (this.#holds.size > 0 ? 3_000 : 20_000) && realNow() - startedAt > patience;
        if (jumps >= maxJumps || (isLate && !isPatient)) {
          throw new Error(`ManualClock.run: still unsettled after ${jumps} jumps${this.#whatIsPending()}`);
        }
      } else if (realNow() - quietSince > patience) {
        const reason = `unsettled, and no timer has been pending for ${patience} ms${this.#whatIsPending()}`;
        const advice =
          this.#holds.size > 0
            ? ""
            : "; the emulator, the client and whatever else has timers need the same clock";
        throw new Error(`ManualClock.run: ${reason}${advice}`);
      }
    }
  }

  /** What a promise may be waiting for, for a message: gates and workers, and the timers to come. */
  #whatIsPending(): string {
    const holds = [...new Set([...this.#holds].map(({ what }) => what))];
    const timers = [...this.#timers.values()]
      .map(({ at }) => at - this.#now)
      .sort((one, other) => one - other);
    const parts = [
      ...(holds.length === 0 ? [] : [`waiting: ${holds.slice(0, 5).join(", ")}`]),
      ...(timers.length === 0 ? [] : [`pending timers: in ${timers.slice(0, 5).join(", ")} ms`]),
    ];
    return parts.length === 0 ? "" : `; ${parts.join("; ")}`;
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

  async #takeTurns(turns: number): Promise<void> {
    for (let count = 0; count < turns; count++) await turn();
  }
}
