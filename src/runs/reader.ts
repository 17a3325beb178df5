import { Backoff, type Clock, type Follower, follow } from "../async.ts";
import { ApiError, about } from "../errors.ts";
import type { Redactor } from "../http/redact.ts";
import {
  type FrameReader,
  FrameTooLargeError,
  IdleError,
  NotEventStreamError,
  openEventStream,
} from "../sse.ts";
import { messageOf } from "../text.ts";
import { isTerminalStatus, type Run, type RunRef } from "../types.ts";
import { Delivery, type Found } from "./delivery.ts";
import type { Outcome, RunEvent } from "./events.ts";
import { judgeRefusal, StreamFailures } from "./failures.ts";
import type { RunPoller } from "./poller.ts";
import { type RunCheckpoint, StreamPosition } from "./position.ts";
import { ProgressWatch, type Verdict } from "./watch.ts";

/** The pauses between attempts, in milliseconds. */
const pauses = { base: 500, cap: 30_000, longestRetryAfter: 5 * 60_000 };
/** After this many connections in a row without progress, each further one is followed by a look at the run itself. */
const connectionsBeforeAsking = 3;
/** A connection that lasted for this many milliseconds is no failed attempt, even if it brought no event. */
const lastingTime = 10_000;
/** Milliseconds that `done` may take after `result`. */
const doneTimeout = 2_000;

/** What a reader needs of the rest of the client. */
export interface StreamSource {
  /** Opens the stream at a position; rejects unless the response is a success. */
  open(lastEventId: string | undefined, signal: AbortSignal): Promise<{ response: Response; close(): void }>;
  poller: RunPoller;
  /** Knows the key, which an odd server or fetch may quote. */
  redactor: Redactor;
  /** Sees each run that is read on the way. */
  onRun?: (run: Run) => void;
  clock: Clock;
  random: () => number;
}

/** The options of a stream, checked and completed. */
export interface ReaderOptions {
  signal: AbortSignal | undefined;
  from: string | RunCheckpoint | undefined;
  include: "simplified" | "interaction" | "all";
  idleTimeout: number;
  maxReconnects: number;
  maxEventBytes: number;
  onReconnect: ((info: { attempt: number; reason: unknown; lastEventId?: string }) => void) | undefined;
}

/** What a reader does when its frames are used up. */
type State =
  | { name: "connecting" }
  | { name: "reading"; frames: FrameReader; life: Life }
  /** The connection broke, or none could be made. */
  | { name: "dropped"; reason: unknown; askRun: boolean; hasLasted: boolean }
  /** The server no longer has the stream: Get A Run tells the outcome. */
  | { name: "polling" }
  /** Only `done` is missing. Until the deadline it may come from the connection, if there still is one. */
  | { name: "ending"; connection?: { frames: FrameReader; deadline: number } }
  | { name: "over"; failure?: { error: unknown } };

/** When a connection was opened, and when it brought its last byte. */
interface Life {
  openedAt: number;
  lastByteAt?: number;
}

type Next = IteratorResult<RunEvent, undefined>;

const end: Next = { done: true, value: undefined };

/** The reason of an abort by {@link RunReader.leave}: not a failure, and not for the consumer. */
const left = Symbol("left");

/**
 * Reads a run's stream over as many connections as it takes. Pull-based: events come from the current batch of frames,
 * and the next batch is read when they are used up.
 *
 * An iterator by hand rather than a generator: an event that is already here costs no more than a resolved promise, and
 * `result()` can continue where a consumer left. One long file, since its states are only understood together.
 */
export class RunReader implements AsyncIterator<RunEvent, undefined> {
  readonly #ref: RunRef;
  readonly #source: StreamSource;
  readonly #options: ReaderOptions;
  readonly #onChange: (reader: RunReader) => void;
  readonly #failures: StreamFailures;
  /** Up to date while {@link #delivery} has no frames. */
  readonly #position: StreamPosition;
  readonly #delivery: Delivery;
  /** Its failures are the reconnects since the last progress. */
  readonly #backoff: Backoff;
  readonly #watch: ProgressWatch;
  #state: State;
  /** Follows the caller's signal from the first pull on, until the reader is left or over. */
  #work: Follower | undefined;
  #pulling: Promise<Next> | undefined;
  /** The consumer left: there is nothing more for it. */
  #isLeft = false;
  /** Where it left. What {@link readToOutcome} reads after that is not the consumer's. */
  #leftAt: RunCheckpoint | undefined;

