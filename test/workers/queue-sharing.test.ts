import { CursorError } from "cursor-cloud-agents";
import { type RequestChange, watchRequests } from "cursor-cloud-agents/workers";
import { describe, expect, it } from "vitest";
import { QueueView } from "../../src/workers/queue-view.ts";
import { settle } from "../support/waiting.ts";
import {
  claimed,
  created,
  failedResponse,
  follow,
  idsOf,
  page,
  pending,
  QueueServer,
} from "./queue-server.ts";

describe("watches that share an upstream", () => {
  it("two readers of one filter share a list and a socket, which the last to leave closes", async () => {
    const server = new QueueServer({ list: () => page("s1", ["bc-1"]) });
    const cursor = server.cursor();
    const one = watchRequests(cursor, { pool: "gpu" });
    const other = watchRequests(cursor, { pool: "gpu" });
    const readings = [follow(one), follow(other)];
    await settle();
    server.last.send(created("e1", "bc-2"));
    await settle();
    const late = watchRequests(cursor, { pool: "gpu" });
    readings.push(follow(late));
    await late.synced;
    await settle();
    expect(readings.map(({ brief }) => brief)).toEqual([
      ["added bc-1 list", "added bc-2 created"],
      ["added bc-1 list", "added bc-2 created"],
      ["added bc-1 list", "added bc-2 list"],
    ]);
    expect([server.lists.length, server.watches.length, server.mostOpen]).toEqual([1, 1, 1]);
    one.stop();
    other.stop();
    await settle();
    expect(server.open).toBe(1);
    late.stop();
    await settle();
    expect([server.open, server.clock.pending]).toEqual([0, 0]);
    expect(readings.every(({ isOver, failure }) => isOver && failure === undefined)).toBe(true);
  });

  it("six stalls never lead to two sockets at once", async () => {
    const server = new QueueServer();
    const cursor = server.cursor();
    const queues = [watchRequests(cursor, { pool: "gpu" }), watchRequests(cursor, { pool: "gpu" })];
    await server.clock.advance(6 * 65_000);
    expect(server.watches.length).toBeGreaterThanOrEqual(6);
    expect(server.mostOpen).toBe(1);
    for (const queue of queues) queue.stop();
    await settle();
    expect(server.open).toBe(0);
  });

  it("other filters, and other clients, have an upstream of their own", async () => {
    const server = new QueueServer();
    const cursor = server.cursor();
    const filters = [{ pool: "gpu" }, { pool: "GPU" }, { repository: "gpu" }, {}, undefined];
    const queues = filters.map((filter) => watchRequests(cursor, filter));
    queues.push(watchRequests(server.cursor(), { pool: "gpu" }));
    await settle();
    expect(server.watches).toHaveLength(5);
    for (const queue of queues) queue.stop();
  });

  it("a new watch after the last has left lists again", async () => {
    const server = new QueueServer({ list: (index) => page(`s${index}`, [`bc-${index}`]) });
    const cursor = server.cursor();
    const first = watchRequests(cursor);
    await first.synced;
    first.stop();
    const second = watchRequests(cursor);
    await second.synced;
    expect([idsOf(first), idsOf(second)]).toEqual([["bc-0"], ["bc-1"]]);
    second.stop();
  });

  it("a failed response reaches each watch", async () => {
    const server = new QueueServer({ list: () => failedResponse(401) });
    const cursor = server.cursor();
    const readings = [follow(watchRequests(cursor)), follow(watchRequests(cursor))];
    await Promise.all(readings.map(({ done }) => done));
    expect(readings.map(({ failure }) => failure)).toEqual([
      expect.objectContaining({ status: 401 }),
      expect.objectContaining({ status: 401 }),
    ]);
    expect(server.lists).toHaveLength(1);
  });
});

