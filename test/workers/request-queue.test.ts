import type { Cursor } from "cursor-cloud-agents";
import { watchRequests } from "cursor-cloud-agents/workers";
import { describe, expect, it } from "vitest";
import { settle } from "../support/waiting.ts";
import {
  claimed,
  created,
  event,
  failedResponse,
  follow,
  heartbeat,
  idsOf,
  page,
  pending,
  QueueServer,
  seeded,
} from "./queue-server.ts";

const watch = (cursor: Cursor, options = {}) => watchRequests(cursor, { pool: "gpu" }, options);

describe("list, then watch", () => {
  it("reads all pages with the same filters, then watches from the list's position", async () => {
    const server = new QueueServer({
      list: (index) => (index === 0 ? page("s1", ["bc-1", "bc-2"], "t1") : page("s1", ["bc-3"])),
    });
    const filters = { repository: "https://github.com/acme/p?x=1&y=a+b", pool: "GPU" };
    const queue = watchRequests(server.cursor(), filters);
    const reading = follow(queue);
    await queue.synced;
    await settle();
    expect(server.lists.map(({ query }) => query)).toEqual([
      { ...filters, limit: "100" },
      { ...filters, limit: "100", pageToken: "t1" },
    ]);
    expect(server.watches.map(({ query }) => query)).toEqual([{ ...filters, cursor: "s1" }]);
    expect(server.watches[0]?.headers.get("accept")).toBe("text/event-stream");
    expect(server.watches[0]?.headers.get("last-event-id")).toBeNull();
    expect(reading.brief).toEqual(["added bc-1 list", "added bc-2 list", "added bc-3 list"]);
    queue.stop();
  });

  it("applies each kind of event once, even when it arrives twice", async () => {
    const server = new QueueServer({ list: () => page("s1", ["bc-1"]) });
    const queue = watch(server.cursor());
    const reading = follow(queue);
    await settle();
    const offline = { claimedWorkerId: "pw_1", wakeTimeoutMs: 900 };
    server.last
      .send(created("e1", "bc-1"))
      .send(created("e2", "bc-2"))
      .send(created("e3", "bc-2"))
      .send(claimed("e4", "bc-unknown"))
      .send(event("claimed_offline", "e5", pending("bc-1", offline)))
      .send(claimed("e6", "bc-1"))
      .send(event("expired", "e7", { id: "bc-2" }))
      .send(event("expired", "e8", { id: "bc-2" }))
      .send(event("moved", "e9", { id: "bc-2" }))
      .send(heartbeat("e10"));
    await settle();
    // Within one chunk a reader receives only the latest state of each; over several chunks it receives every step.
    expect(idsOf(queue)).toEqual([]);
    server.last.send(created("e11", "bc-3"));
    await settle();
    server.last.send(event("claimed_offline", "e12", pending("bc-3", offline)));
    await settle();
    expect(queue.current().get("bc-3")).toMatchObject(offline);
    server.last.send(claimed("e13", "bc-3"));
    await settle();
    expect(reading.brief.slice(-3)).toEqual([
      "added bc-3 created",
      "updated bc-3 claimed_offline",
      "removed bc-3 claimed",
    ]);
    queue.stop();
  });

  it("skips an event that can't be read, moves the position, and catches up with the next list", async () => {
    const server = new QueueServer({ list: (index) => page(`s${index + 1}`, index === 0 ? [] : ["bc-9"]) });
    const queue = watch(server.cursor());
    const reading = follow(queue);
    await settle();
    server.last
      .send(event("created", "e1", "{broken"))
      .send(event("created", "e2", "[]"))
      .send(event("claimed", "e3", "null"));
    await settle();
    server.last.cut();
    await server.clock.advance(2_000);
    expect(server.watches.at(-1)?.query["cursor"]).toBe("e3");
    expect(idsOf(queue)).toEqual([]);
    await server.clock.advance(300_000);
    expect(reading.brief).toEqual(["added bc-9 list"]);
    queue.stop();
  });
});