  /**
   * @param onChange Called when the outcome becomes known or the text too long, and when the reader is left or over
   */
  constructor(
    ref: RunRef,
    source: StreamSource,
    options: ReaderOptions,
    onChange: (reader: RunReader) => void,
  ) {
    const { include, from } = options;
    this.#ref = ref;
    this.#source = source;
    this.#options = options;
    this.#onChange = onChange;
    this.#position = new StreamPosition(include, from);
    this.#delivery = new Delivery(this.#position, { include, from, onChange: () => onChange(this) });
    this.#failures = new StreamFailures(ref, source.redactor, () => this.checkpoint().lastEventId);
    this.#backoff = new Backoff({ clock: source.clock, random: source.random, ...pauses });
    this.#watch = new ProgressWatch({
      clock: source.clock,
      random: source.random,
      look: (signal) => this.#lookAtRun(signal),
    });
    this.#state = { name: this.#delivery.isExpired ? "polling" : "connecting" };
  }

  /** Known from the `result` event on. */
  get outcome(): Outcome | undefined {
    return this.#delivery.outcome;
  }

  /** Whether a consumer may still pull events. */
  get isActive(): boolean {
    return !this.#isLeft && !this.isOver;
  }

  /** Whether everything was delivered, or can't be. */
  get isOver(): boolean {
    return this.#state.name === "over";
  }

  throwIfFailed(): void {
    if (this.#state.name === "over" && this.#state.failure) throw this.#state.failure.error;
  }

  /** The text will be asked for: see {@link streamedText}. */
  askForText(): void {
    this.#delivery.askForText();
  }

  /** Whether there were more characters of the text than are kept. */
  get isTextTooLong(): boolean {
    return this.#delivery.isTextTooLong;
  }

  /**
   * All pieces of the reply so far.
   * @throws StreamError where they were too many to be kept
   */
  streamedText(): string {
    if (this.isTextTooLong) {
      throw this.#failures.of("reply_too_large", "the reply's text is too long to be collected");
    }
    return this.#delivery.streamedText();
  }

  /** Where the consumer stands. */
  checkpoint(): RunCheckpoint {
    return { ...(this.#leftAt ?? this.#checkpoint()) };
  }

  #checkpoint(): RunCheckpoint {
    return { agentId: this.#ref.agentId, runId: this.#ref.id, ...this.#delivery.checkpoint() };
  }

  // ── For the consumer ───────────────────────────────────────────────────────────────────────────────────────────

  next(): Promise<Next> {
    if (this.#isLeft) return Promise.resolve(end);
    if (this.#pulling) return this.#pulling.then(() => this.next());
    const found = this.#delivery.take();
    if (found.kind === "event") return Promise.resolve({ done: false, value: found.event });
    this.#pulling = this.#pull(found).finally(() => {
      this.#pulling = undefined;
    });
    return this.#pulling;
  }

  async return(): Promise<Next> {
    this.leave();
    return end;
  }

  /** Closes the connection; a pending `next()` and all later ones end. */
  leave(): void {
    this.#isLeft = true;
    this.#work?.abort(left);
    this.#disconnect();
    this.#leftAt ??= this.#checkpoint();
    this.#stopWork();
  }

  // ── For the result ─────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Reads on where the consumer left, until the outcome is known or the stream is over. Rejects with what ends the
   * reader; ends early when {@link leave} is called.
   */
  async readToOutcome(): Promise<void> {
    await this.#pulling;
    while (!this.outcome && !this.isOver && !this.isTextTooLong) {
      const next = await this.#pull(this.#delivery.take());
      if (next.done) return;
    }
    this.leave();
  }

  // ── Pulling ────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Goes from state to state until an event, the end or a failure is found. */
  async #pull(first: Found): Promise<Next> {
    this.throwIfFailed();
    this.#work ??= follow(this.#options.signal);
    const { signal } = this.#work;
    let found = first;
    try {
      while (found.kind !== "event") {
        if (found.kind === "over") {
          this.#end({ name: "over" });
          return end;
        }
        this.#state = this.#react(found);
        signal.throwIfAborted();
        this.#state = await this.#advance(this.#state, signal);
        // Frames that arrived in the very moment of leaving are dropped: the next connection brings them again.
        signal.throwIfAborted();
        found = this.#delivery.take();
      }
      return { done: false, value: found.event };
    } catch (error) {
      if (error === left) {
        this.#disconnect();
        return end;
      }
      const failure = { error: about(error, this.#ref) };
      this.#end({ name: "over", failure });
      throw failure.error;
    }
  }

  /** Reacts to what the frames said; returns the state for the next step. */
  #react(found: Found): State {
    if (found.kind === "drop") {
      const { message, code, askRun } = found;
      return this.#dropped(this.#failures.disconnected(message, undefined, code), { askRun });
    }
    if (found.kind !== "ending" || this.#state.name === "ending") return this.#state;
    if (this.#state.name !== "reading") return { name: "ending" };
    // Set once, so that a chatty server cannot keep the reader waiting.
    const deadline = this.#source.clock.now() + doneTimeout;
    return { name: "ending", connection: { frames: this.#state.frames, deadline } };
  }

  /** One step: returns the state after it. */
  #advance(state: State, signal: AbortSignal): State | Promise<State> {
    switch (state.name) {
      case "connecting":
        return this.#connect(signal);
      case "reading":
        return this.#read(state, signal);
      case "dropped":
        return this.#recover(state, signal);
      case "polling":
        return this.#poll(signal);
      case "ending":
        return this.#awaitDone(state, signal);
      case "over":
        return state;
    }
  }

  async #connect(signal: AbortSignal): Promise<State> {
    const { clock } = this.#source;
    const { maxEventBytes: maxBytes } = this.#options;
    const { resumeId } = this.#position;
    try {
      const { response, close } = await this.#source.open(resumeId, signal);
      const life: Life = { openedAt: clock.now() };
      const onChunk = () => {
        life.lastByteAt = clock.now();
      };
      const frames = openEventStream(response, { clock, signal, maxBytes, close, onChunk });
      this.#position.connected(resumeId);
      this.#delivery.connected();
      return { name: "reading", frames, life };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof NotEventStreamError)) return this.#afterFailedOpening(error, resumeId);
      return this.#dropped(this.#failures.disconnected(error.message));
    }
  }

  #afterFailedOpening(error: unknown, resumeId: string | undefined): State {
    switch (judgeRefusal(error, resumeId)) {
      case "final":
        throw error;
      case "gone":
        this.#delivery.expire();
        return { name: "polling" };
      case "position":
        if (!this.#position.hasOwnIds) {
          throw this.#failures.of(
            "invalid_position",
            "the server does not know the position `from` in this run",
            error,
          );
        }
        this.#position.reject(resumeId as string);
        return this.#dropped(error);
      case "drop":
        return this.#dropped(error);
    }
  }

  /** Reads the next batch of frames, and now and then finds that the run is over although the stream goes on. */
  async #read(state: State & { name: "reading" }, signal: AbortSignal): Promise<State> {
    const { frames } = state;
    this.#delivery.unload();
    this.#noteProgress();
    if (this.#watch.isDue) this.#watch.act(signal, () => frames.wake());
    if (this.#watch.verdict) return this.#settle(this.#watch.verdict);
    this.#watch.beginWait();
    try {
      const wakeAt = this.#source.clock.now() + this.#watch.left;
      const batch = await frames.read(this.#options.idleTimeout, undefined, wakeAt);
      if (batch) {
        this.#delivery.load(batch);
        return state;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof FrameTooLargeError) {
        throw this.#failures.of("event_too_large", error.message, error);
      }
      return this.#dropped(this.#failures.disconnected(`the connection broke: ${messageOf(error)}`, error), {
        isSilent: error instanceof IdleError,
      });
    } finally {
      this.#watch.endWait();
    }
    return this.#dropped(this.#failures.disconnected("the stream ended before the run's result"));
  }

  /** Progress makes the next failure a first one again. */
  #noteProgress(): void {
    const progress = this.#delivery.takeProgress();
    if (progress === "new") this.#backoff.reset();
    this.#watch.note(progress, this.#delivery.phase);
  }

  #settle(verdict: Verdict): State {
    if ("error" in verdict) throw verdict.error;
    this.#disconnect();
    return this.#supplyOutcome(verdict.run);
  }

  /** After a drop: another attempt after a pause, or the outcome from the run itself, or giving up. */
  async #recover(
    { reason, askRun, hasLasted }: State & { name: "dropped" },
    signal: AbortSignal,
  ): Promise<State> {
    this.#noteProgress();
    // A gateway may end every connection after a minute, and a quiet run has nothing to say for hours.
    if (hasLasted) this.#backoff.reset();
    const { failures: attempts } = this.#backoff;
    const isLast = attempts >= this.#options.maxReconnects;
    // All attempts since the last progress; before the first, the opening is one of them.
    const connections = attempts + (this.#position.hasOwnIds ? 0 : 1);
    if (askRun || isLast || connections >= connectionsBeforeAsking) {
      const run = await this.#lookAtRun(signal);
      if (run && isTerminalStatus(run.status)) return this.#supplyOutcome(run);
    }
    if (isLast) throw ApiError.isInstance(reason) ? reason : this.#failures.gaveUp(attempts + 1, reason);
    const { lastEventId } = this.#delivery.checkpoint();
    this.#options.onReconnect?.({
      attempt: attempts + 1,
      reason,
      ...(lastEventId === undefined ? {} : { lastEventId }),
    });
    await this.#backoff.pause(signal, ApiError.isInstance(reason) ? reason.retryAfterMs : undefined);
    return { name: "connecting" };
  }

  /** The run as it is now; undefined where it can't be read, unless that is final. */
  async #lookAtRun(signal: AbortSignal): Promise<Run | undefined> {
    let run: Run;
    try {
      run = await this.#source.poller.ask(this.#ref, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (ApiError.isInstance(error) && [401, 403, 404].includes(error.status)) throw error;
      return undefined;
    }
    this.#source.onRun?.(run);
    return run;
  }

  async #poll(signal: AbortSignal): Promise<State> {
    const { poller, onRun } = this.#source;
    return this.#supplyOutcome(await poller.untilTerminal(this.#ref, { signal, onRun }));
  }

  #supplyOutcome(run: Run): State {
    this.#delivery.supplyOutcome(run);
    return { name: "ending" };
  }

  async #awaitDone(state: State & { name: "ending" }, signal: AbortSignal): Promise<State> {
    if (state.connection) {
      const { frames, deadline } = state.connection;
      try {
        this.#delivery.unload();
        const batch = await frames.read(this.#options.idleTimeout, deadline);
        if (batch) {
          this.#delivery.load(batch);
          return state;
        }
      } catch {
        // After the result nothing that matters is lost with the connection.
        signal.throwIfAborted();
      }
      this.#disconnect();
    }
    this.#delivery.supplyDone();
    return { name: "ending" };
  }

  // ── Stopping ───────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * @param askRun Get A Run may know more at once
   * @param isSilent The connection was given up because it fell silent: it lasted until its last byte
   */
  #dropped(reason: unknown, { askRun = false, isSilent = false } = {}): State {
    const hasLasted = this.#state.name === "reading" && this.#hasLasted(this.#state.life, isSilent);
    this.#disconnect();
    return { name: "dropped", reason, askRun, hasLasted };
  }

  #hasLasted({ openedAt, lastByteAt }: Life, isSilent: boolean): boolean {
    if (lastByteAt === undefined) return false;
    return (isSilent ? lastByteAt : this.#source.clock.now()) - openedAt >= lastingTime;
  }

  /** Ends the connection, if there is one, and forgets its frames. */
  #disconnect(): void {
    const state = this.#state;
    if (state.name === "reading") {
      state.frames.cancel();
      this.#state = { name: "connecting" };
    } else if (state.name === "ending" && state.connection) {
      state.connection.frames.cancel();
      this.#state = { name: "ending" };
    }
    this.#delivery.unload();
  }

  /** A failure stays: a reader that was aborted never looks like a finished one. */
  #end(state: State & { name: "over" }): void {
    this.#disconnect();
    this.#state = state;
    this.#stopWork();
  }

  #stopWork(): void {
    this.#watch.stop();
    this.#work?.release();
    this.#work = undefined;
    this.#onChange(this);
  }
}
