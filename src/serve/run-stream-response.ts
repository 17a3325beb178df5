import { systemClock } from "../async.ts";
import { ArgumentError, type Clock, type Cursor, type RunRef } from "../index.ts";
import { empty, refusal } from "./answers.ts";
import { refuseAtGate } from "./gate.ts";
import { restOf } from "./messages.ts";
import { checkFlag, checkNumber, checkOptions, commonNames, type ServeOptions, toRunRef } from "./options.ts";
import { positionOf } from "./position.ts";
import { RunFeed } from "./run-feed.ts";

/** How a run is served to a browser. All times are milliseconds. */
export interface RunStreamResponseOptions extends ServeOptions<RunRef> {
  /**
   * Gives each message its event's name: `assistant`, `tool_call`, … with `error` as `run_error`, since an EventSource
   * reports a broken connection under that name. Without it all messages are `message` events.
   * @default false
   */
  named?: boolean | undefined;
  /** Ends the response after so long, before the platform does; the browser comes back and goes on. @default never */
  maxDuration?: number | undefined;
  /**
   * How long the answer may wait for the API, so that a refusal has a status of its own. Later refusals come as a
   * `failure` frame in a 200. 0: never wait.
   * @default 40
   */
  openingTimeout?: number | undefined;
  /** A comment is sent after so long without an event. @default 15_000 */
  keepAlive?: number | undefined;
  /** How long an EventSource waits before it comes back. @default 2_000 */
  retry?: number | undefined;
  /** Where time comes from, for tests. @default the system's clock */
  clock?: Clock | undefined;
}

const optionNames = [
  ...commonNames,
  ...([
    "named",
    "maxDuration",
    "openingTimeout",
    "keepAlive",
    "retry",
    "clock",
  ] satisfies (keyof RunStreamResponseOptions)[]),
];

/**
 * Serves a run to a browser as server-sent events: a plain EventSource reads it, loses nothing when its connection
 * breaks, and stops at the run's end. The key stays here.
 *
 * The server keeps nothing in between: a browser's position is the API's own event id, so any instance can go on.
 * What goes wrong between here and the API is ridden out inside the response. Each message is a {@link ServedFrame}.
 *
 * Answers 200 with the stream; 204 to who has received the end; 404 where there is no such run, `authorize` says no, or
 * an id can't be one (`bc-` or `run-`, then up to 128 letters, digits, `-` and `_`); 405; 502 where the API refuses for
 * good. Only those that were received by `openingTimeout` have a status: later ones are a `failure` frame that is final.
 * When the API can't be reached for about a minute, a `failure` frame that isn't final ends the response, and the
 * browser comes back after 10 s.
 *
 * @param ref May come from the URL: what a router gives for `:agentId` and `:id`
 * @throws ArgumentError when an option can't work, above all without `authorize`; what `authorize` throws
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
  checkOptions(cursor, options, optionNames);
  const { request, onError } = options;
  const settings = {
    clock: checkClock(options.clock),
    signal: request.signal ?? undefined,
    named: checkFlag("named", options.named),
    retry: checkNumber("retry", options.retry, { least: 1, otherwise: 2_000 }),
    keepAlive: checkNumber("keepAlive", options.keepAlive, { least: 1_000, otherwise: 15_000 }),
    // A response that is too short to bring an event would be asked for again for ever.
    maxDuration:
      options.maxDuration === undefined
        ? undefined
        : checkNumber("maxDuration", options.maxDuration, { least: 1_000, otherwise: 0 }),
    onError,
  };
  const openingTimeout = checkNumber("openingTimeout", options.openingTimeout, { least: 0, otherwise: 40 });
  const run = toRunRef(ref);
  const refused = await refuseAtGate({ method: "GET" }, run, options);
  if (refused || !run) return refused as Response;

  const position = positionOf(request);
  const rest = position === "unreadable" ? undefined : restOf(position.at, run);
  if (rest?.length === 0) return empty(204);
  const feed = new RunFeed(cursor, run, settings);
  if (rest) feed.replay(rest);
  else {
    feed.read(position);
    const failure = await feed.refusal(openingTimeout);
    if (failure) return refusal(failure);
  }
  return new Response(feed.body(), {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      // Compression and buffering on the way would hold events back.
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    },
  });
}

function checkClock(clock: Clock | undefined): Clock {
  const names = ["now", "setTimeout", "clearTimeout"] as const;
  if (clock !== undefined && !names.every((name) => typeof clock?.[name] === "function")) {
    throw new ArgumentError("clock", `expected an object with ${names.join(", ")}`);
  }
  return clock ?? systemClock;
}
