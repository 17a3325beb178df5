import type { Clock } from "../index.ts";

/** Where text goes: a process's stdout or stderr, or a test's. */
export interface Output {
  /** False asks the writer to wait for `drain`. */
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  on?(event: "drain" | "error", listener: (error: Error) => void): unknown;
  off?(event: "drain" | "error", listener: (error: Error) => void): unknown;
}

/** Where text comes from. */
export interface Input extends AsyncIterable<string | Uint8Array> {
  readonly isTTY?: boolean | undefined;
}

export type SignalName = "SIGINT" | "SIGTERM";

/** What tells of signals; a `process` is one. */
export interface Signals {
  on(name: SignalName, listener: () => void): unknown;
  off(name: SignalName, listener: () => void): unknown;
}

/** Everything of the world that the command line touches, but the files it is told to read or write. */
export interface CommandLineIo {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly stdin: Input;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly signals: Signals;
  /** @default the global fetch */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Where jitter comes from. @default Math.random */
  readonly random?: (() => number) | undefined;
}
