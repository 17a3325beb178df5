import { Cursor } from "cursor-cloud-agents";
import { ManualClock } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { isFull } from "./support.ts";

// Get A Run takes about 20 requests a minute; the client sends 12 at most, whoever waits, whatever is answered.

const agentId = "bc-1";
const ref = { agentId, id: "run-1" };
const minute = 60_000;
const running = () => Response.json({ ...ref, agentId, status: "RUNNING" });
const refuse = (status: number, code: string, headers = {}) =>
  Response.json({ error: { code, message: "m" } }, { status, headers });
const reset = () => {
  throw new TypeError("fetch failed", {
    cause: Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }),
  });
};
/** One good answer in three, so that the waiters go on for ever. */
const flaky = (bad: () => Response) => {
  let count = 0;
  return () => (count++ % 3 === 0 ? running() : bad());
};

const answers: Record<string, () => Response> = {
  "it runs": running,
  "the server is down": () => refuse(503, "unavailable"),
  "the server is down at times": flaky(() => refuse(502, "bad_gateway")),
  "the limit is reached": () => refuse(429, "rate_limit_exceeded"),
  "the limit is reached, with a time": flaky(() =>
    refuse(429, "rate_limit_exceeded", { "retry-after": "1" }),
  ),
  "connections break": reset,
  "connections break at times": flaky(reset),
};

/** By the jitter of their pauses. */
const polls: [string, () => number][] = [
  ["early", () => 0.999],
  ["late", () => 0],
];

/** A client whose run has no stream any more; notes when its run was asked for. */
function stage(answer: () => Response, random: () => number) {
  const clock = new ManualClock();
  const asked: number[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    if (pathname.endsWith("/stream")) return refuse(410, "stream_expired");
    if (request.method === "POST") return refuse(409, "agent_busy");
    if (!pathname.includes("/runs/")) return Response.json({ id: agentId, latestRunId: ref.id });
    asked.push(clock.now());
    return answer();
  };
  const cursor = new Cursor({
    apiKey: "key_TEST",
    fetch,
    clock,
    random,
  });
  return { clock, asked, cursor };
}

/** The most within any minute. */
const most = (times: number[]) =>
  Math.max(0, ...times.map((end) => times.filter((at) => at <= end && at > end - minute).length));

describe.each(Object.entries(answers))("while %s", (_, answer) => {
  it.each(isFull ? polls : polls.slice(0, 1))(
    "50 waiters of each kind share one budget for ten minutes (%s polls)",
    async (_name, random) => {
      const { clock, asked, cursor } = stage(answer, random);
      const ways: (() => PromiseLike<unknown>)[] = [
        () => cursor.runs.wait(ref),
        () => cursor.runs.stream(ref).result(),
        () => cursor.runs.create(agentId, { prompt: "next" }, { whenBusy: "wait" }),
      ];
      const begin = (at: number) => Promise.resolve(ways[at % ways.length]!()).catch(() => {});
      for (let at = 0; at < 50; at++) begin(at);
      // Others come all the time, also when the first ones have given up.
      for (let step = 0; step < 60; step++) {
        begin(step);
        await clock.advance(10_000);
      }
      expect(most(asked)).toBeLessThanOrEqual(12);
      // And they don't starve.
      expect(asked.length).toBeGreaterThan(40);
    },
  );
});

describe("the budget", () => {
  it("is each run's own", async () => {
    const { clock, asked, cursor } = stage(running, () => 0);
    for (let at = 0; at < 5; at++) cursor.runs.wait({ agentId, id: `run-${at}` }).catch(() => {});
    await clock.advance(minute);
    expect(asked.length).toBeGreaterThan(12);
  });
});
