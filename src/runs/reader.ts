import { type Clock, follow, sleep } from "../async.ts";
import { ApiError, about } from "../errors.ts";
import type { Redactor } from "../http/redact.ts";
import { discard } from "../http/response.ts";
import { backoff } from "../http/retry.ts";
import { FrameReader, FrameTooLargeError, isEventStream } from "../sse.ts";
import { messageOf } from "../text.ts";
import { isTerminalStatus, type Run, type RunRef } from "../types.ts";
import { Delivery, type Drop } from "./delivery.ts";
import type { Outcome, RunEvent } from "./events.ts";
import { judgeRefusal, StreamFailures } from "./failures.ts";
import type { RunPoller } from "./poller.ts";
import type { RunCheckpoint } from "./position.ts";
import type { ReaderOptions } from "./stream-options.ts";

const backoffBase = 500;
const backoffCap = 30_000;
const longestRetryAfter = 5 * 60_000;
/** From so many fruitless connections in a row on, each is followed by a look at the run itself. */
const triesBeforeAsking = 3;
/** How long `done` may take after `result`. */
const doneGrace = 2_000;

/** What a reader needs of the rest of the client. */
export interface StreamSource {
  /** Opens the stream at a position; rejects unless the answer is a success. */
  open(lastEventId: string | undefined, signal: AbortSignal): Promise<{ response: Response; close(): void }>;
  poller: RunPoller;
  /** Knows the key, which an odd server or fetch may quote. */
  redactor: Redactor;
  /** Sees each run that is read on the way. */
  onRun?: (run: Run) => void;
  clock: Clock;
  random: () => number;
}

type Next = IteratorResult<RunEvent, undefined>;

/** Ends a reading from inside: it is no failure, and nobody needs to hear of it. */
const left = Symbol("left");

/**
 * One reading of a run's stream, over as many connections as it takes. Pull-based: frames are taken from the current
 * chunk, and the next chunk is asked for when they are used up.
 *
 * An iterator by hand rather than a generator: an event that is already here costs no more than a resolved promise,
 * and a reading that was left can be taken up again.
 */
export class RunReader {
  /** Someone pulls, and there is something to come. */
  isActive = true;
  /** Called when the outcome becomes known, and when the reading stops for whatever reason. */
  onChange: () => void = () => {};
  readonly #ref: RunRef;
  readonly #source: StreamSource;
  readonly #options: ReaderOptions;
  readonly #failures: StreamFailures;
  readonly #delivery: Delivery;
  #connection: { frames: FrameReader; close(): void } | undefined;
  #controller: ReturnType<typeof follow> | undefined;
  #pulling: Promise<Next> | undefined;
  #leaves = 0;
  /** Reconnects since the last progress. */
  #tries = 0;
  /** Connections in a row that brought nothing, the first one included. */
  #fruitless = 0;
  /** From the first wait for `done` on: a server that goes on talking must not hold its reader. */
  #doneBy: number | undefined;
  #failure: { error: unknown } | undefined;

