import { isApiError, type RunRef } from "../index.ts";
import type { Context } from "./context.ts";
import { Interruption } from "./failures.ts";

/** So long a second Ctrl-C is waited for. */
const patience = 5_000;

/**
 * What signals do while a run is followed. A run costs money and holds work: none is cancelled by a single key. Without
 * `cancels` the first Ctrl-C leaves the run alone and ends the following; with it, a second one within five seconds cancels
 * the run, and a third one doesn't wait for that. SIGTERM always leaves the run alone.
 */
export function guardInterrupts(
  context: Context,
  ref: RunRef,
  cancels: boolean,
): { release(): void; isCancelling(): boolean } {
  const { clock } = context.io;
  const before = context.onInterrupt;
  let timer: unknown;
  let presses = 0;
  let isCancelling = false;
  const detach = () => context.abort(new Interruption("SIGINT"));
  const stopTimer = () => {
    if (timer !== undefined) clock.clearTimeout(timer);
    timer = undefined;
  };
  context.onInterrupt = (signal) => {
    presses++;
    if (signal === "SIGTERM") return before(signal);
    if (!cancels || presses > 2) return detach();
    if (presses === 1) {
      context.terminal.alert("Ctrl-C again within 5 s cancels the run; otherwise it goes on without this");
      timer = clock.setTimeout(detach, patience);
      return;
    }
    stopTimer();
    isCancelling = true;
    context.terminal.alert("cancelling the run (Ctrl-C once more: don't wait)");
    cancel(context, ref).catch((error: unknown) => context.abort(error));
  };
  const release = () => {
    stopTimer();
    context.onInterrupt = before;
  };
  return { release, isCancelling: () => isCancelling };
}

async function cancel(context: Context, ref: RunRef): Promise<void> {
  try {
    const cursor = await context.cursor();
    await cursor.runs.cancel(ref, { signal: context.signal });
  } catch (error) {
    // It was over by then: the stream tells how it came out.
    if (!isApiError(error, "run_not_cancellable")) throw error;
  }
}
