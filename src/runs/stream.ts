import { follow } from "../async.ts";
import { StreamError } from "../errors.ts";
import { type GitInfo, isTerminalStatus, type RunRef, type RunStatus } from "../types.ts";
import { type Outcome, outcomeOf, type RunEvent, textOf } from "./events.ts";
import type { RunCheckpoint } from "./position.ts";
import { RunReader, type StreamSource } from "./reader.ts";
import { checkStreamOptions, type ReaderOptions, type RunStreamOptions } from "./stream-options.ts";

/** How a run came out. */
export interface RunResult {
  /** The agent's id. */
  agentId: string;
  /** The run's id. */
  runId: string;
  /** Only FINISHED is success. */
  status: RunStatus;
  /** The final reply. It need not equal what was streamed, and is absent where the run said nothing. */
  text?: string;
  /** The reply's pieces as this stream received them: none of what lies before `from`. */
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
 * @throws ApiError where the server refuses (401, 403, 404, …), {@link StreamError} where it can't be read on
 */
export interface RunStream extends AsyncIterable<RunEvent>, AsyncDisposable {
  /** The run that is read. */
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

/** The readers of a {@link RunStream}, and what they found out together. */
export class RunStreamHandle implements Omit<RunStream, "toReadableStream"> {
  readonly ref: RunRef;
  readonly #source: StreamSource;
  readonly #options: ReaderOptions;
  #readers = new Set<RunReader>();
  #latest: RunReader | undefined;
  /** The first reading that learned the outcome. */
  #settled: RunReader | undefined;
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
    if (this.#latest) return this.#latest.checkpoint();
    const { from } = this.#options;
    const position = typeof from === "string" ? { lastEventId: from } : from;
    return { ...position, agentId: this.ref.agentId, runId: this.ref.id };
  }

  [Symbol.asyncIterator](): AsyncIterator<RunEvent, undefined> {
    const reader = this.#open();
    const end = { done: true, value: undefined } as const;
    let isLeft = false;
    return {
      next: () => (isLeft || this.#closed ? Promise.resolve(end) : reader.next()),
      return: async () => {
        isLeft = true;
        reader.leave();
        return end;
      },
    };
  }

  async *text(): AsyncGenerator<string, void, undefined> {
    for await (const event of this) {
      const text = textOf(event, this.#options.include);
      if (text !== undefined) yield text;
    }
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
    for (const reader of this.#readers) reader.leave();
    this.#changed();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #open(): RunReader {
    const reader = new RunReader(this.ref, this.#source, this.#options);
    reader.onChange = () => {
      if (!reader.isActive) this.#readers.delete(reader);
      if (reader.outcome) this.#settled ??= reader;
      this.#changed();
    };
    this.#readers.add(reader);
    if (this.#closed) reader.leave();
    this.#latest = reader;
    return reader;
  }

  async #settle(): Promise<RunResult> {
    await undefined; // a reader that begins in the same breath is the one to wait for
    for (let round = 0; ; round++) {
      if (this.#settled?.outcome) return this.#resultOf(this.#settled.outcome, this.#settled);
      if (this.#closed) {
        this.#options.signal?.throwIfAborted();
        throw this.#closedError();
      }
      const reader = this.#latest;
      if (reader?.isActive) {
        const outcome = await this.#beside(reader, round);
        if (outcome) return this.#resultOf(outcome, reader);
      } else if (reader?.isOver) {
        await reader.next(); // rejects with what ended the reading
        return this.#resultOf(await this.#lookUp(), reader);
      } else {
        await this.#drain(reader ?? this.#open());
      }
    }
  }

  async #lookUp(): Promise<Outcome> {
    return outcomeOf(await this.#source.poller.untilTerminal(this.ref, { signal: this.#options.signal }));
  }

  /** Reads on where the last reader left, or from the start. */
  async #drain(reader: RunReader): Promise<void> {
    reader.takeUp();
    this.#readers.add(reader);
    while (!reader.outcome) {
      const next = await reader.next();
      if (next.done) return;
    }
    reader.leave();
  }

  /** Waits for a reader to make a difference, but not for ever: its loop may be waiting for us. */
  async #beside(reader: RunReader, round: number): Promise<Outcome | undefined> {
    const pause = follow(this.#options.signal);
    const change = new Promise<"change">((resolve) => {
      this.#changed = () => resolve("change");
    });
    const { poller } = this.#source;
    try {
      const pausing = poller.pause(round, pause.signal).then(() => "pause" as const);
      pausing.catch(() => {}); // ended by a change, or seen by the race
      if ((await Promise.race([change, pausing])) === "change" || !reader.isActive) return undefined;
      const run = await poller.ask(this.ref, this.#options.signal).catch(() => undefined);
      this.#options.signal?.throwIfAborted();
      return run && isTerminalStatus(run.status) ? outcomeOf(run) : undefined;
    } finally {
      pause.release();
      pause.abort();
      this.#changed = () => {};
    }
  }

  #resultOf(outcome: Outcome, { streamedText }: RunReader): RunResult {
    const { agentId, id: runId } = this.ref;
    return { agentId, runId, ...outcome, streamedText };
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
