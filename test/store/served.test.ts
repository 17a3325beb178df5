import { Cursor } from "cursor-cloud-agents";
import { CursorEmulator, ManualClock } from "cursor-cloud-agents/emulator";
import { runStreamResponse } from "cursor-cloud-agents/serve";
import { createRunStore, memoryStorage, type RunStore, routeSource } from "cursor-cloud-agents/store";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

/** A page, its own server and the API behind it: all but the network between them. */
async function world(options: { maxDuration?: number; cut?: () => number | undefined } = {}) {
  const clock = new ManualClock();
  const emulator = new CursorEmulator({ clock });
  emulator.script(
    () => true,
    (run) =>
      run
        .thinking("Let me see – ")
        .text("Hel")
        .tool("read", { path: "x" }, "y")
        .hold("more")
        .text("lo ")
        .wait(40_000)
        .text("wörld 🙂")
        .finish({ branch: "cursor/x" }),
  );
  const cursor = new Cursor({ apiKey: "key_TEST", fetch: emulator.fetch, clock });
  const { run } = await clock.run(cursor.agents.create({ prompt: "Hi" }));
  const requests: Request[] = [];
  const statuses: number[] = [];
  /** The page's fetch: its server's answer, whose body may break after so many bytes. */
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    requests.push(request);
    const maxDuration = options.maxDuration;
    const response = await runStreamResponse(cursor, run, {
      request,
      authorize: () => true,
      clock,
      ...(maxDuration ? { maxDuration } : {}),
    });
    statuses.push(response.status);
    let left = options.cut?.();
    if (left === undefined || !response.body) return response;
    const cutter = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        controller.enqueue(chunk.slice(0, left));
        left! -= chunk.length;
        if (left! <= 0) controller.error(new TypeError("terminated"));
      },
    });
    return new Response(response.body.pipeThrough(cutter), response);
  };
  const storage = memoryStorage();
  const open = (): RunStore => {
    const source = routeSource("https://app.test/api/run", { fetch, clock, random: () => 0.5 });
    const store = createRunStore(source, { storage, clock });
    store.start();
    return store;
  };
  return { clock, emulator, cursor, run, requests, statuses, open, storage };
}

const whole = {
  status: "ready",
  connection: "closed",
  runStatus: "FINISHED",
  text: "Hello wörld 🙂",
  parts: [
    { type: "reasoning", text: "Let me see – " },
    { type: "text", text: "Hel" },
    { type: "tool", name: "read", status: "completed", args: { path: "x" } },
    { type: "text", text: "lo wörld 🙂" },
  ],
};

describe("a run that a page's own server sends", () => {
  it("is shown whole, over a reload in the middle, and asked for no more once it is over", async () => {
    const { open, clock, emulator, requests, run, statuses } = await world();
    const first = open();
    await clock.advance(3_000);
    expect(first.getSnapshot()).toMatchObject({
      status: "streaming",
      connection: "open",
      text: "Hel",
      runId: run.id,
    });
    first.stop();
    const second = open();
    expect(second.getSnapshot().text).toBe("Hel");
    emulator.release("more");
    await clock.advance(60_000);
    expect(second.getSnapshot()).toMatchObject(whole);
    expect(second.getSnapshot().result).toMatchObject({
      status: "FINISHED",
      git: { branches: [{ branch: "cursor/x" }] },
    });
    expect(requests).toHaveLength(2);
    expect(statuses).toEqual([200, 200]);
    expect(requests.map(({ headers }) => headers.has("last-event-id"))).toEqual([false, true]);
    open();
    expect(requests).toHaveLength(2);
    expect(clock.pending).toBe(0);
  });

  it("goes on when the platform ends each response after a while", async () => {
    const { open, clock, emulator, requests } = await world({ maxDuration: 5_000 });
    emulator.release("more");
    const store = open();
    await clock.advance(90_000);
    expect(store.getSnapshot()).toMatchObject(whole);
    expect(requests.length).toBeGreaterThan(4);
  });

  it("starts again where the API no longer knows the position", async () => {
    const { open, clock, emulator, storage, requests } = await world();
    storage.set(
      "https://app.test/api/run",
      JSON.stringify({
        version: 1,
        key: "https://app.test/api/run",
        record: { position: "lost-0", parts: [{ type: "text", id: "text-0", text: "old" }] },
      }),
    );
    const store = open();
    expect(store.getSnapshot().text).toBe("old");
    emulator.release("more");
    await clock.advance(90_000);
    expect(requests[0]!.headers.get("last-event-id")).toBe("lost-0");
    expect(store.getSnapshot()).toMatchObject(whole);
  });

  it("is over at once for a page that comes with the last position", async () => {
    const { open, clock, emulator, run, statuses, storage } = await world();
    emulator.release("more");
    open();
    await clock.advance(90_000);
    storage.set(
      "https://app.test/api/run",
      JSON.stringify({
        version: 1,
        key: "https://app.test/api/run",
        record: { position: `end:${run.id}`, parts: [] },
      }),
    );
    const store = open();
    await clock.advance(0);
    expect(statuses.at(-1)).toBe(204);
    expect(store.getSnapshot()).toMatchObject({ status: "ready", error: undefined });
  });

  it("fails for good where there is no such run", async () => {
    const { clock, cursor } = await world();
    const strange = {
      agentId: "bc-00000000-0000-0000-0000-0000000000ff",
      id: "run-00000000-0000-0000-0000-0000000000ff",
    };
    const fetch: typeof globalThis.fetch = (input, init) =>
      runStreamResponse(cursor, strange, { request: new Request(input, init), authorize: () => true, clock });
    const store = createRunStore(routeSource("https://app.test/api/run", { fetch, clock }), { clock });
    store.start();
    await clock.advance(10_000);
    expect(store.getSnapshot()).toMatchObject({ status: "error", error: { kind: "api", status: 404 } });
    expect(clock.pending).toBe(0);
  });

  it("is shown once and whole, wherever its connections break", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 900 }), { maxLength: 8 }), async (cuts) => {
        const left = [...cuts];
        const { open, clock, emulator } = await world({ cut: () => left.shift() });
        emulator.release("more");
        const store = open();
        await clock.advance(400_000);
        expect(store.getSnapshot()).toMatchObject(whole);
      }),
      { numRuns: 40, seed: 3 },
    );
  }, 60_000);
});