describe("the listing", () => {
  it.each([410, 400])(
    "starts over when a page token expires (%i), and shows nothing of the first half",
    async (status) => {
      const answers = [
        () => page("s1", ["bc-old"], "t1"),
        () => failedResponse(status),
        () => page("s2", ["bc-1"], "t2"),
        () => page("s2", ["bc-2"]),
      ];
      const server = new QueueServer({ list: (index) => answers[index]!() });
      const queue = watch(server.cursor());
      const reading = follow(queue);
      await settle();
      expect(reading.changes).toEqual([]);
      await server.clock.advance(10_000);
      expect(idsOf(queue)).toEqual(["bc-1", "bc-2"]);
      expect(reading.brief).toEqual(["added bc-1 list", "added bc-2 list"]);
      expect(server.lists.map(({ query }) => query["pageToken"])).toEqual([undefined, "t1", undefined, "t2"]);
      expect(server.watches.map(({ query }) => query["cursor"])).toEqual(["s2"]);
      queue.stop();
    },
  );

  it("fails after three listings whose tokens expire, and leaves the view as it was", async () => {
    let isBroken = false;
    const server = new QueueServer({
      list: (_, { query }) => {
        if (!isBroken) return page("s1", ["bc-1"]);
        return query["pageToken"] === undefined ? page("s2", ["bc-2"], "t") : failedResponse(410);
      },
    });
    const queue = watch(server.cursor());
    const reading = follow(queue);
    await queue.synced;
    await settle();
    isBroken = true;
    const before = server.lists.length;
    await server.clock.advance(400_000);
    expect(reading.failure).toMatchObject({ kind: "api", status: 410 });
    expect(server.lists.length - before).toBe(6);
    expect(idsOf(queue)).toEqual(["bc-1"]);
    expect(reading.brief).toEqual(["added bc-1 list"]);
    expect([server.open, server.clock.pending]).toEqual([0, 0]);
  });

  it("requests a page again that fails for a moment, but not the pages before it", async () => {
    const server = new QueueServer({
      list: (index) =>
        index === 0 ? page("s1", ["bc-1"], "t1") : index < 4 ? failedResponse(503) : page("s1", ["bc-2"]),
    });
    const queue = watch(server.cursor());
    await settle();
    expect(idsOf(queue)).toEqual([]);
    await server.clock.advance(20_000);
    expect(idsOf(queue)).toEqual(["bc-1", "bc-2"]);
    expect(server.lists.map(({ query }) => query["pageToken"])).toEqual([undefined, "t1", "t1", "t1", "t1"]);
    queue.stop();
  });

  it("is retried by the loop alone, since two layers of retries would multiply", async () => {
    const server = new QueueServer({ list: () => failedResponse(503) });
    let retries = 0;
    const queue = watch(server.cursor(), { onRetry: () => retries++ });
    await server.clock.advance(60_000);
    expect(server.lists.length).toBe(retries);
    expect(retries).toBeLessThanOrEqual(8);
    queue.stop();
  });

  it.each([
    ["a position that is missing", () => Response.json({ requests: [] })],
    ["a list that is missing", () => Response.json({ streamCursor: "s" })],
    ["a page of markup", () => new Response("<html>", { status: 200 })],
  ])("fails with an invalid response after three attempts: %s", async (_, answer) => {
    const server = new QueueServer({ list: answer });
    const queue = watch(server.cursor());
    const reading = follow(queue);
    await server.clock.advance(60_000);
    expect(reading.failure).toMatchObject({ kind: "api", code: "invalid_response" });
    await expect(queue.synced).rejects.toBe(reading.failure);
    expect(server.lists).toHaveLength(3);
  });

  it("fails when pages name each other, instead of walking forever", async () => {
    const server = new QueueServer({ list: () => page("s1", ["bc-1"], "t1") });
    const reading = follow(watch(server.cursor()));
    await server.clock.advance(60_000);
    expect(reading.failure).toMatchObject({ code: "invalid_response" });
    expect(server.lists.length).toBeLessThanOrEqual(6);
  });
});

