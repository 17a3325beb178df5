import { isApiError, isRunFailedError, isStreamError } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import { CUT, END, STALL } from "../support/fake-api.ts";
import {
  assistant,
  briefly,
  done,
  errorFrame,
  frame,
  heartbeat,
  result,
  status,
  update,
} from "../support/frames.ts";
import { ref, runOf } from "../support/sample-run.ts";
import { readAll, StreamServer } from "../support/stream-server.ts";
import { collect } from "../support/waiting.ts";

const hel = assistant("100-0", "Hel");
const ending = result() + done;
const resultOf = (server: StreamServer) => server.run(server.cursor().runs.stream(ref).result());

describe("a finished stream", () => {
  it("is never opened again", async () => {
    const server = new StreamServer(() => END(status(), hel, ending));
    await readAll(server);
    await server.clock.advance(600_000);
    expect(server.requests).toHaveLength(1);
    expect(server.clock.pending).toBe(0);
  });

  it("is closed after done even if the server keeps it open", async () => {
    const server = new StreamServer([STALL(status(), hel, ending, heartbeat)]);
    expect(briefly(await readAll(server)).at(-1)).toBe("done#900-0");
    expect(server.streams[0]).toMatchObject({ cancelled: 1, open: false });
    expect(server.clock.now()).toBe(server.streams[0]?.at);
  });

  it("delivers nothing after done", async () => {
    const names = briefly(await readAll(new StreamServer([END(ending + hel + ending)])));
    expect(names).toEqual(["result#900-0 Hello", "done#900-0"]);
  });

  it.each([
    ["ends", END(hel, result())],
    ["is cut", CUT(hel, result())],
    ["falls silent", STALL(hel, result())],
    ["sends comments only", { ...STALL(hel, result(), ...Array(99).fill(": ping\n\n")), pace: 500 }],
    ["sends heartbeats only", { ...STALL(hel, result(), ...Array(99).fill(heartbeat)), pace: 500 }],
  ])("whose done does not come since it %s is over within two seconds", async (_name, connection) => {
    const server = new StreamServer([connection]);
    const stream = server.cursor().runs.stream(ref);
    const times: number[] = [];
    const reading = (async () => {
      for await (const event of stream) {
        if (event.type === "result") times.push(server.clock.now());
        if (event.type === "done")
          expect(event).toEqual({ type: "done", id: "900-0", data: {}, synthesized: true });
      }
      times.push(server.clock.now());
    })();
    await server.run(reading);
    expect(times[1]! - times[0]!).toBeLessThanOrEqual(2_000);
    expect(server.requests).toHaveLength(1);
    expect(server.openBodies).toBe(0);
    expect(server.clock.pending).toBe(0);
  });

  it("waits two seconds for done, not less", async () => {
    const server = new StreamServer([{ ...END(result(), done), pace: 1_900 }]);
    expect((await readAll(server)).at(-1)).toEqual({ type: "done", id: "900-0", data: {} });
  });

  it("delivers one result and one done, even if they are repeated", async () => {
    const names = briefly(
      await readAll(new StreamServer([END(hel, result(), result({}, "901-0"), done, done)])),
    );
    expect(names).toEqual(["assistant#100-0 Hel", "result#900-0 Hello", "done#900-0"]);
  });
});

