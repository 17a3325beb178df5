/** What a process ends with. Scripts rely on these: they are part of the interface. */
export const exitCodes = {
  /** Done; of a run: FINISHED. */
  finished: 0,
  /** The run ended in ERROR, or something failed. */
  failed: 1,
  /** The run was CANCELLED or EXPIRED. */
  cancelled: 2,
  /** `--timeout` ran out; the run goes on. */
  deadline: 3,
  /** The key, its rights or the plan don't allow it. */
  account: 4,
  /** The command line itself is wrong: nothing was sent. */
  usage: 64,
  /** Ctrl-C, as a shell counts it; a run that was followed goes on. */
  interrupted: 130,
  /** Whoever read the output has gone, as a shell counts SIGPIPE. */
  brokenPipe: 141,
  /** SIGTERM, as a shell counts it; a run that was followed goes on. */
  terminated: 143,
} as const;

/** How a run's status ends the process. A status that this version doesn't know is no success. */
export function exitCodeOf(status: string): number {
  if (status === "FINISHED") return exitCodes.finished;
  return status === "CANCELLED" || status === "EXPIRED" ? exitCodes.cancelled : exitCodes.failed;
}
