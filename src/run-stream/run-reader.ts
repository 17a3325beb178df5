import { type Clock, follow, sleep } from "../clock.ts";
import { ApiError, about, CursorError, StreamError } from "../errors.ts";
import { discard } from "../http/body.ts";
import { messageOf, type Redactor } from "../http/redact.ts";
import { backoff } from "../http/retry.ts";
import { type Frame, FrameReader, FrameTooLargeError, isEventStream } from "../sse/frames.ts";
import { isTerminalStatus, type Run, type RunRef } from "../types.ts";
import { type RunCheckpoint, StreamCursor } from "./cursor.ts";
import {
  isWanted,
  nameOf,
  type RunEvent,
  type RunEventData,
  type RunStreamInclude,
  textOf,
  toRunEvent,
} from "./events.ts";
import { endOfStream, isStatusNews, type Outcome, outcomeOf, outcomeOfResult } from "./outcome.ts";
import { judgeRefusal } from "./refusal.ts";
import type { RunPoller } from "./run-poller.ts";

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

/** {@link RunStreamOptions}, checked and completed. */
export interface ReaderOptions {
  signal: AbortSignal | undefined;
  from: string | RunCheckpoint | undefined;
  include: RunStreamInclude;
  idleTimeout: number;
  maxReconnects: number;
  maxEventBytes: number;
  onReconnect: ((info: { attempt: number; reason: unknown; lastEventId?: string }) => void) | undefined;
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
  readonly cursor: StreamCursor;
  /** Known from the `result` event on. */
  outcome: Outcome | undefined;
  /** The reply's pieces so far. */
  streamedText = "";
  /** Someone pulls, and there is something to come. */
  isActive = true;
  /** Called when the outcome becomes known, and when the reading stops for whatever reason. */
  onChange: () => void = () => {};
  readonly #ref: RunRef;
  readonly #source: StreamSource;
  readonly #options: ReaderOptions;
  #connection: { frames: FrameReader; close(): void } | undefined;
  #frames: Frame[] = [];
  #index = 0;
  #synthesized: RunEvent[] = [];
  #controller: ReturnType<typeof follow> | undefined;
  #pulling: Promise<Next> | undefined;
  #leaves = 0;
  /** Why the current connection is of no more use; acted upon when its frames are used up. */
  #drop: { reason: unknown; ask?: boolean } | undefined;
  /** Reconnects since the last progress. */
  #tries = 0;
  /** Connections in a row that brought nothing, the first one included. */
  #fruitless = 0;
  #progressed = false;
  #status: string | undefined;
  #lastError: string | undefined;
  #ended: "result" | "done" | undefined;
  /** From the first wait for `done` on: a server that goes on talking must not hold its reader. */
  #doneBy: number | undefined;
  #expired: boolean;
  #failure: { error: unknown } | undefined;

  constructor(ref: RunRef, source: StreamSource, options: ReaderOptions) {
    this.#ref = ref;
    this.#source = source;
    this.#options = options;
    this.cursor = new StreamCursor(options.include, options.from);
    const from = typeof options.from === "object" ? options.from : undefined;
    this.#status = from?.status;
    this.#ended = from?.ended;
    this.#expired = from?.expired ?? false;
  }

  /** Whether everything was delivered, or can't be. */
  get isOver(): boolean {
    return this.#ended === "done" || this.#failure !== undefined;
  }

