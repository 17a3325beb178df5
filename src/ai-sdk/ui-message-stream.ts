import { anyValue, checkCallback, checkObject, checkOptions, type OptionTable } from "../check.ts";
import { ArgumentError, type RunEvent, type RunRef } from "../index.ts";
import { MessageTranslator, type UIMessageFailure } from "./message-translator.ts";
import type { UIMessageChunk } from "./ui-message-chunk.ts";

/**
 * A run's events, and the run they belong to. A `RunStream` is one; for events from elsewhere:
 * `{ ref: { agentId, id }, [Symbol.asyncIterator]: () => events }`. They must be of the simplified family, which is the
 * default: `interaction_update` events are skipped.
 */
export interface RunEventSource extends AsyncIterable<RunEvent> {
  /** The run whose events they are. */
  readonly ref: RunRef;
  /** The same events without the client's keys; a page gets these where there are both. */
  redacted?(): AsyncIterable<RunEvent>;
}

/** How a run becomes a UI message. */
export interface UIMessageStreamOptions<Metadata = unknown> {
  /** The message's metadata, sent with its start. @default none */
  messageMetadata?: Metadata | undefined;
  /**
   * Called once when a message ends in an error: because the run failed or expired, or because it can't be followed any
   * further. Returns the text that users see; anything other than a string keeps the default. Also the place to log
   * `failure.error`, which users should not see.
   * @default "The run failed.", "The run expired.", "The run did not finish.", or that the run can't be followed
   */
  onError?: ((failure: UIMessageFailure) => string | undefined | void) | undefined;
}

export const uiMessageStreamTable = {
  messageMetadata: anyValue,
  onError: checkCallback,
} satisfies OptionTable<UIMessageStreamOptions>;

/**
 * A run as the chunks of an AI SDK UI message (ai 5, 6 and 7): text, reasoning, tools as dynamic tool parts, the run
 * itself as `data-run`, and an end that says how the run ended.
 *
 * - The message's id is the run's, and part ids are counted: every reading from the run's start yields the same chunks.
 * - FINISHED ends in `finish`, CANCELLED in `abort`, any other outcome in `error`; so does a stream that breaks and can't
 *   be resumed. A tool that fails is that tool's error, not the message's.
 * - A tool's output is the `result` that the API sent (`{ success }`), or `{ truncated: true }` where the server left it
 *   out for its size.
 * - The streamed text stays as it came, and the result's `text` is shown only where no text was streamed. Where the
 *   streamed text doesn't end with it, it is in `data-run` as `text`: appended, most of it would appear twice.
 *
 * Events are read as chunks are pulled. Cancelling the stream closes the run's stream, never the run.
 *
 * @throws ArgumentError at once
 * @example
 * const { run } = await cursor.agents.create({ prompt: "Add a README" });
 * for await (const chunk of toUIMessageStream(cursor.runs.stream(run))) console.log(chunk.type);
 */
export function toUIMessageStream<Metadata = unknown>(
  stream: RunEventSource,
  options: UIMessageStreamOptions<Metadata> = {},
): ReadableStream<UIMessageChunk<Metadata>> {
  checkObject("options", options);
  const reader = new ChunkReader(stream, checkOptions(uiMessageStreamTable, options));
  let chunks: UIMessageChunk[] = [];
  return new ReadableStream<UIMessageChunk<Metadata>>(
    {
      pull: async (controller) => {
        while (chunks.length === 0) {
          const step = await reader.next();
          if (reader.isClosed) return;
          if (!step) return controller.close();
          chunks = step.chunks;
        }
        controller.enqueue(chunks.shift() as UIMessageChunk<Metadata>);
      },
      cancel: () => reader.close(),
    },
    // Nothing is read ahead of the consumer.
    { highWaterMark: 0 },
  );
}

/** What one step of a reading produced: the chunks of one event, often none. */
interface Step {
  chunks: UIMessageChunk[];
  /** Whether the event was the run's heartbeat. */
  isHeartbeat: boolean;
}

/** Reads a run step by step, each when it is asked for. The last step ends the message, unless the reader is closed before. */
export class ChunkReader {
  readonly #events: AsyncIterator<RunEvent>;
  readonly #translator: MessageTranslator;
  readonly #metadata: unknown;
  /** `ended`: the message has had its last chunk. `closed`: the consumer left before that. */
  #state: "starting" | "reading" | "ended" | "closed" = "starting";

  constructor(stream: RunEventSource, { messageMetadata, onError }: UIMessageStreamOptions) {
    const { ref } = checkSource(stream);
    this.#translator = new MessageTranslator(ref, (failure) => textOf(failure, onError?.(failure)));
    this.#metadata = messageMetadata;
    // Now rather than at the first pull: a caller who asks for the stream's result meanwhile must find its reader.
    this.#events = forPages(stream)[Symbol.asyncIterator]();
  }

  get isClosed(): boolean {
    return this.#state === "closed";
  }

  /** The next step; undefined after the last one, and as soon as the reader is closed. */
  async next(): Promise<Step | undefined> {
    if (this.#state === "ended" || this.#state === "closed") return undefined;
    if (this.#state === "starting") {
      this.#state = "reading";
      return { chunks: this.#translator.start(this.#metadata), isHeartbeat: false };
    }
    const read = await this.#read();
    if (this.isClosed) return undefined;
    if ("failure" in read) {
      this.#state = "ended";
      return { chunks: this.#translator.fail(read.failure), isHeartbeat: false };
    }
    try {
      const chunks = this.#translator.translate(read.event);
      return { chunks, isHeartbeat: read.event.type === "heartbeat" };
    } finally {
      // The outcome has been delivered; `done` adds nothing to it, and may be seconds away.
      if (this.#translator.isOver) this.#leave("ended");
    }
  }

  /** Closes the run's stream, not the run. A step that is pending produces nothing. */
  close(): void {
    if (this.#state === "starting" || this.#state === "reading") this.#leave("closed");
  }

  async #read(): Promise<{ event: RunEvent } | { failure: UIMessageFailure }> {
    try {
      const { done, value } = await this.#events.next();
      return done ? { failure: {} } : { event: value };
    } catch (error) {
      return { failure: { error } };
    }
  }

  /** Doesn't wait for the iterator's end: a generator ends only after what it is waiting for has arrived. */
  #leave(state: "ended" | "closed"): void {
    this.#state = state;
    Promise.resolve(this.#events.return?.()).catch(() => {});
  }
}

/** Without the client's keys, which only a RunStream knows. */
const forPages = (stream: RunEventSource): AsyncIterable<RunEvent> => stream.redacted?.() ?? stream;

function checkSource(stream: RunEventSource): RunEventSource {
  const { agentId, id } = stream?.ref ?? {};
  const isSource = typeof stream?.[Symbol.asyncIterator] === "function";
  if (!isSource || typeof agentId !== "string" || typeof id !== "string") {
    throw new ArgumentError("stream", "expected a RunStream, or an async iterable of events with its `ref`");
  }
  return stream;
}

function textOf({ status }: UIMessageFailure, text: string | undefined | void): string {
  if (typeof text === "string") return text;
  if (status === undefined) return "The run can't be followed any further. It may still be at work.";
  if (status === "ERROR") return "The run failed.";
  return status === "EXPIRED" ? "The run expired." : "The run did not finish.";
}
