import type { RunStream } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import { CUT, END, failedResponse, htmlPage, SILENT, STALL, UNREACHABLE } from "../support/fake-api.ts";
import { assistant, brief, done, result, status } from "../support/frames.ts";
import { ref } from "../support/sample-run.ts";
import { StreamServer } from "../support/stream-server.ts";
import { collect } from "../support/waiting.ts";

const ending = result() + done;
const hel = assistant("100-0", "Hel");
const reason = new Error("the caller's own");

describe("an abort", () => {
  it.each([
    ["before headers", [SILENT]],
    ["between events", [STALL(status(), hel)]],
    ["during a backoff", [UNREACHABLE]],
    ["during a long Retry-After", [failedResponse(429, "rate_limited", { "retry-after": "300" })]],
    ["while the run is polled", [failedResponse(410, "stream_expired")]],
    ["while done is awaited", [STALL(result())]],
  ])("%s rejects at once with the caller's reason, once", async (_name, connections) => {
    const server = new StreamServer(connections, { runs: ["RUNNING"] });
    const controller = new AbortController();
    const stream = server.cursor().runs.stream(ref, { signal: controller.signal });
    const settled: unknown[] = [];
    const reading = collect(stream).catch((error: unknown) => settled.push(error));
    await server.clock.advance(100);
    const { length } = server.requests;
    controller.abort(reason);
    controller.abort(new Error("the second one is ignored"));
    await reading;
    expect(settled).toEqual([reason]);
    await server.clock.advance(600_000);
    expect(server.requests).toHaveLength(length);
    expect(server.clock.pending).toBe(0);
    expect(server.openBodies).toBe(0);
    expect(server.requests.filter(({ method }) => method !== "GET")).toEqual([]); // the run goes on
  });

  it("after the end changes nothing", async () => {
    const server = new StreamServer([END(status(), hel, ending)]);
    const controller = new AbortController();
    const stream = server.cursor().runs.stream(ref, { signal: controller.signal });
    await server.run(collect(stream));
    controller.abort(reason);
    expect(await stream.result()).toMatchObject({ status: "FINISHED" });
  });

  it("before the call sends nothing", async () => {
    const server = new StreamServer([]);
    const stream = server.cursor().runs.stream(ref, { signal: AbortSignal.abort(reason) });
    await expect(collect(stream)).rejects.toBe(reason);
    await expect(stream.result()).rejects.toBe(reason);
    await expect(collect(stream.text())).rejects.toBe(reason);
    await expect(stream.toReadableStream().getReader().read()).rejects.toBe(reason);
    expect(server.requests).toHaveLength(0);
  });

  it("inside the loop body ends the loop with the reason, not as if complete", async () => {
    const server = new StreamServer([END(status(), hel, ending)]);
    const controller = new AbortController();
    const stream = server.cursor().runs.stream(ref, { signal: controller.signal });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const event of stream) {
        seen.push(brief(event));
        controller.abort(reason);
      }
    })();
    await expect(reading).rejects.toBe(reason);
    expect(seen).toEqual(["status RUNNING"]);
    expect(server.openBodies).toBe(0);
  });

  it.each([undefined, null, 0, "text"])("with the reason %s comes back as it is", async (value) => {
    const server = new StreamServer([STALL(status())]);
    const controller = new AbortController();
    const reading = collect(server.cursor().runs.stream(ref, { signal: controller.signal })).catch(
      (error) => error,
    );
    await server.clock.advance(1);
    controller.abort(value);
    const error = await reading;
    if (value === undefined) expect(error).toMatchObject({ name: "AbortError" });
    else expect(error).toBe(value);
  });

  it("reaches a body whose fetch does not listen any more", async () => {
    const server = new StreamServer([STALL(status())], { deaf: true });
    const controller = new AbortController();
    const reading = collect(server.cursor().runs.stream(ref, { signal: controller.signal }));
    const rejected = expect(reading).rejects.toBe(reason);
    await server.clock.advance(1);
    controller.abort(reason);
    await rejected;
    expect(server.streams[0]).toMatchObject({ cancelled: 1, open: false });
  });

  it("and a new stream in the same tick are two requests that don't touch each other", async () => {
    const server = new StreamServer([STALL(status()), END(status(), hel, ending)]);
    const { runs } = server.cursor();
    const controller = new AbortController();
    const first = collect(runs.stream(ref, { signal: controller.signal })).catch((error: unknown) => error);
    await server.clock.advance(1);
    controller.abort(reason);
    const second = collect(runs.stream(ref));
    expect(await first).toBe(reason);
    expect(await server.run(second)).toHaveLength(4);
    await server.clock.advance(60_000);
    expect(server.requests).toHaveLength(2);
  });

  it("leaves no listener on a signal that many streams share", async () => {
    const controller = new AbortController();
    let listeners = 0;
    const { signal } = controller;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...input: Parameters<typeof add>) => {
      listeners++;
      add(...input);
    };
    signal.removeEventListener = (...input: Parameters<typeof remove>) => {
      listeners--;
      remove(...input);
    };
    for (let round = 0; round < 20; round++) {
      const server = new StreamServer([CUT(status(), hel), htmlPage(503), END(status(), ending)]);
      await server.run(server.cursor().runs.stream(ref, { signal }).result());
    }
    expect(listeners).toBe(0);
  });
});

