import { readFileSync } from "node:fs";
import type { RunCheckpoint, RunEvent, RunStreamInclude } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import { CUT, END, failedResponse, STALL } from "../support/fake-api.ts";
import { assistant, done, result, status, update } from "../support/frames.ts";
import { ref, runOf } from "../support/sample-run.ts";
import { StreamServer } from "../support/stream-server.ts";
import { collect } from "../support/waiting.ts";

const fixture = (name: string) =>
  readFileSync(new URL(`../../fixtures/${name}.sse`, import.meta.url), "utf8").split(/(?<=\n\n)/);
const idOf = (frame: string) => /^id: (.*)/.exec(frame)?.[1];

/** Resumes as the real server does: exclusive per id, with the status that the run has now first. */
function resume(frames: string[], lastEventId: string | undefined): string[] {
  if (lastEventId === undefined) return frames;
  const at = frames.map(idOf).lastIndexOf(lastEventId);
  expect(at, `the position ${lastEventId} is none of this run`).toBeGreaterThanOrEqual(0);
  const now = frames.filter((frame) => frame.startsWith("event: status")).at(-1) ?? "";
  return [now, ...frames.slice(at + 1)];
}
const serve = (frames: string[]) =>
  new StreamServer(({ lastEventId }) => END(...resume(frames, lastEventId)));

/** Reads `count` events and passes the checkpoint on as another process would get it. */
async function readSome(server: StreamServer, include: RunStreamInclude, count: number) {
  const stream = server.cursor().runs.stream(ref, { include });
  const events: RunEvent[] = [];
  if (count > 0) for await (const event of stream) if (events.push(event) === count) break;
  return { events, from: JSON.parse(JSON.stringify(stream.checkpoint())) as RunCheckpoint };
}

/** What has a place in the run: a resumed stream opens with the status of now, and heartbeats belong to a connection. */
const reported = (events: RunEvent[]) => ({
  events: events.flatMap(({ synthesized, ...event }: RunEvent & { synthesized?: true }) =>
    event.type === "heartbeat" || event.type === "status" ? [] : [event],
  ),
  // Without ids they look like their copies in a replay: it may repeat them.
  statuses: [...new Set(events.flatMap((event) => (event.type === "status" ? [event.data.status] : [])))],
});

