import type { Command } from "commander";
import {
  type CreateAgentParams,
  CursorError,
  isApiError,
  type RunCheckpoint,
  type RunRef,
} from "../../index.ts";
import { addAgentArgument, addCommand, addRunArgument, exampleAgent } from "../add-command.ts";
import {
  type AgentFlags,
  addAgentOptions,
  addPromptOptions,
  type PromptFlags,
  readAgentParams,
  readMcpServers,
  readPrompt,
} from "../agent-params.ts";
import { UsageError } from "../command-failure.ts";
import type { Context } from "../context.ts";
import { addFollowOptions, type FollowFlags, followRun } from "../follow-run.ts";
import { faint } from "../terminal.ts";

/** The options of commands that start a run. */
interface StartFlags extends FollowFlags {
  follow: boolean;
}

interface RunFlags extends AgentFlags, StartFlags {
  adopt?: boolean;
}

interface SendFlags extends PromptFlags, StartFlags {
  waitIfBusy?: boolean;
  cancelIfBusy?: boolean;
}

interface WatchFlags extends FollowFlags {
  from?: string;
}

const promptHelp = "what to do; - reads it from stdin; behind -- it may be any text that begins with a dash";

/** Adds the commands that follow a run: `run`, `watch`, `send`. */
export function addRunCommands(program: Command, context: Context): void {
  const run = addCommand(
    program,
    "run",
    "Start a new agent with a prompt and follow its run: the reply on stdout, the rest on stderr.",
    'run "Fix the failing test" --repo your-org/your-repo --auto-create-pr',
    "run - --repo your-org/your-repo --timeout 30m < task.md > reply.md",
    'watch $(cursor-agents run "Update the docs" --repo your-org/your-repo --no-follow)',
  ).argument("[prompt]", promptHelp);
  addAgentOptions(run).option(
    "--adopt",
    "with --agent-id: if that agent exists, follow its latest run instead",
  );
  addStartOptions(run).action(async (prompt: string | undefined, flags: RunFlags) => {
    context.exitCode = await context.withDeadline(flags.timeout, () => startAgent(context, prompt, flags));
  });

  const watch = addCommand(
    program,
    "watch",
    "Follow a run, from its start or from an earlier position.",
    `watch ${exampleAgent}`,
    `watch ${exampleAgent} run-00000000-0000-0000-0000-000000000002 --from 1713033006000-0`,
  );
  addRunArgument(addAgentArgument(watch)).option(
    "--from <position>",
    "continue after this event id, or from a checkpoint (JSON)",
  );
  addFollowOptions(watch).action(async (agentId: string, runId: string | undefined, flags: WatchFlags) => {
    context.exitCode = await watchRun(context, agentId, runId, flags);
  });

  const send = addCommand(
    program,
    "send",
    "Send a follow-up prompt to an agent and follow its run.",
    `send ${exampleAgent} "Also add tests" --wait-if-busy`,
    `send ${exampleAgent} --file next.md --no-follow`,
  );
  addPromptOptions(addAgentArgument(send).argument("[prompt]", promptHelp))
    .option("--wait-if-busy", "wait for the run that is active")
    .option("--cancel-if-busy", "cancel the run that is active");
  addStartOptions(send).action(async (agentId: string, prompt: string | undefined, flags: SendFlags) => {
    context.exitCode = await context.withDeadline(flags.timeout, () =>
      sendPrompt(context, agentId, prompt, flags),
    );
  });
}

export function addCancelCommand(program: Command, context: Context): void {
  const command = addCommand(
    program,
    "cancel",
    "Cancel a run for good; the agent accepts further runs. A run that is already over is not a failure.",
    `cancel ${exampleAgent}`,
  );
  addRunArgument(addAgentArgument(command)).action((agentId: string, runId: string | undefined) =>
    cancel(context, agentId, runId),
  );
}

const addStartOptions = (command: Command): Command =>
  addFollowOptions(
    command
      .option("--follow", "follow the run to its end", true)
      .option("--no-follow", "start the run, print `<agent> <run>`, and leave"),
  );