describe("the outcome", () => {
  it.each(["FINISHED", "ERROR", "CANCELLED", "EXPIRED", "PAUSED"])(
    "is the status of the result event: %s",
    async (value) => {
      const server = new StreamServer([
        END(status(), hel, status("FINISHED"), result({ status: value, text: "Hel" }), done),
      ]);
      expect(await resultOf(server)).toEqual({
        agentId: ref.agentId,
        runId: ref.id,
        status: value,
        text: "Hel",
        streamedText: "Hel",
        durationMs: 10,
        source: "stream",
      });
    },
  );

  it("is never read from a status event: a cancelled run read later says FINISHED first", async () => {
    const body =
      status() + status("FINISHED") + frame("result", { runId: ref.id, status: "CANCELLED" }, "900-0") + done;
    expect((await resultOf(new StreamServer([END(body)]))).status).toBe("CANCELLED");
  });

  it("keeps final and streamed text apart, also where they differ", async () => {
    const git = {
      branches: [{ repoUrl: "github.com/o/r", branch: "cursor/b", prUrl: "https://github.com/o/r/pull/7" }],
    };
    const said = [assistant("100-0", "See img <x>. "), assistant("101-0", "Done.")];
    for (const text of ["Done.", "Something else", "", "See img <x>. Done."]) {
      const outcome = await resultOf(new StreamServer([END(...said, result({ text, git }), done)]));
      expect(outcome).toMatchObject({ text, streamedText: "See img <x>. Done.", git });
    }
    const silent = await resultOf(new StreamServer([END(...said, result({ text: undefined, git }), done)]));
    expect(silent).not.toHaveProperty("text");
    expect(silent).toMatchObject({ streamedText: "See img <x>. Done.", git });
  });

  it("counts a word once where two families of events carry it", async () => {
    const twin = hel + update("100-0", { type: "text-delta", text: "Hel" });
    for (const include of ["simplified", "interaction", "all"] as const) {
      const server = new StreamServer([END(twin, ending)]);
      const outcome = await server.run(server.cursor().runs.stream(ref, { include }).result());
      expect(outcome.streamedText).toBe("Hel");
    }
  });
});

describe("a stream that ends without a result", () => {
  it("at once, again and again, takes its outcome from the run and is not an empty success", async () => {
    const server = new StreamServer(() => END(status()), { runs: ["ERROR"] });
    const outcome = await resultOf(server);
    expect(outcome).toMatchObject({ status: "ERROR", source: "run", streamedText: "" });
    expect(server.positions).toEqual([undefined, undefined, undefined]);
    const gaps = server.streams.slice(1).map(({ at }, index) => at - server.streams[index]!.at);
    expect(gaps).toEqual([500, 1_000]);
    expect(server.lookups).toHaveLength(1);
  });

  it("delivers the outcome from the run as result and done, marked synthesized", async () => {
    const git = { branches: [{ repoUrl: "github.com/o/r" }] };
    const run = runOf("FINISHED", { result: "Hello", durationMs: 7, git, next: 1 });
    const events = await readAll(new StreamServer(() => END(status(), hel), { runs: [run] }));
    expect(events.slice(-2)).toEqual([
      {
        type: "result",
        data: { runId: ref.id, status: "FINISHED", text: "Hello", durationMs: 7, git },
        synthesized: true,
      },
      { type: "done", data: {}, synthesized: true },
    ]);
  });

  it("but with done alone asks the run at once, and is over if the run is", async () => {
    const server = new StreamServer([END(status(), hel, done)], { runs: ["CANCELLED"] });
    expect(briefly(await readAll(server)).slice(-2)).toEqual(["result", "done"]);
    expect(server.lookups.map(({ at }) => at)).toEqual([server.streams[0]?.at]);
  });

  it("but with done alone reconnects while the run is active", async () => {
    const server = new StreamServer(
      [END(status(), hel, done), END(assistant("901-0", "lo"), result({}, "902-0"))],
      {
        runs: ["RUNNING"],
      },
    );
    expect(briefly(await readAll(server))).toEqual([
      "status RUNNING",
      "assistant#100-0 Hel",
      "assistant#901-0 lo",
      "result#902-0 Hello",
      "done#902-0",
    ]);
  });

  it("fails with the error of Get A Run where that is final (401, 403, 404)", async () => {
    for (const [code, value] of [
      ["unauthorized", 401],
      ["plan_required", 403],
      ["run_not_found", 404],
    ] as const) {
      const failed = { ...END(JSON.stringify({ error: { code, message: "m" } })), status: value };
      const server = new StreamServer([END(done)], { runs: [failed] });
      const error = await readAll(server).catch((cause: unknown) => cause);
      expect(isApiError(error, code) && error.status).toBe(value);
    }
  });
});

