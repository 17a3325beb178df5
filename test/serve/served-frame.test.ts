import { describe, expect, it } from "vitest";
import { END, failedResponse } from "../support/fake-api.ts";
import { assistant, done, result, status } from "../support/frames.ts";
import { runId } from "../support/sample-run.ts";
import { StreamServer } from "../support/stream-server.ts";
import { briefly, served } from "./support.ts";

const whole = [status(), assistant("1-0", "Hel"), assistant("2-0", "lo"), result(), done];

describe("the position to resume from", () => {
  const rest = [assistant("2-0", "lo"), result(), done];

  it.each([
    ["the header", { lastEventId: "1-0" }],
    ["the query", { query: "?lastEventId=1-0" }],
    ["the header before the query", { lastEventId: "1-0", query: "?lastEventId=0-9" }],
  ])("comes from %s, and is sent to the API", async (_, asked) => {
    const server = new StreamServer([END(status(), ...rest)]);
    expect(briefly((await served(server, asked)).frames)).toContain("assistant#2-0 lo");
    expect(server.positions).toEqual(["1-0"]);
  });

  it("may be any id, including one that looks like JSON and one in UTF-8", async () => {
    const server = new StreamServer([END(...rest)]);
    await served(server, { query: `?lastEventId=${encodeURIComponent('{"a":1}')}` });
    expect(server.positions).toEqual(['{"a":1}']);
    const utf8 = new StreamServer([END(assistant("é-1", "a"), ...rest), END(...rest)]);
    const { messages } = await served(utf8);
    const bytes = String.fromCharCode(...new TextEncoder().encode(messages[0]!.lastEventId));
    await served(utf8, { lastEventId: bytes });
    expect(utf8.positions).toEqual([undefined, "é-1"]);
  });

  it.each([
    ["result", ["done", "end"]],
    ["done", ["end"]],
  ])("after the %s is served without reading the run", async (kind, expected) => {
    const server = new StreamServer([]);
    const { frames, lastEventId } = await served(server, { lastEventId: `${kind}:${runId}` });
    expect(briefly(frames)).toEqual(expected);
    expect(lastEventId).toBe(`end:${runId}`);
    expect(server.requests).toEqual([]);
  });

  it("after the end is answered with 204, and the API is not called", async () => {
    const server = new StreamServer([]);
    for (const asked of [{ lastEventId: `end:${runId}` }, { query: `?lastEventId=end:${runId}` }]) {
      const { response, text } = await served(server, asked);
      expect([response.status, text]).toEqual([204, ""]);
    }
    expect(server.requests).toEqual([]);
  });

  it("becomes the run's start after a reset, where the API doesn't know the position", async () => {
    const server = new StreamServer([failedResponse(400, "invalid_last_event_id"), END(...whole)]);
    const { frames, messages } = await served(server, { lastEventId: "gone-0" });
    expect(briefly(frames)).toEqual([
      "reset",
      "status RUNNING",
      "assistant#1-0 Hel",
      "assistant#2-0 lo",
      "result#900-0 Hello",
      "done#900-0",
      "end",
    ]);
    expect(messages[0]?.lastEventId).toBe("");
    expect(server.positions).toEqual(["gone-0", undefined]);
  });

  it.each([
    ["a line end", "1-0%0Aevent: x"],
    ["a NUL", "1-0%00"],
    ["white space around it", "%201-0"],
    ["a character that no header can hold", "%F0%9F%99%82"],
    ["too many characters", "x".repeat(1025)],
  ])(
    "becomes the run's start after a reset, for a position with %s, which the API never receives",
    async (_, position) => {
      const server = new StreamServer([END(...whole)]);
      const { frames } = await served(server, { query: `?lastEventId=${position}` });
      expect(briefly(frames).slice(0, 3)).toEqual(["reset", "status RUNNING", "assistant#1-0 Hel"]);
      expect(server.positions).toEqual([undefined]);
    },
  );

  it("is the run's start where it is empty", async () => {
    const server = new StreamServer([END(...whole)]);
    expect(briefly((await served(server, { query: "?lastEventId=" })).frames)[0]).toBe("status RUNNING");
    expect(server.positions).toEqual([undefined]);
  });
});
