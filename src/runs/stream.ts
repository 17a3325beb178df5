import { type Backoff, race } from "../async.ts";
import {
  checkCallback,
  checkCount,
  checkOptions,
  checkSignal,
  checkTimeout,
  type OptionTable,
  oneOf,
  orDefault,
} from "../check.ts";
import { ArgumentError, StreamError, unexpected } from "../errors.ts";
import { type GitInfo, isTerminalStatus, type RunRef, type RunStatus } from "../types.ts";
import { type Outcome, outcomeOf, type RunEvent, type RunStreamInclude, textOf } from "./events.ts";
import type { RunCheckpoint } from "./position.ts";
import { type ReaderOptions, RunReader, type StreamSource } from "./reader.ts";
import { redactEvents } from "./redacted-events.ts";

// ── Options ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** How a run is streamed. */
export interface RunStreamOptions {
  /** Ends the readers (never the run): they and `result()` reject with `signal.reason`. */
  signal?: AbortSignal | undefined;
  /** Where to continue: an event's id, or better a {@link RunStream.checkpoint} of an earlier stream of this run. */
  from?: string | RunCheckpoint | undefined;
  /**
   * `simplified`: everything but `interaction_update`, which is skipped unparsed. `interaction`: `interaction_update`
   * with status, heartbeat, result, error and done. `all`: everything, each twin beside the other.
   * @default "simplified"
   */
  include?: RunStreamInclude | undefined;
  /** Milliseconds without a byte after which a connection counts as dead; heartbeats come every 15 s. @default 60_000 */
  idleTimeout?: number | undefined;
  /**
   * Failed attempts in a row without a new event before the stream gives up, attempts that fail to connect included; 0:
   * never reconnect after one. A connection that lasted 10 s or more and brought bytes is no failed attempt. @default 10
   */
  maxReconnects?: number | undefined;
  /** The largest event accepted, in bytes; each of its lines counts 64 more. @default 33_554_432 (32 MiB) */
  maxEventBytes?: number | undefined;
  /** Called before each further connection. */
  onReconnect?: ((info: { attempt: number; reason: unknown; lastEventId?: string }) => void) | undefined;
}

const streamOptions = {
  signal: checkSignal,
  from: checkFrom,
  include: orDefault(oneOf(["simplified", "interaction", "all"]), "simplified"),
  idleTimeout: orDefault(checkTimeout, 60_000),
  maxReconnects: orDefault(checkCount, 10),
  maxEventBytes: orDefault(checkTimeout, 32 * 1024 * 1024),
  onReconnect: checkCallback,
} satisfies OptionTable<RunStreamOptions>;

/** Returns a copy, since a caller may go on to change what it passed. */
function checkFrom(argument: string, from: unknown): string | RunCheckpoint | undefined {
  if (from === undefined) return undefined;
  if (typeof from === "string" && from !== "") {
    if (from.trimStart().startsWith("{")) {
      throw new ArgumentError(argument, "looks like a checkpoint that is still JSON: parse it first");
    }
    if (hasLineBreak(from)) throw new ArgumentError(argument, "not an event's id: it has a line break");
    return from;
  }
  if (typeof from !== "object" || from === null) {
    throw unexpected(argument, "an event id or a checkpoint", from);
  }
  const checkpoint = { ...(from as RunCheckpoint) };
  const { agentId, runId, lastEventId, completedEventId } = checkpoint as Partial<RunCheckpoint>;
  if (lastEventId !== undefined && typeof lastEventId !== "string") {
    throw unexpected(`${argument}.lastEventId`, "a string", lastEventId);
  }
  if (hasLineBreak(lastEventId) || hasLineBreak(completedEventId)) {
    throw new ArgumentError(argument, "not a checkpoint: an id in it has a line break");
  }
  if (agentId === undefined || runId === undefined) {
    throw new ArgumentError(argument, "not a checkpoint: it names no agent and run");
  }
  return checkpoint;
}

const hasLineBreak = (id: unknown): boolean => /[\n\r]/.test(String(id));

// ── The stream ───────────────────────────────────────────────────────────────────────────────────────────────────

