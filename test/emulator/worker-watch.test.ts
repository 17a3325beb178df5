import { describe, expect, it } from "vitest";
import { drain } from "./helpers.ts";
import { emulateWorkers, readWatch, service, watchFrames } from "./worker-helpers.ts";

const CONNECTED = ": connected\n\n";
const expired = { status: 410, json: { code: "cursor_expired" } };
const unknown = { status: 400, json: { error: expect.stringContaining("cursor is unknown") } };

describe("the watch", () => {
  it("starts with a comment, then replays the events since the list, then follows live", async () => {
    const { emulator, list, open, clock } = emulateWorkers();
    emulator.workers.addRequest({ id: "bc-0" });
    const { streamCursor } = await list();
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu", repo: "acme/app" });
    emulator.workers.expireRequest("bc-0");
    const response = await open(streamCursor);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const watching = readWatch(response);
    expect(await watching.greeting()).toBe(CONNECTED);
    const request = {
      id: "bc-1",
      userId: 42,
      userEmail: "developer@example.com",
      repoOwner: "acme",
      repoName: "app",
      repoUrl: "https://github.com/acme/app",
      labels: [
        { key: "repo", value: "acme/app" },
        { key: "pool", value: "gpu" },
      ],
      createdAtMs: clock.now(),
    };
    expect(await watching.take(2)).toEqual([
      { event: "created", id: expect.any(String), data: request },
      { event: "expired", id: expect.any(String), data: { id: "bc-0" } },
    ]);
    const live = watching.next();
    emulator.workers.addRequest({ id: "bc-2" });
    expect(await live).toMatchObject({ event: "created", data: { id: "bc-2" } });
    expect(emulator.workers.watchers).toBe(1);
    await watching.cancel();
    expect([emulator.workers.watchers, clock.pending]).toEqual([0, 0]);
  });

  it("sends a heartbeat after 20 quiet seconds, which any event postpones", async () => {
    const { emulator, list, watch, clock } = emulateWorkers();
    const watching = await watch((await list()).streamCursor);
    let beat = watching.next();
    await clock.advance(15_000);
    emulator.workers.addRequest({ id: "bc-1" });
    expect((await beat)?.event).toBe("created");
    beat = watching.next();
    let arrived = false;
    void beat.then(() => {
      arrived = true;
    });
    await clock.advance(19_999);
    expect(arrived).toBe(false);
    await clock.advance(1);
    const first = await beat;
    expect(first).toEqual({ event: "heartbeat", id: expect.any(String), data: {} });
    beat = watching.next();
    await clock.advance(20_000);
    const second = await beat;
    expect(second?.event).toBe("heartbeat");
    expect(second?.id).not.toBe(first?.id);
    await watching.cancel();
  });

  it("resumes after the id of any event or heartbeat, from the query or from the header, which wins", async () => {
    const { emulator, list, watch, clock } = emulateWorkers();
    const { streamCursor } = await list();
    for (const id of ["bc-1", "bc-2", "bc-3"]) emulator.workers.addRequest({ id });
    const watching = await watch(streamCursor);
    const events = await watching.take(3);
    const beat = watching.next();
    await clock.advance(20_000);
    const heartbeat = await beat;
    await watching.cancel();
    emulator.workers.addRequest({ id: "bc-4" });

    const firstAfter = async (cursor: string, headers: Record<string, string> = {}) => {
      const again = await watch(cursor, { headers });
      const event = await again.next();
      await again.cancel();
      return event?.data.id;
    };
    expect(await firstAfter(streamCursor)).toBe("bc-1");
    expect(await firstAfter(events[0]?.id as string)).toBe("bc-2");
    expect(await firstAfter(events[1]?.id as string)).toBe("bc-3");
    expect(await firstAfter(heartbeat?.id as string)).toBe("bc-4");
    expect(await firstAfter(streamCursor, { "last-event-id": events[1]?.id as string })).toBe("bc-3");
    expect(await firstAfter("nonsense", { "last-event-id": events[1]?.id as string })).toBe("bc-3");
    expect(await firstAfter(events[0]?.id as string, { "last-event-id": "" })).toBe("bc-2");
  });

  it("sends an event with the same id in every watch of the same list", async () => {
    const { emulator, list, watch, clock } = emulateWorkers();
    const { streamCursor } = await list();
    emulator.workers.addRequest();
    const one = await watch(streamCursor);
    const event = await one.next();
    await clock.advance(1000);
    const other = await watch(streamCursor);
    expect(await other.next()).toEqual(event);
    await one.cancel();
    await other.cancel();
  });

  it("sends only events that its filters match, and moves its position past the rest", async () => {
    const { emulator, list, watch, clock } = emulateWorkers();
    const query = { pool: "gpu", repository: "https://github.com/acme/app" };
    const { streamCursor } = await list(query);
    const watching = await watch(streamCursor, { query });
    const next = watching.next();
    emulator.workers.addRequest({ id: "bc-1", pool: "GPU", repo: "acme/app" });
    emulator.workers.addRequest({ id: "bc-2", pool: "gpu" });
    emulator.workers.addRequest({ id: "bc-3", pool: "gpu", repo: "acme/app" });
    expect((await next)?.data.id).toBe("bc-3");
    emulator.workers.addRequest({ id: "bc-4" });
    const beat = watching.next();
    await clock.advance(20_000);
    const { id } = (await beat) as { id: string };
    emulator.workers.retainEvents(0);
    await watching.cancel();
    const again = await watch(id, { query });
    await again.cancel();
  });

  it("rejects unknown cursors, those of others and those of other filters, and invalid ids", async () => {
    const { list, refused, watch, emulator } = emulateWorkers();
    emulator.workers.addRequest({ pool: "gpu", repo: "acme/app" });
    emulator.workers.addRequest({ pool: "gpu", repo: "acme/app" });
    const { streamCursor, nextPageToken } = await list({ pool: "gpu", limit: "1" });
    const query = { pool: "gpu" };
    await (await watch(streamCursor, { query })).cancel();
    expect(await refused(streamCursor)).toEqual(unknown);
    expect(await refused(streamCursor, { query: { pool: "GPU" } })).toEqual(unknown);
    expect(
      await refused(streamCursor, { query: { ...query, repository: "https://github.com/acme/app" } }),
    ).toEqual(unknown);
    expect(await refused(nextPageToken, { query })).toEqual(unknown);
    expect(await refused("djQuZXhhbXBsZS1vcGFxdWUtY3Vyc29y", { query })).toEqual(unknown);
    expect(await refused(streamCursor, { query, headers: { "last-event-id": "bc-1" } })).toEqual(unknown);
    const other = emulateWorkers();
    other.emulator.workers.addRequest({ pool: "gpu", repo: "acme/app" });
    other.emulator.workers.addRequest({ pool: "gpu", repo: "acme/app" });
    expect(await other.refused(streamCursor, { query })).toEqual(unknown);
    emulator.reset();
    expect(await refused(streamCursor, { query })).toEqual(unknown);
  });

  it("rejects paging and a missing cursor", async () => {
    const { list, refused, call } = emulateWorkers();
    const { streamCursor } = await list();
    for (const query of [{ limit: "1" }, { pageToken: "x" }]) {
      expect((await refused(streamCursor, { query })).status).toBe(400);
    }
    expect((await call("GET", "/pending-requests/stream")).status).toBe(400);
    const header = { "last-event-id": streamCursor };
    expect((await call("GET", "/pending-requests/stream", undefined, header)).status).toBe(400);
  });

  it("ends five minutes after the list, together with all cursors that follow from it", async () => {
    const { emulator, list, watch, open, refused, clock } = emulateWorkers();
    const { streamCursor } = await list();
    await clock.advance(60_000);
    const body = drain(await open(streamCursor));
    await clock.advance(200_000);
    emulator.workers.addRequest({ id: "bc-1" });
    await clock.advance(39_999);
    const late = await watch(streamCursor);
    expect(emulator.workers.watchers).toBe(2);
    await clock.advance(1);
    expect(emulator.workers.watchers).toBe(0);
    const { text, error } = await body;
    expect(error).toBeUndefined();
    const seen = watchFrames(text.slice(CONNECTED.length));
    expect(seen.map(({ event }) => event)).toEqual([
      ...Array<string>(10).fill("heartbeat"),
      "created",
      "heartbeat",
    ]);
    expect((await late.take(2)).map((frame) => frame?.event)).toEqual(["created", undefined]);
    expect(await refused(streamCursor)).toEqual(expired);
    expect(await refused(seen.at(-1)?.id as string)).toEqual(expired);
    expect(await refused("any", { headers: { "last-event-id": streamCursor } })).toEqual(expired);
    await (await watch((await list()).streamCursor)).cancel();
  });

  it("does not reach back beyond the retained window, in events or in time", async () => {
    const { emulator, list, watch, refused, clock } = emulateWorkers();
    const { streamCursor } = await list();
    for (const id of ["bc-1", "bc-2", "bc-3"]) emulator.workers.addRequest({ id });
    const watching = await watch(streamCursor);
    const [first] = await watching.take(1);
    emulator.workers.retainEvents(2);
    expect(await refused(streamCursor)).toEqual(expired);
    await (await watch(first?.id as string)).cancel();
    await clock.advance(1000);
    emulator.workers.addRequest({ id: "bc-4" });
    // This one was reading, too slowly: what it lacks is gone.
    expect(await watching.next()).toBeUndefined();
    expect(await refused(first?.id as string)).toEqual(expired);

    emulator.workers.retainEvents({ ms: 1000 });
    const before = (await list()).streamCursor;
    emulator.workers.addRequest({ id: "bc-5" });
    await clock.advance(1000);
    await (await watch(before)).cancel();
    await clock.advance(1);
    expect(await refused(before)).toEqual(expired);
  });

  it("can be open four times per service account, and again when one has closed", async () => {
    const keys = [
      { key: service, kind: "service-account" as const, serviceAccountId: "sa_one" },
      { key: "sa_same", kind: "service-account" as const, serviceAccountId: "sa_one" },
      { key: "sa_else", kind: "service-account" as const },
    ];
    const { emulator, list, watch, refused } = emulateWorkers({ keys });
    const { streamCursor } = await list();
    const open = [];
    for (let index = 0; index < 4; index++) open.push(await watch(streamCursor));
    for (const apiKey of [service, "sa_same"]) {
      expect(await refused(streamCursor, { apiKey })).toEqual({
        status: 429,
        json: { error: expect.stringMatching(/^Too many streams: /) },
      });
    }
    open.push(await watch(streamCursor, { apiKey: "sa_else" }));
    expect(emulator.workers.watchers).toBe(5);
    await open[0]?.cancel();
    open.push(await watch(streamCursor));
    for (const watching of open) await watching.cancel();
    expect(emulator.workers.watchers).toBe(0);
  });

  it("loses dropped events for good; the list has the requests", async () => {
    const { emulator, list, watch } = emulateWorkers();
    const { streamCursor } = await list();
    emulator.workers.dropNextEvents(2);
    for (const id of ["bc-1", "bc-2", "bc-3"]) emulator.workers.addRequest({ id });
    const watching = await watch(streamCursor);
    expect((await watching.next())?.data.id).toBe("bc-3");
    await watching.cancel();
    expect((await list()).requests).toHaveLength(3);
  });

  it("is subject to cuts, stalls and status faults like every other body", async () => {
    const { emulator, list, open, clock } = emulateWorkers();
    const { streamCursor } = await list();
    for (const id of ["bc-1", "bc-2"]) emulator.workers.addRequest({ id });
    emulator.faults.status("watchPendingRequests", 503);
    expect((await open(streamCursor)).status).toBe(503);
    emulator.faults.cut("watchPendingRequests", { afterEvents: 1 });
    const cut = await drain(await open(streamCursor));
    expect(cut.error?.message).toBe("terminated");
    expect(watchFrames(cut.text.slice(CONNECTED.length))).toHaveLength(1);
    emulator.faults.cut("watchPendingRequests", { afterBytes: 20, clean: true });
    expect(await drain(await open(streamCursor))).toEqual({ text: `${CONNECTED}event: ` });
    emulator.faults.stall("watchPendingRequests", { afterEvents: 2 });
    const watching = readWatch(await open(streamCursor));
    await watching.greeting();
    await watching.take(2);
    let arrived = false;
    void watching.next().then(() => {
      arrived = true;
    });
    await clock.advance(60_000);
    expect([arrived, emulator.workers.watchers]).toEqual([false, 1]);
    await watching.cancel();
    expect(emulator.workers.watchers).toBe(0);
  });

  it("can be cut or ended on demand while it waits", async () => {
    const { emulator, list, open } = emulateWorkers();
    const { streamCursor } = await list();
    const first = drain(await open(streamCursor));
    await new Promise((resolve) => setTimeout(resolve));
    emulator.workers.cutWatchers();
    expect(await first).toMatchObject({ text: CONNECTED, error: { message: "terminated" } });
    const second = drain(await open(streamCursor));
    await new Promise((resolve) => setTimeout(resolve));
    emulator.workers.cutWatchers({ clean: true });
    expect(await second).toEqual({ text: CONNECTED });
    expect(emulator.workers.watchers).toBe(0);
  });

  it("is served over HTTP, and closes when its reader disconnects", async () => {
    const { emulator, list } = emulateWorkers();
    const { streamCursor } = await list();
    await using server = await emulator.listen();
    const response = await fetch(
      `${server.url}/v0/private-workers/pending-requests/stream?cursor=${streamCursor}`,
      {
        headers: { authorization: `Bearer ${service}` },
      },
    );
    const watching = readWatch(response);
    expect(await watching.greeting()).toBe(CONNECTED);
    const next = watching.next();
    emulator.workers.addRequest({ id: "bc-1" });
    expect((await next)?.data.id).toBe("bc-1");
    await watching.cancel();
    await expect.poll(() => emulator.workers.watchers).toBe(0);
  });

  it("ends on reset", async () => {
    const { emulator, list, open, clock } = emulateWorkers();
    emulator.workers.addPool({ poolName: "gpu", offlineReconnectTimeoutSeconds: 60 });
    const body = drain(await open((await list()).streamCursor));
    await new Promise((resolve) => setTimeout(resolve));
    emulator.reset();
    expect(await body).toEqual({ text: CONNECTED });
    expect([emulator.workers.requests, emulator.workers.watchers, clock.pending]).toEqual([[], 0, 0]);
    expect(emulator.workers.pools.every((pool) => pool.offlineReconnectTimeoutSeconds === 0)).toBe(true);
  });
});
