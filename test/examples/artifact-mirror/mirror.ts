import { join } from "node:path";
import { type Cursor, isApiError } from "cursor-cloud-agents";
import { type SaveReport, saveArtifacts } from "cursor-cloud-agents/node";

export interface MirrorOptions {
  cursor: Cursor;
  /** Each agent gets a folder of its own in it. */
  folder: string;
  /** Called as each agent is done with. */
  onAgent?(agentId: string, report: SaveReport): void;
  signal?: AbortSignal;
}

/** How many files are where they should be, and what isn't. */
export interface MirrorReport {
  saved: number;
  unchanged: number;
  /** Empty: the mirror is complete. */
  problems: string[];
}

/**
 * Copies all agents' artifacts into a folder. Start it as often as you like: what is there is skipped, what broke off goes
 * on where it was, and no file is ever seen half-written.
 */
export async function mirror({ cursor, folder, onAgent, signal }: MirrorOptions): Promise<MirrorReport> {
  const total: MirrorReport = { saved: 0, unchanged: 0, problems: [] };
  for await (const { id } of cursor.agents.list({ limit: 100 }, { signal })) {
    try {
      if (!/^bc-[\w-]+$/.test(id)) throw new Error(`${id} is no name for a folder`);
      const report = await saveArtifacts(cursor, id, join(folder, id), { signal });
      total.saved += report.saved.length;
      total.unchanged += report.skipped.length;
      for (const { path, reason } of [...report.rejected, ...report.failed])
        total.problems.push(`${id} ${path}: ${reason}`);
      onAgent?.(id, report);
    } catch (error) {
      // What would go wrong with every other agent, too.
      if (signal?.aborted || (isApiError(error) && error.status === 401)) throw error;
      // Deleted since it was listed: there is nothing to copy any more.
      if (!isApiError(error, "agent_not_found")) total.problems.push(`${id}: ${(error as Error).message}`);
    }
  }
  return total;
}
