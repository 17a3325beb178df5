import type { Command } from "commander";
import { type Agent, isApiError, type Run } from "../../index.ts";
import type { Context } from "../context.ts";
import { examples } from "../examples.ts";
import { UsageError } from "../failures.ts";
import { age } from "../format.ts";
import { readLine } from "../read-input.ts";
import { describeBranches, describeDuration } from "../run-printer.ts";
import { bold, faint, type Part } from "../terminal.ts";
import { toAgentId } from "../values.ts";
import { paintStatus } from "./list.ts";

const example = "bc-00000000-0000-0000-0000-000000000001";

export function addAgentCommands(program: Command, context: Context): void {
  const withAgent = (name: string, description: string) =>
    program
      .command(name)
      .description(description)
      .argument("<agent>", "the agent's id, or the address of its page", toAgentId);

  const show = withAgent("show", "Show an agent, its latest run and its branches.")
    .alias("get")
    .action((agentId: string) => showAgent(context, agentId));
  examples(show, [`cursor-agents show ${example}`]);

  const archive = withAgent("archive", "Archive an agent: it stays readable and takes no more runs.").action(
    async (agentId: string) => {
      await (await context.cursor()).agents.archive(agentId, { signal: context.signal });
      context.answer({ type: "archived", agentId }, (terminal) => terminal.line(`archived ${agentId}`));
    },
  );
  examples(archive, [`cursor-agents archive ${example}`]);

  const unarchive = withAgent("unarchive", "Make an archived agent take runs again.").action(
    async (agentId: string) => {
      await (await context.cursor()).agents.unarchive(agentId, { signal: context.signal });
      context.answer({ type: "unarchived", agentId }, (terminal) => terminal.line(`unarchived ${agentId}`));
    },
  );
  examples(unarchive, [`cursor-agents unarchive ${example}`]);

  const remove = withAgent("delete", "Delete an agent for good; `archive` can be undone, this can't.")
    .option("-y, --yes", "don't ask")
    .action((agentId: string, { yes = false }: { yes?: boolean }) => deleteAgent(context, agentId, yes));
  examples(remove, [`cursor-agents delete ${example} --yes`]);
}

async function showAgent(context: Context, agentId: string): Promise<void> {
  const cursor = await context.cursor();
  const options = { signal: context.signal };
  const agent = await cursor.agents.get(agentId, options);
  let run: Run | undefined;
  if (agent.latestRunId !== undefined) {
    run = await cursor.runs.get({ agentId, id: agent.latestRunId }, options).catch((error: unknown) => {
      // It may be gone by now; the agent is not.
      if (!isApiError(error, "run_not_found")) throw error;
      return undefined;
    });
  }
  context.answer({ type: "agent", agent, ...(run === undefined ? {} : { run }) }, () =>
    print(context, agent, run),
  );
}

function print({ terminal, io }: Context, agent: Agent, run: Run | undefined): void {
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
  row("updated", `${age(agent.updatedAt, now)} (created ${age(agent.createdAt, now)})`);
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
    if (!terminal.canAsk) throw new UsageError("delete can't be undone: say --yes where nobody can be asked");
    terminal.question(`Delete ${agentId} for good? [y/N]`);
    const answer = await readLine(context.io.stdin, context.signal);
    if (!/^y(es)?$/i.test(answer.trim())) {
      terminal.alert("nothing was deleted");
      context.exitCode = 1;
      return;
    }
  }
  await (await context.cursor()).agents.delete(agentId, { signal: context.signal });
  context.answer({ type: "deleted", agentId }, () => terminal.line(`deleted ${agentId}`));
}
