import type { Command } from "commander";
import type { Usage } from "../../index.ts";
import type { Context } from "../context.ts";
import { examples } from "../examples.ts";
import { count } from "../format.ts";
import { toAgentId, toRunId } from "../values.ts";

export function addUsageCommand(program: Command, context: Context): void {
  const command = program
    .command("usage")
    .description("Show the tokens an agent has used, run by run.")
    .argument("<agent>", "the agent's id, or the address of its page", toAgentId)
    .argument("[run]", "only this run", toRunId)
    .action((agentId: string, runId: string | undefined) => showUsage(context, agentId, runId));
  examples(command, ["cursor-agents usage bc-00000000-0000-0000-0000-000000000001"]);
}

async function showUsage(context: Context, agentId: string, runId: string | undefined): Promise<void> {
  const cursor = await context.cursor();
  const usage = await cursor.usage.get(agentId, { runId }, { signal: context.signal });
  context.answer({ type: "usage", usage }, (terminal) => {
    const rows = usage.runs.map((run) => [run.id, ...counts(run.usage)]);
    if (rows.length !== 1) rows.push(["all", ...counts(usage.totalUsage)]);
    terminal.table(["run", "input", "output", "cache write", "cache read", "total"], rows);
  });
}

const counts = ({
  inputTokens,
  outputTokens,
  cacheWriteTokens,
  cacheReadTokens,
  totalTokens,
}: Usage): string[] => [inputTokens, outputTokens, cacheWriteTokens, cacheReadTokens, totalTokens].map(count);
