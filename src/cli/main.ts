import { CommanderError } from "commander";
import { BrokenPipe, exitCodes, Interruption, type SignalName, UsageError } from "./command-failure.ts";
import { type CommandLineIo, Context } from "./context.ts";
import { explainError } from "./explain-error.ts";
import { UnfinishedRun } from "./follow-run.ts";
import { createProgram } from "./program.ts";

/**
 * The command line `cursor-agents`.
 * @param argv The arguments, without the program's own name
 * @returns The exit code; see {@link exitCodes}. Never throws
 */
export async function main(argv: readonly string[], io: CommandLineIo): Promise<number> {
  const context = new Context(io);
  const release = listen(context);
  try {
    rejectKeys(argv);
    await createProgram(context).parseAsync([...argv], { from: "user" });
    context.signal.throwIfAborted();
    return context.exitCode;
  } catch (error) {
    // Commander has already printed what is wrong, or the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
    return reportFailure(context, error);
  } finally {
    context.terminal.end();
    release();
  }
}

/** Everyone on the machine can read a process's arguments: a key among them is rejected, and not repeated in the message. */
function rejectKeys(argv: readonly string[]): void {
  const end = argv.indexOf("--");
  const flags = end < 0 ? argv : argv.slice(0, end);
  if (!flags.some((flag) => /^--api-?key(=|$)/i.test(flag))) return;
  throw new UsageError(
    "there is no --api-key: everyone on this machine can read a process's arguments",
    "export CURSOR_API_KEY=…, or --api-key-file <path> (- reads stdin); a key that was typed here is in your shell's history",
  );
}

/** Passes signals and failures of stdout on to the context. Returns a function that stops listening to signals. */
function listen(context: Context): () => void {
  const { signals, stdout, stderr } = context.io;
  const names: SignalName[] = ["SIGINT", "SIGTERM"];
  const handlers = names.map((name) => [name, () => context.onInterrupt(name)] as const);
  const release = () => {
    for (const [name, handler] of handlers) signals.off(name, handler);
  };
  for (const [name, handler] of handlers) signals.on(name, handler);
  // Once the command is ending, the next signal ends the process: a hanging request or file can't hold it.
  context.signal.addEventListener("abort", release, { once: true });
  // These listeners stay: output that is still buffered may fail after the command's end.
  stdout.on?.("error", (error: NodeJS.ErrnoException) => {
    const isClosed = error?.code === undefined || error.code === "EPIPE";
    context.abort(isClosed ? new BrokenPipe() : error);
  });
  stderr.on?.("error", () => {});
  return release;
}

/** Prints an error in one line, followed by what to do about it. Returns the exit code. */
function reportFailure(context: Context, error: unknown): number {
  const { terminal, globals } = context;
  const cause = error instanceof UnfinishedRun ? error.cause : error;
  if (cause instanceof BrokenPipe) return cause.exitCode;
  if (error instanceof UnfinishedRun && cause instanceof Interruption) {
    return reportDetached(context, error, cause);
  }
  const { message, hints, exitCode, fields } = explainError(error, context);
  const redact = (text: string) => context.redact(text);
  if (globals.json && !(cause instanceof UsageError)) {
    const redacted = Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === "string" ? redact(value) : value,
    ]);
    const allHints = [...hints, ...context.hints].map(redact);
    terminal.json({ type: "failure", error: Object.fromEntries(redacted), hints: allHints, exitCode });
  }
  // The user who interrupted the command needs no message.
  if (cause instanceof Interruption) return exitCode;
  terminal.alert({ text: "error:", style: "red" }, ` ${redact(message)}`);
  for (const hint of hints) terminal.alert(`  ${redact(hint)}`);
  return exitCode;
}

/** Prints that a signal ended the following, and how to follow or cancel the run. */
function reportDetached(context: Context, run: UnfinishedRun, { signal, exitCode }: Interruption): number {
  const { terminal, globals } = context;
  const { checkpoint, mayBeCancelled } = run;
  const { agentId, runId } = checkpoint;
  const command = context.resumeCommand(checkpoint);
  if (globals.json) {
    terminal.json({ type: "detached", signal, agentId, runId, checkpoint, command, exitCode });
  }
  terminal.alert(`detached; ${mayBeCancelled ? "the run may be cancelled, or go on" : "the run goes on"}`);
  terminal.alert(`  follow it again: ${command}`);
  terminal.alert(`  cancel it:       ${context.command("cancel", agentId, runId)}`);
  return exitCode;
}
