import { createParser, type EventSourceMessage } from "eventsource-parser";
import type { Clock } from "./async.ts";
import { discard } from "./http/response.ts";

/** One SSE event as it stands on the wire: `id` and `event` only where the frame itself has them. */
export type Frame = EventSourceMessage;

/** A frame outgrew the limit. */
export class FrameTooLargeError extends Error {
  override readonly name = "FrameTooLargeError";
}

/** No byte came for longer than the idle timeout. */
export class IdleError extends Error {
  override readonly name = "IdleError";
}

export interface FrameReaderOptions {
  clock: Clock;
  signal: AbortSignal;
  /** The most bytes of one frame, framing included; checked chunk by chunk. */
  maxBytes: number;
  /** Told of each chunk of bytes, comments included. */
  onChunk?: () => void;
  /** Receives the milliseconds of a `retry:` line. */
  onRetry?: (ms: number) => void;
  /** Ends the connection that the body belongs to. */
  close?: () => void;
}

/**
 * Turns a body into SSE frames, a chunk at a time and only when asked: a slow reader slows the sender, and nothing is
 * kept but the frames of the last chunk and the beginning of the next one. The body is UTF-8 whatever its headers say.
 */
export class FrameReader {
  #reader: ReadableStreamDefaultReader<Uint8Array>;
  // ignoreBOM false: one mark at the very start is dropped, later ones are data.
  #decoder = new TextDecoder("utf-8");
  #frames: Frame[] = [];
  #parser = createParser({
    onEvent: (frame) => this.#frames.push(frame),
    onRetry: (ms) => this.#options.onRetry?.(ms),
  });
  #options: FrameReaderOptions;
  #openBytes = 0;
  #endsInCarriageReturn = false;
  /** Ends the read under way. */
  #interrupt: ((reason: unknown) => void) | undefined;
  // One listener for all reads: adding and removing it costs more than a read.
  #onAbort = () => this.#interrupt?.(this.#options.signal.reason);

  constructor(body: ReadableStream<Uint8Array>, options: FrameReaderOptions) {
    this.#reader = body.getReader();
    this.#options = options;
    options.signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /**
   * The frames of the next chunk that ends one or more, or undefined at the end of the body.
   * @throws IdleError after `idleMs` without a byte, or at the time `until` whatever came; FrameTooLargeError, the
   * signal's reason, or what the body fails with
   */
  async read(idleMs: number, until = Number.POSITIVE_INFINITY): Promise<Frame[] | undefined> {
    while (true) {
      const { done, value } = await this.#chunk(Math.min(idleMs, until - this.#options.clock.now()));
      if (done) return this.#end();
      this.#options.onChunk?.();
      const text = this.#decoder.decode(value, { stream: true });
      if (text !== "") {
        this.#endsInCarriageReturn = text.endsWith("\r");
        this.#parser.feed(text);
      }
      if (this.#frames.length > 0) {
        this.#openBytes = 0;
        return this.#take();
      }
      // Raw bytes, not buffered characters, and what each line costs beside them: a frame of short lines weighs many
      // times its length.
      this.#openBytes += value.byteLength + lineWeight * countLineEnds(text);
      if (this.#openBytes > this.#options.maxBytes) {
        throw new FrameTooLargeError(`one event is larger than ${this.#options.maxBytes} bytes`);
      }
    }
  }

  /** Ends the body. */
  cancel(): void {
    this.#options.signal.removeEventListener("abort", this.#onAbort);
    discard(this.#reader);
    this.#options.close?.();
  }

  /** A lone CR at the end was held back as half of a CRLF; an unfinished frame is dropped, as the standard says. */
  #end(): Frame[] | undefined {
    if (!this.#endsInCarriageReturn) return undefined;
    this.#endsInCarriageReturn = false;
    this.#parser.feed("\n");
    return this.#frames.length > 0 ? this.#take() : undefined;
  }

  #take(): Frame[] {
    const frames = this.#frames;
    this.#frames = [];
    return frames;
  }

  /** One read, raced against silence and abort: not every body listens to the signal of its request. */
  #chunk(idleMs: number): Promise<Read> {
    const { clock, signal } = this.#options;
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const fail = (reason: unknown) => {
        settle();
        reject(reason);
      };
      const timer =
        idleMs === Number.POSITIVE_INFINITY
          ? undefined
          : clock.setTimeout(() => fail(new IdleError(`no byte for ${idleMs} ms`)), idleMs);
      const settle = () => {
        if (timer !== undefined) clock.clearTimeout(timer);
        this.#interrupt = undefined;
      };
      this.#interrupt = fail;
      this.#reader.read().then((read) => {
        settle();
        resolve(read as Read);
      }, fail);
    });
  }
}

type Read = { done: true; value?: undefined } | { done: false; value: Uint8Array };

/** What a line that is kept costs in memory, measured; also bounds what lines that are not kept may cost in time. */
const lineWeight = 64;

/** In the text rather than in the bytes: engines search texts many times as fast. */
function countLineEnds(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  for (let at = text.indexOf("\r"); at >= 0; at = text.indexOf("\r", at + 1)) count++;
  return count;
}

/** An answer that should have been an event stream is something else. */
export class NotEventStreamError extends Error {
  override readonly name = "NotEventStreamError";
}

/**
 * Begins to read the body of an answer that must be an event stream; `FrameReader.cancel()` ends its connection, too.
 * @throws NotEventStreamError for any other answer, whose body and connection have been ended
 */
export function openEventStream(response: Response, options: FrameReaderOptions): FrameReader {
  if (isEventStream(response) && response.body) return new FrameReader(response.body, options);
  discard(response.body);
  options.close?.();
  const type = response.headers.get("content-type") ?? "no content type";
  throw new NotEventStreamError(`the answer is not an event stream (${type.slice(0, 100)})`);
}

/** Whether an answer is an event stream: the essence of its media type, in any case, with any parameters. */
export function isEventStream(response: Response): boolean {
  const [essence = ""] = (response.headers.get("content-type") ?? "").split(";");
  return essence.trim().toLowerCase() === "text/event-stream";
}
