import { describe, expect, it } from "vitest";
import { bodyOf, broken, fake, reply, SILENT, STALL } from "../support/fake-api.ts";
import { status } from "../support/frames.ts";
import { agent, agentId, ref } from "../support/sample-run.ts";
import { failure } from "../support/waiting.ts";

const json = { "content-type": "application/json" };
/** A JSON answer whose body begins and never ends. */
const dripping =
  (onCancel?: () => void, status = 200) =>
  () =>
    new Response(bodyOf(['{"id":'], "stall", onCancel), { status, headers: json });

describe("an abort", () => {
  const reason = new Error("the user left");

  it("before the call sends nothing", async () => {
    const { cursor, requests } = fake(reply(200, agent));
    const signal = AbortSignal.abort(reason);
    expect(await failure(cursor.agents.get(agentId, { signal }))).toBe(reason);
    expect(await failure(cursor.agents.create({ prompt: "x" }, { signal }))).toBe(reason);
    expect(await failure(cursor.agents.list(undefined, { signal }))).toBe(reason);
    expect(await failure(cursor.repositories.list({}, { signal }))).toBe(reason);
    expect(await failure(cursor.artifacts.download(agentId, "artifacts/a", { signal }))).toBe(reason);
    expect(await failure(cursor.runs.stream(ref, { signal }).result())).toBe(reason);
    expect(requests).toHaveLength(0);
  });

  it("before the headers rejects with the reason as it is", async () => {
    const { cursor, requests, clock } = fake(SILENT);
    const controller = new AbortController();
    const call = failure(cursor.agents.get(agentId, { signal: controller.signal }));
    await clock.advance(100);
    controller.abort(reason);
    controller.abort(new Error("again"));
    expect(await call).toBe(reason);
    expect([requests.length, clock.pending]).toEqual([1, 0]);
  });

  it("without a reason is an AbortError", async () => {
    const { cursor, clock } = fake(SILENT);
    const controller = new AbortController();
    const call = failure(cursor.agents.get(agentId, { signal: controller.signal }));
    await clock.advance(1);
    controller.abort();
    expect((await call).name).toBe("AbortError");
  });

  it("ends a call whose fetch ignores the signal, and cancels the body of the late response", async () => {
    let answer: (response: Response) => void = () => {};
    let cancelled = 0;
    const { cursor, clock } = fake(() => new Promise<Response>((resolve) => (answer = resolve)));
    const controller = new AbortController();
    const call = failure(cursor.agents.get(agentId, { signal: controller.signal }));
    await clock.advance(1);
    controller.abort(reason);
    expect(await call).toBe(reason);
    answer(new Response(bodyOf(["{}"], "stall", () => cancelled++)));
    await clock.advance(1);
    expect(cancelled).toBe(1);
  });

  it.each([200, 500])(
    "inside the body of a %i cancels the body, even when fetch ignores the signal",
    async (status) => {
      let cancelled = 0;
      const { cursor, requests, clock } = fake(dripping(() => cancelled++, status));
      const controller = new AbortController();
      const call = failure(cursor.agents.get(agentId, { signal: controller.signal }));
      await clock.advance(100);
      controller.abort(reason);
      expect(await call).toBe(reason);
      expect([cancelled, requests.length, clock.pending]).toEqual([1, 1, 0]);
    },
  );

  it("of a silent stream cancels the body, even when fetch ignores the signal, and does not cancel the run", async () => {
    let cancelled = 0;
    const { cursor, requests, clock } = fake(
      () =>
        new Response(
          bodyOf([status()], "stall", () => cancelled++),
          {
            headers: { "content-type": "text/event-stream" },
          },
        ),
    );
    const controller = new AbortController();
    const events = cursor.runs.stream(ref, { signal: controller.signal })[Symbol.asyncIterator]();
    expect((await events.next()).value.type).toBe("status");
    const next = failure(events.next());
    await clock.advance(100);
    controller.abort(reason);
    expect(await next).toBe(reason);
    expect(cancelled).toBe(1);
    expect(requests.map(({ method }) => method)).toEqual(["GET"]);
  });

  it("after the call is over does nothing", async () => {
    const { cursor } = fake(reply(200, agent));
    const controller = new AbortController();
    const call = cursor.agents.get(agentId, { signal: controller.signal });
    await call;
    controller.abort(reason);
    expect((await call).id).toBe(agentId);
  });

  it("leaves no listener on a signal that outlives the call", async () => {
    const { signal } = new AbortController();
    const listeners: unknown[] = [];
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (type: string, listener: () => void) => {
      listeners.push(listener);
      add(type, listener);
    };
    signal.removeEventListener = (type: string, listener: () => void) => {
      listeners.splice(listeners.indexOf(listener), 1);
      remove(type, listener);
    };
    const { cursor, run } = fake([broken(), reply(503), reply(200, agent), reply(404)]);
    await run(cursor.agents.get(agentId, { signal }));
    await run(failure(cursor.agents.get(agentId, { signal })));
    expect(listeners).toEqual([]);
  });
});

