import type { Command } from "commander";
import { type Agent, type AgentSummary, type Cursor, isApiError, type Run } from "../../index.ts";
import { addAgentArgument, addCommand, exampleAgent, toWholeNumber } from "../add-command.ts";
import { exitCodes, UsageError } from "../command-failure.ts";
import type { Context } from "../context.ts";
import { isAccountLimit } from "../explain-error.ts";
import { formatAge } from "../format.ts";
import { readLine } from "../read-text.ts";
import { describeBranches, describeDuration, paintStatus } from "../run-printer.ts";
import { bold, faint, type Part, yellow } from "../terminal.ts";

interface ListFlags {
  limit: number;
  all?: boolean;
  prUrl?: string;
  status: boolean;
}

/** Adds the commands about agents: `ls`, `show`, `archive`, `unarchive`, `delete`. */
export function addAgentCommands(program: Command, context: Context): void {
  addCommand(
    program,
    "ls",
    "List agents, each with the status of its latest run.",
    "ls --limit 20",
    "ls --json | jq -r .agent.id",
  )
    .alias("list")
    .option("--limit <n>", "how many agents", toWholeNumber(1, 1_000), 10)
    .option("-a, --all", "archived agents, too")
    .option("--pr-url <url>", "only agents that work on this pull request")
    .option("--no-status", "don't fetch the runs: one request, not one for each agent")
    .action((flags: ListFlags) => listAgents(context, flags));

  const show = addCommand(
    program,
    "show",
    "Show an agent, its latest run and its branches.",
    `show ${exampleAgent}`,
  ).alias("get");
  addAgentArgument(show).action((agentId: string) => showAgent(context, agentId));

  const archive = addCommand(
    program,
    "archive",
    "Archive an agent: it stays readable and accepts no more runs.",
    `archive ${exampleAgent}`,
  );
  addAgentArgument(archive).action(async (agentId: string) => {
    const cursor = await context.cursor();
    await cursor.agents.archive(agentId, { signal: context.signal });
    context.answer({ type: "archived", agentId }, (terminal) => terminal.line(`archived ${agentId}`));
  });

  const unarchive = addCommand(
    program,
    "unarchive",
    "Unarchive an agent: it accepts runs again.",
    `unarchive ${exampleAgent}`,
  );
  addAgentArgument(unarchive).action(async (agentId: string) => {
    const cursor = await context.cursor();
    await cursor.agents.unarchive(agentId, { signal: context.signal });
    context.answer({ type: "unarchived", agentId }, (terminal) => terminal.line(`unarchived ${agentId}`));
  });

  const remove = addCommand(
    program,
    "delete",
    "Delete an agent for good; unlike `archive`, this can't be undone.",
    `delete ${exampleAgent} --yes`,
  );
  addAgentArgument(remove)
    .option("-y, --yes", "don't ask")
    .action((agentId: string, { yes = false }: { yes?: boolean }) => deleteAgent(context, agentId, yes));
}

async function listAgents(context: Context, { limit, all = false, prUrl, status }: ListFlags): Promise<void> {
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
      context.terminal.json({ type: "agent", agent, ...(run === undefined ? {} : { run }) });
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
      formatAge(agent.updatedAt, now),
      `${agent.name ?? ""}${agent.status === "ARCHIVED" ? " (archived)" : ""}`,
    ]),
  );
}

/** The status of the latest run, because an agent's own status is about its machine. */
function runStatus(agent: AgentSummary, run: Run | undefined, isWanted: boolean): Part {
  if (run) return paintStatus(run.status);
  return agent.latestRunId === undefined ? "-" : isWanted ? "?" : "";
}

/** The API allows about 20 requests for runs a minute, so only a few are sent at once, and none after a 429. */
const concurrency = 4;

/** The latest run of each agent, by the agent's id. A run that can't be fetched is missing: the list does without it. */
async function latestRuns(
  context: Context,
  cursor: Cursor,
  agents: readonly AgentSummary[],
): Promise<Map<string, Run>> {
  const runs = new Map<string, Run>();
  const queue = agents.filter(({ latestRunId }) => latestRunId !== undefined);
  const wanted = queue.length;
  let limit: unknown;
  const work = async () => {
    for (let agent = queue.shift(); agent !== undefined && !limit; agent = queue.shift()) {
      const ref = { agentId: agent.id, id: agent.latestRunId as string };
      try {
        runs.set(agent.id, await cursor.runs.get(ref, { signal: context.signal, maxRetries: 0 }));
      } catch (error) {
        context.signal.throwIfAborted();
        if (isAccountLimit(error) || (isApiError(error) && error.status === 429)) limit ??= error;
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  if (runs.size < wanted) {
    const why = isAccountLimit(limit)
      ? "the spend limit is reached"
      : limit
        ? "too many requests: wait a minute, or list fewer with --limit"
        : "the requests failed";
    context.terminal.note(yellow(`the status of ${wanted - runs.size} is not known (${why})`));
  }
  return runs;
}

async function showAgent(context: Context, agentId: string): Promise<void> {
  const cursor = await context.cursor();
  const options = { signal: context.signal };
  const agent = await cursor.agents.get(agentId, options);
  let run: Run | undefined;
  if (agent.latestRunId !== undefined) {
    run = await cursor.runs.get({ agentId, id: agent.latestRunId }, options).catch((error: unknown) => {
      // The run may be deleted by now, while the agent still exists.
      if (!isApiError(error, "run_not_found")) throw error;
      return undefined;
    });
  }
  context.answer({ type: "agent", agent, ...(run === undefined ? {} : { run }) }, () =>
    printAgent(context, agent, run),
  );
}

function printAgent({ terminal, io }: Context, agent: Agent, run: Run | undefined): void {
  const now = io.clock.now();
  const row = (name: string, ...parts: Part[]) => terminal.line(faint(name.padEnd(9)), ...parts);
  terminal.line(bold(agent.name ?? agent.id));
  row("id", agent.id);
  row("page", agent.url);
  row("agent", agent.status);
  row("where", [agent.env?.type, agent.env?.name].filter(Boolean).join(" "));
  for (const { url, startingRef, prUrl } of agent.repos ?? []) {
    row("repo", [url, prUrl ?? startingRef].filter(Boolean).join("  "));
  }
  row("updated", `${formatAge(agent.updatedAt, now)} (created ${formatAge(agent.createdAt, now)})`);
  if (!run) return;
  const { durationMs, result, git } = run;
  row("run", run.id);
  row("status", paintStatus(run.status), faint(describeDuration(durationMs)));
  for (const branch of describeBranches(git)) row("branch", ...branch);
  if (typeof result !== "string") return;
  terminal.line();
  terminal.text(result);
  terminal.endText();
}

async function deleteAgent(context: Context, agentId: string, isSure: boolean): Promise<void> {
  const { terminal } = context;
  if (!isSure) {
    if (!terminal.canAsk)
      throw new UsageError("delete can't be undone: without a terminal to ask on, it needs --yes");
    terminal.question(`Delete ${agentId} for good? [y/N]`);
    const answer = await readLine(context.io.stdin, context.signal);
    if (!/^y(es)?$/i.test(answer.trim())) {
      terminal.alert("nothing was deleted");
      context.exitCode = exitCodes.failed;
      return;
    }
  }
  const cursor = await context.cursor();
  await cursor.agents.delete(agentId, { signal: context.signal });
  context.answer({ type: "deleted", agentId }, () => terminal.line(`deleted ${agentId}`));
}
