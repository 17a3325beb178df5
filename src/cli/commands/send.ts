import type { Command } from "commander";
import { addPromptOptions, type PromptFlags, toMcpServers, toPrompt } from "../agent-params.ts";
import type { Context } from "../context.ts";
import { examples } from "../examples.ts";
import { UsageError } from "../failures.ts";
import { followRun } from "../follow-run.ts";
import { faint } from "../terminal.ts";
import { toAgentId } from "../values.ts";
import { withDeadline } from "../with-deadline.ts";
import { addFollowOptions, type FollowFlags } from "./follow-options.ts";

interface SendFlags extends PromptFlags, FollowFlags {
  waitIfBusy?: boolean;
  cancelIfBusy?: boolean;
}

export function addSendCommand(program: Command, context: Context): void {
  const command = program
    .command("send")
    .description("Send a follow-up prompt to an agent and follow its run.")
    .argument("<agent>", "the agent's id, or the address of its page", toAgentId)
    .argument("[prompt]", "what to do; - reads it from stdin");
  addPromptOptions(command)
    .option("--wait-if-busy", "wait for the run that is active")
    .option("--cancel-if-busy", "cancel the run that is active");
  addFollowOptions(command).action(async (agentId: string, prompt: string | undefined, flags: SendFlags) => {
    context.exitCode = await withDeadline(context, flags.timeout, () =>
      send(context, agentId, prompt, flags),
    );
  });
  examples(command, [
    'cursor-agents send bc-00000000-0000-0000-0000-000000000001 "Also add tests" --wait-if-busy',
    "cursor-agents send bc-00000000-0000-0000-0000-000000000001 --file next.md --no-follow",
  ]);
}

async function send(
  context: Context,
  agentId: string,
  text: string | undefined,
  flags: SendFlags,
): Promise<number> {
  if (flags.waitIfBusy && flags.cancelIfBusy) {
    throw new UsageError("--wait-if-busy and --cancel-if-busy exclude each other");
  }
  const prompt = await toPrompt(context, text, flags);
  const mcpServers = await toMcpServers(context, flags.mcpFile);
  const cursor = await context.cursor();
  const whenBusy = flags.waitIfBusy ? "wait" : flags.cancelIfBusy ? "cancel" : "throw";
  const run = await cursor.runs
    .create(agentId, { prompt, mode: flags.mode, mcpServers }, { whenBusy, signal: context.signal })
    .catch((error: unknown) => {
      if (context.signal.aborted) {
        context.terminal.alert("ended before the server had answered: the prompt may have been sent");
        context.terminal.alert(`  look: ${context.command("show", agentId)}`);
        context.hints.push(`the prompt may have been sent; look: ${context.command("show", agentId)}`);
      }
      throw error;
    });
  if (context.globals.json) context.json({ type: "created", run });
  context.terminal.note(faint(run.id));
  if (!flags.follow) {
    if (!context.globals.json) context.terminal.line(`${run.agentId} ${run.id}`);
    return 0;
  }
  return followRun(context, run, flags);
}
