import { follow } from "../clock.ts";
import { ArgumentError, describe, StreamError } from "../errors.ts";
import { checkCount, checkSignal, checkTimeout } from "../options.ts";
import { type GitInfo, isTerminalStatus, type RunRef, type RunStatus } from "../types.ts";
import type { RunCheckpoint } from "./cursor.ts";
import type { RunEvent, RunStreamInclude } from "./events.ts";
import { type Outcome, outcomeOf, type ReaderOptions, RunReader, type StreamSource } from "./run-reader.ts";
import { emptyTranscript, reduceTranscript } from "./transcript.ts";

/** How a run is streamed. */
export interface RunStreamOptions {
  /** Ends the reading (never the run): readers and `result()` reject with `signal.reason`. */
  signal?: AbortSignal | undefined;
  /** Where to go on: an event's id, or better a {@link RunStream.checkpoint} of an earlier stream of this run. */
  from?: string | RunCheckpoint | undefined;
  /**
   * `simplified`: everything but `interaction_update`, which is skipped unparsed. `interaction`: `interaction_update`
   * with status, heartbeat, result, error and done. `all`: everything, each twin beside the other.
   * @default "simplified"
   */
  include?: RunStreamInclude | undefined;
  /** Milliseconds without a byte after which a connection counts as dead; heartbeats come every 15 s. @default 60_000 */
  idleTimeout?: number | undefined;
  /** Fruitless tries in a row before the stream gives up, the opening's among them; 0: never again. @default 10 */
  maxReconnects?: number | undefined;
  /** The largest event accepted, in bytes. @default 33_554_432 (32 MiB) */
  maxEventBytes?: number | undefined;
  /** Called before each further connection. */
  onReconnect?: ((info: { attempt: number; reason: unknown; lastEventId?: string }) => void) | undefined;
}

/** How a run came out. */
export interface RunResult {
  agentId: string;
  runId: string;
  /** Only FINISHED is success. */
  status: RunStatus;
  /** The final reply. It need not equal what was streamed, and is absent where the run said nothing. */
  text?: string;
  /** The reply's pieces as this stream received them: none of what lies before `from`. */
  streamedText: string;
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
 * @throws ApiError where the server refuses (401, 403, 404, …), {@link StreamError} where it can't be read on
 */
export interface RunStream extends AsyncIterable<RunEvent>, AsyncDisposable {
  readonly ref: RunRef;
  /** The id of the last event received, by the reader that began last. */
  readonly lastEventId: string | undefined;
  /** Where that reader stands, as JSON: give it to another stream as `from`, here or in another process. */
  checkpoint(): RunCheckpoint;
  /** The reply's pieces as they come. */
  text(): AsyncIterable<string>;
  /**
   * The outcome. Reads the stream if nobody else does; beside another reader it waits for that one and, in case it
   * stands still, asks Get A Run from time to time.
   */
  result(): Promise<RunResult>;
  /** The events as a web stream, one at a time as they are pulled. */
  toReadableStream(): ReadableStream<RunEvent>;
  /** Ends the readers and their connections. Never cancels the run. */
  close(): void;
}

const defaults = { idleTimeout: 60_000, maxReconnects: 10, maxEventBytes: 32 * 1024 * 1024 };

/** A reading with its consumer. */
class Session {
  readonly reader: RunReader;
  transcript = emptyTranscript;
  /** Someone pulls events from it. */
  active = true;
  /** Called at each change that may settle a result: the outcome, a failure, the consumer's leaving. */
  onChange: () => void = () => {};

  constructor(reader: RunReader) {
    this.reader = reader;
    reader.onOutcome = () => this.onChange();
  }

  async next(): Promise<IteratorResult<RunEvent, undefined>> {
    try {
      const next = await this.reader.next();
      if (next.done) this.#leave();
      else this.transcript = reduceTranscript(this.transcript, next.value);
      return next;
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  leave(): void {
    this.reader.leave();
    this.#leave();
  }

  #leave(): void {
    this.active = false;
    this.onChange();
  }
}

export class RunStreamHandle implements RunStream {
  readonly ref: RunRef;
  readonly #source: StreamSource;
  readonly #options: ReaderOptions;
  #sessions = new Set<Session>();
  #latest: Session | undefined;
  /** The first reading that learned the outcome. */
  #settled: Session | undefined;
  #result: Promise<RunResult> | undefined;
  #closed = false;
  #changed: () => void = () => {};

  constructor(ref: RunRef, source: StreamSource, options: RunStreamOptions = {}) {
    this.ref = { agentId: ref.agentId, id: ref.id };
    this.#source = source;
    this.#options = checkStreamOptions(this.ref, options);
  }

  get lastEventId(): string | undefined {
    return this.checkpoint().lastEventId;
  }