  checkpoint(): RunCheckpoint {
    return {
      agentId: this.#ref.agentId,
      runId: this.#ref.id,
      ...this.cursor.checkpoint(),
      ...(this.#status === undefined ? {} : { status: this.#status }),
      ...(this.#ended === undefined ? {} : { ended: this.#ended }),
      ...(this.#expired ? { expired: true as const } : {}),
    };
  }

  next(): Promise<Next> {
    if (this.#pulling) {
      const leaves = this.#leaves;
      return this.#pulling.then(() =>
        this.#leaves === leaves ? this.next() : { done: true, value: undefined },
      );
    }
    const event = this.#take();
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
        const event = this.#take();
        if (event) return { done: false, value: event };
        if (this.#failure) throw this.#failure.error;
        if (this.#ended === "done") {
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
    if (this.#ended === "result") return this.#awaitDone();
    if (this.#expired) {
      const { poller, onRun } = this.#source;
      return this.#settle(await poller.untilTerminal(this.#ref, { signal: this.#signal(), onRun }));
    }
    if (this.#drop) return this.#recover(this.#drop);
    if (this.#connection) return this.#fill();
    return this.#connect();
  }

  async #connect(): Promise<void> {
    const sent = this.cursor.resumeId;
    try {
      const { response, close } = await this.#source.open(sent, this.#signal());
      if (!isEventStream(response) || !response.body) {
        discard(response.body);
        close();
        const type = response.headers.get("content-type") ?? "no content type";
        this.#drop = {
          reason: this.#error("disconnected", `the answer is no event stream (${type.slice(0, 100)})`),
        };
        return;
      }
      const { clock } = this.#source;
      const { maxEventBytes: maxBytes } = this.#options;
      const frames = new FrameReader(response.body, { clock, signal: this.#signal(), maxBytes });
      this.#connection = { frames, close };
      this.cursor.connected(sent);
    } catch (error) {
      this.#rethrowAbort(error);
      this.#refused(error, sent);
    }
  }

  #refused(error: unknown, sent: string | undefined): void {
    const refusal = judgeRefusal(error, sent);
    if (refusal === "final") throw error;
    if (refusal === "gone") {
      this.#expired = true;
      return;
    }
    if (refusal === "position" && sent !== undefined) {
      if (!this.cursor.hasOwnIds) {
        throw this.#error("invalid_position", "the server knows no such position in this run", error);
      }
      this.cursor.refuse(sent);
    }
    this.#drop = { reason: error };
  }

  /** Reads the next chunk of frames; a connection that ends or fails is a drop. */
  async #fill(until?: number): Promise<void> {
    const connection = this.#connection;
    if (!connection) return;
    try {
      const frames = await connection.frames.read(this.#options.idleTimeout, until);
      if (frames) {
        this.#frames = frames;
        this.#index = 0;
      } else {
        this.#drop = { reason: this.#error("disconnected", "the stream ended before the run's result") };
      }
    } catch (error) {
      this.#rethrowAbort(error);
      // After the result nothing that matters is lost with it.
      if (error instanceof FrameTooLargeError && this.#ended !== "result") {
        throw this.#error("event_too_large", error.message, error);
      }
      this.#drop = {
        reason: this.#error("disconnected", `the connection broke: ${messageOf(error)}`, error),
      };
    }
  }

  /** The next wanted event of what is here, if any. */
  #take(): RunEvent | undefined {
    while (this.#index < this.#frames.length && !this.#drop && this.#ended !== "done") {
      const event = this.#accept(this.#frames[this.#index++] as Frame);
      if (!event) continue;
      const text = textOf(event, this.#options.include);
      if (text !== undefined) this.streamedText += text;
      return event;
    }
    const event = this.#synthesized.shift();
    if (event?.type === "done") this.#ended = "done";
    else if (event?.type === "result") {
      this.#ended = "result";
      this.#expired = true; // told without the stream, and so is what is left of the end
    }
    return event;
  }

  #accept(frame: Frame): RunEvent | undefined {
    if (!this.cursor.accept(frame)) return undefined;
    if (frame.id) this.#progressed = true;
    const name = nameOf(frame);
    if (!isWanted(this.#options.include, name)) return undefined;
    const event = toRunEvent(frame);
    switch (event.type) {
      case "status":
        return this.#isNews(event.data.status, frame.id) ? event : undefined;
      case "result":
        if (this.#ended) return undefined;
        this.#ended = "result";
        this.#settled(outcomeOfResult(event.data));
        return event;
      case "done":
        if (this.#ended === "result") {
          this.#ended = "done";
          return event;
        }
        // Without a result it ends the stream, not the run.
        this.#drop = {
          reason: this.#error("disconnected", "the stream ended without the run's result"),
          ask: true,
        };
        return undefined;
      case "error":
        return this.#streamFailed(event.data) ? event : undefined;
      default:
        return event;
    }
  }

  /** A status with an id is an event like any other; one without is news or isn't. */
  #isNews(status: string, id: string | undefined): boolean {
    if (id === undefined && !isStatusNews(status, this.#status)) return false;
    this.#status = status;
    return true;
  }

  /** True when the consumer should see it: "not ready yet" is between the server and us, and one fault is told once. */
  #streamFailed(data: RunEventData["error"]): boolean {
    const { code, message } = data as { code?: unknown; message?: unknown };
    const name = typeof code === "string" ? code : undefined;
    const reason = this.#error(
      "disconnected",
      `the stream failed${name ? ` with ${name}` : ""}`,
      undefined,
      name,
    );
    const isNotReady = name === "stream_unavailable";
    this.#drop = { reason, ask: !isNotReady };
    const fault = `${String(code)} ${String(message)}`;
    const isRepeated = fault === this.#lastError && !this.#progressed;
    this.#lastError = fault;
    return !isNotReady && !isRepeated;
  }

  /** After a drop: another connection in a while, or the outcome from the run itself, or the end of patience. */
  async #recover({ reason, ask = false }: { reason: unknown; ask?: boolean }): Promise<void> {
    this.#disconnect();
    this.#fruitless = this.#progressed ? 0 : this.#fruitless + 1;
    if (this.#progressed) this.#tries = 0;
    this.#progressed = false;
    const isLast = this.#tries >= this.#options.maxReconnects;
    if (ask || isLast || this.#fruitless >= triesBeforeAsking) {
      const run = await this.#askOnce();
      if (run && isTerminalStatus(run.status)) return this.#settle(run);
    }
    if (isLast) throw ApiError.isInstance(reason) ? reason : this.#giveUp(reason);
    this.#tries++;
    const { lastId } = this.cursor;
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
    this.#drop = undefined;
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

  /** The stream is gone, the outcome isn't: it is delivered as the events that the stream owes. */
  #settle(run: Run): void {
    this.#drop = undefined;
    this.#synthesized.push(...endOfStream(run));
    this.#settled(outcomeOf(run));
  }

  #settled(outcome: Outcome): void {
    this.outcome = outcome;
    this.onChange();
  }

  /** The result is here: `done` should follow at once, and if it doesn't, it makes no difference. */
  async #awaitDone(): Promise<void> {
    this.#doneBy ??= this.#source.clock.now() + doneGrace;
    if (this.#connection && !this.#drop) await this.#fill(this.#doneBy);
    if (this.#connection && !this.#drop) return;
    this.#drop = undefined;
    this.#disconnect();
    const { lastId } = this.cursor;
    // It shares the result's id; a result that was supplied has none.
    const hasId = !this.#expired && lastId !== undefined;
    this.#synthesized.push({
      type: "done",
      ...(hasId ? { id: lastId } : {}),
      data: {},
      synthesized: true,
    });
  }

  #disconnect(): void {
    this.#connection?.frames.cancel();
    this.#connection?.close();
    this.#connection = undefined;
    this.#frames = [];
    this.#index = 0;
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

  #giveUp(cause: unknown): CursorError {
    const tries = this.#tries + 1;
    return this.#error(
      "disconnected",
      `the stream of run ${this.#ref.id} could not be read on (${tries} ${tries === 1 ? "try" : "tries"} without progress)`,
      cause,
      StreamError.isInstance(cause) ? cause.code : undefined,
    );
  }

  #error(reason: StreamError["reason"], message: string, cause?: unknown, code?: string): StreamError {
    const { agentId, id: runId } = this.#ref;
    const { redactor } = this.#source;
    return new StreamError(redactor.text(message), {
      reason,
      cause: CursorError.isInstance(cause) ? cause : redactor.error(cause),
      code: code && redactor.text(code),
      agentId,
      runId,
      lastEventId: this.cursor.lastId,
    });
  }
}
