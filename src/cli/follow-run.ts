import type { Command } from "commander";
import { isApiError, type RunCheckpoint, type RunRef } from "../index.ts";
import { toDuration } from "./add-command.ts";
import { exitCodeOfStatus, Interruption } from "./command-failure.ts";
import type { Context } from "./context.ts";
import { RunPrinter } from "./run-printer.ts";

/** The options of all commands that follow a run. */
export interface FollowFlags {
  timeout?: number;
  cancelOnInterrupt?: boolean;
}

export function addFollowOptions(command: Command): Command {
  return command
    .option(
      "--timeout <duration>",
      "stop following after 90s, 30m, 1h30m, …; the run goes on (exit code 3)",
      toDuration,
    )
    .option("--cancel-on-interrupt", "a second Ctrl-C cancels the run (one alone never does)");
}

/** Following ended before the run did: by a signal, by the deadline, or by a failure, which is the `cause`. */
export class UnfinishedRun extends Error {
  override readonly name = "UnfinishedRun";
  /** Where to continue. */
  readonly checkpoint: RunCheckpoint;
  /** A cancellation was sent, and its answer was not waited for. */
  readonly mayBeCancelled: boolean;

  constructor(checkpoint: RunCheckpoint, mayBeCancelled: boolean, cause: unknown) {
    super("following ended before the run did", { cause });
    this.checkpoint = checkpoint;
    this.mayBeCancelled = mayBeCancelled;
  }
}

/**
 * Follows a run to its end and prints it.
 * @param from The position to continue from; without it, the run's start
 * @returns The exit code for the run's status
 * @throws UnfinishedRun where something ends the following before the run's end. The run itself goes on
 */
export async function followRun(
  context: Context,
  ref: RunRef,
  { cancelOnInterrupt = false }: FollowFlags,
  from?: string | RunCheckpoint,
): Promise<number> {
  const { terminal, signal, globals } = context;
  const cursor = await context.cursor();
  const stream = cursor.runs.stream(ref, {
    from,
    signal,
    onReconnect: ({ attempt, lastEventId }) => {
      const position = lastEventId === undefined ? "from the start" : `after event ${lastEventId}`;
      const text = `~ connection lost; continuing ${position} (attempt ${attempt})`;
      terminal.note({ text, style: "faint" });
    },
  });
  const printer = new RunPrinter(terminal);
  const interrupts = guardInterrupts(context, ref, cancelOnInterrupt);
  try {
    for await (const event of stream) {
      const wasTaken = globals.json ? terminal.json(event) : printer.print(event);
      if (wasTaken === false) await untilDrained(context);
    }
    const result = await stream.result();
    const exitCode = exitCodeOfStatus(result.status);
    if (globals.json) terminal.json({ type: "outcome", exitCode, ...result });
    else printer.outcome(result, from !== undefined);
    return exitCode;
  } catch (error) {
    terminal.endText();
    throw new UnfinishedRun(stream.checkpoint(), interrupts.isCancelling(), error);
  } finally {
    interrupts.release();
    stream.close();
  }
}

/** Waits until stdout takes more: a slow reader of the output must not fill the memory. */
async function untilDrained({ io: { stdout }, signal }: Context): Promise<void> {
  if (!stdout.on || !stdout.off || signal.aborted) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      stdout.off?.("drain", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    stdout.on?.("drain", done);
    signal.addEventListener("abort", done, { once: true });
  });
  signal.throwIfAborted();
}

/** For this many milliseconds a second Ctrl-C cancels the run. */
const secondPressWithin = 5_000;

/**
 * Decides what signals do while a run is followed. A run costs money and holds work, so a single Ctrl-C never cancels it.
 * Without `cancels`, the first Ctrl-C ends the following. With it, a second Ctrl-C within five seconds cancels the run, and
 * a third one ends the following without waiting for the cancellation. SIGTERM always leaves the run alone.
 */
function guardInterrupts(
  context: Context,
  ref: RunRef,
  cancels: boolean,
): { release(): void; isCancelling(): boolean } {
  const { terminal, io } = context;
  const outer = context.onInterrupt;
  let state: "following" | "warned" | "cancelling" = "following";
  let timer: unknown;
  const detach = () => context.abort(new Interruption("SIGINT"));
  const stopTimer = () => {
    if (timer !== undefined) io.clock.clearTimeout(timer);
    timer = undefined;
  };
  context.onInterrupt = (signal) => {
    if (signal === "SIGTERM") return outer(signal);
    if (!cancels || state === "cancelling") return detach();
    if (state === "following") {
      state = "warned";
      terminal.alert("Ctrl-C again within 5 s cancels the run; otherwise only this command ends");
      timer = io.clock.setTimeout(detach, secondPressWithin);
      return;
    }
    stopTimer();
    state = "cancelling";
    terminal.alert("cancelling the run (press Ctrl-C once more to leave without waiting)");
    cancelRun(context, ref).catch((error: unknown) => context.abort(error));
  };
  const release = () => {
    stopTimer();
    context.onInterrupt = outer;
  };
  return { release, isCancelling: () => state === "cancelling" };
}

async function cancelRun(context: Context, ref: RunRef): Promise<void> {
  try {
    const cursor = await context.cursor();
    await cursor.runs.cancel(ref, { signal: context.signal });
  } catch (error) {
    // The run ended before the cancellation arrived: the stream delivers its outcome.
    if (!isApiError(error, "run_not_cancellable")) throw error;
  }
}
