import type { RunCheckpoint, RunRef, RunResult } from "../index.ts";
import type { Context } from "./context.ts";
import { exitCodeOf } from "./exit-codes.ts";
import { BrokenPipe, Interruption } from "./failures.ts";
import { guardInterrupts } from "./guard-interrupts.ts";
import { RunPrinter } from "./run-printer.ts";

/** How a run is followed. */
export interface FollowOptions {
  from?: string | RunCheckpoint | undefined;
  /** A second Ctrl-C cancels the run; without it the first one leaves at once. */
  cancelOnInterrupt?: boolean | undefined;
}

/**
 * Follows a run to its end and tells of it. Whatever ends the following before that (a signal, the deadline, a failure) leaves
 * the run alone and says how to take it up again.
 * @returns The exit code
 */
export async function followRun(context: Context, ref: RunRef, options: FollowOptions): Promise<number> {
  const { from } = options;
  const { json } = context.globals;
  const cursor = await context.cursor();
  const stream = cursor.runs.stream(ref, {
    from,
    signal: context.signal,
    onReconnect: ({ attempt, lastEventId }) =>
      context.terminal.note({
        text: `~ connection lost; going on after ${lastEventId === undefined ? "the start" : `event ${lastEventId}`} (try ${attempt})`,
        style: "faint",
      }),
  });
  const printer = new RunPrinter(context.terminal);
  const guard = guardInterrupts(context, ref, options.cancelOnInterrupt === true);
  try {
    for await (const event of stream) {
      await context.drained(json ? context.json(event) : printer.print(event));
    }
    const result = await stream.result();
    return tellOutcome(context, printer, result, from !== undefined);
  } catch (error) {
    context.terminal.endText();
    const checkpoint = stream.checkpoint();
    const followed = { agentId: ref.agentId, runId: ref.id, lastEventId: checkpoint.lastEventId };
    if (error instanceof Interruption) {
      tellDetached(context, followed, checkpoint, error);
      // How far the cancellation got, nobody knows.
      const run = guard.isCancelling() ? "the run may be cancelled, or go on" : "the run goes on";
      context.terminal.alert(`detached; ${run}`);
      context.terminal.alert(`  follow it again: ${context.resumeCommand(followed)}`);
      context.terminal.alert(`  cancel it:       ${context.command("cancel", ref.agentId, ref.id)}`);
    }
    return error instanceof BrokenPipe ? context.fail(error) : context.fail(error, followed);
  } finally {
    guard.release();
    stream.close();
  }
}

function tellOutcome(context: Context, printer: RunPrinter, result: RunResult, isResumed: boolean): number {
  const exitCode = exitCodeOf(result.status);
  if (context.globals.json) context.json({ type: "outcome", exitCode, ...result });
  else printer.outcome(result, isResumed);
  return exitCode;
}

/** The line of JSON; people read the same on stderr. */
function tellDetached(
  context: Context,
  followed: { agentId: string; runId: string; lastEventId: string | undefined },
  checkpoint: RunCheckpoint,
  interruption: Interruption,
): void {
  const { agentId, runId } = followed;
  const command = context.resumeCommand(followed);
  const exitCode = context.told(interruption);
  if (context.globals.json) {
    const { signal } = interruption;
    context.json({ type: "detached", signal, agentId, runId, checkpoint, command, exitCode });
  }
}
