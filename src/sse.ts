import { createParser, type EventSourceMessage } from "eventsource-parser";
import type { Clock } from "./async.ts";
import { discard } from "./http/response.ts";

/** One SSE event as sent: `id` and `event` are present only where the frame itself has them. */
export type Frame = EventSourceMessage;

/** A frame was larger than the limit. */
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
  /** Called for each chunk of bytes, comments included. */
  onChunk?: () => void;
  /** Receives the milliseconds of a `retry:` line. */
  onRetry?: (ms: number) => void;
  /** Ends the connection that the body belongs to. */
  close?: () => void;
}

/**
 * Turns a body into SSE frames, a chunk at a time and only when asked: a slow reader slows the sender, and only the
 * frames of the last chunk and the unfinished one after them are kept. The body is read as UTF-8, as the standard says.
 */
export class FrameReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  // The decoder drops a byte order mark at the very start only, as the standard says; later ones are data.
  readonly #decoder = new TextDecoder("utf-8");
  #frames: Frame[] = [];
  readonly #parser = createParser({
    onEvent: (frame) => this.#frames.push(frame),
    onRetry: (ms) => this.#options.onRetry?.(ms),
  });
  readonly #options: FrameReaderOptions;
  /** Bytes of the unfinished frame, with {@link lineWeight} for each of its lines. */
  #openBytes = 0;
  #endsInCarriageReturn = false;
  /** The read of the body that is under way. It outlasts a {@link read} that ends early, so that no byte is lost. */
  #reading: { chunk: Promise<Chunk>; since: number } | undefined;
  /** {@link wake} was called, and no {@link read} ended by it yet. */
  #isWoken = false;
  #onWake: (() => void) | undefined;
  /** Rejects the read that is under way. */
  #interrupt: ((reason: unknown) => void) | undefined;
  // One listener for all reads: adding and removing one costs more than a read does.
  readonly #onAbort = () => this.#interrupt?.(this.#options.signal.reason);

  constructor(body: ReadableStream<Uint8Array>, options: FrameReaderOptions) {
    this.#reader = body.getReader();
    this.#options = options;
    options.signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /**
   * The frames of the next chunk that completes one or more; undefined at the end of the body. An empty list after
   * {@link wake} and at `wakeAt`, even if bytes arrive: nothing is lost then, and the next call continues.
   * @param deadline A time by the clock after which the read fails, even if bytes arrive
   * @param wakeAt A time by the clock
   * @throws IdleError after `idleMs` without a byte, or at the deadline; FrameTooLargeError, the signal's reason, or
   * the error with which the body fails
   */
  async read(
    idleMs: number,
    deadline = Number.POSITIVE_INFINITY,
    wakeAt = Number.POSITIVE_INFINITY,
  ): Promise<Frame[] | undefined> {
    while (true) {
      const chunk = await this.#chunk(idleMs, deadline, wakeAt);
      if (chunk === undefined) return [];
      const { done, value } = chunk;
      if (!done) this.#feed(value);
      if (this.#frames.length > 0) {
        const frames = this.#frames;
        this.#frames = [];
        this.#openBytes = 0;
        return frames;
      }
      if (done) return undefined;
      if (this.#openBytes > this.#options.maxBytes) {
        throw new FrameTooLargeError(`one event is larger than ${this.#options.maxBytes} bytes`);
      }
    }
  }

  /** Ends the {@link read} under way, or else the next one, with an empty list. */
  wake(): void {
    this.#isWoken = true;
    this.#onWake?.();
  }

  #feed(bytes: Uint8Array): void {
    this.#options.onChunk?.();
    const text = this.#decoder.decode(bytes, { stream: true });
    if (text !== "") this.#parser.feed(this.#withUniformLineEnds(text));
    if (this.#frames.length > 0) return;
    // Counts the bytes as they came, and a cost for each line, because a frame of many short lines takes many times its
    // length in memory.
    this.#openBytes += bytes.byteLength + lineWeight * countLineEnds(text);
  }

  /**
   * Replaces CR and CRLF by LF. The parser keeps a CR at the end of a chunk, which may be half of a CRLF, and with it
   * searches everything before it again: many such chunks in a row would take quadratic time.
   */
  #withUniformLineEnds(text: string): string {
    // The CR of this CRLF ended the line already.
    const rest = this.#endsInCarriageReturn && text.startsWith("\n") ? text.slice(1) : text;
    this.#endsInCarriageReturn = text.endsWith("\r");
    return rest.includes("\r") ? rest.replaceAll(/\r\n?/g, "\n") : rest;
  }

  /** Ends the body and its connection. */
  cancel(): void {
    this.#options.signal.removeEventListener("abort", this.#onAbort);
    discard(this.#reader);
    this.#options.close?.();
  }

  /**
   * One read, raced against the time and the signal: not every body listens to the signal of its request. Undefined
   * after {@link wake} and at `wakeAt`.
   */
  #chunk(idleMs: number, deadline: number, wakeAt: number): Promise<Chunk | undefined> {
    const { clock, signal } = this.#options;
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const now = clock.now();
      if (this.#isWoken || now >= wakeAt) {
        this.#isWoken = false;
        return resolve(undefined);
      }
      this.#reading ??= { chunk: this.#reader.read() as Promise<Chunk>, since: now };
      const { chunk, since } = this.#reading;
      const failAt = Math.min(since + idleMs, deadline);
      let isSettled = false;
      const settle = () => {
        isSettled = true;
        if (timer !== undefined) clock.clearTimeout(timer);
        this.#interrupt = undefined;
        this.#onWake = undefined;
      };
      const fail = (reason: unknown) => {
        if (isSettled) return;
        settle();
        reject(reason);
      };
      const wake = () => {
        settle();
        this.#isWoken = false;
        resolve(undefined);
      };
      const onTimeout = () =>
        wakeAt < failAt ? wake() : fail(new IdleError(`no byte for ${failAt - since} ms`));
      const ms = Math.min(failAt, wakeAt) - now;
      const timer =
        ms === Number.POSITIVE_INFINITY ? undefined : clock.setTimeout(onTimeout, Math.max(0, ms));
      this.#interrupt = fail;
      this.#onWake = wake;
      chunk.then((read) => {
        if (isSettled) return;
        settle();
        this.#reading = undefined;
        resolve(read);
      }, fail);
    });
  }
}

