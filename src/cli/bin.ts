#!/usr/bin/env node
import { redactKeys } from "./api-key.ts";
import { cleanLine } from "./clean-text.ts";
import { exitCodes, type SignalName } from "./command-failure.ts";
import { main } from "./main.ts";

/** Node fires a longer timer at once. */
const longestTimer = 2 ** 31 - 1;
/** After a signal or a deadline, a reader that has stopped reading holds the process for at most this many milliseconds. */
const flushWithin = 750;

const signalOf = new Map<number, SignalName>([
  [exitCodes.interrupted, "SIGINT"],
  [exitCodes.terminated, "SIGTERM"],
]);

const printError = (message: string) =>
  process.stderr.write(`error: ${cleanLine(redactKeys(message, process.env["CURSOR_API_KEY"]))}\n`);

// An uncaught error is printed in one line, too: a stack doesn't help the user, and may contain what others shouldn't see.
const onUncaught = (error: unknown) => {
  printError((error instanceof Error ? error.message : String(error)).split("\n", 1)[0] as string);
  process.exit(1);
};
process.on("uncaughtException", onUncaught);
process.on("unhandledRejection", onUncaught);

/** The error of stdout. A short command ends before that event. */
let stdoutError: NodeJS.ErrnoException | undefined;
process.stdout.on("error", (error) => {
  stdoutError ??= error;
});

let exitCode = await main(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  // A getter, because opening stdin keeps the process alive.
  get stdin() {
    return process.stdin;
  },
  env: process.env,
  clock: {
    now: Date.now,
    setTimeout: (callback, ms) => setTimeout(callback, Math.min(ms, longestTimer)),
    clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
  },
  signals: process,
});

const flushed = (stream: NodeJS.WriteStream) =>
  new Promise<void>((resolve) => stream.write("", () => resolve()));
const mustEnd = signalOf.has(exitCode) || exitCode === exitCodes.deadline;
await Promise.race([
  Promise.all([flushed(process.stdout), flushed(process.stderr)]),
  new Promise((resolve) => mustEnd && setTimeout(resolve, flushWithin)),
]);
if (stdoutError && exitCode === exitCodes.finished) {
  const isClosed = stdoutError.code === "EPIPE";
  if (!isClosed) printError(stdoutError.message);
  exitCode = isClosed ? exitCodes.brokenPipe : exitCodes.failed;
}
// A name look-up that hangs holds a thread, and process.exit waits for that thread; to die by the signal doesn't. A shell counts
// both alike. For a process that the signal can't end, such as the first one of a container, the explicit exit follows.
const signal = signalOf.get(exitCode);
const isHeld = process.getActiveResourcesInfo().some((name) => /^(GetAddrInfo|FSReq)/.test(name));
if (signal && isHeld && process.platform !== "win32") process.kill(process.pid, signal);
// Explicit, because stdin or a connection may still be open.
process.exit(exitCode);
