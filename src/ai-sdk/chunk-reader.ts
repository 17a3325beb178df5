import type { RunEvent } from "../index.ts";
import { MessageTranslator, type UIMessageFailure } from "./message-translator.ts";
import { checkSource, type RunEventSource, type UIMessageStreamOptions } from "./options.ts";
import type { UIMessageChunk } from "./ui-message-chunk.ts";

/** What one step of a reading brought: the chunks of an event, which may be none. */
export interface Step {
  chunks: UIMessageChunk[];
  /** The step was the run's sign of life. */
  isHeartbeat: boolean;
}

/** Reads a run step by step, each when it is asked for. Ends in a last chunk whatever happens, unless it is closed. */
export class ChunkReader {
  readonly #events: AsyncIterator<RunEvent>;
  readonly #translator: MessageTranslator;
  readonly #metadata: unknown;
  #hasStarted = false;
  #isClosed = false;
  #hasLeft = false;

  constructor(stream: RunEventSource, { messageMetadata, onError }: UIMessageStreamOptions) {
    const { ref } = checkSource(stream);
    this.#translator = new MessageTranslator(ref, (failure) => textOf(failure, onError?.(failure)));
    this.#metadata = messageMetadata;
    // Now, not at the first pull: who asks for the stream's result in the meantime shall find its reader.
    this.#events = stream[Symbol.asyncIterator]();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The next step; undefined behind the last one. */
  async next(): Promise<Step | undefined> {
    if (this.#isClosed || this.#translator.isOver) return undefined;
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      return { chunks: this.#translator.start(this.#metadata), isHeartbeat: false };
    }
    let event: IteratorResult<RunEvent, unknown>;
    try {
      event = await this.#events.next();
    } catch (error) {
      return { chunks: this.#isClosed ? [] : this.#translator.fail({ error }), isHeartbeat: false };
    }
    if (this.#isClosed) return undefined;
    if (event.done) return { chunks: this.#translator.fail({}), isHeartbeat: false };
    try {
      const chunks = this.#translator.translate(event.value);
      return { chunks, isHeartbeat: event.value.type === "heartbeat" };
    } finally {
      // The outcome is told; `done` says no more, and may be seconds away.
      if (this.#translator.isOver) this.#leave();
    }
  }

  /** Closes the run's stream, not the run. What is on its way is dropped. */
  close(): void {
    this.#isClosed = true;
    this.#leave();
  }

  /** Not awaited: a generator ends only when what it waits for has come. */
  #leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    Promise.resolve(this.#events.return?.()).catch(() => {});
  }
}

function textOf({ status }: UIMessageFailure, text: string | undefined | void): string {
  if (typeof text === "string") return text;
  if (status === undefined) return "The run can't be followed any further. It may still be at work.";
  if (status === "ERROR") return "The run failed.";
  return status === "EXPIRED" ? "The run expired." : "The run did not finish.";
}
