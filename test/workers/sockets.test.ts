import { Cursor } from "cursor-cloud-agents";
import { CursorEmulator, ManualClock } from "cursor-cloud-agents/emulator";
import { watchRequests } from "cursor-cloud-agents/workers";
import { expect, it } from "vitest";
import { until } from "../support/waiting.ts";
import { follow, idsOf } from "./queue-server.ts";

// Only real sockets show that a connection which is left is closed on the other side, too.

it("over HTTP there is one stream for two readers, another after a cut, and none after the last has left", async () => {
  const clock = new ManualClock();
  const emulator = new CursorEmulator({ clock });
  await using server = await emulator.listen();
  const cursor = new Cursor({ apiKey: "sa_service", baseUrl: server.url, clock });
  emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
  const queues = [1, 2].map(() => watchRequests(cursor, { pool: "gpu" }));
  const readings = queues.map(follow);
  await until(() => emulator.workers.watchers === 1);
  emulator.workers.addRequest({ id: "bc-2", pool: "gpu" });
  await until(() => queues.every((queue) => idsOf(queue).length === 2));
  emulator.workers.cutWatchers();
  await until(() => emulator.workers.watchers === 0);
  // The clock decides the pause before the next attempt, the network the rest.
  for (let step = 0; step < 50 && emulator.workers.watchers === 0; step++) await clock.advance(200);
  await until(() => emulator.workers.watchers === 1);
  emulator.workers.addRequest({ id: "bc-3", pool: "gpu" });
  await until(() => queues.every((queue) => idsOf(queue).length === 3));
  expect(readings[1]!.brief.slice(1)).toEqual(["added bc-2 created", "added bc-3 created"]);
  expect(emulator.requests.filter(({ operationId }) => operationId === "listPendingRequests")).toHaveLength(
    1,
  );
  for (const queue of queues) queue.stop();
  await until(() => emulator.workers.watchers === 0);
  expect(readings.map(({ failure }) => failure)).toEqual([undefined, undefined]);
});
