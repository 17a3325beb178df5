import { setImmediate as turn } from "node:timers/promises";
import { ManualClock } from "cursor-cloud-agents/emulator";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { END, failedResponse, REPEAT, SILENT, STALL } from "../support/fake-api.ts";
import { assistant, done, result, status } from "../support/frames.ts";
import { StreamServer } from "../support/stream-server.ts";
import { ask, countingSignal, path, piecewise } from "./support.ts";

const expectNothingLeft = (server: StreamServer, listeners: number, clock = server.clock) => {
  expect(server.openBodies).toBe(0);
  expect(clock.pending).toBe(0);
  expect(listeners).toBe(0);
  // To leave is not to cancel.
  expect(server.requests.map(({ method }) => method)).not.toContain("POST");
};

describe("a browser that leaves", () => {
  const ways = [
    "the body is cancelled",
    "the request is aborted",
    "both, in this order",
    "both, the other way",
  ];
  it.each(ways)("ends the reading at once and leaves no timer or listener: %s", async (way) => {
    const server = new StreamServer([STALL(status(), assistant("1-0", "Hel"))]);
    const { controller, signal, listeners } = countingSignal();
    const request = Object.assign(new Request(path));
    Object.defineProperty(request, "signal", { value: signal });
    const { next, cancel } = piecewise(await server.run(ask(server, { request })));
    for (let count = 0; count < 3; count++) await next();
    const pending = next();
    expect(server.openBodies).toBe(1);
    expect(listeners()).toBe(1);
    const leave = { cancel, abort: async () => controller.abort(new Error("gone")) };
    if (way.startsWith("the body")) await leave.cancel();
    else if (way.startsWith("the request")) await leave.abort();
    else if (way.endsWith("order")) await leave.cancel().then(leave.abort);
    else await leave.abort().then(leave.cancel);
    expect(await pending).toBeUndefined();
    expectNothingLeft(server, listeners());
  });

  it("ends the reading before the API has answered, and the answer is then an ended stream", async () => {
    const server = new StreamServer([SILENT]);
    const { controller, signal, listeners } = countingSignal();
    const request = new Request(path);
    Object.defineProperty(request, "signal", { value: signal });
    const asked = ask(server, { request, openingTimeout: 60_000 });
    await turn();
    expect(listeners()).toBe(1);
    controller.abort();
    const { next } = piecewise(await asked);
    expect(await next()).toBeUndefined();
    await turn();
    expectNothingLeft(server, listeners());
  });

  it("before the route answers is not served: the API is not called", async () => {
    const server = new StreamServer([]);
    const { next } = piecewise(await ask(server, { init: { signal: AbortSignal.abort() } }));
    expect(await next()).toBeUndefined();
    expect(server.requests).toEqual([]);
  });

  it.each([
    ["at its end", [END(status(), result(), done)]],
    ["after a failed response", [failedResponse(404, "run_not_found")]],
    ["after a failure frame", [{ ...failedResponse(404, "run_not_found"), delay: 100 }]],
  ])("leaves no timer or listener %s", async (_, connections) => {
    const server = new StreamServer(connections);
    const { controller, signal, listeners } = countingSignal();
    const request = new Request(path);
    Object.defineProperty(request, "signal", { value: signal });
    await server.run(ask(server, { request }).then((response) => response.text()));
    expectNothingLeft(server, listeners());
    controller.abort();
    await turn();
  });

  it("at the moment when events arrive breaks nothing, in any of 100 orders", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("read", "turn", "tick", "clock", "silence"), { maxLength: 12 }),
        fc.constantFrom("cancel", "abort", "both"),
        fc.array(fc.constantFrom("turn", "tick", "clock", "silence"), { maxLength: 4 }),
        fc.constantFrom(0, 40),
        async (before, way, after, openingTimeout) => {
          const events = Array.from({ length: 9 }, (_, index) => assistant(`${index}-0`, "x"));
          const server = new StreamServer([{ ...END(status(), ...events, result(), done), pace: 20 }]);
          const controller = new AbortController();
          const clock = new ManualClock();
          const asked = ask(server, { clock, openingTimeout, init: { signal: controller.signal } });
          const step = async (kind: string) => {
            if (kind === "turn") await turn();
            else if (kind === "clock") await server.clock.next();
            else if (kind === "silence") await clock.next();
            else await undefined;
          };
          const response = await server.run(asked);
          const { reader } = piecewise(response);
          const reads: Promise<unknown>[] = [];
          for (const kind of before) {
            if (kind === "read") reads.push(reader.read());
            else await step(kind);
          }
          if (way !== "cancel") controller.abort();
          if (way !== "abort") reads.push(reader.cancel());
          for (const kind of after) await step(kind);
          await server.run(Promise.all(reads));
          await turn();
          expectNothingLeft(server, 0, clock);
        },
      ),
      { numRuns: 100 },
    );
    await turn();
  });
});

describe("a browser that doesn't read", () => {
  it("slows the API down: of an endless run no more is taken than was read", async () => {
    let taken = 0;
    const server = new StreamServer([REPEAT(status(), assistant("1-0", "x".repeat(10_000)))]);
    const counting = async (...call: Parameters<typeof server.fetch>) => {
      const response = await server.fetch(...call);
      const reader = response.body!.getReader();
      const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
        const { value, done } = await reader.read();
        taken++;
        if (done) controller.close();
        else controller.enqueue(value);
      };
      const body = new ReadableStream<Uint8Array>(
        { pull, cancel: () => reader.cancel() },
        { highWaterMark: 0 },
      );
      return new Response(body, response);
    };
    const request = new Request(path);
    const { runStreamResponse } = await import("cursor-cloud-agents/serve");
    const cursor = server.cursor({ fetch: counting as typeof globalThis.fetch });
    const options = { request, authorize: () => true, clock: server.clock };
    const { next, cancel } = piecewise(
      await server.run(runStreamResponse(cursor, { agentId: "bc-1", id: "run-1" }, options)),
    );
    for (let read = 0; read < 10; read++) await next();
    const before = taken;
    expect(before).toBeGreaterThan(5);
    expect(before).toBeLessThan(15);
    for (let round = 0; round < 50; round++) await turn();
    await server.clock.advance(10 * 60_000);
    expect(taken - before).toBeLessThanOrEqual(1);
    for (let read = 0; read < 100; read++) await next();
    expect(taken - before).toBeLessThan(105);
    await cancel();
    expect(server.openBodies).toBe(0);
  });
});
