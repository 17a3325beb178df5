import { isTerminalStatus, type Run } from "../types.ts";
import type { RunEvent, RunEventData } from "./events.ts";

/** How a run came out, from its `result` event or from Get A Run. */
export type Outcome = Pick<RunEventData["result"], "status" | "text" | "durationMs" | "git"> & {
  source: "stream" | "run";
};

/** The outcome as Get A Run tells it. */
export const outcomeOf = (run: Run): Outcome => toOutcome({ ...run, text: run.result }, "run");

/** The outcome as the stream tells it. */
export const outcomeOfResult = (data: RunEventData["result"]): Outcome => toOutcome(data, "stream");

/** The two events with which a stream that is gone would have ended. */
export function endOfStream(run: Run): RunEvent[] {
  const { source: _, ...outcome } = outcomeOf(run);
  return [
    { type: "result", data: { runId: run.id, ...outcome }, synthesized: true },
    { type: "done", data: {}, synthesized: true },
  ];
}

function toOutcome(
  {
    status,
    text,
    durationMs,
    git,
  }: Pick<RunEventData["result"], "status" | "durationMs" | "git"> & { text?: string | undefined },
  source: Outcome["source"],
): Outcome {
  return {
    status,
    ...(text === undefined ? {} : { text }),
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(git === undefined ? {} : { git }),
    source,
  };
}

const stages: Record<string, number> = { CREATING: 0, RUNNING: 1 };

/** How far a run is by its status; a status this version doesn't know has no place. */
const stageOf = (status: string): number | undefined =>
  isTerminalStatus(status) ? 2 : Object.hasOwn(stages, status) ? stages[status] : undefined;

/**
 * Whether an id-less status tells a reader something: each connection opens with the current one, and a replay tells
 * old ones again. A run never goes back, so neither does what is told of it.
 */
export function isStatusNews(status: string, last: string | undefined): boolean {
  if (last === undefined) return true;
  const lastStage = stageOf(last);
  // One that is unknown may come anywhere before the end: behind it, it is an old one told again.
  const stage = stageOf(status) ?? 1;
  return status !== last && (lastStage === undefined || stage >= lastStage);
}
