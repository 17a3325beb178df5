import {
  checkCallback,
  checkCount,
  checkNames,
  checkObject,
  checkSignal,
  checkTimeout,
  oneOf,
} from "../check.ts";
import { ArgumentError, unexpected } from "../errors.ts";
import type { RunRef } from "../types.ts";
import type { RunStreamInclude } from "./events.ts";
import type { RunCheckpoint } from "./position.ts";

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
  /** The largest event accepted, in bytes; each of its lines counts 64 more. @default 33_554_432 (32 MiB) */
  maxEventBytes?: number | undefined;
  /** Called before each further connection. */
  onReconnect?: ((info: { attempt: number; reason: unknown; lastEventId?: string }) => void) | undefined;
}

/** {@link RunStreamOptions}, checked and completed. */
export interface ReaderOptions {
  signal: AbortSignal | undefined;
  from: string | RunCheckpoint | undefined;
  include: RunStreamInclude;
  idleTimeout: number;
  maxReconnects: number;
  maxEventBytes: number;
  onReconnect: ((info: { attempt: number; reason: unknown; lastEventId?: string }) => void) | undefined;
}

const defaults = { idleTimeout: 60_000, maxReconnects: 10, maxEventBytes: 32 * 1024 * 1024 };

const streamOptionNames: (keyof RunStreamOptions)[] = [
  "signal",
  "from",
  "include",
  "idleTimeout",
  "maxReconnects",
  "maxEventBytes",
  "onReconnect",
];

export function checkStreamOptions(ref: RunRef, options: RunStreamOptions): ReaderOptions {
  checkObject("options", options);
  checkNames(options, streamOptionNames);
  const { include = "simplified", from, onReconnect } = options;
  checkCallback("onReconnect", onReconnect);
  oneOf(["simplified", "interaction", "all"])("include", include);
  return {
    signal: checkSignal("signal", options.signal),
    from: checkFrom(ref, from),
    include,
    idleTimeout: checkTimeout("idleTimeout", options.idleTimeout) ?? defaults.idleTimeout,
    maxReconnects: checkCount("maxReconnects", options.maxReconnects) ?? defaults.maxReconnects,
    maxEventBytes: checkTimeout("maxEventBytes", options.maxEventBytes) ?? defaults.maxEventBytes,
    onReconnect,
  };
}

function checkFrom(ref: RunRef, from: unknown): RunStreamOptions["from"] {
  if (typeof from === "string" && from.trimStart().startsWith("{")) {
    throw new ArgumentError("from", "looks like a checkpoint that is still JSON: parse it first");
  }
  if (typeof from === "string" && /[\n\r]/.test(from)) {
    throw new ArgumentError("from", "is no event's id: it has a line break");
  }
  if (from === undefined || (typeof from === "string" && from !== "")) return from as string | undefined;
  if (typeof from !== "object" || from === null) {
    throw unexpected("from", "an event id or a checkpoint", from);
  }
  const checkpoint = from as Partial<RunCheckpoint>;
  if (checkpoint.lastEventId !== undefined && typeof checkpoint.lastEventId !== "string") {
    throw unexpected("from.lastEventId", "a string", checkpoint.lastEventId);
  }
  if ([checkpoint.lastEventId, checkpoint.completedEventId].some((id) => /[\n\r]/.test(String(id)))) {
    throw new ArgumentError("from", "is no checkpoint: an id in it has a line break");
  }
  if (checkpoint.agentId === undefined || checkpoint.runId === undefined) {
    throw new ArgumentError("from", "is no checkpoint: it names no agent and run");
  }
  if (checkpoint.agentId !== ref.agentId || checkpoint.runId !== ref.id) {
    throw new ArgumentError("from", "is a checkpoint of another run");
  }
  return checkpoint as RunCheckpoint;
}
