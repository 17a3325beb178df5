/**
 * A stand-in for a worker: says on its output what a real one would tell the service, and ends when it is asked to.
 */
const workerId = process.env.CURSOR_AGENT_WORKER_ID;
const work = setInterval(() => {}, 60_000);

process.once("SIGTERM", () => {
  clearInterval(work);
  process.stdout.write(`disconnect ${workerId}\n`);
});
process.stdout.write(`connect ${workerId}\n`);