describe("a timeout", () => {
  it("without an answer has the phase connect, and a GET gets another attempt", async () => {
    const { cursor, requests, clock, fails } = fake(SILENT);
    const begin = clock.now();
    const error = await fails(cursor.agents.get(agentId, { maxRetries: 1 }));
    expect([error.kind, error.phase, requests.length]).toEqual(["timeout", "connect", 2]);
    expect(error.message).toBe(`GET /v1/agents/${agentId}: no answer within 60000 ms`);
    expect(clock.now() - begin).toBe(120_250);
    expect(requests.every(({ signal }) => signal.aborted)).toBe(true);
  });

  it("in the body of a success has the phase body, and cancels the body", async () => {
    let cancelled = 0;
    const { cursor, fails } = fake(
      dripping(() => cancelled++),
      { timeout: 5_000, maxRetries: 0 },
    );
    const error = await fails(cursor.agents.get(agentId));
    expect([error.kind, error.phase, cancelled]).toEqual(["timeout", "body", 1]);
  });

  it("does not apply to the body of a failed response, which ends after two seconds: the status is what counts", async () => {
    for (const status of [400, 401, 404, 409, 500]) {
      let cancelled = 0;
      const { cursor, fails, clock, requests } = fake(
        dripping(() => cancelled++, status),
        { maxRetries: 0 },
      );
      const begin = clock.now();
      const error = await fails(cursor.runs.create(agentId, { prompt: "x" }));
      expect([error.kind, error.status, error.body, cancelled]).toEqual(["api", status, '{"id":', 1]);
      // After a 4xx the server has not acted, however the body ends.
      expect(error.outcome).toBe(status < 500 ? undefined : "unknown");
      expect([clock.now() - begin, requests.length]).toEqual([2_000, 1]);
    }
  });

  it("covers headers and body together, even when the body keeps arriving", async () => {
    const { cursor, clock, fails, requests } = fake(
      () => {
        const body = new ReadableStream<Uint8Array>({
          async pull(controller) {
            await new Promise<void>((resolve) => clock.setTimeout(resolve, 900));
            controller.enqueue(new Uint8Array([32]));
          },
        });
        return new Response(body, { headers: json });
      },
      { timeout: 5_000, maxRetries: 0 },
    );
    const begin = clock.now();
    expect((await fails(cursor.me())).phase).toBe("body");
    expect([clock.now() - begin, requests.length]).toEqual([5_000, 1]);
  });

  it.each([
    ["a GET", 60_000, (c: ReturnType<typeof fake>["cursor"]) => c.me()],
    ["a create", 180_000, (c: ReturnType<typeof fake>["cursor"]) => c.agents.create({ prompt: "x" })],
    [
      "a follow-up",
      180_000,
      (c: ReturnType<typeof fake>["cursor"]) => c.runs.create(agentId, { prompt: "x" }),
    ],
    ["repositories", 120_000, (c: ReturnType<typeof fake>["cursor"]) => c.repositories.list()],
  ])("of %s is %i ms, unless the client says otherwise", async (_, usual, call) => {
    const { cursor, clock, fails } = fake(SILENT, { maxRetries: 0 });
    const begin = clock.now();
    expect((await fails(call(cursor))).kind).toBe("timeout");
    expect(clock.now() - begin).toBe(usual);
    const other = fake(SILENT, { maxRetries: 0, timeout: 700 });
    const from = other.clock.now();
    await other.fails(call(other.cursor));
    expect(other.clock.now() - from).toBe(700);
  });

  it("of a call wins over the client's; Infinity means none", async () => {
    const { cursor, clock, fails } = fake(SILENT, { maxRetries: 0, timeout: 700 });
    const begin = clock.now();
    await fails(cursor.me({ timeout: 50 }));
    expect(clock.now() - begin).toBe(50);
    const controller = new AbortController();
    const call = failure(cursor.me({ timeout: Number.POSITIVE_INFINITY, signal: controller.signal }));
    await clock.advance(10 ** 9);
    expect(clock.pending).toBe(0);
    controller.abort(1);
    expect(await call).toBe(1);
  });

  it("leaves no timer behind a call that is over", async () => {
    const { cursor, clock, run } = fake([reply(200, agent), reply(404), broken(), reply(200, agent)]);
    await run(cursor.agents.get(agentId));
    await run(failure(cursor.agents.get(agentId)));
    await run(cursor.agents.get(agentId));
    expect(clock.pending).toBe(0);
  });

  it("of a stream covers its headers only", async () => {
    const { cursor, clock } = fake([STALL(status())], { timeout: 1_000 });
    const reader = cursor.runs.stream(ref, { idleTimeout: Number.POSITIVE_INFINITY });
    const events = reader[Symbol.asyncIterator]();
    await events.next();
    let settled = false;
    const next = events.next().finally(() => (settled = true));
    await clock.advance(3_600_000);
    expect(settled).toBe(false);
    reader.close();
    await next.catch(() => {});
  });

  it("of a cancel whose answer never comes is its own; the run's stream goes on", async () => {
    const { cursor, fails } = fake((request) =>
      request.method === "POST" ? SILENT : STALL(status(), status()),
    );
    const reader = cursor.runs.stream(ref, { idleTimeout: Number.POSITIVE_INFINITY });
    const events = reader[Symbol.asyncIterator]();
    await events.next();
    const error = await fails(cursor.runs.cancel(ref, { timeout: 2_000 }));
    expect([error.kind, error.outcome, error.runId]).toEqual(["timeout", "unknown", ref.id]);
    reader.close();
  });
});

