import { later, lazy } from "../lazy.ts";
import type { RunRef } from "../types.ts";
import type { RunEvent } from "./events.ts";
import type { RunCheckpoint } from "./position.ts";
import type { StreamSource } from "./reader.ts";
import type { RunResult, RunStream, RunStreamHandle } from "./stream.ts";
import { checkStreamOptions, type ReaderOptions, type RunStreamOptions } from "./stream-options.ts";

const load = lazy("run streams", () => import("./stream.ts"));

/** A run stream whose machinery is loaded by its first reader, as its connection is opened by it. */
export class LazyRunStream implements RunStream {
  readonly ref: RunRef;
  readonly #source: () => Promise<StreamSource>;
  readonly #options: ReaderOptions;
  #handle: RunStreamHandle | undefined;
  #isClosed = false;

  constructor(ref: RunRef, source: () => Promise<StreamSource>, options: RunStreamOptions) {
    this.ref = ref;
    this.#source = source;
    this.#options = checkStreamOptions(ref, options);
  }

  get lastEventId(): string | undefined {
    return this.checkpoint().lastEventId;
  }

  checkpoint(): RunCheckpoint {
    if (this.#handle) return this.#handle.checkpoint();
    const { from } = this.#options;
    const { agentId, id: runId } = this.ref;
    return { ...(typeof from === "string" ? { lastEventId: from } : from), agentId, runId };
  }

  [Symbol.asyncIterator](): AsyncIterator<RunEvent, undefined> {
    return this.#handle?.[Symbol.asyncIterator]() ?? later(this.#open(), (handle) => handle);
  }

  text(): AsyncIterable<string> {
    if (this.#handle) return this.#handle.text();
    return { [Symbol.asyncIterator]: () => later(this.#open(), (handle) => handle.text()) };
  }

  toReadableStream(): ReadableStream<RunEvent> {
    const iterator = this[Symbol.asyncIterator]();
    return new ReadableStream<RunEvent>(
      {
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
    const result = this.#handle?.result() ?? this.#open().then((handle) => handle.result());
    // Whoever calls hears of a failure; whoever calls and doesn't listen has asked for nothing.
    result.catch(() => {});
    return result;
  }

  close(): void {
    this.#isClosed = true;
    this.#handle?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  async #open(): Promise<RunStreamHandle> {
    const [{ RunStreamHandle }, source] = await Promise.all([load(), this.#source()]);
    if (!this.#handle) {
      this.#handle = new RunStreamHandle(this.ref, source, this.#options);
      if (this.#isClosed) this.#handle.close();
    }
    return this.#handle;
  }
}
