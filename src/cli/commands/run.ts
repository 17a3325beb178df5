import type { Command } from "commander";
import type { CreateAgentParams } from "../../index.ts";
import { type AgentFlags, addAgentOptions, toAgentParams, toPrompt } from "../agent-params.ts";
import type { Context } from "../context.ts";
import { examples } from "../examples.ts";
import { UsageError } from "../failures.ts";
import { followRun } from "../follow-run.ts";
import { faint } from "../terminal.ts";
import { withDeadline } from "../with-deadline.ts";
import { addFollowOptions, type FollowFlags } from "./follow-options.ts";

interface RunFlags extends AgentFlags, FollowFlags {
  adopt?: boolean;
}

export function addRunCommand(program: Command, context: Context): void {
  const command = program
    .command("run")
    .description("Start a new agent on a prompt and follow its run: the reply on stdout, the rest on stderr.")
    .argument("[prompt]", "what to do; - reads it from stdin");
  addAgentOptions(command).option(
    "--adopt",
    "with --agent-id: if that agent exists, follow its latest run instead",
  );
  addFollowOptions(command).action(async (prompt: string | undefined, flags: RunFlags) => {
    context.exitCode = await withDeadline(context, flags.timeout, () => run(context, prompt, flags));
  });
  examples(command, [
    'cursor-agents run "Fix the failing test" --repo your-org/your-repo --auto-create-pr',
    "cursor-agents run - --repo your-org/your-repo --timeout 30m < task.md > reply.md",
    'cursor-agents watch $(cursor-agents run "Update the docs" --repo your-org/your-repo --no-follow)',
  ]);
}

async function run(context: Context, text: string | undefined, flags: RunFlags): Promise<number> {
  if (flags.adopt && flags.agentId === undefined) throw new UsageError("--adopt needs --agent-id");
  const prompt = await toPrompt(context, text, flags);
  const params = { prompt, ...(await toAgentParams(context, flags)) } as CreateAgentParams;
  // An id of our own, not one that the client makes: if this is ended while the server works, we can say where to look.
  const isOwnId = params.agentId === undefined && params.envVars === undefined;
  if (isOwnId) params.agentId = `bc-${crypto.randomUUID()}`;
  const cursor = await context.cursor();
  context.terminal.note(faint("creating an agent; that may take a minute"));
  const onConflict = isOwnId || flags.adopt ? "adopt" : "throw";
  const { agent, run, adopted } = await cursor.agents
    .create(params, { onConflict, signal: context.signal })
    .catch((error: unknown) => {
      if (context.signal.aborted) tellUnknown(context, params.agentId);
      throw error;
    });
  const isAdopted = adopted === true && !isOwnId;
  if (context.globals.json) {
    context.json({ type: "created", agent, run, ...(isAdopted ? { adopted: true } : {}) });
  }
  context.terminal.note(isAdopted ? "adopted " : "", `${agent.id}  ${agent.name ?? ""}`);
  context.terminal.note(faint(`${run.id}  ${agent.url}`));
  if (!flags.follow) {
    if (!context.globals.json) context.terminal.line(`${agent.id} ${run.id}`);
    return 0;
  }
  return followRun(context, run, flags);
}

function tellUnknown(context: Context, agentId: string | undefined): void {
  const command = agentId === undefined ? context.command("ls") : context.command("show", agentId);
  context.terminal.alert("ended while the agent was created: it may exist");
  context.terminal.alert(`  look: ${command}`);
  context.hints.push(`the agent may exist; look: ${command}`);
}