it("a key function that takes longer than the timeout sends nothing when it is done", async () => {
  let give: (key: string) => void = () => {};
  const apiKey = () => new Promise<string>((resolve) => (give = resolve));
  const { cursor, requests, clock, fails } = fake(reply(200, agent), { apiKey, maxRetries: 0 });
  const error = await fails(cursor.runs.create(agentId, { prompt: "x" }, { timeout: 1_000 }));
  expect([error.kind, error.phase]).toEqual(["timeout", "connect"]);
  give("key_TEST");
  await clock.advance(10);
  expect(requests).toHaveLength(0);
});

describe("the body of a response that is followed by another attempt", () => {
  it("is read to its end or cancelled, each time", async () => {
    const ended: number[] = [];
    const big = (index: number) => () =>
      new Response(
        bodyOf(Array(20).fill("x".repeat(64 * 1024)), "end", () => ended.push(index)),
        { status: 503 },
      );
    const { cursor, run } = fake([big(0), big(1), reply(200, agent)]);
    await run(cursor.agents.get(agentId));
    expect(ended).toEqual([0, 1]);
  });
});

it("a POST that was never sent, because its key never came, has no unknown outcome", async () => {
  const apiKey = () => new Promise<string>(() => {});
  const { cursor, requests, fails } = fake(reply(200, agent), { apiKey });
  const error = await fails(cursor.runs.create(agentId, { prompt: "x" }));
  expect([error.kind, error.outcome]).toEqual(["timeout", undefined]);
  expect(requests).toEqual([]);
});
