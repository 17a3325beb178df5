import { expect, it, vi } from "vitest";
import { fake } from "../support/api-server.ts";

// A page whose network is gone when it begins to watch: the files that are needed can't be fetched.
vi.mock("../../src/workers/watches.ts", () => {
  throw new TypeError("Failed to fetch dynamically imported module");
});
const refusal = {
  kind: "error",
  message: "the part of cursor-cloud-agents for watching the fleet's queue could not be loaded",
};

it("a watch that can't be loaded rejects wherever it is read, and sends nothing", async () => {
  const { cursor, requests } = fake([]);
  const queue = cursor.fleet.requests.watch();
  await expect(queue.synced).rejects.toMatchObject(refusal);
  await expect(queue[Symbol.asyncIterator]().next()).rejects.toMatchObject(refusal);
  expect([queue.current().size, requests.length]).toEqual([0, 0]);
  queue.stop();
});

it("an abort while a watch is being loaded is at once what its readers reject with", async () => {
  const reason = new Error("enough");
  const controller = new AbortController();
  const queue = fake([]).cursor.fleet.requests.watch({}, { signal: controller.signal });
  const next = queue[Symbol.asyncIterator]().next();
  controller.abort(reason);
  await expect(next).rejects.toBe(reason);
  await expect(queue.synced).rejects.toBe(reason);
});

it("a controller that can't load its watch says so to onError, and is done", async () => {
  const errors: unknown[] = [];
  const controller = fake([]).cursor.fleet.requests.controller({
    concurrency: 1,
    claim: () => "worker",
    start: () => {},
    onError: (error) => errors.push(error),
  });
  await expect(controller.done).rejects.toMatchObject(refusal);
  expect(errors).toMatchObject([refusal]);
});
