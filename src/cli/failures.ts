import type { SignalName } from "./io.ts";

/** The command line is wrong; nothing was sent. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly hints: readonly string[];

  constructor(message: string, ...hints: string[]) {
    super(message);
    this.hints = hints;
  }
}

/** There is no key to work with. */
export class MissingKeyError extends Error {
  override readonly name = "MissingKeyError";
}

/** A signal asked the process to end. */
export class Interruption extends Error {
  override readonly name = "Interruption";
  readonly signal: SignalName;

  constructor(signal: SignalName) {
    super(`ended by ${signal}`);
    this.signal = signal;
  }
}

/** Nobody reads the output any more. */
export class BrokenPipe extends Error {
  override readonly name = "BrokenPipe";
}