  constructor(ref: RunRef, source: StreamSource, options: ReaderOptions) {
    const { include, from } = options;
    this.#ref = ref;
    this.#source = source;
    this.#options = options;
    this.#failures = new StreamFailures(ref, source.redactor, () => this.#delivery.cursor.lastId);
    this.#delivery = new Delivery({
      include,
      from,
      onOutcome: () => this.onChange(),
      failures: this.#failures,
    });
  }

  /** Known from the `result` event on. */
  get outcome(): Outcome | undefined {
    return this.#delivery.outcome;
  }

  /** The reply's pieces so far. */
  get streamedText(): string {
    return this.#delivery.streamedText;
  }

  /** Whether everything was delivered, or can't be. */
  get isOver(): boolean {
    return this.#delivery.ended === "done" || this.#failure !== undefined;
  }

  checkpoint(): RunCheckpoint {
    return { agentId: this.#ref.agentId, runId: this.#ref.id, ...this.#delivery.checkpoint() };
  }

  next(): Promise<Next> {
    if (this.#pulling) {
      const leaves = this.#leaves;
      return this.#pulling.then(() =>
        this.#leaves === leaves ? this.next() : { done: true, value: undefined },
      );
    }
    const event = this.#delivery.take();
    if (event) return Promise.resolve({ done: false, value: event });
    const pulling = this.#pull().finally(() => {
      this.#pulling = undefined;
    });
    this.#pulling = pulling;
    return pulling;
  }

  /** Closes the connection; a pending `next()` ends. The reading can be taken up again. */
  leave(): void {
    this.#leaves++;
    this.#controller?.abort(left);
    this.#stop();
  }

  /** Goes on after {@link RunReader.leave}. */
  takeUp(): void {
    this.isActive = true;
  }

  #stop(): void {
    this.#disconnect();
    this.isActive = false;
    this.onChange();
  }

  /** The slow path of `next`: until there is an event, the end, or a failure. */
  async #pull(): Promise<Next> {
    const leaves = this.#leaves;
    try {
      while (true) {
        const event = this.#delivery.take();
        if (event) return { done: false, value: event };
        if (this.#failure) throw this.#failure.error;
        if (this.#delivery.ended === "done") {
          this.#stop();
          return { done: true, value: undefined };
        }
        this.#signal().throwIfAborted();
        await this.#advance();
        // What arrived in the very moment of leaving is for the next connection to bring again.
        if (this.#leaves !== leaves) throw left;
      }
    } catch (error) {
      if (error === left) {
        // Whoever left has stopped the reading, and it may have been taken up again since.
        this.#disconnect();
        return { done: true, value: undefined };
      }
      this.#stop();
      // A caller's abort is repeated at every further pull, too: an aborted reading never looks like a finished one.
      this.#failure ??= { error: about(error, this.#ref) };
      throw this.#failure.error;
    }
  }

  async #advance(): Promise<void> {
    if (this.#delivery.ended === "result") return this.#awaitDone();
    if (this.#delivery.expired) {
      const { poller, onRun } = this.#source;
      return this.#delivery.settle(await poller.untilTerminal(this.#ref, { signal: this.#signal(), onRun }));
    }
    if (this.#delivery.drop) return this.#recover(this.#delivery.drop);
    if (this.#connection) return this.#fill();
    return this.#connect();
  }

  async #connect(): Promise<void> {
    const sent = this.#delivery.cursor.resumeId;
    try {
      const { response, close } = await this.#source.open(sent, this.#signal());
      if (!isEventStream(response) || !response.body) {
        discard(response.body);
        close();
        const type = response.headers.get("content-type") ?? "no content type";
        this.#delivery.drop = {
          reason: this.#failures.disconnected(`the answer is no event stream (${type.slice(0, 100)})`),
        };
        return;
      }
      const { clock } = this.#source;
      const { maxEventBytes: maxBytes } = this.#options;
      const frames = new FrameReader(response.body, { clock, signal: this.#signal(), maxBytes });
      this.#connection = { frames, close };
      this.#delivery.cursor.connected(sent);
    } catch (error) {
      this.#rethrowAbort(error);
      this.#refused(error, sent);
    }
  }

  #refused(error: unknown, sent: string | undefined): void {
    const refusal = judgeRefusal(error, sent);
    if (refusal === "final") throw error;
    if (refusal === "gone") {
      this.#delivery.expired = true;
      return;
    }
    if (refusal === "position" && sent !== undefined) {
      if (!this.#delivery.cursor.hasOwnIds) {
        throw this.#failures.of("invalid_position", "the server knows no such position in this run", error);
      }
      this.#delivery.cursor.refuse(sent);
    }
    this.#delivery.drop = { reason: error };
  }

  /** Reads the next chunk of frames; a connection that ends or fails is a drop. */
  async #fill(until?: number): Promise<void> {
    const connection = this.#connection;
    if (!connection) return;
    this.#delivery.unload(); // nothing is held while there is nothing to do
    try {
      const frames = await connection.frames.read(this.#options.idleTimeout, until);
      if (frames) this.#delivery.load(frames);
      else {
        this.#delivery.drop = {
          reason: this.#failures.disconnected("the stream ended before the run's result"),
        };
      }
    } catch (error) {
      this.#rethrowAbort(error);
      // After the result nothing that matters is lost with it.
      if (error instanceof FrameTooLargeError && this.#delivery.ended !== "result") {
        throw this.#failures.of("event_too_large", error.message, error);
      }
      this.#delivery.drop = {
        reason: this.#failures.disconnected(`the connection broke: ${messageOf(error)}`, error),
      };
    }
  }

  /** After a drop: another connection in a while, or the outcome from the run itself, or the end of patience. */
  async #recover({ reason, ask = false }: Drop): Promise<void> {
    this.#disconnect();
    this.#fruitless = this.#delivery.progressed ? 0 : this.#fruitless + 1;
    if (this.#delivery.progressed) this.#tries = 0;
    this.#delivery.progressed = false;
    const isLast = this.#tries >= this.#options.maxReconnects;
    if (ask || isLast || this.#fruitless >= triesBeforeAsking) {
      const run = await this.#askOnce();
      if (run && isTerminalStatus(run.status)) return this.#delivery.settle(run);
    }
    if (isLast) throw ApiError.isInstance(reason) ? reason : this.#failures.givenUp(this.#tries + 1, reason);
    this.#tries++;
    const { lastId } = this.#delivery.cursor;
    this.#options.onReconnect?.({
      attempt: this.#tries,
      reason,
      ...(lastId === undefined ? {} : { lastEventId: lastId }),
    });
    const { clock, random } = this.#source;
    const asked = ApiError.isInstance(reason) ? reason.retryAfterMs : undefined;
    const delay =
      asked === undefined
        ? backoff(this.#tries - 1, backoffBase, backoffCap, random)
        : Math.min(asked, longestRetryAfter);
    await sleep(clock, delay, this.#signal());
    this.#delivery.drop = undefined;
  }

  /** A look at the run. What can't be read says nothing, unless it says that we may not. */
  async #askOnce(): Promise<Run | undefined> {
    let run: Run;
    try {
      run = await this.#source.poller.ask(this.#ref, this.#signal());
    } catch (error) {
      this.#rethrowAbort(error);
      if (ApiError.isInstance(error) && [401, 403, 404].includes(error.status)) throw error;
      return undefined;
    }
    this.#source.onRun?.(run);
    return run;
  }

  /** The result is here: `done` should follow at once, and if it doesn't, it makes no difference. */
  async #awaitDone(): Promise<void> {
    this.#doneBy ??= this.#source.clock.now() + doneGrace;
    if (this.#connection && !this.#delivery.drop) await this.#fill(this.#doneBy);
    if (this.#connection && !this.#delivery.drop) return;
    this.#disconnect();
    this.#delivery.supplyDone();
  }

  #disconnect(): void {
    this.#connection?.frames.cancel();
    this.#connection?.close();
    this.#connection = undefined;
    this.#delivery.unload();
    this.#controller?.release();
    this.#controller = undefined;
  }

  /** Follows the caller's signal while there is something to abort. */
  #signal(): AbortSignal {
    this.#controller ??= follow(this.#options.signal);
    return this.#controller.signal;
  }

  /** By what was thrown, not by the current signal: a reading that was left and taken up again has a new one. */
  #rethrowAbort(error: unknown): void {
    if (error === left) throw error;
    this.#options.signal?.throwIfAborted();
  }
}