type Chunk = { done: true; value?: undefined } | { done: false; value: Uint8Array };

/**
 * The bytes of memory that a line takes in addition to its text, as measured. Lines that are not kept, such as comments,
 * are counted as well, which limits the time that they can cost.
 */
const lineWeight = 64;

/** Searches the text rather than the bytes, which is many times as fast. */
function countLineEnds(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  for (let at = text.indexOf("\r"); at >= 0; at = text.indexOf("\r", at + 1)) count++;
  return count;
}

/** A response that should have been an event stream is something else. */
export class NotEventStreamError extends Error {
  override readonly name = "NotEventStreamError";
}

/**
 * A reader for the body of a response that must be an event stream; its `cancel()` ends the connection, too.
 * @throws NotEventStreamError for any other response, after ending its body and connection
 */
export function openEventStream(response: Response, options: FrameReaderOptions): FrameReader {
  if (isEventStream(response) && response.body) return new FrameReader(response.body, options);
  discard(response.body);
  options.close?.();
  const type = response.headers.get("content-type") ?? "no content type";
  throw new NotEventStreamError(`the response is not an event stream (${type.slice(0, 100)})`);
}

/** Whether a response is an event stream: by the essence of its media type, in any case, with any parameters. */
export function isEventStream(response: Response): boolean {
  const [essence = ""] = (response.headers.get("content-type") ?? "").split(";");
  return essence.trim().toLowerCase() === "text/event-stream";
}
