import { isStreamError } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import { END, SILENT, STALL } from "../support/fake-api.ts";
import { assistant, briefly, done, heartbeat, result, status } from "../support/frames.ts";
import { ref } from "../support/sample-run.ts";
import { readAll, StreamServer } from "../support/stream-server.ts";
import { collect } from "../support/waiting.ts";

const ending = result() + done;
const hel = assistant("100-0", "Hel");
const all = ["status RUNNING", "assistant#100-0 Hel", "result#900-0 Hello", "done#900-0"];

describe("a silent connection", () => {
  it.each([undefined, 1_000, 600_000])(
    "is dropped after the idle timeout (%s) and resumed",
    async (idleTimeout) => {
      const server = new StreamServer([STALL(status(), hel), END(status(), ending)]);
      const reasons: unknown[] = [];
      const events = await readAll(server, {
        idleTimeout,
        onReconnect: ({ reason }) => reasons.push(reason),
      });
      expect(briefly(events)).toEqual(all);
      expect(server.positions).toEqual([undefined, "100-0"]);
      expect(server.streams[0]).toMatchObject({ cancelled: 1, open: false });
      expect(server.streams[1]!.at - server.streams[0]!.at).toBe((idleTimeout ?? 60_000) + 500);
      expect(isStreamError(reasons[0])).toBe(true);
    },
  );

  it.each([
    ["heartbeats", heartbeat],
    ["comments", ": ping\n\n"],
    ["single bytes", ":"],
    ["events", hel],
  ])("is not one on which %s come", async (_name, sign) => {
    const connection = { ...END(...Array(40).fill(sign), `\n\n${ending}`), pace: 59_000 };
    const server = new StreamServer([connection]);
    expect(briefly(await readAll(server)).slice(-2)).toEqual(all.slice(-2));
    expect(server.streams).toHaveLength(1);
  });

  it("counts from the last byte, and only while a consumer reads", async () => {
    const server = new StreamServer([END(status(), hel, ending)]);
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { type } of server.cursor().runs.stream(ref)) {
        seen.push(type);
        await new Promise<void>((resolve) => server.clock.setTimeout(resolve, 3_600_000));
      }
    })();
    await server.run(reading);
    expect(seen).toEqual(["status", "assistant", "result", "done"]);
    expect(server.streams).toHaveLength(1);
  });

  it("may last without limit where the caller says so", async () => {
    const server = new StreamServer([{ ...END(hel, ending), pace: 10 * 3_600_000 }]);
    expect(briefly(await readAll(server, { idleTimeout: Number.POSITIVE_INFINITY }))).toEqual(all.slice(1));
  });

  it("without headers counts by the request's timeout", async () => {
    const server = new StreamServer([SILENT, END(hel, ending)]);
    const stream = server.cursor({ timeout: 7_000 }).runs.stream(ref);
    expect(briefly(await server.run(collect(stream)))).toEqual(all.slice(1));
    expect(server.streams[1]!.at - server.streams[0]!.at).toBe(7_500);
  });

  it("whose headers took their time is not cut by the request's timeout later", async () => {
    const server = new StreamServer([
      { ...END(hel, heartbeat, heartbeat, ending), delay: 6_000, pace: 50_000 },
    ]);
    const stream = server.cursor({ timeout: 7_000 }).runs.stream(ref);
    expect(await server.run(collect(stream))).toHaveLength(5);
    expect(server.streams).toHaveLength(1);
  });
});
