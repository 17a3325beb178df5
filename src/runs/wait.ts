import { follow } from "../async.ts";
import { checkCallback, checkNames, checkSignal, checkTimeout } from "../check.ts";
import { ApiError, CursorError, RunFailedError, TimeoutError } from "../errors.ts";
import { isTerminalStatus, type Run, type RunRef, type RunStatus, type TerminalRun } from "../types.ts";
import type { Outcome } from "./events.ts";
import type { StreamSource } from "./reader.ts";
import { RunStreamHandle } from "./stream.ts";

/** How to wait for a run. */
export interface WaitOptions {
  /** Ends the wait (never the run); it rejects with `signal.reason`. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for the whole wait. @default no limit */
  timeout?: number | undefined;
  /** Called with each new status. */
  onStatus?: ((status: RunStatus) => void) | undefined;
  /** Reject with {@link RunFailedError} when the run ends otherwise than FINISHED. @default false */
  throwOnFailure?: boolean | undefined;
}

export async function waitForRun(
  ref: RunRef,
  source: StreamSource,
  options: WaitOptions,
): Promise<TerminalRun> {
  checkNames(options, ["signal", "timeout", "onStatus", "throwOnFailure"] satisfies (keyof WaitOptions)[]);
  checkCallback("onStatus", options.onStatus);
  const timeout = checkTimeout("timeout", options.timeout) ?? Number.POSITIVE_INFINITY;
  const controller = follow(checkSignal("signal", options.signal));
  const { clock } = source;
  const timer =
    timeout === Number.POSITIVE_INFINITY
      ? undefined
      : clock.setTimeout(() => {
          const { agentId, id: runId } = ref;
          const message = `run ${runId} was not over within ${timeout} ms`;
          controller.abort(new TimeoutError(message, { phase: "deadline", agentId, runId }));
        }, timeout);
  try {
    const run = await untilOver(ref, source, controller.signal, news(options.onStatus));
    if (options.throwOnFailure && run.status !== "FINISHED") throw new RunFailedError(run);
    return run;
  } finally {
    if (timer !== undefined) clock.clearTimeout(timer);
    controller.release();
  }
}

async function untilOver(
  ref: RunRef,
  source: StreamSource,
  signal: AbortSignal,
  onStatus: (status: RunStatus) => void,
): Promise<TerminalRun> {
  let seen: Run | undefined;
  const onRun = (run: Run) => {
    seen = run;
    onStatus(run.status);
  };
  const polled = () => source.poller.untilTerminal(ref, { signal, onRun });
  const outcome = await readOutcome(ref, { ...source, onRun }, signal, onStatus);
  if (!outcome || !isTerminalStatus(outcome.status)) return toTerminalRun(await polled());
  if (outcome.source === "run" && seen) return toTerminalRun(seen);
  // A result that the stream delivered is final, though Get A Run may be a moment behind, or out of reach.
  const settled = withOutcome(await source.poller.ask(ref, signal).catch(polled), outcome);
  onStatus(settled.status);
  return toTerminalRun(settled);
}

/** The outcome by the stream, or undefined where the stream can't tell and polling must. */
async function readOutcome(
  ref: RunRef,
  source: StreamSource,
  signal: AbortSignal,
  onStatus: (status: RunStatus) => void,
): Promise<Outcome | undefined> {
  const stream = new RunStreamHandle(ref, source, { signal });
  try {
    for await (const event of stream) {
      // The run may be over without a FINISHED here being the truth: the last word is the result's.
      if (event.type === "status" && !isTerminalStatus(event.data.status)) onStatus(event.data.status);
    }
    return await stream.result();
  } catch (error) {
    signal.throwIfAborted();
    const isFinal = ApiError.isInstance(error) && [401, 403, 404].includes(error.status);
    // A stream that is gone was followed by polling already: that failed, and would again.
    if (isFinal || stream.checkpoint().expired || !CursorError.isInstance(error)) throw error;
    return undefined;
  } finally {
    stream.close();
  }
}

function withOutcome(run: Run, { status, text, durationMs, git }: Outcome): Run {
  return {
    ...run,
    status,
    ...(run.result === undefined && text !== undefined ? { result: text } : {}),
    ...(run.durationMs === undefined && durationMs !== undefined ? { durationMs } : {}),
    ...(run.git === undefined && git !== undefined ? { git } : {}),
  };
}

/** Only a FINISHED run has a `result`: half an answer must not pass for one. */
function toTerminalRun(run: Run): TerminalRun {
  if (run.status === "FINISHED") return run as TerminalRun;
  const { result, ...rest } = run;
  return (result === undefined ? rest : { ...rest, partialResult: result }) as TerminalRun;
}

/** Passes on each status once. */
function news(onStatus: (status: RunStatus) => void = () => {}): (status: RunStatus) => void {
  let last: RunStatus | undefined;
  return (status) => {
    if (status === last) return;
    last = status;
    onStatus(status);
  };
}
