import { Cursor, type PendingRequest } from "cursor-cloud-agents";
import { type CursorEmulator, type EmulatorOptions, ManualClock } from "cursor-cloud-agents/emulator";
import {
  type ControllerClaim,
  controlRequests,
  type RequestControllerOptions,
} from "cursor-cloud-agents/workers";
import { describe, expect, it } from "vitest";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { settle } from "../support/waiting.ts";

type Start = RequestControllerOptions["start"];

/** A controller over an emulator; workers get the names `pw_1`, `pw_2`, … */
function stage(options: Partial<RequestControllerOptions> & { emulator?: EmulatorOptions } = {}) {
  const { emulator: emulatorOptions, start = () => {}, ...rest } = options;
  const clock = new ManualClock();
  const emulator = checkedEmulator({ clock, ...emulatorOptions });
  const cursor = new Cursor({ apiKey: "sa_service", fetch: emulator.fetch, clock, random: () => 0.5 });
  const started: { id: string; claim: ControllerClaim }[] = [];
  const errors: { error: unknown; id: string | undefined }[] = [];
  let workers = 0;
  const run = (more: Partial<RequestControllerOptions> = {}) =>
    controlRequests(cursor, {
      filters: { pool: "gpu" },
      concurrency: 10,
      claim: () => `pw_${++workers}`,
      start: (request, claim, context) => {
        started.push({ id: request.id, claim });
        return start(request, claim, context);
      },
      onError: (error, request) => errors.push({ error, id: request?.id }),
      ...rest,
      ...more,
    });
  const sent = (operationId: string) =>
    emulator.requests.filter((request) => request.operationId === operationId).length;
  return { clock, emulator, cursor, started, errors, run, sent };
}

const stateOf = (emulator: CursorEmulator, id: string) => {
  const request = emulator.workers.requests.find((candidate) => candidate.id === id);
  return [request?.state, request?.claimedWorkerId];
};

describe("a controller", () => {
  it("claims the requests that wait and that arrive, once each, and hands each to start with its worker", async () => {
    const { clock, emulator, started, errors, run, sent } = stage();
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
    emulator.workers.addRequest({ id: "bc-other", pool: "cpu" });
    const controller = run();
    await clock.advance(1_000);
    emulator.workers.addRequest({ id: "bc-2", pool: "gpu" });
    await clock.advance(600_000);
    expect(started).toEqual([
      { id: "bc-1", claim: { id: "bc-1", workerId: "pw_1" } },
      { id: "bc-2", claim: { id: "bc-2", workerId: "pw_2" } },
    ]);
    expect([stateOf(emulator, "bc-1"), stateOf(emulator, "bc-other")]).toEqual([
      ["claimed", "pw_1"],
      ["pending", undefined],
    ]);
    expect([sent("claimPendingRequest"), sent("releaseClaim"), errors]).toEqual([2, 0, []]);
    await controller.stop();
    await controller.done;
    expect([emulator.workers.watchers, clock.pending]).toEqual([0, 0]);
  });

  it("handles no more requests at once than its concurrency", async () => {
    let most = 0;
    let now = 0;
    const finish: (() => void)[] = [];
    const start: Start = () => {
      most = Math.max(most, ++now);
      return new Promise<void>((resolve) => finish.push(resolve)).then(() => void now--);
    };
    const { clock, emulator, started, run } = stage({ concurrency: 3, start });
    for (let id = 0; id < 8; id++) emulator.workers.addRequest({ id: `bc-${id}`, pool: "gpu" });
    const controller = run();
    await clock.advance(1_000);
    expect(started).toHaveLength(3);
    while (started.length < 8) {
      finish.shift()?.();
      await settle();
    }
    expect([most, new Set(started.map(({ id }) => id)).size]).toEqual([3, 8]);
    for (const end of finish) end();
    await controller.stop();
  });

  it("reports no error when another controller was faster, and doesn't try again", async () => {
    const { clock, emulator, cursor, started, errors, run, sent } = stage();
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
    const controller = run({
      claim: async () => {
        await cursor.workers.claims.create({ id: "bc-1", workerId: "pw_faster" });
        return "pw_late";
      },
    });
    await clock.advance(700_000);
    expect([started, errors, sent("claimPendingRequest")]).toEqual([[], [], 2]);
    await controller.stop();
  });

  it("claims a request whose other claim has ended", async () => {
    const { clock, emulator, cursor, started, run } = stage();
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
    await cursor.workers.claims.create({ id: "bc-1", workerId: "pw_other" });
    const controller = run();
    await clock.advance(1_000);
    expect(started).toEqual([]);
    await cursor.workers.claims.release("bc-1");
    await clock.advance(1_000);
    expect(started).toHaveLength(1);
    // And again, when its own worker never connected and the claim was released.
    await cursor.workers.claims.release("bc-1");
    await clock.advance(1_000);
    expect(started.map(({ claim }) => claim.workerId)).toEqual(["pw_1", "pw_2"]);
    await controller.stop();
  });

  it("asks again for what was declined", async () => {
    let hasRoom = false;
    const { clock, emulator, started, run, sent } = stage({ claim: () => (hasRoom ? "pw_1" : undefined) });
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
    const controller = run();
    await clock.advance(30_000);
    expect([started, sent("claimPendingRequest")]).toEqual([[], 0]);
    hasRoom = true;
    await clock.advance(60_000);
    expect(started).toHaveLength(1);
    await controller.stop();
  });
});

