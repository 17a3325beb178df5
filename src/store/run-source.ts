import { isStreamError } from "../errors.ts";
import type { Cursor, RunRef, RunStreamOptions } from "../index.ts";
import type { ServedFrame } from "../serve/served-frame.ts";
import type { RunConnection } from "./run-snapshot.ts";

/**
 * Where a store reads a run from. Yields the events after `position` (undefined: from the run's start) until the run is
 * over or `signal` aborts. A source reconnects by itself, and may `report` the state of its connection. It ends after
 * the run's `result` or an `end` frame, and throws when it gives up.
 *
 * A page may make a source anew while a run is read, with a fresh token for example. `latest` returns the newest one, so
 * that a source that reconnects can take what it sends from there.
 */
export interface RunSource {
  (
    position: string | undefined,
    signal: AbortSignal,
    report: (connection: Exclude<RunConnection, "closed">) => void,
    latest?: () => RunSource,
  ): AsyncIterable<ServedFrame>;
  /** Identifies the run: the name under which it is stored. */
  readonly key?: string | undefined;
}

/**
 * Reads a run straight from the API, where the key may be: Electron's main process, a command line, a server.
 * In a browser use {@link routeSource}: the key must not get there.
 *
 * @throws ArgumentError for a ref or an option that can't work
 * @example
 * const store = createRunStore(runSource(cursor, run));
 */
export function runSource(
  cursor: Pick<Cursor, "runs">,
  ref: RunRef,
  options: Pick<RunStreamOptions, "idleTimeout" | "maxReconnects" | "maxEventBytes"> = {},
): RunSource {
  // Checks its arguments at once, and opens no connection before it is read.
  cursor.runs.stream(ref, options);
  async function* read(...[position, signal, report]: Parameters<RunSource>): AsyncGenerator<ServedFrame> {
    const onReconnect = () => report("reconnecting");
    try {
      yield* cursor.runs.stream(ref, { ...options, signal, from: position, onReconnect });
    } catch (error) {
      if (position === undefined || !isStreamError(error) || error.reason !== "invalid_position") throw error;
      // The server no longer knows the position, so the run is read again from its start.
      yield { type: "reset" };
      yield* cursor.runs.stream(ref, { ...options, signal, onReconnect });
    }
  }
  return Object.assign(read, { key: ref.id });
}
