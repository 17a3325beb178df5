import { Backoff, type Clock, type Follower, follow } from "../async.ts";
import { isTerminalStatus, type Run } from "../types.ts";

const second = 1_000;
const minute = 60 * second;

/** Milliseconds without an event that has an id after which Get A Run is asked: first, then at growing pauses. */
const pauses = {
  /** The run is active, as far as the stream says. */
  active: { first: 2 * minute, base: 4 * minute, cap: 15 * minute },
  /** The connection opened with a terminal status: the events of the whole run may follow, after a while. */
  over: { first: 30 * second, base: minute, cap: 15 * minute },
  /** The status became terminal: only `result` is missing. */
  ending: { first: 5 * second, base: 10 * second, cap: 5 * minute },
} as const;
/** Time for what may still be on its way, after an answer that the run is over. */
const grace = 5 * second;
/** A replay of events received before is a sign that new ones will follow, but at most for this long. */
const longestReplay = 10 * minute;

/** What the stream says about the run: see {@link pauses}. */
export type StreamPhase = keyof typeof pauses;

/** What arrived since the last look: a new event with an id, only ones received before, or none. */
export type Progress = "new" | "replayed" | "none";

/** What a look at the run found that ends the reading. */
export type Verdict = { run: Run } | { error: unknown };

interface WatchOptions {
  clock: Clock;
  random: () => number;
  /** Asks Get A Run; undefined where it can't be read now. */
  look(signal: AbortSignal): Promise<Run | undefined>;
}

/**
 * Finds out that a run is over although its stream lives on. A heartbeat shows that the connection works, not that the
 * run does: without progress for some time it asks Get A Run, beside the reading and without disturbing it.
 *
 * It counts the time during which a reader waits, not the time that a consumer takes.
 */
export class ProgressWatch {
  readonly #options: WatchOptions;
  #phase: StreamPhase = "active";
  /** Milliseconds of waiting until something is due. */
  #left: number = pauses.active.first;
  /** Milliseconds of waiting since the last progress. */
  #waited = 0;
  /** Until when the wait under way is counted. */
  #countedAt: number | undefined;
  #backoff: Backoff;
  #looking: Follower | undefined;
  /** Get A Run says that it is over. */
  #run: Run | undefined;
  #verdict: Verdict | undefined;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#backoff = this.#newBackoff();
  }

  /** Milliseconds of waiting after which {@link isDue}. */
  get left(): number {
    return this.#looking ? Number.POSITIVE_INFINITY : this.#left;
  }

  /**
   * Whether it is time for {@link act}. A part of a millisecond that rounding left over counts as none: a timer for it
   * would fire at a time that still equals now, again and again.
   */
  get isDue(): boolean {
    return this.left < 1;
  }

  /** Returns what ends the reading, once it is known. */
  get verdict(): Verdict | undefined {
    return this.#verdict;
  }

  /** A reader begins to wait for frames. */
  beginWait(): void {
    this.#countedAt = this.#options.clock.now();
  }

  /** The reader waits no longer. */
  endWait(): void {
    this.#count();
    this.#countedAt = undefined;
  }

  #count(): void {
    if (this.#countedAt === undefined) return;
    const now = this.#options.clock.now();
    const ms = now - this.#countedAt;
    this.#countedAt = now;
    this.#left -= ms;
    this.#waited += ms;
  }

  /** Takes note of what was delivered since the last call. */
  note(progress: Progress, phase: StreamPhase): void {
    const hasChanged = phase !== this.#phase;
    this.#phase = phase;
    if (progress === "new") {
      this.#restart();
      return;
    }
    if (hasChanged) {
      const { first } = pauses[phase];
      // A further connection must not begin the wait anew, or one that is cut again and again would never be doubted.
      this.#left = phase === "ending" ? first : Math.min(this.#left, first);
      this.#backoff = this.#newBackoff();
    }
    if (progress === "replayed" && this.#waited < longestReplay) {
      this.#left = Math.max(this.#left, pauses.ending.first);
    }
  }

  /** Does what is due: decides, or begins to ask. `onVerdict` is called when an answer ends the reading. */
  act(signal: AbortSignal, onVerdict: () => void): void {
    if (this.#run) {
      this.#verdict = { run: this.#run };
      return;
    }
    const work = follow(signal);
    this.#looking = work;
    this.#left = this.#backoff.next();
    void this.#look(work, this.#phase === "ending", onVerdict);
  }

  /** Ends a look that is under way. */
  stop(): void {
    this.#looking?.abort();
    this.#looking?.release();
    this.#looking = undefined;
  }

  async #look(work: Follower, isConfirmation: boolean, onVerdict: () => void): Promise<void> {
    let run: Run | undefined;
    let failure: { error: unknown } | undefined;
    try {
      run = await this.#options.look(work.signal);
    } catch (error) {
      failure = { error };
    }
    // It was stopped, or there was progress meanwhile.
    if (this.#looking !== work) return;
    work.release();
    this.#looking = undefined;
    this.#count();
    if (failure) this.#verdict = failure;
    else if (run && isTerminalStatus(run.status)) {
      this.#run = run;
      this.#left = grace;
      if (isConfirmation) this.#verdict = { run };
    }
    onVerdict();
  }

  #restart(): void {
    this.stop();
    this.#run = undefined;
    this.#verdict = undefined;
    this.#waited = 0;
    this.#left = pauses[this.#phase].first;
    this.#backoff = this.#newBackoff();
  }

  #newBackoff(): Backoff {
    const { clock, random } = this.#options;
    const { base, cap } = pauses[this.#phase];
    return new Backoff({ clock, random, base, cap, jitter: [5 / 6, 1] });
  }
}
