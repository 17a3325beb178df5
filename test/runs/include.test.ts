import { readFileSync } from "node:fs";
import type { RunEvent } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import { CUT, END, failedResponse } from "../support/fake-api.ts";
import { assistant, done, result, update } from "../support/frames.ts";
import { runOf } from "../support/sample-run.ts";
import { readAll, StreamServer } from "../support/stream-server.ts";

const body = readFileSync(new URL("../../fixtures/finished-with-edits.sse", import.meta.url), "utf8");
const frames = body.split(/(?<=\n\n)/);
const types = (events: RunEvent[]) => [...new Set(events.map(({ type }) => type))].sort();
const count = (text: string) => frames.filter((frame) => frame.includes(`event: ${text}\n`)).length;
const read = (include?: "simplified" | "interaction" | "all") =>
  readAll(new StreamServer([END(body)]), include ? { include } : {});

describe("of a stream in which most events have a twin", () => {
  it("the default mode delivers everything but the twins", async () => {
    const events = await read();
    expect(types(events)).toEqual([
      "assistant",
      "done",
      "heartbeat",
      "result",
      "status",
      "thinking",
      "tool_call",
    ]);
    expect(events).toHaveLength(frames.length - count("interaction_update"));
    expect(await read("simplified")).toEqual(events);
  });

  it("the interaction mode delivers the twins, and the events around them", async () => {
    const events = await read("interaction");
    expect(types(events)).toEqual(["done", "heartbeat", "interaction_update", "result", "status"]);
    expect(events).toHaveLength(frames.length - count("assistant") - count("thinking") - count("tool_call"));
  });

  it("the mode for all delivers every event as sent", async () => {
    const events = await read("all");
    expect(events.map(({ type, id, ...rest }) => [type, id, "data" in rest && rest.data])).toEqual(
      frames.map((frame) => [
        /event: (.*)/.exec(frame)?.[1],
        /^id: (.*)/.exec(frame)?.[1],
        JSON.parse(/data: (.*)/.exec(frame)?.[1] ?? ""),
      ]),
    );
  });

  it.each([
    ["simplified", "1713-1"],
    ["interaction", "1713-0"],
    ["all", "1713-0"],
  ] as const)("%s, cut between two twins, resumes from %s and loses neither", async (include, position) => {
    const half = update("1713-0", { type: "step-started" }) + assistant("1713-1", "Hel");
    const rest = update("1713-1", { type: "text-delta", text: "Hel" });
    // Resume is exclusive per id: who names the twins' id gets neither of them again.
    const server = new StreamServer(({ lastEventId }, index) => {
      if (index === 0) return CUT(half);
      return END(lastEventId === "1713-1" ? "" : assistant("1713-1", "Hel") + rest, result(), done);
    });
    const events = await readAll(server, { include });
    expect(server.positions).toEqual([undefined, position]);
    expect(events).toEqual(
      await readAll(new StreamServer([END(half + rest + result() + done)]), { include }),
    );
  });

  it.each(["interaction", "all"] as const)(
    "%s, cut after both twins, asks for them again and drops them",
    async (include) => {
      const twins = (id: string) => assistant(id, id) + update(id, { type: "text-delta", text: id });
      const server = new StreamServer([
        CUT(twins("1"), twins("2")),
        CUT(twins("2")),
        CUT(twins("2"), twins("3")),
        END(twins("3"), result(), done),
      ]);
      const texts = (await readAll(server, { include })).filter(({ type }) => type === "interaction_update");
      expect(texts.map(({ id }) => id)).toEqual(["1", "2", "3"]);
      expect(server.positions).toEqual([undefined, "1", "1", "2"]);
    },
  );

  it("three events of one id are delivered, too", async () => {
    const three = [assistant("2", "a"), update("2", { type: "x" }), update("2", { type: "y" })];
    for (let at = 0; at <= 3; at++) {
      const server = new StreamServer([
        CUT(assistant("1", "0"), ...three.slice(0, at)),
        END(...three, result(), done),
      ]);
      const events = await readAll(server, { include: "all" });
      expect(events.map((event) => ("data" in event ? Object.values(event.data as object)[0] : ""))).toEqual([
        "0",
        "a",
        "x",
        "y",
        expect.any(String),
        undefined,
      ]);
    }
  });

  it("a synthesized end comes in every mode", async () => {
    for (const include of ["simplified", "interaction", "all"] as const) {
      const server = new StreamServer([failedResponse(410, "stream_expired")], { runs: [runOf("FINISHED")] });
      expect((await readAll(server, { include })).map(({ type }) => type)).toEqual(["result", "done"]);
    }
  });

  it("unwanted twins are not even parsed", async () => {
    const parse = JSON.parse;
    const parsed: string[] = [];
    JSON.parse = (text, ...rest) => {
      parsed.push(text);
      return parse(text, ...rest);
    };
    try {
      await read();
    } finally {
      JSON.parse = parse;
    }
    expect(parsed.filter((text) => text.startsWith('{"type":"'))).toEqual([]);
    expect(parsed.length).toBeGreaterThan(20);
  });
});