/** How a run ended. */
export interface RunResult {
  /** The agent's id. */
  agentId: string;
  /** The run's id. */
  runId: string;
  /** Only FINISHED is success. */
  status: RunStatus;
  /** The final reply. It need not equal what was streamed, and is absent where the run said nothing. */
  text?: string;
  /**
   * The reply's pieces as this stream received them: none of those before `from`. At most 33,554,432 characters (32 Mi),
   * or 1,048,576 (1 Mi) of what was read before the first call of {@link RunStream.result}.
   */
  streamedText: string;
  /** How long the run took, in milliseconds. */
  durationMs?: number;
  /** The agent's branches and pull requests, those of earlier runs included. */
  git?: GitInfo;
  /** `run`: read from Get A Run, since the stream was gone. */
  source: "stream" | "run";
}

/**
 * A run's events, each exactly once and in order, over as many connections as it takes.
 *
 * Nothing is opened before the first reader: an iteration, `text()`, `result()` or `toReadableStream()`. Each reader
 * reads from the stream's start (`from`, or the run's beginning); two at once are two connections.
 *
 * Where a terminal `status` is not followed by the result within seconds, or no event with an id comes for some minutes,
 * Get A Run is asked. If the run is over, its outcome ends the stream; if not, the connection is left alone.
 *
 * @throws ApiError, in its readers, where the server's error is final (401, 403, 404, …); {@link StreamError} where the
 * stream can't be resumed
 */
export class RunStream implements AsyncIterable<RunEvent>, AsyncDisposable {
  /** The run that is read. */
  readonly ref: RunRef;
  readonly #source: StreamSource;
  readonly #options: ReaderOptions;
  readonly #readers = new Set<RunReader>();
  /** The consumer's reader that began last. */
  #latest: RunReader | undefined;
  /** The reader of {@link result}, where there was no other. */
  #own: RunReader | undefined;
  #isTextAsked = false;
  /** The first reader that learned the outcome. */
  #informed: RunReader | undefined;
  #result: Promise<RunResult> | undefined;
  #isClosed = false;
  /** Called when a reader learned the outcome or stopped, and when the stream is closed. */
  #onChange: () => void = () => {};

  /** @internal */
  constructor(ref: RunRef, source: StreamSource, options: RunStreamOptions) {
    this.ref = { agentId: ref.agentId, id: ref.id };
    this.#source = source;
    this.#options = checkOptions(streamOptions, options);
    const { from } = this.#options;
    if (typeof from === "object" && (from.agentId !== ref.agentId || from.runId !== ref.id)) {
      throw new ArgumentError("from", "is a checkpoint of another run");
    }
  }

  /** The id of the last event received, by the reader that began last. */
  get lastEventId(): string | undefined {
    return this.checkpoint().lastEventId;
  }

