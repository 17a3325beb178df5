import { describe, expect, it } from "vitest";
import { failedResponse, fake, reply } from "../support/fake-api.ts";
import { agent, agentId } from "../support/sample-run.ts";
import { failure } from "../support/waiting.ts";

const limited = { error: { code: "rate_limit_exceeded", message: "m" } };
const connect = (retryAfter: unknown) => ({
  code: "resource_exhausted",
  message: "[resource_exhausted] Error",
  details: [{ debug: { details: { title: "Slow", additionalInfo: { retryAfter } } } }],
});

/** How long a call waits between an answer and its repeat. */
async function pauseAfter(status: number, body: unknown, headers: Record<string, string>, random = 0.5) {
  const times: number[] = [];
  const { cursor, clock, run } = fake(
    () => {
      times.push(clock.now());
      return times.length === 1 ? reply(status, body, headers) : reply(200, agent);
    },
    { random: () => random },
  );
  await run(cursor.agents.get(agentId));
  return times[1]! - times[0]!;
}

describe("Retry-After", () => {
  it.each([
    ["a number of seconds", { "retry-after": "7" }, 7_000],
    ["nothing to wait for: the usual pause", { "retry-after": "0" }, 250],
    ["a fraction", { "retry-after": "0.25" }, 250],
    ["blanks around it", { "retry-after": " 3 " }, 3_000],
    [
      "a date, read against the answer's own Date",
      { "retry-after": "Wed, 21 Oct 2015 07:28:05 GMT", date: "Wed, 21 Oct 2015 07:28:00 GMT" },
      5_000,
    ],
    ["a date, read against our clock", { "retry-after": "Thu, 01 Jan 2026 00:00:09 GMT" }, 9_000],
    ["a date in the past: the usual pause", { "retry-after": "Wed, 21 Oct 2015 07:28:05 GMT" }, 250],
    ["exactly a minute", { "retry-after": "60" }, 60_000],
  ])("%s is the least pause", async (_, headers, pause) => {
    expect(await pauseAfter(429, limited, headers)).toBe(pause);
    expect(await pauseAfter(503, "busy", headers)).toBe(pause);
  });

  it.each(["soon", "-5", "in 5 minutes", "1e3", "NaN", ""])(
    "%j is ignored: the usual pause",
    async (value) => {
      expect(await pauseAfter(429, limited, { "retry-after": value })).toBe(250);
    },
  );

  it("inside a Connect body counts, as text and as a number", async () => {
    expect(await pauseAfter(429, connect("11"), {})).toBe(11_000);
    expect(await pauseAfter(429, connect(12), {})).toBe(12_000);
    expect(await pauseAfter(429, connect("later"), {})).toBe(250);
    expect(await pauseAfter(429, connect("11"), { "retry-after": "2" })).toBe(2_000);
  });

  it.each([
    ["61", {}, 61_000],
    ["3600", {}, 3_600_000],
    ["Wed, 21 Oct 2015 08:28:00 GMT", { date: "Wed, 21 Oct 2015 07:28:00 GMT" }, 3_600_000],
  ])("of more than a minute (%s) is left to the caller", async (value, more, ms) => {
    const { cursor, requests, clock } = fake(
      failedResponse(429, "rate_limit_exceeded", { "retry-after": value, ...more }),
    );
    const begin = clock.now();
    const error = await failure(cursor.agents.get(agentId));
    expect([error.code, error.retryAfterMs, requests.length]).toEqual(["rate_limit_exceeded", ms, 1]);
    expect([clock.now(), clock.pending]).toEqual([begin, 0]);
  });

  it("of more than a minute in a Connect body, too", async () => {
    const { cursor, requests } = fake(reply(429, connect("300")));
    const error = await failure(cursor.agents.get(agentId));
    expect([error.retryAfterMs, requests.length]).toEqual([300_000, 1]);
  });

  it("is on the error when the repeats are used up", async () => {
    const { cursor, fails } = fake(failedResponse(429, "rate_limit_exceeded", { "retry-after": "1.5" }));
    expect((await fails(cursor.agents.get(agentId))).retryAfterMs).toBe(1_500);
  });
});

describe("without it", () => {
  const pauses = async (random: number, maxRetries: number) => {
    const times: number[] = [];
    const { cursor, clock, fails } = fake(
      () => {
        times.push(clock.now());
        return reply(503);
      },
      { random: () => random, maxRetries },
    );
    await fails(cursor.agents.get(agentId));
    return times.slice(1).map((time, index) => time - times[index]!);
  };

  it("the pause doubles from half a second to eight, with full jitter", async () => {
    expect(await pauses(0.999999999, 7)).toEqual(
      [500, 1000, 2000, 4000, 8000, 8000, 8000].map((ms) => expect.closeTo(ms, 2)),
    );
    expect(await pauses(0.5, 3)).toEqual([250, 500, 1000]);
    expect(await pauses(0, 3)).toEqual([0, 0, 0]);
  });
});

describe("an abort during the pause", () => {
  it("rejects at once with the caller's reason, sends nothing more and leaves no timer", async () => {
    const { cursor, requests, clock } = fake(
      failedResponse(429, "rate_limit_exceeded", { "retry-after": "30" }),
    );
    const controller = new AbortController();
    const call = failure(cursor.agents.get(agentId, { signal: controller.signal }));
    await clock.advance(20);
    expect([requests.length, clock.pending]).toEqual([1, 1]);
    const reason = { why: "the user left" };
    controller.abort(reason);
    expect(await call).toBe(reason);
    await clock.advance(60_000);
    expect([requests.length, clock.pending]).toEqual([1, 0]);
  });
});
