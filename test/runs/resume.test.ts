import { isStreamError } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import { CUT, END, failedResponse } from "../support/fake-api.ts";
import {
  assistant,
  briefly,
  done,
  frame,
  heartbeat,
  result,
  status,
  tool,
  update,
} from "../support/frames.ts";
import { ref } from "../support/sample-run.ts";
import { readAll, StreamServer } from "../support/stream-server.ts";
import { collect } from "../support/waiting.ts";

const ending = result() + done;
const ended = ["result#900-0 Hello", "done#900-0"];
const hel = assistant("100-0", "Hel");
const lo = assistant("101-0", "lo");

describe("a stream that was cut", () => {
  it("continues after the last id received, as if nothing had happened", async () => {
    const server = new StreamServer([
      CUT(status(), hel, tool("101-0", "c", "running")),
      END(status(), tool("102-0", "c", "completed"), assistant("103-0", "lo"), ending),
    ]);
    expect(briefly(await readAll(server))).toEqual([
      "status RUNNING",
      "assistant#100-0 Hel",
      "tool_call#101-0 running",
      "tool_call#102-0 completed",
      "assistant#103-0 lo",
      ...ended,
    ]);
    expect(server.positions).toEqual([undefined, "101-0"]);
    for (const { headers } of server.streams) {
      expect([...headers]).toContainEqual(["accept", "text/event-stream"]);
      expect([...headers]).toContainEqual(["authorization", "Bearer key_TEST"]);
    }
    expect(server.lookups).toHaveLength(0);
  });

  it("resumes from its newest id each time, and from the caller's only at first", async () => {
    const server = new StreamServer([CUT(status(), hel), CUT(status(), lo), END(status(), ending)]);
    await readAll(server, { from: "050-0" });
    expect(server.positions).toEqual(["050-0", "100-0", "101-0"]);
  });

  it("resumes from the caller's position again while nothing newer came", async () => {
    const server = new StreamServer([CUT(status()), CUT(), END(lo, ending)]);
    await readAll(server, { from: "050-0" });
    expect(server.positions).toEqual(["050-0", "050-0", "050-0"]);
  });

  it("and replayed from the start drops what was delivered", async () => {
    const server = new StreamServer([CUT(status(), hel), END(status(), hel, lo, ending)]);
    expect(briefly(await readAll(server))).toEqual([
      "status RUNNING",
      "assistant#100-0 Hel",
      "assistant#101-0 lo",
      ...ended,
    ]);
  });

  it("sends nothing for an empty position: no header at all before the first id", async () => {
    const server = new StreamServer([CUT(status()), CUT(status(), heartbeat), END(hel, ending)]);
    await readAll(server);
    expect(server.positions).toEqual([undefined, undefined, undefined]);
    expect(server.streams.flatMap(({ headers }) => [...headers.keys()])).not.toContain("last-event-id");
  });

  it.each([
    ["an event without an id keeps the position", heartbeat, "100-0"],
    ["a status keeps it, too", status("FINISHED"), "100-0"],
    ["an empty id resets it", `id:\nevent: heartbeat\ndata: {}\n\n`, undefined],
    ["an empty id with a space resets it", `id: \nevent: heartbeat\ndata: {}\n\n`, undefined],
    ["an id without a colon resets it", `id\nevent: heartbeat\ndata: {}\n\n`, undefined],
    ["an id with a NUL is ignored", `id: 1\0\nevent: heartbeat\ndata: {}\n\n`, "100-0"],
  ])("%s", async (_name, block, position) => {
    const server = new StreamServer([CUT(hel, block), END(hel, lo, ending)]);
    const names = briefly(await readAll(server)).filter((name) => !/^(heartbeat|status)/.test(name));
    expect(server.positions).toEqual([undefined, position]);
    expect(names).toEqual(["assistant#100-0 Hel", "assistant#101-0 lo", ...ended]);
  });

  it.each(["simplified", "all"] as const)("has no position after a reset (%s)", async (include) => {
    const reset = frame("heartbeat", {}, "");
    const server = new StreamServer([CUT(assistant("99-0", "a"), hel, reset), END(hel, ending)]);
    const stream = server.cursor().runs.stream(ref, { include });
    for await (const event of stream) if (event.type === "heartbeat") break;
    expect(stream.checkpoint()).toEqual({ agentId: ref.agentId, runId: ref.id });
    await server.run(stream.result());
    expect(server.positions).toEqual([undefined, undefined]);
  });

  it.each(["naïve-😀", " padded ", "tab\tbed\u0001", "x".repeat(10)])(
    "with the id %j resumes if that can be a header, and otherwise reads the stream again",
    async (id) => {
      const server = new StreamServer([CUT(assistant(id, "a")), END(assistant(id, "a"), lo, ending)]);
      const events = await readAll(server);
      expect(events.map(({ type }) => type)).toEqual(["assistant", "assistant", "result", "done"]);
      expect(server.positions[1]).toBe(id.startsWith("x") ? id : undefined);
    },
  );

  it("compares ids for equality only: later ones may be smaller", async () => {
    const server = new StreamServer([
      CUT(assistant("9", "a"), assistant("10", "b"), assistant("1", "c")),
      END(assistant("2", "d"), result({}, "0"), done),
    ]);
    expect((await readAll(server)).map(({ id }) => id)).toEqual(["9", "10", "1", "2", "0", "900-0"]);
    expect(server.positions).toEqual([undefined, "1"]);
  });

  it("between result and done is over: done is supplied, and nothing is requested", async () => {
    const server = new StreamServer([CUT(hel, result())]);
    const events = await readAll(server);
    expect(briefly(events)).toEqual(["assistant#100-0 Hel", ...ended]);
    expect(events.at(-1)).toEqual({ type: "done", id: "900-0", data: {}, synthesized: true });
    expect(server.requests).toHaveLength(1);
  });

  it("moves its position past events it does not deliver", async () => {
    const server = new StreamServer([
      CUT(hel, update("100-1", { type: "text-delta", text: "Hel" })),
      END(lo, ending),
    ]);
    expect(briefly(await readAll(server))).toEqual(["assistant#100-0 Hel", "assistant#101-0 lo", ...ended]);
    expect(server.positions).toEqual([undefined, "100-1"]);
  });
});

