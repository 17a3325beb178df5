import type { Command } from "commander";
import { isApiError } from "../../index.ts";
import type { Context } from "../context.ts";
import { examples } from "../examples.ts";
import { latestRun } from "../latest-run.ts";
import { toAgentId, toRunId } from "../values.ts";

export function addCancelCommand(program: Command, context: Context): void {
  const command = program
    .command("cancel")
    .description(
      "Cancel a run, for good; the agent takes further runs. No failure if the run is over already.",
    )
    .argument("<agent>", "the agent's id, or the address of its page", toAgentId)
    .argument("[run]", "the run's id (default: the latest one)", toRunId)
    .action((agentId: string, runId: string | undefined) => cancel(context, agentId, runId));
  examples(command, ["cursor-agents cancel bc-00000000-0000-0000-0000-000000000001"]);
}

async function cancel(context: Context, agentId: string, runId: string | undefined): Promise<void> {
  const ref = runId === undefined ? await latestRun(context, agentId) : { agentId, id: runId };
  const cursor = await context.cursor();
  const options = { signal: context.signal };
  try {
    await cursor.runs.cancel(ref, options);
    context.answer({ type: "cancelled", agentId, runId: ref.id }, (terminal) =>
      terminal.line(`cancelled ${ref.id}`),
    );
  } catch (error) {
    if (!isApiError(error, "run_not_cancellable")) throw error;
    const { status } = await cursor.runs.get(ref, options);
    context.answer({ type: "cancelled", agentId, runId: ref.id, status }, (terminal) =>
      terminal.line(`${ref.id} is over already: ${status}`),
    );
  }
}
