import { race, systemClock } from "../async.ts";
import { checkClock, checkFlag, type OptionTable, orDefault } from "../check.ts";
import {
  type Clock,
  type Cursor,
  type RunEvent,
  type RunRef,
  type RunStream,
  StreamError,
} from "../index.ts";
import { EventStreamBody, encodeComment, encodeRetry, unbuffered } from "../web-stream.ts";
import { empty, type Failure, failureOf, failureResponse, report } from "./failure.ts";
import { checkRoute, type ServeOptions, serveTable, throughGate, toRunRef, wholeNumber } from "./gate.ts";
import {
  encodeFrame,
  endFrame,
  failureFrame,
  type Remainder,
  remainderOf,
  type ServedFrame,
} from "./served-frame.ts";

/** How a run is served to a browser. All times are milliseconds. */
export interface RunStreamResponseOptions extends ServeOptions<RunRef> {
  /**
   * Gives each message its event's name: `assistant`, `tool_call`, … with `error` as `run_error`, since an EventSource
   * reports a broken connection under that name. Without it all messages are `message` events.
   * @default false
   */
  named?: boolean | undefined;
  /**
   * Ends the response after this time, before the platform does; the browser reconnects and continues.
   * At least 1_000. @default never
   */
  maxDuration?: number | undefined;
  /**
   * How long the answer may wait for the API, so that a failure can have a status of its own. Later failures come as a
   * `failure` frame in a 200. 0: never wait.
   * @default 40
   */
  openingTimeout?: number | undefined;
  /** A comment is sent after this time without a message. At least 1_000. @default 15_000 */
  keepAlive?: number | undefined;
  /** How long an EventSource waits before it reconnects. @default 2_000 */
  retry?: number | undefined;
  /** Where time comes from, for tests. @default the system's clock */
  clock?: Clock | undefined;
}

const runStreamTable = {
  ...serveTable,
  named: orDefault(checkFlag, false),
  // A response that is too short to deliver an event would be requested again for ever.
  maxDuration: wholeNumber(1_000),
  openingTimeout: orDefault(wholeNumber(0), 40),
  keepAlive: orDefault(wholeNumber(1_000), 15_000),
  retry: orDefault(wholeNumber(1), 2_000),
  clock: orDefault(checkClock, systemClock),
} satisfies OptionTable<RunStreamResponseOptions>;

/**
 * Serves a run to a browser as server-sent events: a plain EventSource reads it, loses nothing when its connection
 * breaks, and stops at the run's end. The key stays on the server.
 *
 * The server keeps no state between two connections: a browser's position is the API's own event id, so any instance can
 * continue. A broken connection between this server and the API is resumed inside the response. Each message is a
 * {@link ServedFrame}.
 *
 * Answers 200 with the stream; 204 to a browser that has received the end; 404 where the run does not exist, `authorize`
 * returns false, or an id is not well-formed (`bc-` or `run-`, then up to 128 letters, digits, `-` and `_`); 405; and the
 * status of a failure that is final, such as 502 where the API doesn't accept the key. Only failures that arrive within
 * `openingTimeout` have a status: later ones are a `failure` frame that is final. When the API can't be reached for about
 * a minute, a `failure` frame that isn't final ends the response, and the browser reconnects after 10 s.
 *
 * @param ref May come from the URL: what a router returns for `:agentId` and `:id`
 * @throws ArgumentError when an option is not valid, above all without `authorize`; whatever `authorize` throws
 * @example
 * // app/agents/[agentId]/runs/[id]/route.ts of Next.js 15 and newer, where `params` is a promise
 * export async function GET(request: Request, { params }: { params: Promise<{ agentId: string; id: string }> }) {
 *   return runStreamResponse(cursor, await params, {
 *     request,
 *     authorize: async (request, ref) => (await sessionOf(request)).owns(ref.agentId),
 *   });
 * }
 */
export async function runStreamResponse(
  cursor: Cursor,
  ref: RunRef,
  options: RunStreamResponseOptions,
): Promise<Response> {
  const checked = checkRoute(runStreamTable, cursor, options);
  return throughGate("GET", toRunRef(ref), checked, async (run) => {
    const { request, clock, keepAlive, maxDuration, openingTimeout } = checked;
    const remainder = remainderOf(request, run);
    if (remainder.kind === "ending" && remainder.frames.length === 0) return empty(204);
    const feed = new RunFeed(cursor, run, remainder, checked);
    const body = new EventStreamBody(feed.messages(), {
      clock,
      keepAlive,
      keepAliveComment: encodeComment(""),
      signal: request.signal ?? undefined,
      maxDuration,
      onClose: () => feed.close(),
    });
    const failure = await feed.openingFailure(openingTimeout, body.signal);
    if (failure) {
      body.close();
      return failureResponse(failure);
    }
    const headers = { "content-type": "text/event-stream; charset=utf-8", ...unbuffered };
    return new Response(body.stream, { headers });
  });
}

