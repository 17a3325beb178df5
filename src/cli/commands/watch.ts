import type { Command } from "commander";
import type { RunCheckpoint } from "../../index.ts";
import type { Context } from "../context.ts";
import { examples } from "../examples.ts";
import { UsageError } from "../failures.ts";
import { type FollowOptions, followRun } from "../follow-run.ts";
import { latestRun } from "../latest-run.ts";
import { toAgentId, toRunId } from "../values.ts";
import { withDeadline } from "../with-deadline.ts";
import { addEndOptions } from "./follow-options.ts";

interface WatchFlags {
  from?: string;
  timeout?: number;
  cancelOnInterrupt?: boolean;
}

export function addWatchCommand(program: Command, context: Context): void {
  const command = program
    .command("watch")
    .description("Follow a run: from its start, or from where an earlier reading stopped.")
    .argument("<agent>", "the agent's id, or the address of its page", toAgentId)
    .argument("[run]", "the run's id (default: the latest one)", toRunId)
    .option("--from <position>", "go on behind this event id, or from a checkpoint (JSON)");
  addEndOptions(command).action(async (agentId: string, runId: string | undefined, flags: WatchFlags) => {
    const from = toPosition(flags.from);
    if (from !== undefined && runId === undefined) {
      throw new UsageError("--from needs the run's id: a position is one run's");
    }
    context.exitCode = await withDeadline(context, flags.timeout, async () => {
      const ref = runId === undefined ? await latestRun(context, agentId) : { agentId, id: runId };
      return followRun(context, ref, { ...flags, from });
    });
  });
  examples(command, [
    "cursor-agents watch bc-00000000-0000-0000-0000-000000000001",
    "cursor-agents watch bc-00000000-0000-0000-0000-000000000001 run-00000000-0000-0000-0000-000000000002 --from 1713033006000-0",
  ]);
}

function toPosition(text: string | undefined): FollowOptions["from"] {
  if (text === undefined || !text.trimStart().startsWith("{")) {
    if (text?.trim() === "") throw new UsageError("--from: expected an event id or a checkpoint");
    return text;
  }
  try {
    return JSON.parse(text) as RunCheckpoint;
  } catch {
    throw new UsageError("--from: looks like a checkpoint, but is no JSON");
  }
}