async function startAgent(context: Context, text: string | undefined, flags: RunFlags): Promise<number> {
  const { terminal, globals, signal } = context;
  if (flags.adopt && flags.agentId === undefined) throw new UsageError("--adopt needs --agent-id");
  const prompt = await readPrompt(context, text, flags);
  const params = { prompt, ...(await readAgentParams(context, flags)) } as CreateAgentParams;
  // The id is made here and not by the client, so that an interrupted command can say which agent to look at.
  const isOwnId = params.agentId === undefined && params.envVars === undefined;
  if (isOwnId) params.agentId = `bc-${crypto.randomUUID()}`;
  const cursor = await context.cursor();
  const known = params.agentId === undefined ? "" : ` (${params.agentId})`;
  terminal.note(faint(`creating an agent${known}; that may take a minute`));
  const { agent, run, adopted } = await cursor.agents
    .create(params, { onConflict: isOwnId || flags.adopt ? "adopt" : "throw", signal })
    .catch((error: unknown) => {
      const { agentId } = params;
      const look = agentId === undefined ? context.command("ls") : context.command("show", agentId);
      if (signal.aborted) warnOfEffect(context, "the agent may exist", look);
      throw error;
    });
  // With an id of our own, an agent that exists already is the one that a repeated request of this command created.
  const isAdopted = adopted === true && !isOwnId;
  if (globals.json) {
    terminal.json({ type: "created", agent, run, ...(isAdopted ? { adopted: true } : {}) });
  }
  terminal.note(isAdopted ? "adopted " : "", `${agent.id}  ${agent.name ?? ""}`);
  terminal.note(faint(`${run.id}  ${agent.url}`));
  return followOrLeave(context, run, flags);
}

async function sendPrompt(
  context: Context,
  agentId: string,
  text: string | undefined,
  flags: SendFlags,
): Promise<number> {
  const { terminal, globals, signal } = context;
  if (flags.waitIfBusy && flags.cancelIfBusy) {
    throw new UsageError("--wait-if-busy and --cancel-if-busy exclude each other");
  }
  const prompt = await readPrompt(context, text, flags);
  const mcpServers = await readMcpServers(context, flags.mcpFile);
  const cursor = await context.cursor();
  const whenBusy = flags.waitIfBusy ? "wait" : flags.cancelIfBusy ? "cancel" : "throw";
  const run = await cursor.runs
    .create(agentId, { prompt, mode: flags.mode, mcpServers }, { whenBusy, signal })
    .catch((error: unknown) => {
      const look = context.command("show", agentId);
      if (signal.aborted) warnOfEffect(context, "the prompt may have been sent", look);
      throw error;
    });
  if (globals.json) terminal.json({ type: "created", run });
  terminal.note(faint(run.id));
  return followOrLeave(context, run, flags);
}

/** Says what an interrupted request may have done, and with which command to look. */
function warnOfEffect({ terminal, hints }: Context, effect: string, look: string): void {
  terminal.alert(`ended before the server answered: ${effect}`);
  terminal.alert(`  look: ${look}`);
  hints.push(`${effect}; look: ${look}`);
}

async function followOrLeave(context: Context, run: RunRef, flags: StartFlags): Promise<number> {
  if (flags.follow) return followRun(context, run, flags);
  if (!context.globals.json) context.terminal.line(`${run.agentId} ${run.id}`);
  return 0;
}

async function watchRun(
  context: Context,
  agentId: string,
  runId: string | undefined,
  flags: WatchFlags,
): Promise<number> {
  const from = toPosition(flags.from);
  if (from !== undefined && runId === undefined) {
    throw new UsageError("--from needs the run's id: a position belongs to one run");
  }
  return context.withDeadline(flags.timeout, async () =>
    followRun(context, await toRunRef(context, agentId, runId), flags, from),
  );
}

function toPosition(text: string | undefined): string | RunCheckpoint | undefined {
  if (text?.trim() === "") throw new UsageError("--from: expected an event id or a checkpoint");
  if (!text?.trimStart().startsWith("{")) return text;
  try {
    return JSON.parse(text) as RunCheckpoint;
  } catch {
    throw new UsageError("--from: looks like a checkpoint, but is not valid JSON");
  }
}

async function cancel(context: Context, agentId: string, runId: string | undefined): Promise<void> {
  const ref = await toRunRef(context, agentId, runId);
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
      terminal.line(`${ref.id} is already over: ${status}`),
    );
  }
}

/** The run that was named, or else the agent's latest one. */
async function toRunRef(context: Context, agentId: string, runId: string | undefined): Promise<RunRef> {
  if (runId !== undefined) return { agentId, id: runId };
  const cursor = await context.cursor();
  const { latestRunId } = await cursor.agents.get(agentId, { signal: context.signal });
  if (latestRunId === undefined) throw new CursorError(`agent ${agentId} has no run yet`, { agentId });
  return { agentId, id: latestRunId };
}
