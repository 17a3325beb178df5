import { Cursor } from "cursor-cloud-agents";
import { CursorEmulator, type FaultTarget, ManualClock } from "cursor-cloud-agents/emulator";
import { type RequestChange, watchRequests } from "cursor-cloud-agents/workers";
import fc from "fast-check";
import { expect, it } from "vitest";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { settle } from "../support/waiting.ts";
import { seeded } from "./queue-server.ts";

// Whatever happens to the queue and to the connection: after the next list the view equals the queue, and so does the sum
// of a reader's changes.

const ids = ["bc-1", "bc-2", "bc-3", "bc-4"];
const id = fc.constantFrom(...ids);

type Step =
  | { kind: "add" | "claim" | "release" | "connect" | "end" | "offline" | "followUp" | "expire"; id: string }
  | { kind: "wait"; ms: number }
  | { kind: "drop"; count: number }
  | { kind: "cut"; clean: boolean }
  | { kind: "fail"; operation: string; status: number }
  | { kind: "break"; operation: string; afterBytes: number }
  | { kind: "forget" }
  | { kind: "page" };

const operation = fc.constantFrom("listPendingRequests", "watchPendingRequests");
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom("add", "claim", "release", "connect", "end", "offline", "followUp", "expire"),
      id,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      ms: fc.constantFrom(1, 700, 5_000, 21_000, 65_000, 290_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("drop" as const), count: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("cut" as const), clean: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("fail" as const),
      operation,
      status: fc.constantFrom(410, 429, 500, 503),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("break" as const),
      operation,
      afterBytes: fc.integer({ min: 0, max: 400 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "forget" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "page" as const }) },
);

async function act(emulator: CursorEmulator, clock: ManualClock, other: Cursor, step: Step): Promise<void> {
  const { workers } = emulator;
  const request = "id" in step ? workers.requests.find((candidate) => candidate.id === step.id) : undefined;
  switch (step.kind) {
    case "add":
      if (!request) workers.addRequest({ id: step.id, pool: "gpu" });
      return;
    case "claim":
      await other.workers.claims.create({ id: step.id, workerId: `pw_${step.id}` }).catch(() => {});
      return;
    case "release":
      await other.workers.claims.release(step.id).catch(() => {});
      return;
    case "connect":
      if (request?.claimedWorkerId) workers.connectWorker({ workerId: request.claimedWorkerId, pool: "gpu" });
      return;
    case "end":
      if (request?.state === "running") workers.endTurn(step.id);
      return;
    case "offline":
      if (workers.connected.some(({ workerId }) => workerId === `pw_${step.id}`))
        workers.disconnectWorker(`pw_${step.id}`);
      return;
    case "followUp":
      if (request) workers.followUp(step.id);
      return;
    case "expire":
      if (request?.state === "pending") workers.expireRequest(step.id);
      return;
    case "wait":
      return clock.advance(step.ms);
    case "drop":
      return workers.dropNextEvents(step.count);
    case "cut":
      return workers.cutWatchers({ clean: step.clean });
    case "fail":
      emulator.faults.status(step.operation as FaultTarget, step.status);
      return;
    case "break":
      emulator.faults.cut(step.operation as FaultTarget, { afterBytes: step.afterBytes });
      return;
    case "forget":
      workers.retainEvents(1);
      return workers.retainEvents(Number.POSITIVE_INFINITY);
    case "page":
      // A second page in the listing: more requests than fit on one.
      for (let number = 0; number < 101; number++) {
        if (!workers.requests.some((candidate) => candidate.id === `bulk-${number}`)) {
          workers.addRequest({ id: `bulk-${number}`, pool: "gpu" });
        }
      }
      return;
  }
}

/** The queue as a reader sees it: the sum of its changes. */
function addUp(changes: AsyncIterable<RequestChange>) {
  const known = new Map<string, unknown>();
  const wrong: string[] = [];
  (async () => {
    for await (const { type, id, request } of changes) {
      if ((type === "added") === known.has(id)) wrong.push(`${type} ${id}`);
      if (type === "removed") known.delete(id);
      else known.set(id, request);
    }
  })();
  return { known, wrong };
}