describe("leaving early", () => {
  const leave: [string, (stream: RunStream) => Promise<unknown>][] = [
    [
      "break",
      async (stream) => {
        for await (const _event of stream) break;
      },
    ],
    [
      "a throw",
      (stream) =>
        (async () => {
          for await (const _event of stream) throw reason;
        })().catch(() => {}),
    ],
    [
      "return()",
      async (stream) => {
        const iterator = stream[Symbol.asyncIterator]();
        await iterator.next();
        await iterator.return?.();
      },
    ],
    [
      "cancel()",
      async (stream) => {
        const reader = stream.toReadableStream().getReader();
        await reader.read();
        await reader.cancel();
      },
    ],
    [
      "leaving text()",
      async (stream) => {
        for await (const _text of stream.text()) break;
      },
    ],
    [
      "await using",
      async (opened) => {
        await using stream = opened;
        await stream[Symbol.asyncIterator]().next();
      },
    ],
    [
      "close()",
      async (stream) => {
        await stream[Symbol.asyncIterator]().next();
        stream.close();
      },
    ],
  ];

  it.each(leave)("by %s frees the connection and never cancels the run", async (_name, go) => {
    const server = new StreamServer([STALL(status(), hel)]);
    await go(server.cursor().runs.stream(ref));
    await server.clock.advance(600_000);
    expect(server.requests).toHaveLength(1);
    expect(server.openBodies).toBe(0);
    expect(server.streams[0]?.cancelled).toBe(1);
    expect(server.clock.pending).toBe(0);
  });
});

describe("bodies that nobody reads", () => {
  it.each([
    ["a stalled one", STALL(hel)],
    ["one of the wrong type", { ...STALL("<html>"), headers: { "content-type": "text/html" } }],
  ])("are ended before the next connection: %s", async (_name, connection) => {
    const server = new StreamServer((_request, index) => {
      expect(server.openBodies).toBe(0);
      return index === 6 ? END(hel, ending) : connection;
    });
    await server.run(collect(server.cursor().runs.stream(ref)));
    expect(server.streams.slice(0, 6).map(({ cancelled }) => cancelled)).toEqual([1, 1, 1, 1, 1, 1]);
  });

  it("of failed responses don't delay them: they are read to a limit, and within the timeout", async () => {
    const slow = { ...htmlPage(503), chunks: [new Uint8Array(64 * 1024 + 1)], ending: "stall" as const };
    const server = new StreamServer([slow, slow, END(hel, ending)]);
    await server.run(collect(server.cursor().runs.stream(ref)));
    expect(server.streams.slice(0, 2)).toMatchObject([{ cancelled: 1 }, { cancelled: 1 }]);
    expect(server.openBodies).toBe(0);
  });
});
