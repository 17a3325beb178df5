import { CursorError, type RunRef } from "../index.ts";
import type { Context } from "./context.ts";

/** The run that an agent names as its latest. */
export async function latestRun(context: Context, agentId: string): Promise<RunRef> {
  const cursor = await context.cursor();
  const { latestRunId } = await cursor.agents.get(agentId, { signal: context.signal });
  if (latestRunId === undefined) throw new CursorError(`agent ${agentId} has no run yet`, { agentId });
  return { agentId, id: latestRunId };
}