  /** The position of that reader, as JSON: pass it to another stream as `from`, here or in another process. */
  checkpoint(): RunCheckpoint {
    if (this.#latest) return this.#latest.checkpoint();
    const { from } = this.#options;
    const position = typeof from === "string" ? { lastEventId: from } : from;
    return { ...position, agentId: this.ref.agentId, runId: this.ref.id };
  }

  [Symbol.asyncIterator](): AsyncIterator<RunEvent> {
    return this.#addConsumer();
  }

  /**
   * The events for readers who must not see the client's keys, such as a page: keys in them are replaced, as by
   * `cursor.redact`, also where one is spread over several deltas. A delta whose end may begin a key comes with the event
   * after it, so the position to resume from is the last event that came.
   */
  redacted(): AsyncIterable<RunEvent> {
    return { [Symbol.asyncIterator]: () => redactEvents(this.#addReader(), this.#source.redactor) };
  }

  /** The reply's pieces as they arrive. */
  text(): AsyncIterable<string> {
    return { [Symbol.asyncIterator]: () => this.#texts() };
  }

  async *#texts(): AsyncGenerator<string, void, undefined> {
    for await (const event of this) {
      const text = textOf(event, this.#options.include);
      if (text !== undefined) yield text;
    }
  }

  /** The events as a web stream, one at a time as they are pulled. */
  toReadableStream(): ReadableStream<RunEvent> {
    const reader = this.#addConsumer();
    return new ReadableStream<RunEvent>(
      {
        pull: async (controller) => {
          const next = await reader.next();
          if (next.done) controller.close();
          else controller.enqueue(next.value);
        },
        cancel: () => reader.leave(),
      },
      // Nothing is read ahead, so that the checkpoint is the consumer's position.
      { highWaterMark: 0 },
    );
  }

  /**
   * The outcome. Reads the stream if nobody else does; beside another reader it waits for that one and, in case its
   * consumer pauses, asks Get A Run from time to time. What it reads never moves {@link checkpoint}.
   *
   * Rejects with a {@link StreamError} (`reply_too_large`) where the text is longer than {@link RunResult.streamedText}
   * may be. Text is kept for this call: call it before reading a very long reply, or not at all.
   */
  result(): Promise<RunResult> {
    if (!this.#result) {
      this.#isTextAsked = true;
      for (const reader of this.#readers) reader.askForText();
      this.#latest?.askForText();
      this.#result = this.#findResult();
      // Mark as handled: a caller who ignores the result must not cause an unhandled rejection.
      this.#result.catch(() => {});
    }
    return this.#result;
  }

  /** Ends the readers and their connections. Never cancels the run. */
  close(): void {
    this.#isClosed = true;
    for (const reader of this.#readers) reader.leave();
    this.#onChange();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #addConsumer(): RunReader {
    this.#latest = this.#addReader();
    return this.#latest;
  }

  #addReader(): RunReader {
    const reader = new RunReader(this.ref, this.#source, this.#options, (changed) => {
      if (!changed.isActive) this.#readers.delete(changed);
      if (changed.outcome) this.#informed ??= changed;
      this.#onChange();
    });
    this.#readers.add(reader);
    if (this.#isTextAsked) reader.askForText();
    if (this.#isClosed) reader.leave();
    return reader;
  }

  // ── The result ─────────────────────────────────────────────────────────────────────────────────────────────────

  async #findResult(): Promise<RunResult> {
    await undefined; // a reader that begins in the same tick is the one to wait for
    const pace = this.#source.poller.pace();
    while (!this.#informed?.outcome) {
      if (this.#isClosed) {
        this.#options.signal?.throwIfAborted();
        throw this.#closedError();
      }
      const reader = this.#latest ?? this.#own;
      if (reader?.isTextTooLong) reader.streamedText(); // throws
      if (reader?.isOver) {
        reader.throwIfFailed();
        return this.#resultOf(await this.#pollOutcome(), reader);
      }
      if (reader?.isActive) {
        const outcome = await this.#waitBeside(reader, pace);
        if (outcome) return this.#resultOf(outcome, reader);
      } else {
        this.#own ??= reader ?? this.#addReader();
        await this.#readToOutcome(reader ?? this.#own);
      }
    }
    return this.#resultOf(this.#informed.outcome, this.#informed);
  }

  async #readToOutcome(reader: RunReader): Promise<void> {
    this.#readers.add(reader); // so that close() ends it
    await reader.readToOutcome();
  }

  /** Asks Get A Run after one pause; ends early at any change, since the consumer may be waiting for this result. */
  async #waitBeside(reader: RunReader, pace: Backoff): Promise<Outcome | undefined> {
    const { poller, clock } = this.#source;
    const { signal } = this.#options;
    const change = new Promise<"change">((resolve) => {
      this.#onChange = () => resolve("change");
    });
    const pause = { clock, ms: pace.next(), reason: () => pauseIsOver };
    try {
      await race(change, { signal, deadline: pause });
      return undefined;
    } catch (error) {
      if (error !== pauseIsOver) throw error;
    } finally {
      this.#onChange = () => {};
    }
    if (!reader.isActive) return undefined;
    const run = await poller.ask(this.ref, signal).catch(() => undefined);
    signal?.throwIfAborted();
    return run && isTerminalStatus(run.status) ? outcomeOf(run) : undefined;
  }

  async #pollOutcome(): Promise<Outcome> {
    return outcomeOf(await this.#source.poller.untilTerminal(this.ref, { signal: this.#options.signal }));
  }

  #resultOf(outcome: Outcome, reader: RunReader): RunResult {
    const { agentId, id: runId } = this.ref;
    return { agentId, runId, ...outcome, streamedText: reader.streamedText() };
  }

  #closedError(): StreamError {
    const { agentId, id: runId } = this.ref;
    return new StreamError("the stream was closed before the run's result", {
      reason: "closed",
      agentId,
      runId,
      lastEventId: this.lastEventId,
    });
  }
}

const pauseIsOver = Symbol("pause is over");
