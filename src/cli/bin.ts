#!/usr/bin/env node
import { main } from "./main.ts";
import { redactKey } from "./redact-key.ts";

/** Longer timers fire at once. */
const longestTimer = 2 ** 31 - 1;

// What nobody caught ends in one line, too: a stack tells a user nothing, and may tell others too much.
const onStray = (error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`error: ${redactKey(message, process.env["CURSOR_API_KEY"]).split("\n", 1)[0]}\n`);
  process.exit(1);
};
process.on("uncaughtException", onStray);
process.on("unhandledRejection", onStray);

let usesStdin = false;
process.exitCode = await main(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  // Not before it is needed: a pipe that is open holds the process.
  get stdin() {
    usesStdin = true;
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
if (usesStdin) process.stdin.destroy();