/** A listing that breaks three times in a row ends the watch, so that there is no view left to compare. */
const isBearable = (steps: Step[]): boolean =>
  steps.filter(
    (one) =>
      "operation" in one &&
      one.operation === "listPendingRequests" &&
      (one.kind === "break" || one.status === 410),
  ).length < 3;

const without = (request: Record<string, unknown> | undefined) => ({ ...request, wakeTimeoutMs: 0 });

it("the view equals the queue after any interleaving of transitions, cuts, lost events, expiries and lists", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 25 }).filter(isBearable),
      fc.integer({ min: 0, max: 1000 }),
      async (steps, seed) => {
        const clock = new ManualClock();
        const emulator = checkedEmulator({ clock });
        emulator.workers.addPool({ poolName: "gpu", offlineReconnectTimeoutSeconds: 100 });
        const connect = (random: () => number) =>
          new Cursor({ apiKey: "sa_service", fetch: emulator.fetch, clock, random, maxRetries: 0 });
        const queue = watchRequests(connect(seeded(seed)), { pool: "gpu" });
        const reader = addUp(queue);
        for (const one of steps) {
          await act(
            emulator,
            clock,
            connect(() => 0),
            one,
          );
          await settle();
          expect(emulator.workers.watchers).toBeLessThanOrEqual(1);
        }
        // By then every fault has occurred and a list has succeeded.
        await clock.advance(1_000_000);
        const truth = emulator.workers.requests.filter(
          ({ state }) => state === "pending" || state === "claimed_offline",
        );
        const view = queue.current();
        expect([...view.keys()].sort()).toEqual(truth.map((request) => request.id).sort());
        for (const { state: _, failure: __, ...request } of truth)
          expect(without(view.get(request.id))).toEqual(without(request));
        expect(reader.wrong).toEqual([]);
        expect(reader.known).toEqual(view);
        queue.stop();
        await settle();
        expect([emulator.workers.watchers, clock.pending]).toEqual([0, 0]);
      },
    ),
    { numRuns: Number(process.env["QUEUE_RUNS"] ?? 40) },
  );
}, 120_000);

it("over two quiet hours no position expires, clients list at different moments, and each has one socket", async () => {
  const clock = new ManualClock();
  const emulator = new CursorEmulator({ clock });
  let most = 0;
  const lists: number[][] = [];
  const queues = [1, 2, 3, 4].map((seed) => {
    const times: number[] = [];
    lists.push(times);
    const cursor = new Cursor({
      apiKey: "sa_service",
      clock,
      random: seeded(seed),
      fetch: async (input, init) => {
        const response = await emulator.fetch(input, init);
        const url = String(input);
        if (!url.includes("/stream")) times.push(clock.now());
        expect([url, response.status]).toEqual([url, 200]);
        most = Math.max(most, emulator.workers.watchers);
        return response;
      },
    });
    return watchRequests(cursor);
  });
  await clock.advance(7_200_000);
  expect(emulator.requests.every(({ status }) => status === 200)).toBe(true);
  expect(most).toBe(4);
  for (const times of lists) {
    const gaps = times.slice(1).map((at, index) => at - times[index]!);
    expect(gaps.length).toBeGreaterThanOrEqual(24);
    expect(Math.max(...gaps)).toBeLessThan(300_000);
    expect(Math.max(...gaps) - Math.min(...gaps)).toBeGreaterThan(20_000);
  }
  // Clients that started together list at different moments after an hour.
  const last = lists.map((times) => times.at(-1)!);
  expect(new Set(last).size).toBe(4);
  for (const queue of queues) queue.stop();
  await settle();
  expect([emulator.workers.watchers, clock.pending]).toEqual([0, 0]);
});
