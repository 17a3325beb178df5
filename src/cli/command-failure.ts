/** Exit codes of the process. Scripts rely on them: they are part of the interface. */
export const exitCodes = {
  /** The command succeeded; for a run: FINISHED. */
  finished: 0,
  /** The run ended in ERROR, or something failed. */
  failed: 1,
  /** The run was CANCELLED or EXPIRED. */
  cancelled: 2,
  /** `--timeout` ran out; the run goes on. */
  deadline: 3,
  /** The key, its permissions or the plan don't allow it. */
  account: 4,
  /** The command line itself is wrong: nothing was sent. */
  usage: 64,
  /** SIGINT (Ctrl-C), as a shell counts it; a followed run goes on. */
  interrupted: 130,
  /** The reader of stdout closed it, as a shell counts SIGPIPE. */
  brokenPipe: 141,
  /** SIGTERM, as a shell counts it; a followed run goes on. */
  terminated: 143,
} as const;

/** The exit code for a run's status. A status that this version doesn't know counts as a failure. */
export function exitCodeOfStatus(status: string): number {
  if (status === "FINISHED") return exitCodes.finished;
  return status === "CANCELLED" || status === "EXPIRED" ? exitCodes.cancelled : exitCodes.failed;
}

export const dashboard = "https://cursor.com/dashboard";

export type SignalName = "SIGINT" | "SIGTERM";

/** A failure that the command line itself found. It knows the exit code and what the user can do about it. */
export abstract class CommandFailure extends Error {
  readonly exitCode: number;
  /** What to do about it, one line each. */
  readonly hints: readonly string[];

  constructor(message: string, exitCode: number, hints: readonly string[] = []) {
    super(message);
    this.exitCode = exitCode;
    this.hints = hints;
  }
}

/** The command line is wrong; nothing was sent. */
export class UsageError extends CommandFailure {
  override readonly name = "UsageError";

  constructor(message: string, ...hints: string[]) {
    super(message, exitCodes.usage, hints);
  }
}

/** There is no API key, or it can't be sent. */
export class MissingKeyError extends CommandFailure {
  override readonly name = "MissingKeyError";

  constructor(message: string) {
    super(message, exitCodes.account, [
      `make a key at ${dashboard} (API Keys), then: export CURSOR_API_KEY=…`,
      "or put it in a file: --api-key-file <path> (- reads it from stdin)",
    ]);
  }
}

/** A signal asked the process to end. */
export class Interruption extends CommandFailure {
  override readonly name = "Interruption";
  readonly signal: SignalName;

  constructor(signal: SignalName) {
    super(`ended by ${signal}`, signal === "SIGINT" ? exitCodes.interrupted : exitCodes.terminated);
    this.signal = signal;
  }
}

/** The reader of stdout closed it. */
export class BrokenPipe extends CommandFailure {
  override readonly name = "BrokenPipe";

  constructor() {
    super("stdout was closed by its reader", exitCodes.brokenPipe);
  }
}