describe("a checkpoint", () => {
  describe.each([
    "docs-example",
    "finished-with-edits",
    "cancelled-read-later",
    "failed-without-reason",
    "from-tomorrow",
  ])("within %s", (name) => {
    it.each(["simplified", "interaction", "all"] as const)(
      "taken at every boundary continues where it was taken, through JSON (%s)",
      async (include) => {
        const frames = fixture(name);
        const whole = reported(await collect(serve(frames).cursor().runs.stream(ref, { include })));
        for (let count = 0; ; count++) {
          const first = await readSome(serve(frames), include, count);
          const server = serve(frames);
          const rest = await server.run(
            collect(server.cursor().runs.stream(ref, { include, from: first.from })),
          );
          expect(reported([...first.events, ...rest]), `after ${count} events`).toEqual(whole);
          if (first.events.length < count) break;
        }
      },
    );
  });

  it("before anything was read names only the run, or the position where the reader begins", () => {
    const { runs } = new StreamServer([]).cursor();
    expect(runs.stream(ref).checkpoint()).toEqual({ agentId: ref.agentId, runId: ref.id });
    expect(runs.stream(ref, { from: "7" }).checkpoint()).toEqual({
      agentId: ref.agentId,
      runId: ref.id,
      lastEventId: "7",
    });
    const from = {
      agentId: ref.agentId,
      runId: ref.id,
      lastEventId: "8",
      completedEventId: "7",
      eventsOfLast: 1,
      status: "RUNNING",
    };
    const stream = runs.stream(ref, { from });
    expect(stream.checkpoint()).toEqual(from);
    expect(stream.lastEventId).toBe("8");
  });

  it("taken at every event is the same as taken once", async () => {
    const frames = ["1", "2", "3"].flatMap((id) => [assistant(id, id), update(id, { type: "x" })]);
    const server = serve([frames.join(""), result() + done]);
    const stream = server.cursor().runs.stream(ref, { include: "all" });
    const positions: unknown[] = [];
    for await (const event of stream) {
      if (event.type === "result") break;
      stream.checkpoint();
      const { lastEventId, completedEventId, eventsOfLast } = stream.checkpoint();
      positions.push([lastEventId, completedEventId, eventsOfLast]);
    }
    expect(positions).toEqual([
      ["1", undefined, 1],
      ["1", undefined, 2],
      ["2", "1", 1],
      ["2", "1", 2],
      ["3", "2", 1],
      ["3", "2", 2],
    ]);
  });

  it("between two twins leaves the second to the next reader, in any of its modes", async () => {
    const frames = [
      status(),
      assistant("1", "a"),
      assistant("2", "b"),
      update("2", { type: "text-delta", text: "b" }),
      result(),
      done,
    ];
    const { from } = await readSome(serve(frames), "all", 3);
    expect(from).toMatchObject({ lastEventId: "2", completedEventId: "1", eventsOfLast: 1 });
    for (const [include, expected] of [
      ["simplified", ["result", "done"]],
      ["interaction", ["interaction_update", "result", "done"]],
      ["all", ["interaction_update", "result", "done"]],
    ] as const) {
      const server = serve(frames);
      const rest = await server.run(collect(server.cursor().runs.stream(ref, { include, from })));
      expect(rest.map(({ type }) => type)).toEqual(expected);
    }
  });

  it("after the result supplies done without a request", async () => {
    const { from } = await readSome(serve([status(), result(), done]), "simplified", 2);
    const server = new StreamServer([], { runs: [runOf("FINISHED", { result: "Hello" })] });
    const stream = server.cursor().runs.stream(ref, { from });
    expect(await server.run(collect(stream))).toEqual([
      { type: "done", id: "900-0", data: {}, synthesized: true },
    ]);
    expect(server.requests).toHaveLength(0);
    expect(await server.run(stream.result())).toMatchObject({
      status: "FINISHED",
      text: "Hello",
      source: "run",
    });
  });

  it("after done delivers nothing more, and still has a result", async () => {
    const { from } = await readSome(serve([status(), result(), done]), "simplified", 9);
    expect(from.ended).toBe("done");
    const server = new StreamServer([], { runs: ["CANCELLED"] });
    expect(await server.run(collect(server.cursor().runs.stream(ref, { from })))).toEqual([]);
    expect(server.requests).toHaveLength(0);
    expect(await server.run(server.cursor().runs.stream(ref, { from }).result())).toMatchObject({
      status: "CANCELLED",
    });
    expect(server.streams).toHaveLength(0);
  });

  it("after a 410 keeps that the stream is gone", async () => {
    const server = new StreamServer(
      [CUT(status(), assistant("1", "a")), failedResponse(410, "stream_expired")],
      {
        runs: ["RUNNING"],
      },
    );
    const stream = server.cursor().runs.stream(ref);
    const reading = collect(stream);
    await server.clock.advance(20_000);
    const from = JSON.parse(JSON.stringify(stream.checkpoint())) as RunCheckpoint;
    stream.close();
    await reading;
    expect(from).toMatchObject({ lastEventId: "1", expired: true });
    const next = new StreamServer([], { runs: ["RUNNING", "FINISHED"] });
    const rest = await next.run(collect(next.cursor().runs.stream(ref, { from })));
    expect(rest.map(({ type }) => type)).toEqual(["result", "done"]);
    expect(next.streams).toHaveLength(0);
  });

  it.each([
    ["the stream was gone", [failedResponse(410, "stream_expired")]],
    ["the stream failed", [CUT(), CUT()]],
  ])(
    "between a synthesized result and its done, since %s, supplies done alone, without an event's id",
    async (_, connections) => {
      const server = new StreamServer([CUT(status(), assistant("1", "a")), ...connections, CUT()], {
        runs: ["FINISHED"],
      });
      const { from } = await server.run(readSome(server, "all", 3));
      const next = new StreamServer([]);
      expect(await next.run(collect(next.cursor().runs.stream(ref, { from })))).toEqual([
        { type: "done", data: {}, synthesized: true },
      ]);
    },
  );

  it("is the position of what was delivered, not of what has arrived", async () => {
    const server = new StreamServer([STALL(status() + assistant("1", "a") + assistant("2", "b"))]);
    const stream = server.cursor().runs.stream(ref);
    const positions: unknown[] = [];
    for await (const _event of stream) {
      positions.push(stream.lastEventId);
      if (positions.length === 2) break;
    }
    expect(positions).toEqual([undefined, "1"]);
    expect(stream.checkpoint()).toMatchObject({ lastEventId: "1", status: "RUNNING" });
  });
});
