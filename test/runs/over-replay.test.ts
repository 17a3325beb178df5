import type { RunCheckpoint } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import { CUT, END, failedResponse } from "../support/fake-api.ts";
import { assistant, done, result, status, update } from "../support/frames.ts";
import { ref } from "../support/sample-run.ts";
import { readAll, StreamServer } from "../support/stream-server.ts";

const ending = result() + done;
const twins = (id: string) => assistant(id, id) + update(id, { type: "text-delta", text: id });
const ids = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `${from + index}-0`);
const lines = (some: string[], line = (id: string) => assistant(id, id)) => some.map(line).join("");
/** As they come from a network: what is remembered is forgotten by the chunk. */
const chunks = (some: string[], line?: (id: string) => string) =>
  Array.from({ length: Math.ceil(some.length / 500) }, (_, at) =>
    lines(some.slice(at * 500, (at + 1) * 500), line),
  );

describe("a server that replays more than it was asked for", () => {
  const count = 25_000;
  const all = ids(0, count);

  it.each([
    ["the whole run", 0],
    ["the run from the middle of what is remembered", count - 5_000],
    ["the run from the last event on", count - 1],
    ["nothing", count],
  ])("is recognised when it replays %s, after 25,000 ids", async (_name, from) => {
    const server = new StreamServer([
      CUT(...chunks(all)),
      END(lines(all.slice(from)), lines(ids(count, count + 10)), ending),
    ]);
    const delivered = (await readAll(server)).map(({ id }) => id);
    expect(delivered).toHaveLength(count + 12);
    expect(delivered).toEqual([...ids(0, count + 10), "900-0", "900-0"]);
    expect(server.positions[1]).toBe(all.at(-1));
  });

  it("and has nothing new but the result: the result is delivered", async () => {
    const server = new StreamServer([CUT(...chunks(all)), END(lines(all), ending)]);
    expect((await readAll(server)).slice(count)).toMatchObject([{ type: "result" }, { type: "done" }]);
  });

  it("from before a caller's own position: nothing that this reader delivered comes again", async () => {
    const server = new StreamServer([
      CUT(lines(ids(5, 8))),
      // What lies before the caller's position is unknown here, and comes; the position itself and the rest do not.
      END(lines(ids(0, 9)), ending),
    ]);
    const delivered = (await readAll(server, { from: "4-0" })).map(({ id }) => id);
    expect(delivered).toEqual([...ids(5, 8), ...ids(0, 4), "8-0", "900-0", "900-0"]);
  });

  it("and repeats old statuses, unknown ones among them: none is delivered again, since a run never goes back", async () => {
    const statuses = ["CREATING", "RUNNING", "HIBERNATED", "ERROR"].map((value) => status(value)).join("");
    const server = new StreamServer([CUT(statuses), CUT(statuses), END(statuses, ending)]);
    const reported = (await readAll(server)).flatMap((event) =>
      event.type === "status" ? [event.data.status] : [],
    );
    expect(reported).toEqual(["CREATING", "RUNNING", "HIBERNATED", "ERROR"]);
  });

  it("on every connection and never gets as far: the replay is dropped each time", async () => {
    const server = new StreamServer([
      CUT(lines(ids(0, 30))),
      CUT(lines(ids(0, 10))),
      CUT(lines(ids(0, 30))),
      CUT(lines(ids(0, 31))),
      END(lines(ids(0, 40)), ending),
    ]);
    expect((await readAll(server)).map(({ id }) => id)).toEqual([...ids(0, 40), "900-0", "900-0"]);
  });

  it.each(["simplified", "interaction", "all"] as const)(
    "in one go with twins, cut at each frame of them (%s)",
    async (include) => {
      const frames = ["a", "b", "c", "d"].flatMap((id) => [
        assistant(id, id),
        update(id, { type: "text-delta", text: id }),
      ]);
      const whole = await readAll(new StreamServer([END(...frames, ending)]), { include });
      for (let at = 1; at <= frames.length; at++) {
        const server = new StreamServer([CUT(...frames.slice(0, at)), END(...frames, ending)]);
        expect(await readAll(server, { include })).toEqual(whole);
      }
    },
  );

  it("of 25,000 twins, cut between two of them: the second is still delivered", async () => {
    const server = new StreamServer([
      CUT(...chunks(all.slice(0, -1), twins), assistant(all.at(-1)!, "last")),
      END(
        lines(all.slice(0, -1), twins),
        assistant(all.at(-1)!, "last"),
        update(all.at(-1)!, { type: "x" }),
        ending,
      ),
    ]);
    const delivered = await readAll(server, { include: "all" });
    expect(delivered).toHaveLength(2 * count + 2);
    expect(delivered.at(-3)).toMatchObject({
      id: all.at(-1),
      type: "interaction_update",
      data: { type: "x" },
    });
    expect(server.positions[1]).toBe(all.at(-2));
  });

  it("from before a caller's position: all is delivered, since this reader doesn't know what another one had", async () => {
    const server = new StreamServer([END(lines(ids(0, 5)), ending)]);
    expect((await readAll(server, { from: "elsewhere" })).map(({ id }) => id)).toEqual([
      ...ids(0, 5),
      "900-0",
      "900-0",
    ]);
  });

  it("from a caller's position, after resuming there: what came since is dropped", async () => {
    const server = new StreamServer([CUT(lines(ids(5, 8))), END(lines(ids(4, 10)), ending)]);
    expect((await readAll(server, { from: "4-0" })).map(({ id }) => id)).toEqual([
      ...ids(5, 10),
      "900-0",
      "900-0",
    ]);
  });

  it("in another process is recognised by the checkpoint: what the process before delivered doesn't come again", async () => {
    const first = new StreamServer([CUT(lines(ids(0, 5)))]);
    const stream = first.cursor().runs.stream(ref);
    const some = async () => {
      let count = 0;
      for await (const _event of stream) if (++count === 4) break;
    };
    await first.run(some());
    const from = JSON.parse(JSON.stringify(stream.checkpoint())) as RunCheckpoint;
    for (const cuts of [[], [CUT(lines(ids(0, 6)))], [CUT(lines(ids(4, 6))), CUT(lines(ids(0, 2)))]]) {
      const server = new StreamServer([...cuts, END(lines(ids(0, 9)), ending)]);
      expect((await readAll(server, { from })).map(({ id }) => id)).toEqual([...ids(4, 9), "900-0", "900-0"]);
    }
  });

  it("since it rejected a position after the caller's own: nothing from before the caller's is delivered", async () => {
    const server = new StreamServer([
      CUT(lines(ids(5, 7))),
      failedResponse(400, "invalid_last_event_id"),
      END(lines(ids(0, 9)), ending),
    ]);
    expect((await readAll(server, { from: "4-0" })).map(({ id }) => id)).toEqual([
      ...ids(5, 9),
      "900-0",
      "900-0",
    ]);
    expect(server.positions).toEqual(["4-0", "6-0", undefined]);
  });
});
