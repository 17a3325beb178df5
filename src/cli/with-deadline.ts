import { TimeoutError } from "../index.ts";
import type { Context } from "./context.ts";
import { duration } from "./format.ts";

/** Ends a command's work when its time is up: what it waits for rejects with a TimeoutError of the phase `deadline`. */
export async function withDeadline<T>(
  context: Context,
  timeout: number | undefined,
  work: () => Promise<T>,
): Promise<T> {
  if (timeout === undefined) return work();
  const { clock } = context.io;
  const timer = clock.setTimeout(() => {
    const message = `--timeout: the run was not over within ${duration(timeout)}`;
    context.abort(new TimeoutError(message, { phase: "deadline" }));
  }, timeout);
  try {
    return await work();
  } finally {
    clock.clearTimeout(timer);
  }
}
