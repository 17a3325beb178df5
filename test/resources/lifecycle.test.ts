import { describe, expect, it } from "vitest";
import { type Answer, broken, failedResponse, fake, reply, SILENT } from "../support/fake-api.ts";
import { agentId, ref } from "../support/sample-run.ts";

const gone = failedResponse(404, "agent_not_found");
const lost: [string, Answer][] = [
  ["a reset", broken()],
  ["silence", SILENT],
  ["a gateway's 504", reply(504)],
  ["a 500", reply(500)],
];

describe("a delete", () => {
  it.each(lost)("whose first answer was lost to %s succeeds when the agent is gone", async (_, answer) => {
    const { cursor, requests, run } = fake([answer, gone]);
    expect(await run(cursor.agents.delete(agentId))).toEqual({ id: agentId });
    expect(requests.map(({ method }) => method)).toEqual(["DELETE", "DELETE"]);
  });

  it.each([
    ["at once", [gone]],
    ["after a 429", [failedResponse(429, "rate_limit_exceeded"), gone]],
    ["after a 503 with Retry-After", [reply(503, "", { "retry-after": "1" }), gone]],
  ])("that finds nothing %s is an error, since this call did not delete it", async (_, answers) => {
    const { cursor, fails } = fake(answers);
    expect(await fails(cursor.agents.delete(agentId))).toMatchObject({ code: "agent_not_found", agentId });
  });

  it("that is lost each time fails with its last error", async () => {
    const { cursor, requests, fails } = fake(broken());
    expect((await fails(cursor.agents.delete(agentId))).kind).toBe("connection");
    expect(requests).toHaveLength(3);
  });
});

describe.each(["archive", "unarchive"] as const)("%s", (operation) => {
  it.each(lost)("is repeated after %s, since twice is harmless", async (_, answer) => {
    const { cursor, requests, run } = fake([answer, reply(200, { id: agentId })]);
    expect(await run(cursor.agents[operation](agentId))).toEqual({ id: agentId });
    expect(requests.map(({ target }) => target)).toEqual(Array(2).fill(`/v1/agents/${agentId}/${operation}`));
  });

  it("of an unknown agent is an error", async () => {
    const { cursor, fails } = fake([gone]);
    expect((await fails(cursor.agents[operation](agentId))).code).toBe("agent_not_found");
  });
});

describe("a cancel", () => {
  it.each(lost)(
    "is not repeated after %s, since the agent may have another run by then",
    async (_, answer) => {
      const { cursor, requests, fails } = fake(answer);
      const error = await fails(cursor.runs.cancel(ref));
      expect(error).toMatchObject({ outcome: "unknown", agentId, runId: ref.id });
      expect(requests).toHaveLength(1);
    },
  );

  it.each([{}, { "retry-after": "5" }])("of a run that is over fails at once (%j)", async (headers) => {
    const { cursor, requests, fails, clock } = fake(failedResponse(409, "run_not_cancellable", headers));
    const begin = clock.now();
    const error = await fails(cursor.runs.cancel(ref));
    expect([error.code, error.outcome, requests.length, clock.now()]).toEqual([
      "run_not_cancellable",
      undefined,
      1,
      begin,
    ]);
  });
});

describe("a follow-up to a busy agent", () => {
  it.each([{}, { "retry-after": "5" }])("fails at once, without a retry (%j)", async (headers) => {
    const { cursor, requests, fails, clock } = fake(failedResponse(409, "agent_busy", headers));
    const begin = clock.now();
    const error = await fails(cursor.runs.create(agentId, { prompt: "x" }));
    expect([error.code, requests.length, clock.now()]).toEqual(["agent_busy", 1, begin]);
  });
});