describe("a request that was declined", () => {
  it("is handled at once when it changes", async () => {
    const asked: number[] = [];
    const { clock, emulator, cursor, started, run } = stage({
      claim: () => (asked.push(clock.now()) === 1 ? undefined : "pw_1"),
    });
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
    const controller = run();
    await clock.advance(500);
    await cursor.workers.claims.create({ id: "bc-1", workerId: "pw_other" });
    await cursor.workers.claims.release("bc-1");
    await clock.advance(500);
    expect([asked.length, started.length]).toEqual([2, 1]);
    await controller.stop();
  });
});

describe("a request that could not be started", () => {
  it("is released, and handled again after growing pauses", async () => {
    const attempts: number[] = [];
    const { clock, emulator, started, errors, run, sent } = stage({
      start: () => {
        attempts.push(clock.now());
        if (attempts.length < 4) throw new Error("no capacity");
      },
    });
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
    const controller = run();
    await clock.advance(120_000);
    expect(started.map(({ claim }) => claim.workerId)).toEqual(["pw_1", "pw_2", "pw_3", "pw_4"]);
    expect(attempts.slice(1).map((at, index) => at - attempts[index]!)).toEqual([1_500, 3_000, 6_000]);
    expect([sent("releaseClaim"), errors.length]).toEqual([3, 3]);
    expect(errors[0]).toMatchObject({ error: { message: "no capacity" }, id: "bc-1" });
    expect(stateOf(emulator, "bc-1")).toEqual(["claimed", "pw_4"]);
    await controller.stop();
  });

  it("with { fail }, the waiting user reads the message, and the request is not handled again", async () => {
    const { clock, emulator, started, errors, run, sent } = stage({
      start: () => ({ fail: "No machine of this kind" }),
    });
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
    const controller = run();
    await clock.advance(400_000);
    expect(emulator.workers.requests[0]).toMatchObject({ state: "idle", failure: "No machine of this kind" });
    expect([started.length, errors, sent("failClaim"), sent("releaseClaim")]).toEqual([1, [], 1, 0]);
    await controller.stop();
  });

  it("with { fail } on a server without that endpoint, is released", async () => {
    const { clock, emulator, run, sent } = stage({ start: () => ({ fail: "No machine" }) });
    emulator.faults.status("failClaim", 404, { times: Number.POSITIVE_INFINITY });
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
    const controller = run();
    await clock.advance(500);
    expect([sent("failClaim"), sent("releaseClaim")]).toEqual([1, 1]);
    await controller.stop();
  });

  it("is released once, and a release that finds no claim is not an error", async () => {
    const { clock, emulator, cursor, errors, run, sent } = stage({
      start: async () => {
        await cursor.workers.claims.release("bc-1");
        throw new Error("mine");
      },
    });
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
    const controller = run();
    await clock.advance(500);
    expect(sent("releaseClaim")).toBe(2);
    expect(errors.map(({ error }) => (error as Error).message)).toEqual(["mine"]);
    await controller.stop();
  });
});