describe("a connection that is lost", () => {
  it("a hundred times at once is opened again after growing pauses, one at a time", async () => {
    const server = new QueueServer({
      watch: (connection, index) => (index < 100 ? connection.end() : connection),
    });
    const queue = watch(server.cursor({ random: () => 0 }));
    const reading = follow(queue);
    await server.clock.advance(10_000);
    expect(server.requests.length).toBeLessThanOrEqual(10);
    expect(server.requests.length).toBeGreaterThan(3);
    expect(server.mostOpen).toBeLessThanOrEqual(1);
    await server.clock.advance(600_000);
    expect(server.requests.length).toBeLessThan(70);
    expect(reading.isOver).toBe(false);
    queue.stop();
    const after = server.requests.length;
    await server.clock.advance(60_000);
    expect([server.requests.length, server.clock.pending]).toEqual([after, 0]);
  });

  it.each([
    ["503", () => failedResponse(503)],
    ["429", () => failedResponse(429)],
    ["a page of markup", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
    [
      "no answer at all",
      () => new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNREFUSED" }) }),
    ],
  ])("is retried without a storm and without an error to the reader: %s", async (_, answer) => {
    const server = new QueueServer({ watch: answer });
    const retries: number[] = [];
    const queue = watch(server.cursor(), {
      onRetry: ({ attempt }: { attempt: number }) => retries.push(attempt),
    });
    const reading = follow(queue);
    await server.clock.advance(10_000);
    expect(server.requests.length).toBeLessThanOrEqual(10);
    expect(retries).toEqual([1, 2, 3, 4]);
    expect(reading.isOver).toBe(false);
    queue.stop();
    const after = server.requests.length;
    await server.clock.advance(100_000);
    expect(server.requests.length).toBe(after);
  });

  it("waits as long as Retry-After asks for, up to five minutes", async () => {
    const server = new QueueServer({
      watch: (connection, index) =>
        index === 0 ? failedResponse(429, "", { "retry-after": "100" }) : connection,
    });
    const queue = watch(server.cursor());
    await server.clock.advance(99_000);
    expect(server.watches).toHaveLength(1);
    await server.clock.advance(2_000);
    expect(server.watches).toHaveLength(2);
    queue.stop();
  });

  it("counts as lost after sixty seconds of silence; the next continues at the last heartbeat", async () => {
    const server = new QueueServer();
    const queue = watch(server.cursor());
    const reading = follow(queue);
    await settle();
    const [first] = server.connections;
    first!.send(created("e1", "bc-1"));
    for (const id of ["h1", "h2", "h3"]) {
      await server.clock.advance(20_000);
      first!.send(heartbeat(id));
    }
    await server.clock.advance(59_000);
    expect(server.watches).toHaveLength(1);
    await server.clock.advance(3_000);
    expect(server.watches.map(({ query }) => query["cursor"])).toEqual(["s1", "h3"]);
    expect(first!.isOpen).toBe(false);
    expect(server.mostOpen).toBe(1);
    expect([reading.isOver, idsOf(queue)]).toEqual([false, ["bc-1"]]);
    queue.stop();
  });

  it("continues from the last event, named in the query and in no header", async () => {
    const server = new QueueServer();
    const queue = watch(server.cursor());
    await settle();
    server.last.send(created("e1+/=&x", "bc-1"));
    await settle();
    server.last.cut();
    await server.clock.advance(1_000);
    server.last.send(heartbeat("e2"));
    await settle();
    server.last.end();
    await server.clock.advance(2_000);
    expect(server.watches.map(({ query }) => query["cursor"])).toEqual(["s1", "e1+/=&x", "e2"]);
    expect(server.watches.map(({ headers }) => headers.get("last-event-id"))).toEqual([null, null, null]);
    queue.stop();
  });

  it("after a good connection is opened again soon", async () => {
    const server = new QueueServer({
      watch: (connection, index) => (index < 4 ? connection.end() : connection),
    });
    const queue = watch(server.cursor());
    await server.clock.advance(30_000);
    server.last.send(heartbeat("h"));
    await server.clock.advance(30_000);
    const before = server.watches.length;
    server.last.cut();
    await server.clock.advance(1_000);
    expect(server.watches.length - before).toBe(1);
    queue.stop();
  });

  it("is not opened again after stop() during a pause", async () => {
    const server = new QueueServer({ watch: () => failedResponse(503) });
    const queue = watch(server.cursor());
    const reading = follow(queue);
    await server.clock.advance(3_000);
    const before = server.requests.length;
    queue.stop();
    queue.stop();
    await server.clock.advance(300_000);
    expect([server.requests.length, server.open, server.clock.pending]).toEqual([before, 0, 0]);
    expect([reading.isOver, reading.failure]).toEqual([true, undefined]);
  });
});

describe("a failed response", () => {
  it.each([
    ["the documented body", () => failedResponse(410, { code: "cursor_expired" })],
    ["the usual envelope", () => failedResponse(410, { error: { code: "cursor_expired", message: "m" } })],
    ["no body", () => failedResponse(410, "")],
    ["markup", () => failedResponse(410, "<html>gone</html>")],
  ])("410 with %s leads to a new list", async (_, answer) => {
    const server = new QueueServer({
      list: (index) => page(`s${index + 1}`, [`bc-${index + 1}`]),
      watch: (connection, index) => (index === 0 ? answer() : connection),
    });
    const queue = watch(server.cursor());
    const reading = follow(queue);
    await server.clock.advance(5_000);
    expect(server.lists).toHaveLength(2);
    expect(server.watches.map(({ query }) => query["cursor"])).toEqual(["s1", "s2"]);
    expect(idsOf(queue)).toEqual(["bc-2"]);
    expect(reading.isOver).toBe(false);
    queue.stop();
  });

  it("410 each time does not lead to a storm", async () => {
    const server = new QueueServer({ watch: () => failedResponse(410, { code: "cursor_expired" }) });
    const queue = watch(server.cursor());
    await server.clock.advance(60_000);
    expect(server.lists.length).toBeLessThanOrEqual(7);
    queue.stop();
  });

  it.each([
    ["watch", 400],
    ["watch", 401],
    ["watch", 403],
    ["list", 400],
    ["list", 401],
    ["list", 403],
  ] as const)(
    "to the %s with status %i is final: a typed error, and no further request",
    async (where, status) => {
      const answer = () => failedResponse(status, { error: "Invalid cursor: it is" });
      const server = new QueueServer({ [where]: answer });
      const queue = watch(server.cursor());
      const reading = follow(queue);
      await server.clock.advance(600_000);
      expect(reading.failure).toMatchObject({ kind: "api", status });
      expect([server.lists.length, server.watches.length]).toEqual([1, where === "watch" ? 1 : 0]);
      expect(server.clock.pending).toBe(0);
      // A later reader receives the same error.
      await expect(queue[Symbol.asyncIterator]().next()).rejects.toBe(reading.failure);
    },
  );

  it("ends one watch, and a new watch starts again", async () => {
    const server = new QueueServer({
      list: (index) => (index === 0 ? failedResponse(403) : page("s1", ["bc-1"])),
    });
    const cursor = server.cursor();
    await expect(watch(cursor).synced).rejects.toMatchObject({ status: 403 });
    const queue = watch(cursor);
    await queue.synced;
    expect(idsOf(queue)).toEqual(["bc-1"]);
    queue.stop();
  });
});

describe("the five minutes of a position", () => {
  it("twenty clients that start together list again in time, at different moments, with one socket each", async () => {
    const servers = Array.from(
      { length: 20 },
      () => new QueueServer({ list: (index) => page(`s${index}`, ["bc-1"]) }),
    );
    const queues = servers.map((server, index) => watch(server.cursor({ random: seeded(index) })));
    for (let second = 0; second < 360; second += 20) {
      for (const server of servers) {
        await server.clock.advance(20_000);
        if (server.open > 0) server.last.send(heartbeat(`h${second}`));
      }
    }
    const starts = servers.map(({ lists }) => lists[0]!.at);
    const again = servers.map(({ lists }, index) => lists[1]!.at - starts[index]!);
    expect(Math.max(...again)).toBeLessThan(300_000);
    expect(Math.min(...again)).toBeGreaterThan(180_000);
    expect(Math.max(...again) - Math.min(...again)).toBeGreaterThan(20_000);
    for (const server of servers) {
      expect([server.lists.length, server.mostOpen, server.watches.at(-1)?.query["cursor"]]).toEqual([
        2,
        1,
        "s1",
      ]);
    }
    expect(queues.map(idsOf)).toEqual(queues.map(() => ["bc-1"]));
    for (const queue of queues) queue.stop();
  });

  it("count from the moment the list was requested, however long its pages take", async () => {
    const server = new QueueServer({
      list: async (index) => {
        await new Promise<void>((resolve) => server.clock.setTimeout(resolve, 30_000));
        return index % 2 === 0 ? page("s1", ["bc-1"], "t1") : page("s1", ["bc-2"]);
      },
    });
    const start = server.clock.now();
    const queue = watch(server.cursor({ random: () => 0.999 }));
    for (let step = 0; step < 16; step++) {
      await server.clock.advance(20_000);
      if (server.open > 0) server.last.send(heartbeat(`h${step}`));
    }
    expect(server.lists.length).toBeGreaterThanOrEqual(3);
    expect(server.lists[2]!.at - start).toBeLessThan(300_000);
    queue.stop();
  });

  it("end with a list whose differences arrive as changes, and nothing else", async () => {
    const lists = [
      ["bc-1", "bc-2", "bc-3"],
      ["bc-2", "bc-3", "bc-4"],
    ];
    const server = new QueueServer({
      list: (index) =>
        Response.json({
          streamCursor: `s${index}`,
          requests: lists[index]!.map((id) => pending(id, id === "bc-3" ? { createdAtMs: index } : {})),
        }),
    });
    const queue = watch(server.cursor());
    const reading = follow(queue);
    await settle();
    reading.changes.length = 0;
    server.last.cut(); // the end of the connection does not change what the list shows
    await server.clock.advance(290_000);
    expect(reading.brief.sort()).toEqual(["added bc-4 list", "removed bc-1 list", "updated bc-3 list"]);
    queue.stop();
  });
});
