import { sleep } from "../clock.ts";
import { isApiError } from "../errors.ts";
import type { Transport } from "../http/transport.ts";
import { checkSignal, type RequestOptions } from "../options.ts";
import type { RunPoller } from "../run-stream/run-poller.ts";
import { isTerminalStatus, type RunRef } from "../types.ts";
import type { Runs } from "./runs.ts";

/** An agent may say that it is busy for about two seconds after its run has ended. */
const windDown = 1_000;

/** Until the run in the way is over: watched through Get A Run, so that nothing is posted while one is known to be active. */
export async function untilFree(
  transport: Transport,
  runs: Runs,
  poller: RunPoller,
  agentId: string,
  whenBusy: "wait" | "cancel",
  options: RequestOptions,
): Promise<void> {
  const signal = checkSignal(options.signal);
  const { data: agent } = await transport.run(
    "GET",
    "/v1/agents/{id}",
    () => ({ path: { id: agentId } }),
    { agentId },
    options,
  );
  const { clock } = transport.settings;
  if (agent.latestRunId === undefined) return sleep(clock, windDown, signal);
  const ref: RunRef = { agentId, id: agent.latestRunId };
  const run = await poller.askPatiently(ref, signal);
  // Over already: the agent is winding down, or someone else's run begins.
  if (run && isTerminalStatus(run.status)) return sleep(clock, windDown, signal);
  if (whenBusy === "cancel") {
    try {
      await runs.cancel(ref, options);
    } catch (error) {
      if (!isApiError(error, "run_not_cancellable")) throw error;
    }
  }
  await poller.untilTerminal(ref, { signal });
}