describe("a claim whose answer was lost", () => {
  it("and that was made has left the list: its worker is started, and the claim marked as unsure", async () => {
    const { clock, emulator, started, errors, run, sent } = stage();
    emulator.faults.dropAnswer("claimPendingRequest");
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
    const controller = run();
    await clock.advance(600_000);
    expect(started).toEqual([{ id: "bc-1", claim: { id: "bc-1", workerId: "pw_1", outcome: "unknown" } }]);
    expect(stateOf(emulator, "bc-1")).toEqual(["claimed", "pw_1"]);
    expect(sent("claimPendingRequest")).toBe(1);
    expect(errors).toEqual([{ id: "bc-1", error: expect.objectContaining({ outcome: "unknown" }) }]);
    await controller.stop();
  });

  it("and that never arrived is still listed as unclaimed: it is made again for the same worker", async () => {
    const { clock, emulator, started, run, sent } = stage();
    emulator.faults.dropRequest("claimPendingRequest");
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
    const controller = run();
    await clock.advance(600_000);
    expect(started).toEqual([{ id: "bc-1", claim: { id: "bc-1", workerId: "pw_1" } }]);
    expect(sent("claimPendingRequest")).toBe(2);
    await controller.stop();
  });

  it.each([
    [404, []],
    [409, [{ id: "bc-1", claim: { id: "bc-1", workerId: "pw_1", outcome: "unknown" } }]],
  ])("and whose second attempt gets a %i is settled by it", async (status, expected) => {
    const { clock, emulator, started, run, sent } = stage();
    emulator.faults.dropRequest("claimPendingRequest");
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
    // The first fault applies to the first claim, this one to the second.
    emulator.faults.status(
      ({ operationId }) => operationId === "claimPendingRequest" && sent("claimPendingRequest") > 1,
      status,
    );
    const controller = run();
    await clock.advance(100_000);
    expect(started).toEqual(expected);
    expect(sent("claimPendingRequest")).toBe(2);
    await controller.stop();
  });

  it("waits for the list while that can't be read either: nothing is claimed or forgotten", async () => {
    const { clock, emulator, started, run, sent } = stage();
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
    const controller = run({
      claim: () => {
        emulator.faults.status("listPendingRequests", 503, { times: 5 });
        return "pw_1";
      },
    });
    emulator.faults.dropAnswer("claimPendingRequest");
    await clock.advance(600_000);
    expect(started).toEqual([{ id: "bc-1", claim: { id: "bc-1", workerId: "pw_1", outcome: "unknown" } }]);
    expect(sent("claimPendingRequest")).toBe(1);
    await controller.stop();
  });

  it("and whose worker can't be started is not released, since it may be another controller's", async () => {
    const { clock, emulator, run, sent } = stage({
      start: () => {
        throw new Error("no capacity");
      },
    });
    emulator.faults.dropAnswer("claimPendingRequest");
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
    const controller = run();
    await clock.advance(600_000);
    expect(sent("releaseClaim")).toBe(0);
    await controller.stop();
  });
});

describe("a claim in doubt that waits for room", () => {
  it("is started although its request has left the queue meanwhile", async () => {
    let hold = () => {};
    const { clock, emulator, cursor, started, run } = stage({
      concurrency: 1,
      start: ({ id }) => (id === "bc-2" ? new Promise<void>((resolve) => (hold = resolve)) : undefined),
    });
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
    emulator.faults.dropRequest("claimPendingRequest");
    // The list can't be read at first, so that the doubt is set aside, and waits while bc-2 is started.
    const controller = run({
      claim: ({ id }) => {
        if (id === "bc-1") emulator.faults.status("listPendingRequests", 503, { times: 3 });
        return `pw_${id}`;
      },
    });
    await clock.advance(1_000);
    emulator.workers.addRequest({ id: "bc-2", pool: "gpu" });
    await clock.advance(60_000);
    expect(started.map(({ id }) => id)).toEqual(["bc-2"]);
    await cursor.workers.claims.create({ id: "bc-1", workerId: "pw_bc-1" });
    await clock.advance(1_000);
    hold();
    await clock.advance(10_000);
    expect(started.map(({ id, claim }) => [id, claim.outcome])).toEqual([
      ["bc-2", undefined],
      ["bc-1", "unknown"],
    ]);
    await controller.stop();
  });
});

