import { checkCallback, checkNames } from "../check.ts";
import { ArgumentError, type Clock, type HeadersInput, type RunEvent, type RunRef } from "../index.ts";
import type { UIMessageFailure } from "./message-translator.ts";

/**
 * A run's events and whose they are. A `RunStream` is one; for events from elsewhere:
 * `{ ref: { agentId, id }, [Symbol.asyncIterator]: () => events }`. They are to be of the simplified family, as they
 * are by default: `interaction_update` events are passed over.
 */
export interface RunEventSource extends AsyncIterable<RunEvent> {
  /** The run whose events they are. */
  readonly ref: RunRef;
}

/** How a run is told as a UI message. */
export interface UIMessageStreamOptions<Metadata = unknown> {
  /** The message's metadata, sent with its start. @default none */
  messageMetadata?: Metadata | undefined;
  /**
   * Called once when a message ends in an error: since the run failed or expired, or since it can't be followed any
   * further. Returns the text that users see; anything else than a string leaves the default. The place to log
   * `failure.error`, too: users should not see it.
   * @default "The run failed.", "The run expired.", "The run did not finish.", or that the run can't be followed
   */
  onError?: ((failure: UIMessageFailure) => string | undefined | void) | undefined;
}

/** How a run is answered as a UI message stream. */
export interface UIMessageStreamResponseOptions<Metadata = unknown> extends UIMessageStreamOptions<Metadata> {
  /** Further headers; they win over ours. @default none */
  headers?: HeadersInput | undefined;
  /** So many milliseconds of silence are ended by an SSE comment, for proxies' sake; Infinity: never. @default 15_000 */
  keepAlive?: number | undefined;
  /** For tests. @default the system's */
  clock?: Clock | undefined;
}

/** How a page that comes back is answered. */
export interface ResumeUIMessageStreamOptions<Metadata = unknown>
  extends UIMessageStreamResponseOptions<Metadata> {
  /**
   * Tell a run that is over again, too, instead of answering 204. For chats whose messages are not stored when a run
   * ends: all of it as long as the API keeps the stream, then its final reply.
   * @default false
   */
  replayFinished?: boolean | undefined;
  /** Ends the request and the reading, never the run; `request.signal` is one. @default none */
  signal?: AbortSignal | undefined;
}

const common = ["messageMetadata", "onError"];
export const streamOptionNames: readonly string[] = common;
export const responseOptionNames: readonly string[] = [...common, "headers", "keepAlive", "clock"];
export const resumeOptionNames: readonly string[] = [...responseOptionNames, "replayFinished", "signal"];

/** An option that would be silently ignored is refused. Values are never shown. */
export function checkOptions(options: ResumeUIMessageStreamOptions, names: readonly string[]): void {
  if (typeof options !== "object" || options === null) {
    throw new ArgumentError("options", "expected an object");
  }
  checkNames(options, names);
  const { onError, keepAlive, clock, replayFinished } = options;
  checkCallback("onError", onError);
  if (keepAlive !== undefined && !(typeof keepAlive === "number" && keepAlive > 0)) {
    throw new ArgumentError("keepAlive", "expected a number of milliseconds above 0");
  }
  if (clock !== undefined && typeof clock?.setTimeout !== "function") {
    throw new ArgumentError("clock", "expected an object with now, setTimeout, clearTimeout");
  }
  if (replayFinished !== undefined && typeof replayFinished !== "boolean") {
    throw new ArgumentError("replayFinished", "expected a boolean");
  }
}

export function checkSource(stream: RunEventSource): RunEventSource {
  const { agentId, id } = stream?.ref ?? {};
  const isSource = typeof stream?.[Symbol.asyncIterator] === "function";
  if (!isSource || typeof agentId !== "string" || typeof id !== "string") {
    throw new ArgumentError("stream", "expected a RunStream, or an async iterable of events with its `ref`");
  }
  return stream;
}