describe("the end of a watch", () => {
  it("leaving the loop ends the watch and leaves nothing behind", async () => {
    const server = new QueueServer({ list: () => page("s1", ["bc-1"]) });
    for await (const change of watchRequests(server.cursor())) {
      expect(change).toMatchObject({ type: "added", id: "bc-1" });
      break;
    }
    await settle();
    expect([server.open, server.clock.pending]).toEqual([0, 0]);
  });

  it("leaving one of two loops leaves the other going", async () => {
    const server = new QueueServer({ list: () => page("s1", ["bc-1"]) });
    const queue = watchRequests(server.cursor());
    const reading = follow(queue);
    for await (const _ of queue) break;
    await settle();
    server.last.send(created("e1", "bc-2"));
    await settle();
    expect(reading.brief).toEqual(["added bc-1 list", "added bc-2 created"]);
    queue.stop();
  });

  it("a signal ends the watch at once, and the reader rejects with its reason as it is", async () => {
    const server = new QueueServer({ list: () => page("s1", ["bc-1"]) });
    const reason = { why: "enough" };
    const controller = new AbortController();
    const queue = watchRequests(server.cursor(), {}, { signal: controller.signal });
    const iterator = queue[Symbol.asyncIterator]();
    await queue.synced;
    controller.abort(reason);
    await expect(iterator.next()).rejects.toBe(reason);
    await settle();
    expect([server.open, server.clock.pending]).toEqual([0, 0]);
  });

  it("with a signal that is aborted already, nothing is sent", async () => {
    const server = new QueueServer();
    const queue = watchRequests(server.cursor(), {}, { signal: AbortSignal.abort("no") });
    await expect(queue.synced).rejects.toBe("no");
    await settle();
    expect(server.requests).toEqual([]);
    expect(idsOf(queue)).toEqual([]);
  });

  it("a long-lived signal collects no listeners", async () => {
    const server = new QueueServer();
    const { signal } = new AbortController();
    let listeners = 0;
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = (...all: Parameters<typeof addEventListener>) => {
      listeners++;
      addEventListener.apply(signal, all);
    };
    signal.removeEventListener = (...all: Parameters<typeof removeEventListener>) => {
      listeners--;
      removeEventListener.apply(signal, all);
    };
    const cursor = server.cursor();
    for (let round = 0; round < 5; round++) {
      const queue = watchRequests(cursor, {}, { signal });
      await queue.synced;
      queue.stop();
    }
    expect(listeners).toBe(0);
  });

  it("budgetMs ends the watch without an error", async () => {
    const server = new QueueServer({ list: () => page("s1", ["bc-1"]) });
    const queue = watchRequests(server.cursor(), {}, { budgetMs: 50_000 });
    const reading = follow(queue);
    await server.clock.advance(49_999);
    expect([server.open, reading.isOver]).toEqual([1, false]);
    await server.clock.advance(1);
    expect([server.open, reading.isOver, reading.failure]).toEqual([0, true, undefined]);
    expect(server.clock.pending).toBe(0);
  });

  it("a stop before the first list rejects synced, ends the readers, and causes no unhandled rejection", async () => {
    const server = new QueueServer({ list: () => new Promise(() => {}) });
    const queue = watchRequests(server.cursor());
    const reading = follow(queue);
    await settle();
    queue.stop();
    await expect(queue.synced).rejects.toBeInstanceOf(CursorError);
    await reading.done;
    expect(reading.failure).toBeUndefined();
    await expect(queue[Symbol.asyncIterator]().next()).resolves.toEqual({ done: true, value: undefined });
    await using another = watchRequests(server.cursor());
    expect(idsOf(another)).toEqual([]);
  });

  it("a callback that throws ends the watch of its owner only", async () => {
    const server = new QueueServer({ watch: () => failedResponse(503) });
    const cursor = server.cursor();
    const failing = follow(
      watchRequests(
        cursor,
        {},
        {
          onRetry: () => {
            throw new Error("mine");
          },
        },
      ),
    );
    const other = watchRequests(cursor);
    const reading = follow(other);
    await server.clock.advance(5_000);
    expect(failing.failure).toMatchObject({ message: "mine" });
    expect(reading.isOver).toBe(false);
    other.stop();
  });

  it.each([
    [{ pool: "" }, {}, "pool"],
    [{ repository: "" }, {}, "repository"],
    [{ pool: 7 }, {}, "pool"],
    ["gpu", {}, "filters"],
    [{}, { budgetMs: -1 }, "budgetMs"],
    [{}, { signal: "x" }, "signal"],
    [{}, null, "options"],
    [{ pools: "gpu" }, {}, "pools"],
    [{}, { budget: 1 }, "budget"],
    [{}, { onRetry: 7 }, "onRetry"],
  ])("watchRequests(cursor, %j, %j) throws at once", async (filters, options, argument) => {
    const server = new QueueServer();
    const call = () => watchRequests(server.cursor(), filters as never, options as never);
    expect(call).toThrow(expect.objectContaining({ kind: "argument", argument }));
    await settle();
    expect([server.requests.length, server.clock.pending]).toEqual([0, 0]);
  });
});