describe("a callback that never settles", () => {
  const never = () => new Promise<never>(() => {});

  it("as start holds only itself: its claim is released, onError is told, the others start", async () => {
    const signals: AbortSignal[] = [];
    const { clock, emulator, started, errors, run, sent } = stage({
      concurrency: 1,
      start: ({ id }, _, { signal }) => {
        signals.push(signal);
        return id === "bc-1" && signals.length === 1 ? never() : undefined;
      },
    });
    for (const id of ["bc-1", "bc-2", "bc-3"]) emulator.workers.addRequest({ id, pool: "gpu" });
    const controller = run();
    await clock.advance(2 * 3_600_000);
    expect(new Set(started.map(({ id }) => id))).toEqual(new Set(["bc-1", "bc-2", "bc-3"]));
    expect(errors[0]).toMatchObject({ id: "bc-1", error: { kind: "timeout", phase: "deadline" } });
    expect([sent("releaseClaim") >= 1, signals[0]!.aborted, signals[1]!.aborted]).toEqual([
      true,
      true,
      false,
    ]);
    await controller.stop();
    expect(clock.pending).toBe(0);
  });

  it("as claim holds only itself, and neither does it hold the stop", async () => {
    const { clock, emulator, started, errors, run } = stage({ concurrency: 1, timeout: 1_000 });
    for (const id of ["bc-1", "bc-2"]) emulator.workers.addRequest({ id, pool: "gpu" });
    const controller = run({ claim: ({ id }) => (id === "bc-1" ? never() : "pw_2") });
    await clock.advance(10_000);
    expect(started.map(({ id }) => id)).toEqual(["bc-2"]);
    expect(errors[0]).toMatchObject({ id: "bc-1", error: { kind: "timeout" } });
    await controller.stop();
    expect(clock.pending).toBe(0);
  });

  it("as start is given up some time after the stop, whose signal it gets at once", async () => {
    let signal: AbortSignal | undefined;
    const { clock, emulator, errors, run, sent } = stage({
      start: (_, __, context) => {
        signal = context.signal;
        return never();
      },
      timeout: Number.POSITIVE_INFINITY,
      stopTimeout: 30_000,
    });
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
    const controller = run();
    await clock.advance(1_000);
    let isStopped = false;
    controller.stop().then(() => (isStopped = true));
    await clock.advance(29_000);
    expect([signal?.aborted, isStopped, sent("releaseClaim")]).toEqual([true, false, 0]);
    await clock.advance(2_000);
    expect([isStopped, sent("releaseClaim"), errors.length, clock.pending]).toEqual([true, 1, 1, 0]);
  });

  it("as start ends when its user has given up, without an error", async () => {
    let signal: AbortSignal | undefined;
    const { clock, emulator, cursor, started, errors, run } = stage({
      concurrency: 1,
      start: ({ id }, _, context) => {
        if (id === "bc-2") return;
        signal = context.signal;
        return never();
      },
    });
    emulator.workers.addPool({ poolName: "gpu", offlineReconnectTimeoutSeconds: 900 });
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
    await cursor.workers.claims.create({ id: "bc-1", workerId: "pw_old" });
    emulator.workers.connectWorker({ workerId: "pw_old" });
    emulator.workers.endTurn("bc-1");
    emulator.workers.disconnectWorker("pw_old");
    emulator.workers.followUp("bc-1");
    const controller = run();
    await clock.advance(1_000);
    emulator.workers.addRequest({ id: "bc-2", pool: "gpu" });
    expect(started.map(({ id }) => id)).toEqual(["bc-1"]);
    emulator.workers.expireRequest("bc-1");
    await clock.advance(1_000);
    expect([signal?.aborted, started.map(({ id }) => id), errors]).toEqual([true, ["bc-1", "bc-2"], []]);
    await controller.stop();
  });

  it("as claim ends when its request leaves the queue, without an error", async () => {
    let signal: AbortSignal | undefined;
    const { clock, emulator, cursor, errors, run, sent } = stage();
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
    const controller = run({
      claim: (_, context) => {
        signal = context.signal;
        return new Promise<never>((_, reject) =>
          context.signal.addEventListener("abort", () => reject(context.signal.reason)),
        );
      },
    });
    await clock.advance(1_000);
    await cursor.workers.claims.create({ id: "bc-1", workerId: "pw_other" });
    await clock.advance(1_000);
    expect([signal?.aborted, errors, sent("claimPendingRequest")]).toEqual([true, [], 1]);
    await controller.stop();
  });
});

