import {
  agentIdFrom,
  type Cursor,
  type CursorError,
  isCursorError,
  type RunStatus,
} from "cursor-cloud-agents";

export interface FanOutOptions {
  cursor: Cursor;
  prompt: string;
  /** URLs. */
  repositories: readonly string[];
  /** Names this job: the same name finds the same agents again, so a job that broke off is just started once more. */
  job: string;
  /** Agents at work at the same time. */
  concurrency: number;
  /** Called as each repository is done with. */
  onRow?(row: Row): void;
  signal?: AbortSignal;
}

/** What became of one repository: the run's end, or why there is none. */
export interface Row {
  repository: string;
  agentId: string;
  status?: RunStatus;
  branch?: string;
  prUrl?: string;
  error?: CursorError;
}

/** Gives one prompt to many repositories. One that fails doesn't stop the others: it has a row like each of them. */
export async function fanOut(options: FanOutOptions): Promise<Row[]> {
  const { repositories, concurrency, onRow } = options;
  const rows: Row[] = [];
  // All take from the same iterator, so each entry goes to one of them.
  const queue = repositories.entries();
  const takeTurns = async () => {
    for (const [index, repository] of queue) {
      const row = await workOn(repository, options);
      rows[index] = row;
      onRow?.(row);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, takeTurns));
  return rows;
}

async function workOn(repository: string, { cursor, prompt, job, signal }: FanOutOptions): Promise<Row> {
  const agentId = await agentIdFrom(`${job}/${repository}`);
  try {
    const { run } = await cursor.agents.create(
      { prompt, agentId, repos: [{ url: repository }], autoCreatePR: true },
      // The API takes about 20 creates a minute: each "too many" says how long to wait.
      { onConflict: "adopt", maxRetries: 10, signal },
    );
    const { status, git } = await cursor.runs.wait(run, { signal });
    const pushed = git?.branches[0];
    return {
      repository,
      agentId,
      status,
      ...(pushed?.branch === undefined ? {} : { branch: pushed.branch }),
      ...(pushed?.prUrl === undefined ? {} : { prUrl: pushed.prUrl }),
    };
  } catch (error) {
    // An abort, or a mistake in this program, ends the whole job; all else is this repository's own trouble.
    if (!isCursorError(error) || error.kind === "argument") throw error;
    return { repository, agentId, error };
  }
}

/** The rows as text, failures last. */
export function toTable(rows: readonly Row[]): string {
  const cells = [...rows]
    .sort((one, other) => Number(isFailure(one)) - Number(isFailure(other)))
    .map((row) => [
      row.status ?? "no outcome",
      new URL(row.repository).pathname.slice(1),
      row.prUrl ?? row.branch ?? row.error?.message ?? "",
    ]);
  const widths = [0, 1].map((column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  return cells
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

export const isFailure = ({ status }: Row): boolean => status !== "FINISHED";