describe("a slow reader", () => {
  it("receives the latest state of each request, and nothing of those that came and went", async () => {
    const server = new QueueServer({ list: () => page("s1", ["bc-1", "bc-2"]) });
    const queue = watchRequests(server.cursor());
    const iterator = queue[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toMatchObject({ type: "added", id: "bc-1" });
    expect((await iterator.next()).value).toMatchObject({ type: "added", id: "bc-2" });
    await settle();
    server.last
      .send(created("e1", "bc-3"))
      .send(claimed("e2", "bc-3"))
      .send(claimed("e3", "bc-1"))
      .send(created("e4", "bc-1", { createdAtMs: 2 }))
      .send(claimed("e5", "bc-2"))
      .send(created("e6", "bc-4", { createdAtMs: 3 }))
      .send(created("e7", "bc-4", { createdAtMs: 4 }));
    await settle();
    const rest: RequestChange[] = [];
    for (let count = 0; count < 3; count++) rest.push((await iterator.next()).value as RequestChange);
    expect(rest).toEqual([
      { type: "updated", id: "bc-1", request: pending("bc-1", { createdAtMs: 2 }), reason: "created" },
      { type: "removed", id: "bc-2", reason: "claimed" },
      { type: "added", id: "bc-4", request: pending("bc-4", { createdAtMs: 4 }), reason: "created" },
    ]);
    queue.stop();
  });

  it("holds no more ids than the queue has and it has received, however many pass by", () => {
    const view = new QueueView();
    const reader = view.read(() => {});
    for (let number = 0; number < 10_000; number++) {
      view.upsert(pending(`bc-${number}`), "created");
      if (number >= 10) view.remove(`bc-${number - 10}`, "claimed");
      expect(reader.size).toBeLessThanOrEqual(11);
    }
    while (reader.take());
    expect(reader.size).toBe(10);
  });

  it("gets answers in order for several next() at once", async () => {
    const server = new QueueServer({ list: () => page("s1", ["bc-1", "bc-2"]) });
    const queue = watchRequests(server.cursor());
    const iterator = queue[Symbol.asyncIterator]();
    const all = await Promise.all([iterator.next(), iterator.next()]);
    expect(all.map(({ value }) => value?.id)).toEqual(["bc-1", "bc-2"]);
    const open = [iterator.next(), iterator.next()];
    await iterator.return?.();
    expect(await Promise.all(open)).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
  });

  it("gets a copy from current()", async () => {
    const server = new QueueServer({ list: () => page("s1", ["bc-1"]) });
    const queue = watchRequests(server.cursor());
    await queue.synced;
    queue.current().clear();
    expect(idsOf(queue)).toEqual(["bc-1"]);
    queue.stop();
  });
});