describe("claimed requests whose worker is offline", () => {
  /** A turn on `pw_1` is over, its worker is gone, and its user writes again. */
  async function offline(start: Start = () => {}) {
    const all = stage({ start });
    const { clock, emulator, cursor } = all;
    emulator.workers.addPool({ poolName: "gpu", offlineReconnectTimeoutSeconds: 900 });
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
    await cursor.workers.claims.create({ id: "bc-1", workerId: "pw_old" });
    emulator.workers.connectWorker({ workerId: "pw_old" });
    emulator.workers.endTurn("bc-1");
    emulator.workers.disconnectWorker("pw_old");
    await clock.advance(1_000);
    return all;
  }
  const revived = { id: "bc-1", claim: { id: "bc-1", workerId: "pw_old", revived: true } };

  it("are revived with that worker, once, whether a list or an event shows them", async () => {
    const { clock, emulator, started, run, sent } = await offline();
    emulator.workers.followUp("bc-1");
    const controller = run();
    await clock.advance(600_000);
    expect(started).toEqual([revived]);
    expect(sent("claimPendingRequest")).toBe(1);
    emulator.workers.connectWorker({ workerId: "pw_old" });
    emulator.workers.endTurn("bc-1");
    emulator.workers.disconnectWorker("pw_old");
    await clock.advance(1_000);
    emulator.workers.followUp("bc-1");
    await clock.advance(1_000);
    expect(started).toEqual([revived, revived]);
    await controller.stop();
  });

  it("return to the queue when their window closes, and are claimed for a new worker", async () => {
    const { clock, emulator, started, run } = await offline();
    const controller = run();
    emulator.workers.followUp("bc-1");
    await clock.advance(910_000);
    expect(started).toEqual([revived, { id: "bc-1", claim: { id: "bc-1", workerId: "pw_1" } }]);
    await controller.stop();
  });

  it("are released and claimed for a new worker if their machine no longer exists", async () => {
    const { clock, emulator, started, run } = await offline((_, claim) => {
      if (claim.revived) throw new Error("no such machine");
    });
    const controller = run();
    emulator.workers.followUp("bc-1");
    await clock.advance(10_000);
    expect(started.map(({ claim }) => claim.workerId)).toEqual(["pw_old", "pw_1"]);
    expect(stateOf(emulator, "bc-1")).toEqual(["claimed", "pw_1"]);
    await controller.stop();
  });
});