describe("an error event", () => {
  it("is about the stream: delivered, kept out of the text, and Get A Run decides", async () => {
    const broken = errorFrame("upstream_closed", "WritableIterable is closed");
    const server = new StreamServer(
      [END(status(), hel, broken), END(status(), assistant("101-0", "lo"), ending)],
      {
        runs: ["RUNNING"],
      },
    );
    const stream = server.cursor().runs.stream(ref);
    const names = briefly(await server.run(collect(stream)));
    expect(names).toEqual([
      "status RUNNING",
      "assistant#100-0 Hel",
      "error",
      "assistant#101-0 lo",
      "result#900-0 Hello",
      "done#900-0",
    ]);
    expect(await stream.result()).toMatchObject({ streamedText: "Hello", status: "FINISHED" });
    expect(server.lookups).toHaveLength(1);
    expect(server.positions).toEqual([undefined, "100-0"]);
  });

  it("is delivered once though every connection repeats it", async () => {
    const server = new StreamServer(() => END(status(), errorFrame("internal")), {
      runs: ["RUNNING", "RUNNING", "ERROR"],
    });
    const events = await readAll(server);
    expect(briefly(events)).toEqual(["status RUNNING", "error", "result", "done"]);
    expect(server.lookups).toHaveLength(3);
  });

  it("followed by done has no outcome either", async () => {
    const server = new StreamServer([END(status(), errorFrame("internal") + done)], { runs: ["ERROR"] });
    expect(await resultOf(server)).toMatchObject({ status: "ERROR", source: "run" });
  });

  it("passes its code to the error after the last attempt", async () => {
    const server = new StreamServer(() => END(status(), errorFrame("internal")), { runs: ["RUNNING"] });
    const stream = server.cursor().runs.stream(ref, { maxReconnects: 2 });
    const error = await server.run(collect(stream).catch((cause: unknown) => cause));
    expect(isStreamError(error)).toBe(true);
    expect(error).toMatchObject({
      reason: "disconnected",
      code: "internal",
      agentId: ref.agentId,
      runId: ref.id,
    });
  });

  it("with stream_unavailable means to retry later, and is not delivered", async () => {
    const early = status("CREATING") + status() + errorFrame("stream_unavailable") + done;
    const server = new StreamServer([END(early), END(early), END(status(), hel, ending)]);
    expect(briefly(await readAll(server))).toEqual([
      "status CREATING",
      "status RUNNING",
      "assistant#100-0 Hel",
      "result#900-0 Hello",
      "done#900-0",
    ]);
    expect(server.lookups).toHaveLength(0);
  });

  it.each([{}, { code: 7, message: null }, { error: "x" }])(
    "of any shape does not crash: %j",
    async (data) => {
      const server = new StreamServer([END(frame("error", data))], { runs: ["ERROR"] });
      expect(briefly(await readAll(server))).toEqual(["error", "result", "done"]);
    },
  );
});

describe("a run that failed", () => {
  it("has a duration and ids, without a result of its own", async () => {
    const server = new StreamServer(() => END(status(), status("ERROR")), {
      runs: [runOf("ERROR", { durationMs: 90 })],
    });
    expect(await resultOf(server)).toEqual({
      agentId: ref.agentId,
      runId: ref.id,
      status: "ERROR",
      durationMs: 90,
      streamedText: "",
      source: "run",
    });
    const waiting = new StreamServer(() => END(status(), status("ERROR")), {
      runs: [runOf("ERROR", { durationMs: 90 })],
    });
    const error = await waiting
      .run(waiting.cursor().runs.wait(ref, { throwOnFailure: true }))
      .catch((cause: unknown) => cause);
    expect(isRunFailedError(error) && error.run).toMatchObject({ status: "ERROR", durationMs: 90 });
    expect(error).toMatchObject({ runId: ref.id, agentId: ref.agentId });
  });
});