describe("the status that opens every connection", () => {
  it("is delivered only when it differs from the last one", async () => {
    const server = new StreamServer([
      CUT(status("CREATING"), status("RUNNING"), hel),
      CUT(status("RUNNING"), lo),
      CUT(status("RUNNING"), heartbeat),
      END(status("FINISHED"), assistant("102-0", "!"), status("FINISHED"), ending),
    ]);
    const names = briefly(await readAll(server));
    expect(names.filter((name) => name.startsWith("status"))).toEqual([
      "status CREATING",
      "status RUNNING",
      "status FINISHED",
    ]);
    expect(names.indexOf("status FINISHED")).toBeGreaterThan(names.indexOf("assistant#101-0 lo"));
  });

  it("continues from the status of a checkpoint", async () => {
    const server = new StreamServer([END(status(), lo, ending)]);
    const from = { agentId: ref.agentId, runId: ref.id, lastEventId: "100-0", status: "RUNNING" };
    expect(briefly(await readAll(server, { from }))).toEqual(["assistant#101-0 lo", ...ended]);
  });
});

describe("a position that the server rejects", () => {
  const rejected = failedResponse(400, "invalid_last_event_id");

  it("is never sent again; the stream is read from its start, and what was delivered is dropped", async () => {
    const server = new StreamServer([CUT(status(), hel), rejected, END(status(), hel, lo, ending)]);
    expect(briefly(await readAll(server))).toEqual([
      "status RUNNING",
      "assistant#100-0 Hel",
      "assistant#101-0 lo",
      ...ended,
    ]);
    expect(server.positions).toEqual([undefined, "100-0", undefined]);
  });

  it("is not sent again after a further cut either", async () => {
    const server = new StreamServer([
      CUT(status(), hel),
      rejected,
      CUT(status()),
      CUT(status(), hel),
      CUT(hel, lo),
      END(status(), assistant("102-0", "!"), ending),
    ]);
    await readAll(server);
    expect(server.positions).toEqual([undefined, "100-0", undefined, undefined, undefined, "101-0"]);
  });

  it.each(["interaction", "all"] as const)("is not sent again with twins (%s)", async (include) => {
    const twins = (id: string, text: string) =>
      assistant(id, text) + update(id, { type: "text-delta", text });
    const server = new StreamServer([
      CUT(twins("1", "a"), twins("2", "b"), assistant("3", "c")),
      rejected,
      END(twins("1", "a"), twins("2", "b"), twins("3", "c"), ending),
    ]);
    const events = await readAll(server, { include });
    expect(server.positions).toEqual([undefined, "2", undefined]);
    expect(events.filter(({ type }) => type === "interaction_update").map(({ id }) => id)).toEqual([
      "1",
      "2",
      "3",
    ]);
  });

  it("that is the caller's is a StreamError before any event, and nothing is opened again", async () => {
    const froms = [
      "050-0",
      {
        agentId: ref.agentId,
        runId: ref.id,
        lastEventId: "050-0",
        eventsOfLast: 1,
        completedEventId: "040-0",
      },
    ];
    for (const from of froms) {
      const server = new StreamServer([rejected]);
      const stream = server.cursor().runs.stream(ref, { from });
      const error = await server.run(collect(stream).catch((cause: unknown) => cause));
      expect(isStreamError(error) && error.reason).toBe("invalid_position");
      expect(error).toMatchObject({ runId: ref.id, cause: { status: 400, code: "invalid_last_event_id" } });
      expect(server.requests).toHaveLength(1);
      await expect(server.run(stream.result())).rejects.toBe(error);
    }
  });

  it("although none was sent is final", async () => {
    const server = new StreamServer([rejected]);
    await expect(readAll(server)).rejects.toMatchObject({ kind: "api", status: 400 });
    expect(server.requests).toHaveLength(1);
  });
});
