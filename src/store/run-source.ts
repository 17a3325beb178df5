import { isStreamError } from "../errors.ts";
import type { Cursor, RunRef, RunStreamOptions } from "../index.ts";
import type { ServedFrame } from "../serve/served-frame.ts";
import type { RunConnection } from "./run-snapshot.ts";

/**
 * Where a store gets a run from: the events behind `position` (undefined: from the run's beginning), until the run is
 * over or `signal` aborts. Reconnecting is the source's business; it may `report` how the connection stands. It ends
 * after the run's `result` or an `end` frame, and throws when it gives up.
 */
export interface RunSource {
  (
    position: string | undefined,
    signal: AbortSignal,
    report: (connection: Exclude<RunConnection, "closed">) => void,
  ): AsyncIterable<ServedFrame>;
  /** What tells this run from others: the name under which it is stored. */
  readonly key?: string | undefined;
}

/**
 * A run read straight from the API, where the key may be: Electron's main process, a command line, a server.
 * In a browser use {@link routeSource}: the key must not get there.
 *
 * @example
 * const store = createRunStore(runSource(cursor, run));
 */
export function runSource(
  cursor: Pick<Cursor, "runs">,
  ref: RunRef,
  options: Pick<RunStreamOptions, "idleTimeout" | "maxReconnects" | "maxEventBytes"> = {},
): RunSource {
  cursor.runs.stream(ref, options); // opens nothing, but refuses what can't work
  async function* read(...[position, signal, report]: Parameters<RunSource>): AsyncGenerator<ServedFrame> {
    const onReconnect = () => report("reconnecting");
    try {
      yield* cursor.runs.stream(ref, { ...options, signal, from: position, onReconnect });
    } catch (error) {
      if (position === undefined || !isStreamError(error) || error.reason !== "invalid_position") throw error;
      yield { type: "reset" };
      yield* cursor.runs.stream(ref, { ...options, signal, onReconnect });
    }
  }
  return Object.assign(read, { key: ref.id });
}
