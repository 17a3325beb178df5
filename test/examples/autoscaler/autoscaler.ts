/**
 * What an autoscaler for self-hosted workers would do now, from the workers' summary and the queue's depth.
 *
 * The rule: as many workers as are in use, plus one for each request that waits, plus some spare ones; within a minimum
 * and a maximum. Workers in use are never counted away, whatever the maximum says: only idle ones may be stopped.
 *
 * Both numbers are those of the whole team, all pools together: the summary knows no pools.
 */
import type { Cursor } from "cursor-cloud-agents";

export interface Limits {
  min: number;
  max: number;
  /** Idle workers to keep at hand. */
  spare: number;
}

export interface Load {
  connected: number;
  inUse: number;
  /** Requests that no worker has taken. */
  waiting: number;
}

export type Decision = { action: "keep" } | { action: "scale up" | "scale down"; by: number };

/** Reads the workers and the queue. The queue is read to its end, since one page does not show its depth. */
export async function readLoad(cursor: Cursor, signal?: AbortSignal): Promise<Load> {
  // The queue first: a request that gets its worker in between is counted twice rather than not at all.
  let waiting = 0;
  for await (const request of cursor.workers.requests.list({ limit: 100 }, { signal })) {
    // A claimed request in the queue waits for its own worker; a new one would not help it.
    if (request.claimedWorkerId === undefined) waiting++;
  }
  // Without a part for the team, none of its workers is connected.
  const { teamSummary } = await cursor.workers.summary({ signal });
  return { connected: teamSummary?.totalConnected ?? 0, inUse: teamSummary?.inUse ?? 0, waiting };
}

/** The rule. */
export function decide({ connected, inUse, waiting }: Load, { min, max, spare }: Limits): Decision {
  const wanted = Math.max(inUse, Math.min(max, Math.max(min, inUse + waiting + spare)));
  if (wanted === connected) return { action: "keep" };
  return wanted > connected
    ? { action: "scale up", by: wanted - connected }
    : { action: "scale down", by: connected - wanted };
}

/** A decision and its reasons, in one line. */
export function explain({ connected, inUse, waiting }: Load, decision: Decision): string {
  const what = decision.action === "keep" ? "keep" : `${decision.action} by ${decision.by}`;
  return `${what}: ${inUse} of ${connected} workers in use, ${waiting} requests waiting`;
}
