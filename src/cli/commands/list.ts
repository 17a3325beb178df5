import type { Command } from "commander";
import { type AgentSummary, type Cursor, isApiError, type Run } from "../../index.ts";
import type { Context } from "../context.ts";
import { examples } from "../examples.ts";
import { age } from "../format.ts";
import { green, type Part, red, yellow } from "../terminal.ts";
import { toWholeNumber } from "../values.ts";

interface ListFlags {
  limit: number;
  all?: boolean;
  prUrl?: string;
  status: boolean;
}

/** The API allows about 20 of these a minute: few at once, and none after a refusal. */
const atOnce = 4;

export function addListCommand(program: Command, context: Context): void {
  const command = program
    .command("ls")
    .alias("list")
    .description("List agents, each with the status of its latest run.")
    .option("--limit <n>", "how many agents", toWholeNumber(1, 1_000), 10)
    .option("-a, --all", "archived ones, too")
    .option("--pr-url <url>", "only agents that work on this pull request")
    .option("--no-status", "don't ask for the runs: one request, not one for each agent")
    .action((flags: ListFlags) => list(context, flags));
  examples(command, ["cursor-agents ls --limit 20", "cursor-agents ls --json | jq -r .agent.id"]);
}

async function list(context: Context, { limit, all = false, prUrl, status }: ListFlags): Promise<void> {
  const cursor = await context.cursor();
  const agents: AgentSummary[] = [];
  const query = { limit: Math.min(limit, 100), includeArchived: all, prUrl };
  for await (const agent of cursor.agents.list(query, { signal: context.signal })) {
    agents.push(agent);
    if (agents.length >= limit) break;
  }
  const runs = status ? await latestRuns(context, cursor, agents) : new Map<string, Run>();
  if (context.globals.json) {
    for (const agent of agents) {
      const run = runs.get(agent.id);
      context.json({ type: "agent", agent, ...(run === undefined ? {} : { run }) });
    }
    return;
  }
  if (agents.length === 0) {
    context.terminal.note("no agents");
    return;
  }
  const now = context.io.clock.now();
  context.terminal.table(
    ["agent", "run", "updated", "name"],
    agents.map((agent) => [
      agent.id,
      runStatus(agent, runs.get(agent.id), status),
      age(agent.updatedAt, now),
      `${agent.name ?? ""}${agent.status === "ARCHIVED" ? " (archived)" : ""}`,
    ]),
  );
}

/** An agent's own status is about its machine: what it works on is in its run. */
function runStatus(agent: AgentSummary, run: Run | undefined, wasAsked: boolean): Part {
  if (run) return paintStatus(run.status);
  return agent.latestRunId === undefined ? "-" : wasAsked ? "?" : "";
}

export function paintStatus(status: string): Part {
  if (status === "FINISHED") return green(status);
  if (status === "ERROR") return red(status);
  return status === "CANCELLED" || status === "EXPIRED" ? yellow(status) : status;
}

async function latestRuns(
  context: Context,
  cursor: Cursor,
  agents: readonly AgentSummary[],
): Promise<Map<string, Run>> {
  const runs = new Map<string, Run>();
  const open = agents.filter(({ latestRunId }) => latestRunId !== undefined);
  let isRefused = false;
  let unknown = 0;
  let next = 0;
  const work = async () => {
    while (next < open.length) {
      const { id: agentId, latestRunId } = open[next++] as AgentSummary & { latestRunId: string };
      if (isRefused) {
        unknown++;
        continue;
      }
      try {
        const ref = { agentId, id: latestRunId };
        runs.set(agentId, await cursor.runs.get(ref, { signal: context.signal, maxRetries: 0 }));
      } catch (error) {
        context.signal.throwIfAborted();
        unknown++;
        if (isApiError(error) && error.status === 429) isRefused = true;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, open.length) }, work));
  if (unknown > 0) {
    const why = isRefused
      ? "too many requests: wait a minute, or ask for fewer with --limit"
      : "they could not be asked";
    context.terminal.note(yellow(`the status of ${unknown} is not known (${why})`));
  }
  return runs;
}
