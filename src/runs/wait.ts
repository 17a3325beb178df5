import { follow } from "../async.ts";
import {
  checkCallback,
  checkFlag,
  checkOptions,
  checkSignal,
  checkTimeout,
  type OptionTable,
  orDefault,
} from "../check.ts";
import { ApiError, CursorError, RunFailedError, TimeoutError } from "../errors.ts";
import { isTerminalStatus, type Run, type RunRef, type RunStatus, type TerminalRun } from "../types.ts";
import { type Outcome, outcomeOfResult } from "./events.ts";
import type { StreamSource } from "./reader.ts";
import { RunStream } from "./stream.ts";

/** How to wait for a run. */
export interface WaitOptions {
  /** Ends the wait (never the run); it rejects with `signal.reason`. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for the whole wait. @default no limit */
  timeout?: number | undefined;
  /** Called with each new status. */
  onStatus?: ((status: RunStatus) => void) | undefined;
  /** Reject with {@link RunFailedError} when the run ends with a status other than FINISHED. @default false */
  throwOnFailure?: boolean | undefined;
}

const waitOptions = {
  signal: checkSignal,
  timeout: orDefault(checkTimeout, Number.POSITIVE_INFINITY),
  onStatus: checkCallback,
  throwOnFailure: orDefault(checkFlag, false),
} satisfies OptionTable<WaitOptions>;

/** Milliseconds that a wait whose outcome is known takes for the run's other fields. */
const longestRest = 60_000;

interface Waiting {
  /** Aborts by the caller's signal and by the deadline. */
  signal: AbortSignal;
  callerSignal: AbortSignal | undefined;
  onStatus: (status: RunStatus) => void;
}

export async function waitForRun(
  ref: RunRef,
  source: StreamSource,
  options: WaitOptions | null | undefined,
): Promise<TerminalRun> {
  const { signal, timeout: ms, onStatus, throwOnFailure } = checkOptions(waitOptions, options);
  const { agentId, id: runId } = ref;
  const reason = () =>
    new TimeoutError(`run ${runId} was not over within ${ms} ms`, { phase: "deadline", agentId, runId });
  const work = follow(signal, { clock: source.clock, ms, reason });
  try {
    const run = await untilOver(ref, source, {
      signal: work.signal,
      callerSignal: signal,
      onStatus: onlyChanges(onStatus),
    });
    if (throwOnFailure && run.status !== "FINISHED") throw new RunFailedError(run);
    return run;
  } finally {
    work.release();
  }
}

async function untilOver(
  ref: RunRef,
  source: StreamSource,
  { signal, callerSignal, onStatus }: Waiting,
): Promise<TerminalRun> {
  let seen: Run | undefined;
  const onRun = (run: Run) => {
    seen = run;
    onStatus(run.status);
  };
  const poll = () => source.poller.untilTerminal(ref, { signal, onRun });
  const outcome = await readOutcome(ref, { ...source, onRun }, { signal, callerSignal, onStatus });
  if (!outcome || !isTerminalStatus(outcome.status)) return toTerminalRun(await poll());
  if (outcome.source === "run" && seen) return toTerminalRun(seen);
  const run = await readRest(ref, source, signal);
  callerSignal?.throwIfAborted();
  // A result that the stream delivered is final, though Get A Run may be a moment behind, or out of reach.
  const settled = withOutcome(run ?? seen ?? ({ agentId: ref.agentId, id: ref.id } as Run), outcome);
  onStatus(settled.status);
  return toTerminalRun(settled);
}

/** What the stream's result does not tell of a run; undefined where Get A Run can't be read for a while. */
async function readRest(ref: RunRef, source: StreamSource, signal: AbortSignal): Promise<Run | undefined> {
  const { clock, poller } = source;
  const work = follow(signal, { clock, ms: longestRest, reason: () => new Error("Get A Run took too long") });
  try {
    const pace = poller.pace();
    while (!work.signal.aborted) {
      const run = await poller.tryAsk(ref, work.signal);
      if (run) return run;
      await pace.pause(work.signal);
    }
  } catch {
    // The outcome is known: no failure takes it away.
  } finally {
    work.release();
  }
  return undefined;
}

/**
 * Reads the outcome from the stream; undefined where the stream failed, so that polling must tell. It is taken from the
 * events, since `result()` would keep the whole reply in memory.
 */
async function readOutcome(
  ref: RunRef,
  source: StreamSource,
  { signal, callerSignal, onStatus }: Waiting,
): Promise<Outcome | undefined> {
  const stream = new RunStream(ref, source, { signal });
  let outcome: Outcome | undefined;
  try {
    for await (const event of stream) {
      // A terminal status in the stream is not the outcome; that is reported from the result.
      if (event.type === "status" && !isTerminalStatus(event.data.status)) onStatus(event.data.status);
      if (event.type === "result") {
        outcome = { ...outcomeOfResult(event.data), source: event.synthesized ? "run" : "stream" };
      }
    }
  } catch (error) {
    callerSignal?.throwIfAborted();
    if (outcome) return outcome;
    signal.throwIfAborted();
    const isFinal = ApiError.isInstance(error) && [401, 403, 404].includes(error.status);
    // Where the stream is gone, its reader polled already: that failed, and would fail again.
    if (isFinal || stream.checkpoint().expired || !CursorError.isInstance(error)) throw error;
  } finally {
    stream.close();
  }
  return outcome;
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

/** Only a FINISHED run keeps its `result`: part of a reply must not pass for the whole. */
function toTerminalRun(run: Run): TerminalRun {
  if (run.status === "FINISHED") return run as TerminalRun;
  const { result, ...rest } = run;
  return (result === undefined ? rest : { ...rest, partialResult: result }) as TerminalRun;
}

/** Passes on a status only when it differs from the one before. */
function onlyChanges(onStatus: (status: RunStatus) => void = () => {}): (status: RunStatus) => void {
  let last: RunStatus | undefined;
  return (status) => {
    if (status === last) return;
    last = status;
    onStatus(status);
  };
}
