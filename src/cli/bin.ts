#!/usr/bin/env node
import { cleanLine } from "./clean-text.ts";
import { exitCodes } from "./exit-codes.ts";
import { main } from "./main.ts";
import { redactKey } from "./redact-key.ts";

/** Longer timers fire at once. */
const longestTimer = 2 ** 31 - 1;
/** Who was told to end waits no longer for whoever reads what was written. */
const patience = 2_000;

const say = (message: string) =>
  process.stderr.write(`error: ${cleanLine(redactKey(message, process.env["CURSOR_API_KEY"]))}\n`);

// What nobody caught ends in one line, too: a stack tells a user nothing, and may tell others too much.
const onStray = (error: unknown) => {
  say((error instanceof Error ? error.message : String(error)).split("\n", 1)[0] as string);
  process.exit(1);
};
process.on("uncaughtException", onStray);
process.on("unhandledRejection", onStray);

/** What stdout failed with: a short command has ended before it hears of it. */
let lost: NodeJS.ErrnoException | undefined;
process.stdout.on("error", (error) => {
  lost ??= error;
});

let exitCode = await main(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  // Not before it is needed: a pipe that is open holds the process.
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
const isInterrupted = exitCode === exitCodes.interrupted || exitCode === exitCodes.terminated;
await Promise.race([
  Promise.all([flushed(process.stdout), flushed(process.stderr)]),
  new Promise((resolve) => isInterrupted && setTimeout(resolve, patience)),
]);
if (lost && exitCode === exitCodes.finished) {
  const isGone = lost.code === "EPIPE";
  if (!isGone) say(lost.message);
  exitCode = isGone ? exitCodes.brokenPipe : exitCodes.failed;
}
// Stdin, or whatever else is still open, is of no more use.
process.exit(exitCode);
