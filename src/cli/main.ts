import { CommanderError } from "commander";
import { Context } from "./context.ts";
import { exitCodes } from "./exit-codes.ts";
import { BrokenPipe, UsageError } from "./failures.ts";
import type { CommandLineIo, SignalName } from "./io.ts";
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
    refuseKeys(argv);
    await createProgram(context).parseAsync([...argv], { from: "user" });
    context.signal.throwIfAborted();
    return context.exitCode;
  } catch (error) {
    // Commander has said already what is wrong, or shown the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
    return context.fail(error);
  } finally {
    context.terminal.end();
    release();
  }
}

/** A process's arguments can be read by everyone on the machine: no key among them, and no repeating it. */
function refuseKeys(argv: readonly string[]): void {
  const end = argv.indexOf("--");
  const flags = end < 0 ? argv : argv.slice(0, end);
  if (!flags.some((flag) => /^--api-?key(=|$)/i.test(flag))) return;
  throw new UsageError(
    "there is no --api-key: everyone on this machine can read a process's arguments",
    "export CURSOR_API_KEY=…, or --api-key-file <path> (- reads stdin); a key that was typed here is in your shell's history",
  );
}

/** Passes signals and broken pipes on to the context; returns what takes that back. */
function listen(context: Context): () => void {
  const { signals, stdout, stderr } = context.io;
  const names: SignalName[] = ["SIGINT", "SIGTERM"];
  const handlers = names.map((name) => [name, () => context.onInterrupt(name)] as const);
  const release = () => {
    for (const [name, handler] of handlers) signals.off(name, handler);
  };
  for (const [name, handler] of handlers) signals.on(name, handler);
  // Once it ends, another signal is the system's again: nothing that hangs can hold the process.
  context.signal.addEventListener("abort", release, { once: true });
  // Kept for good: what is still on its way out may fail after the command's end.
  stdout.on?.("error", (error: NodeJS.ErrnoException) => {
    const isGone = error?.code === undefined || error.code === "EPIPE";
    context.abort(isGone ? new BrokenPipe("nobody reads stdout any more") : error);
  });
  stderr.on?.("error", () => {});
  return release;
}
