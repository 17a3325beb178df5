/**
 * Serves a pool with processes on this machine, until SIGINT or SIGTERM:
 * `CURSOR_API_KEY=… tsx main.ts POOL PROGRAM [ARGUMENT…]`, with the key of a service account.
 */
import { hostname } from "node:os";
import { Cursor } from "cursor-cloud-agents";
import { runPoolController } from "./controller.ts";

const [pool, program, ...args] = process.argv.slice(2);
if (pool === undefined || program === undefined) {
  process.stderr.write("usage: main.ts POOL PROGRAM [ARGUMENT…]\n");
  process.exit(2);
}

const stopping = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => stopping.abort());

const log = (line: string) => process.stdout.write(`${line}\n`);
await runPoolController({
  cursor: new Cursor(),
  pool,
  name: hostname(),
  command: [program, ...args],
  env: process.env,
  maxWorkers: 4,
  log,
  signal: stopping.signal,
});
log("stopped");