/** After this many failed reconnects in a row, about a minute, the browser is asked to stay away for a while. */
const maxReconnects = 8;
/** How long it stays away: longer than after a broken connection, since the API was down for a minute. */
const retryAfterFailure = 10_000;

/** What a reading produces: an event, its end, or the error that ended it. */
type Arrival = { kind: "event"; event: RunEvent } | { kind: "end" } | { kind: "error"; error: unknown };

/** One reading of the run's stream, from a position to its end. */
interface Reading {
  stream: RunStream;
  events: AsyncIterator<RunEvent, undefined>;
  /** The arrival that was asked for and has not been written yet; never rejects. */
  arrival?: Promise<Arrival> | undefined;
}

interface FeedSettings {
  clock: Clock;
  named: boolean;
  retry: number;
  onError?: ((error: unknown) => void) | undefined;
}

/** Turns what a browser is missing of a run into the messages of one response. */
class RunFeed {
  readonly #cursor: Cursor;
  readonly #ref: RunRef;
  readonly #remainder: Remainder;
  readonly #settings: FeedSettings;
  /** Undefined where the run isn't read: the feed is closed, or the remainder is known without reading. */
  #reading: Reading | undefined;

  constructor(cursor: Cursor, ref: RunRef, remainder: Remainder, settings: FeedSettings) {
    this.#cursor = cursor;
    this.#ref = ref;
    this.#remainder = remainder;
    this.#settings = settings;
    if (remainder.kind !== "ending") {
      this.#reading = this.#open(remainder.kind === "after" ? remainder.eventId : undefined);
    }
  }

  /**
   * Waits at most `ms` for the first event. Returns the failure that came instead, if the answer should have its status.
   * `messages` handles the other two inside the response: a failure that is not final, and a position that the API doesn't
   * know.
   */
  async openingFailure(ms: number, signal: AbortSignal): Promise<Failure | undefined> {
    if (ms === 0 || signal.aborted || !this.#reading) return undefined;
    const { clock, onError } = this.#settings;
    const deadline = { clock, ms, reason: () => undefined };
    const arrival = await race(nextArrival(this.#reading), { signal, deadline }).catch(() => undefined);
    if (arrival?.kind !== "error" || isInvalidPosition(arrival.error)) return undefined;
    const failure = failureOf(arrival.error);
    if (!failure.isFinal) return undefined;
    report(onError, arrival.error);
    return failure;
  }

  /** Ends the reading of the run, never the run itself. */
  close(): void {
    this.#reading?.stream.close();
    this.#reading = undefined;
  }

  async *messages(): AsyncGenerator<string, undefined> {
    const { retry, onError } = this.#settings;
    // Something is written at once, so that servers and proxies send the headers without waiting for an event.
    yield encodeRetry(retry) + encodeComment("open");
    if (this.#remainder.kind === "ending") {
      for (const frame of this.#remainder.frames) yield this.#encode(frame);
    }
    if (this.#remainder.kind === "unknown") yield this.#encode({ type: "reset" });
    for (let reading = this.#reading; reading; reading = this.#reading) {
      const arrival = await nextArrival(reading);
      reading.arrival = undefined;
      // The feed was closed while this waited.
      if (this.#reading !== reading) return;
      if (arrival.kind === "event") {
        yield this.#encode(arrival.event);
      } else if (arrival.kind === "end") {
        yield this.#encode(endFrame(this.#ref));
        return;
      } else if (isInvalidPosition(arrival.error)) {
        reading.stream.close();
        this.#reading = this.#open(undefined);
        yield this.#encode({ type: "reset" });
      } else {
        const failure = failureOf(arrival.error);
        report(onError, arrival.error);
        if (!failure.isFinal) yield encodeRetry(retryAfterFailure);
        yield this.#encode(failureFrame(failure, this.#ref));
        return;
      }
    }
  }

  #open(eventId: string | undefined): Reading {
    const { agentId, id: runId } = this.#ref;
    // Passed as a checkpoint object, because an id may be any text, even one that looks like a checkpoint's JSON.
    const from = eventId === undefined ? undefined : { agentId, runId, lastEventId: eventId };
    const stream = this.#cursor.runs.stream(this.#ref, { from, maxReconnects });
    return { stream, events: stream.redacted()[Symbol.asyncIterator]() };
  }

  #encode(frame: ServedFrame): string {
    return encodeFrame(frame, this.#ref, this.#settings.named);
  }
}

/** Returns the next arrival of a reading. Returns the same promise again until `messages` has taken the arrival. */
function nextArrival(reading: Reading): Promise<Arrival> {
  reading.arrival ??= reading.events.next().then(
    ({ done, value }): Arrival => (done ? { kind: "end" } : { kind: "event", event: value }),
    (error: unknown): Arrival => ({ kind: "error", error }),
  );
  return reading.arrival;
}

/** The API doesn't know the browser's position, which says nothing about the run. */
const isInvalidPosition = (error: unknown): boolean =>
  StreamError.isInstance(error) && error.reason === "invalid_position";
