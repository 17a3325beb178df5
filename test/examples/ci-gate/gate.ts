import { type Cursor, isCursorError, isTimeoutError, type TerminalRun } from "cursor-cloud-agents";

export interface GateOptions {
  cursor: Cursor;
  prompt: string;
  repository: string;
  /** The branch or commit to start from. */
  startingRef?: string;
  /** Milliseconds until the job gives up, and cancels the run. */
  timeout: number;
  /** Receives lines of Markdown: a log, or the file behind GITHUB_STEP_SUMMARY. */
  write(line: string): void;
}

/** What the process ends with. */
export const exitCodes = { finished: 0, unsuccessful: 1, noOutcome: 2 } as const;

/** Starts an agent, waits for its outcome, and says what a CI job should end with. */
export async function gate(options: GateOptions): Promise<number> {
  const { cursor, prompt, repository, startingRef, timeout, write } = options;
  try {
    const { agent, run } = await cursor.agents.create({
      prompt,
      repos: [{ url: repository, ...(startingRef === undefined ? {} : { startingRef }) }],
      autoCreatePR: true,
    });
    // At once: whatever happens to this job, the log says where the work is.
    write(`Agent: [${agent.name}](${agent.url})`);
    try {
      const outcome = await cursor.runs.wait(run, { timeout, onStatus: (status) => write(`- ${status}`) });
      summarise(outcome, write);
      return outcome.status === "FINISHED" ? exitCodes.finished : exitCodes.unsuccessful;
    } catch (error) {
      // Nobody waits any more: what it would still do would only cost. If it can't be cancelled, the job has no outcome all the same.
      if (isTimeoutError(error) && error.phase === "deadline") await cursor.runs.cancel(run).catch(() => {});
      throw error;
    }
  } catch (error) {
    if (!isCursorError(error)) throw error;
    write(`**No outcome**: ${error.message}`);
    if (error.outcome === "unknown" && error.agentId !== undefined)
      write(`It may be at work all the same: ${error.agentId}`);
    return exitCodes.noOutcome;
  }
}

function summarise(run: TerminalRun, write: (line: string) => void): void {
  const seconds = run.durationMs === undefined ? "" : ` after ${Math.round(run.durationMs / 1000)} s`;
  write(`**${run.status}**${seconds}`);
  for (const { repoUrl, branch, prUrl } of run.git?.branches ?? []) {
    if (branch !== undefined) write(`Branch: \`${branch}\` of ${repoUrl}`);
    if (prUrl !== undefined) write(`Pull request: ${prUrl}`);
  }
  if (run.status === "FINISHED" && run.result !== undefined) write(run.result);
}
