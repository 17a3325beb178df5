/**
 * A controller for one machine: each claimed request of a pool gets a child process of its own, with
 * `CURSOR_AGENT_WORKER_ID` in its environment. When it is stopped it claims no more, asks its workers to end and waits
 * for them.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { Cursor } from "cursor-cloud-agents";
import { controlRequests } from "cursor-cloud-agents/workers";

export interface PoolControllerOptions {
  cursor: Cursor;
  pool: string;
  /** Begins every worker id, so that a restarted controller knows its own workers: unique in the team. */
  name: string;
  /** What a worker is: a program and its arguments. */
  command: readonly [string, ...string[]];
  /** The environment of the workers, their API key among it. */
  env: Record<string, string | undefined>;
  /** How many workers this machine can hold. */
  maxWorkers: number;
  /** How long workers may take to end before they are killed. @default 10_000 */
  graceMs?: number;
  log(line: string): void;
  signal: AbortSignal;
}

/** Runs until `signal` aborts; resolves when the last worker is gone. */
export async function runPoolController(options: PoolControllerOptions): Promise<void> {
  const { cursor, pool, name, command, env, maxWorkers, graceMs = 10_000, log, signal } = options;
  const [program, ...args] = command;
  const workers = new Map<string, ChildProcess>();
  /** Claims that have no process yet count as well, or a burst of requests would overbook the machine. */
  const reserved = new Set<string>();

  async function startWorker(workerId: string): Promise<void> {
    const child = spawn(program, args, {
      env: { ...env, CURSOR_AGENT_WORKER_ID: workerId },
      stdio: ["ignore", "inherit", "inherit"],
    });
    // Rejects when there is no such program: the claim is given back, and another controller may have it.
    await once(child, "spawn");
    workers.set(workerId, child);
    child.once("close", (code, reason) => {
      workers.delete(workerId);
      log(`${workerId} ended (${reason ?? code})`);
    });
    // From here on an error is a failed kill; the grace period deals with that.
    child.on("error", (error) => log(`${workerId}: ${error.message}`));
  }

  const controller = controlRequests(cursor, {
    filters: { pool },
    concurrency: maxWorkers,
    claim: () => {
      if (workers.size + reserved.size >= maxWorkers) return undefined;
      const workerId = `${name}-${randomUUID()}`;
      reserved.add(workerId);
      // A claim that was lost to another controller never starts; its place is free again after a while.
      setTimeout(() => reserved.delete(workerId), 60_000).unref();
      return workerId;
    },
    start: async (request, { workerId, revived }) => {
      // Every controller of the pool sees a request whose worker went offline: only its own one brings it back.
      if (revived && !workerId.startsWith(`${name}-`)) return;
      if (workers.has(workerId)) return;
      try {
        await startWorker(workerId);
      } finally {
        reserved.delete(workerId);
      }
      log(`${workerId} ${revived ? "revived" : "started"} for ${request.id}`);
    },
    onError: (error, request) => log(`${request?.id ?? pool}: ${(error as Error).message}`),
    signal,
  });

  try {
    await controller.done;
  } finally {
    await stopAll(workers, graceMs);
  }
}

async function stopAll(workers: ReadonlyMap<string, ChildProcess>, graceMs: number): Promise<void> {
  const children = [...workers.values()];
  const gone = children.map((child) => once(child, "close"));
  for (const child of children) child.kill("SIGTERM");
  const timer = setTimeout(() => {
    for (const child of children) child.kill("SIGKILL");
  }, graceMs);
  await Promise.all(gone);
  clearTimeout(timer);
}