describe("the end of a controller", () => {
  it("after a signal makes no new claim, lets the starts under way finish, and resolves done", async () => {
    const aborter = new AbortController();
    let finish = () => {};
    const { clock, emulator, started, run, sent } = stage({
      concurrency: 1,
      signal: aborter.signal,
      start: () => new Promise<void>((resolve) => (finish = resolve)),
    });
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
    emulator.workers.addRequest({ id: "bc-2", pool: "gpu" });
    const controller = run();
    let isDone = false;
    controller.done.then(() => (isDone = true));
    await clock.advance(1_000);
    aborter.abort(new Error("shut down"));
    emulator.workers.addRequest({ id: "bc-3", pool: "gpu" });
    await clock.advance(400_000);
    expect([isDone, emulator.workers.watchers, sent("claimPendingRequest")]).toEqual([false, 0, 1]);
    finish();
    await controller.done;
    expect([started.length, sent("claimPendingRequest"), clock.pending]).toEqual([1, 1, 0]);
  });

  it("ignores a worker id that arrives after the stop", async () => {
    let answer: (id: string) => void = () => {};
    const { clock, emulator, run, sent } = stage({
      claim: () => new Promise<string>((resolve) => (answer = resolve)),
    });
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
    const controller = run();
    await clock.advance(1_000);
    const stopped = controller.stop();
    answer("pw_1");
    await stopped;
    expect([sent("claimPendingRequest"), clock.pending]).toEqual([0, 0]);
  });

  it("comes with a 403: done rejects, and onError receives the error", async () => {
    const { emulator, errors, run } = stage();
    emulator.faults.status("watchPendingRequests", 403, { times: Number.POSITIVE_INFINITY });
    const controller = run();
    await expect(controller.done).rejects.toMatchObject({ status: 403 });
    expect(errors).toEqual([{ error: expect.objectContaining({ status: 403 }), id: undefined }]);
    await controller.stop();
  });

  it("comes when onError throws", async () => {
    const { clock, emulator, run } = stage({
      start: () => {
        throw new Error("no capacity");
      },
      onError: () => {
        throw new Error("mine");
      },
    });
    emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
    const controller = run();
    const end = expect(controller.done).rejects.toThrow("mine");
    await clock.advance(5_000);
    await end;
    expect(emulator.workers.watchers).toBe(0);
  });

  it.each([
    [{ concurrency: 0 }, "concurrency"],
    [{ concurrency: 1.5 }, "concurrency"],
    [{ concurrency: undefined }, "concurrency"],
    [{ claim: undefined }, "claim"],
    [{ start: "x" }, "start"],
    [{ filters: { pool: "" } }, "pool"],
    [{ signal: {} }, "signal"],
    [{ onError: "log" }, "onError"],
    [{ timeout: 0 }, "timeout"],
    [{ stopTimeout: "1" }, "stopTimeout"],
    [{ filters: { pol: "gpu" } }, "pol"],
    [{ concurency: 1 }, "concurency"],
  ])("%j throws at once", async (options, argument) => {
    const { emulator, run } = stage();
    expect(() => run(options as never)).toThrow(expect.objectContaining({ kind: "argument", argument }));
    await settle();
    expect(emulator.requests).toEqual([]);
  });
});

describe("two controllers", () => {
  // Two hundred requests show the same as a thousand, in a fifth of the time.
  const count = Number(process.env["CONTROLLER_REQUESTS"] ?? 200);

  it(`with ten workers each claim ${count} requests, none twice and none forgotten, whatever is lost on the way`, async () => {
    const clock = new ManualClock();
    const emulator = checkedEmulator({ clock });
    const starts = new Map<string, string[]>();
    const controllers = ["a", "b"].map((name, index) => {
      let workers = 0;
      const cursor = new Cursor({
        apiKey: `sa_${name}`,
        fetch: emulator.fetch,
        clock,
        random: () => (((index + 1) * 7 + workers) % 10) / 10,
      });
      return controlRequests(cursor, {
        concurrency: 10,
        claim: () => `${name}_${++workers}`,
        start: async (request: PendingRequest, claim) => {
          starts.set(request.id, [...(starts.get(request.id) ?? []), claim.workerId]);
          await new Promise<void>((resolve) => clock.setTimeout(resolve, 200));
        },
      });
    });
    for (let id = 0; id < count; id++) {
      emulator.workers.addRequest({ id: `bc-${id}` });
      if (id % 20 === 5) emulator.workers.dropNextEvents(3);
      if (id % 50 === 10) emulator.workers.cutWatchers({ clean: id % 100 === 10 });
      if (id % 40 === 20)
        emulator.faults.dropAnswer("claimPendingRequest").dropRequest("claimPendingRequest");
      if (id % 10 === 0) await clock.advance(100);
    }
    await clock.advance(700_000);
    // According to the server each request has one claim; the worker of that claim was started, once.
    for (const { id, claimedWorkerId } of emulator.workers.requests) {
      expect(
        starts.get(id)?.filter((worker) => worker === claimedWorkerId),
        id,
      ).toEqual([claimedWorkerId]);
    }
    expect(starts.size).toBe(count);
    const idle = [...starts.values()].flat().length - count;
    expect(idle).toBeLessThanOrEqual(count / 40);
    await Promise.all(controllers.map((controller) => controller.stop()));
    expect([emulator.workers.watchers, clock.pending]).toEqual([0, 0]);
  });
});