  checkpoint(): RunCheckpoint {
    return (this.#latest?.reader ?? new RunReader(this.ref, this.#source, this.#options)).checkpoint();
  }

  [Symbol.asyncIterator](): AsyncIterator<RunEvent, undefined> {
    const session = this.#open();
    const end = { done: true, value: undefined } as const;
    let isLeft = false;
    return {
      next: () => (isLeft || this.#closed ? Promise.resolve(end) : session.next()),
      return: async () => {
        isLeft = true;
        session.leave();
        return end;
      },
    };
  }

  async *text(): AsyncGenerator<string, void, undefined> {
    const isInteraction = this.#options.include === "interaction";
    for await (const event of this) {
      if (event.type === "assistant") yield event.data.text;
      else if (isInteraction && event.type === "interaction_update" && event.data.type === "text-delta") {
        if (typeof event.data.text === "string") yield event.data.text;
      }
    }
  }

  toReadableStream(): ReadableStream<RunEvent> {
    let iterator: AsyncIterator<RunEvent, undefined>;
    return new ReadableStream<RunEvent>(
      {
        start: () => {
          iterator = this[Symbol.asyncIterator]();
        },
        pull: async (controller) => {
          const next = await iterator.next();
          if (next.done) controller.close();
          else controller.enqueue(next.value);
        },
        cancel: async () => {
          await iterator.return?.();
        },
      },
      // Nothing is read ahead: the checkpoint stands where the consumer stands.
      { highWaterMark: 0 },
    );
  }

  result(): Promise<RunResult> {
    if (!this.#result) {
      this.#result = this.#settle();
      // Whoever calls hears of a failure; whoever calls and doesn't listen has asked for nothing.
      this.#result.catch(() => {});
    }
    return this.#result;
  }

  close(): void {
    this.#closed = true;
    for (const session of this.#sessions) session.leave();
    this.#changed();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #open(): Session {
    const session = new Session(new RunReader(this.ref, this.#source, this.#options));
    session.onChange = () => {
      if (!session.active) this.#sessions.delete(session);
      if (session.reader.outcome) this.#settled ??= session;
      this.#changed();
    };
    if (this.#closed) session.leave();
    else this.#sessions.add(session);
    this.#latest = session;
    return session;
  }

  async #settle(): Promise<RunResult> {
    await undefined; // a reader that begins in the same breath is the one to wait for
    for (let round = 0; ; round++) {
      if (this.#settled?.reader.outcome) return this.#resultOf(this.#settled.reader.outcome, this.#settled);
      const session = this.#latest;
      if (this.#closed) throw this.#closedError();
      if (session?.active) {
        const outcome = await this.#beside(session, round);
        if (outcome) return this.#resultOf(outcome, session);
      } else if (session?.reader.isOver) {
        await session.next(); // rejects with what ended the reading
        return this.#resultOf(await this.#ask(), session);
      } else {
        await this.#drain(session ?? this.#open());
      }
    }
  }

  /** Reads on where the last reader left, or from the start. */
  async #drain(session: Session): Promise<void> {
    session.active = true;
    this.#sessions.add(session);
    while (!session.reader.outcome) {
      const next = await session.next();
      if (next.done) return;
    }
    session.leave();
  }

  /** Waits for a reader to make a difference, but not for ever: its loop may be waiting for us. */
  async #beside(session: Session, round: number): Promise<Outcome | undefined> {
    const pause = follow(this.#options.signal);
    const change = new Promise<"change">((resolve) => {
      this.#changed = () => resolve("change");
    });
    const { poller } = this.#source;
    try {
      const pausing = poller.pause(round, pause.signal).then(() => "pause" as const);
      pausing.catch(() => {}); // ended by a change, or seen by the race
      if ((await Promise.race([change, pausing])) === "change" || !session.active) return undefined;
      const run = await poller.ask(this.ref, this.#options.signal).catch(() => undefined);
      this.#options.signal?.throwIfAborted();
      return run && isTerminalStatus(run.status) ? outcomeOf(run) : undefined;
    } finally {
      pause.release();
      pause.abort();
      this.#changed = () => {};
    }
  }

  async #ask(): Promise<Outcome> {
    return outcomeOf(await this.#source.poller.ask(this.ref, this.#options.signal));
  }

  #resultOf(outcome: Outcome, session: Session): RunResult {
    const { agentId, id: runId } = this.ref;
    return { agentId, runId, ...outcome, streamedText: session.transcript.text };
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

function checkStreamOptions(ref: RunRef, options: RunStreamOptions): ReaderOptions {
  if (typeof options !== "object" || options === null) {
    throw new ArgumentError("options", `expected an object, got ${describe(options)}`);
  }
  const { include = "simplified", from, onReconnect } = options;
  if (!["simplified", "interaction", "all"].includes(include)) {
    throw new ArgumentError("include", 'expected "simplified", "interaction" or "all"');
  }
  return {
    signal: checkSignal(options.signal),
    from: checkFrom(ref, from),
    include,
    idleTimeout: checkTimeout("idleTimeout", options.idleTimeout) ?? defaults.idleTimeout,
    maxReconnects: checkCount("maxReconnects", options.maxReconnects) ?? defaults.maxReconnects,
    maxEventBytes: checkTimeout("maxEventBytes", options.maxEventBytes) ?? defaults.maxEventBytes,
    onReconnect,
  };
}

function checkFrom(ref: RunRef, from: unknown): RunStreamOptions["from"] {
  if (from === undefined || (typeof from === "string" && from !== "")) return from as string | undefined;
  if (typeof from !== "object" || from === null) {
    throw new ArgumentError("from", `expected an event id or a checkpoint, got ${describe(from)}`);
  }
  const checkpoint = from as Partial<RunCheckpoint>;
  if (checkpoint.agentId !== ref.agentId || checkpoint.runId !== ref.id) {
    throw new ArgumentError("from", "is a checkpoint of another run");
  }
  return checkpoint as RunCheckpoint;
}
