import { describe, expect, it } from "vitest";
import {
  type Answer,
  bodyOf,
  broken,
  failedResponse,
  fake,
  type RecordedRequest,
  reply,
  SILENT,
} from "../support/fake-api.ts";
import { agent, agentId, run } from "../support/sample-run.ts";
import { failure } from "../support/waiting.ts";

const conflict = failedResponse(409, "agent_id_conflict");
const json = { "content-type": "application/json" };
const created = (id: string) => ({ agent: { ...agent, id }, run: { ...run, agentId: id } });

/** A server that creates agents, and answers only when `tell` lets it: otherwise the answer is lost. */
function agentsServer(tell: (create: number) => Answer | undefined) {
  const made = new Set<string>();
  let creates = 0;
  const answer: Answer = (request) => {
    const [, , , id = "", kind] = request.url.pathname.split("/");
    if (request.method === "GET" && kind === "runs") return reply(200, { ...run, agentId: id });
    if (request.method === "GET") {
      return made.has(id) ? reply(200, { ...agent, id }) : failedResponse(404, "agent_not_found");
    }
    const wanted: string = request.json.agentId ?? `bc-minted-by-the-server-${made.size}`;
    const lost = tell(++creates);
    const isNew = !made.has(wanted);
    made.add(wanted);
    return lost ?? (isNew ? reply(201, created(wanted)) : conflict);
  };
  return { answer, made };
}

const lost: [string, Answer][] = [
  ["before the headers, by a reset", broken()],
  ["before the headers, by silence", SILENT],
  ["in the headers: a gateway's 504", reply(504, "<html>", { "content-type": "text/html" })],
  ["in the headers: a 500", reply(500)],
  [
    "after the headers, by a cut",
    () => new Response(bodyOf(['{"agent":'], "cut"), { status: 201, headers: json }),
  ],
  [
    "after the headers, by silence",
    () => new Response(bodyOf(["{"], "stall"), { status: 201, headers: json }),
  ],
  ["after the headers: an empty 201", reply(201, "")],
  ["after the headers: a 200 page", reply(200, "<html>", { "content-type": "text/html" })],
];
const creates = (requests: RecordedRequest[]) => requests.filter(({ method }) => method === "POST");

describe("a create whose answer was lost", () => {
  it.each(lost)("%s: returns the agent it created, and creates no second one", async (_, answer) => {
    const server = agentsServer((create) => (create === 1 ? answer : undefined));
    const { cursor, requests, run: pass } = fake(server.answer);
    const result = await pass(cursor.agents.create({ prompt: "x" }));
    const [first, second] = creates(requests);
    expect(first!.json.agentId).toMatch(
      /^bc-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(second!.text).toBe(first!.text);
    expect([result.agent.id, result.run.agentId]).toEqual([first!.json.agentId, first!.json.agentId]);
    expect([...server.made]).toEqual([result.agent.id]);
    expect("adopted" in result).toBe(false);
  });

  it.each(lost)("%s, each time: rejects with an unknown outcome that names the id", async (_, answer) => {
    const server = agentsServer(() => answer);
    const { cursor, requests, fails } = fake(server.answer);
    const error = await fails(cursor.agents.create({ prompt: "x" }));
    expect(error).toMatchObject({ outcome: "unknown", agentId: requests[0]!.json.agentId });
    expect([requests.length, server.made.size]).toEqual([3, 1]);
  });

  it.each(lost)(
    "%s, with secrets: is never repeated and rejects with an unknown outcome",
    async (_, answer) => {
      const server = agentsServer(() => answer);
      const { cursor, requests, fails } = fake(server.answer);
      const error = await fails(cursor.agents.create({ prompt: "x", envVars: { TOKEN: "t" } }));
      expect([error.outcome, error.agentId, requests.length]).toEqual(["unknown", undefined, 1]);
      expect(requests[0]!.json).toEqual({ prompt: { text: "x" }, envVars: { TOKEN: "t" } });
    },
  );

  it.each(lost)(
    "%s, with the caller's id: rejects with a conflict whose outcome is unknown",
    async (_, answer) => {
      const server = agentsServer((create) => (create === 1 ? answer : undefined));
      const { cursor, fails } = fake(server.answer);
      const error = await fails(cursor.agents.create({ prompt: "x", agentId }));
      expect(error).toMatchObject({ code: "agent_id_conflict", outcome: "unknown", agentId });
    },
  );

  it.each(lost)("%s, with the caller's id and adopt: returns the agent", async (_, answer) => {
    const server = agentsServer((create) => (create === 1 ? answer : undefined));
    const { cursor, run: pass } = fake(server.answer);
    const result = await pass(cursor.agents.create({ prompt: "x", agentId }, { onConflict: "adopt" }));
    expect(result).toEqual({ ...created(agentId), adopted: true });
  });

  it("stays unknown, with the id, if the agent can't be read in the end", async () => {
    const { cursor, requests, fails } = fake([broken(), conflict, failedResponse(403, "role_forbidden")]);
    const error = await fails(cursor.agents.create({ prompt: "x" }));
    expect(error).toMatchObject({
      code: "role_forbidden",
      outcome: "unknown",
      agentId: requests[0]!.json.agentId,
    });
  });

  it.each([
    ["that is rejected for now", failedResponse(429, "rate_limit_exceeded")],
    ["whose key was revoked meanwhile", failedResponse(401, "unauthorized")],
  ])("and repeated by an attempt %s stays unknown, since the first may have created it", async (_, next) => {
    const { cursor, requests, fails } = fake([broken(), next, next]);
    const error = await fails(cursor.agents.create({ prompt: "x" }));
    expect(error).toMatchObject({ outcome: "unknown", agentId: requests[0]!.json.agentId });
  });

  it("is not repeated with maxRetries 0", async () => {
    const { cursor, requests, fails } = fake(broken(), { maxRetries: 0 });
    expect((await fails(cursor.agents.create({ prompt: "x" }))).outcome).toBe("unknown");
    expect(requests).toHaveLength(1);
  });
});

describe("a create that the server rejects", () => {
  it.each([
    ["agent_busy", failedResponse(409, "agent_busy"), "agent_busy"],
    ["no code at all", reply(409, { error: "Conflict" }), undefined],
  ])("with a 409 of %s rejects with it, whatever onConflict says", async (_, answer, code) => {
    for (const onConflict of ["throw", "adopt"] as const) {
      const { cursor, requests, fails } = fake([answer]);
      const error = await fails(cursor.agents.create({ prompt: "x", agentId }, { onConflict }));
      expect([error.status, error.code, error.outcome, requests.length]).toEqual([409, code, undefined, 1]);
    }
  });

  it("because the caller's id is taken has a known outcome", async () => {
    const { cursor, requests, fails } = fake([conflict]);
    const error = await fails(cursor.agents.create({ prompt: "x", agentId }));
    expect([error.code, error.agentId, error.outcome]).toEqual(["agent_id_conflict", agentId, undefined]);
    expect(requests).toHaveLength(1);
  });

  it("because the caller's id is taken returns the existing agent with adopt", async () => {
    const { cursor, requests } = fake([conflict, reply(200, agent), reply(200, run)]);
    const result = await cursor.agents.create({ prompt: "x", agentId }, { onConflict: "adopt" });
    expect(result).toEqual({ agent, run, adopted: true });
    expect(requests.map(({ method, target }) => `${method} ${target}`)).toEqual([
      "POST /v1/agents",
      `GET /v1/agents/${agentId}`,
      `GET /v1/agents/${agentId}/runs/${run.id}`,
    ]);
  });

  it.each([
    [400, { "retry-after": "1" }],
    [429, { "retry-after": "1" }],
  ])("for its usage limit (%i) is not repeated", async (status, headers) => {
    for (const params of [{ prompt: "x" }, { prompt: "x", envVars: { A: "1" } }]) {
      const { cursor, requests, fails } = fake(failedResponse(status, "usage_limit_exceeded", headers));
      const error = await fails(cursor.agents.create(params));
      expect([error.code, error.outcome, requests.length]).toEqual(["usage_limit_exceeded", undefined, 1]);
    }
  });

  it("after a 429 with a conflict has a known outcome: the agent is another caller's", async () => {
    const { cursor, fails } = fake([failedResponse(429, "rate_limit_exceeded"), conflict]);
    const error = await fails(cursor.agents.create({ prompt: "x", agentId }));
    expect([error.code, error.outcome]).toEqual(["agent_id_conflict", undefined]);
  });
});

it("two creates with one id, the first aborted, make one agent that the second adopts", async () => {
  const server = agentsServer(() => undefined);
  const { cursor, run: pass, fails } = fake(server.answer);
  const controller = new AbortController();
  const first = fails(cursor.agents.create({ prompt: "x", agentId }, { signal: controller.signal }));
  const adopted = cursor.agents.create({ prompt: "x", agentId }, { onConflict: "adopt" });
  const second = cursor.agents.create({ prompt: "x", agentId });
  const third = fails(second);
  controller.abort("unmounted");
  expect(await first).toBe("unmounted");
  expect((await pass(adopted)).agent.id).toBe(agentId);
  expect((await third).code).toBe("agent_id_conflict");
  expect([...server.made]).toEqual([agentId]);
});

describe("the body of a create", () => {
  it("holds what was set, and nothing else", async () => {
    const { cursor, requests } = fake(reply(201, created(agentId)));
    const options = { signal: new AbortController().signal, timeout: 9, maxRetries: 1 };
    await cursor.agents.create(
      { prompt: "x", agentId, name: undefined, model: undefined },
      { ...options, onConflict: "throw" },
    );
    expect(JSON.parse(requests[0]!.text)).toEqual({ prompt: { text: "x" }, agentId });
    await cursor.runs.create(agentId, { prompt: { text: "x" } }, { ...options, whenBusy: "throw" });
    expect(JSON.parse(requests[1]!.text)).toEqual({ prompt: { text: "x" } });
  });

  it("keeps false, 0 and the empty string, which are values", async () => {
    const { cursor, requests } = fake(reply(201, created(agentId)));
    await cursor.agents.create({
      prompt: "x",
      agentId,
      autoCreatePR: false,
      workOnCurrentBranch: false,
      name: "",
    });
    expect(requests[0]!.json).toMatchObject({ autoCreatePR: false, workOnCurrentBranch: false, name: "" });
  });

  it("takes fields that this version doesn't know from extraBody", async () => {
    const { cursor, requests } = fake(reply(201, { ...created(agentId) }));
    await cursor.agents.create({ prompt: "x", agentId }, { extraBody: { metadata: { team: "a" } } });
    await cursor.runs.create(agentId, { prompt: "x" }, { extraBody: { priority: 0 } });
    expect(requests[0]!.json).toEqual({ prompt: { text: "x" }, agentId, metadata: { team: "a" } });
    expect(requests[1]!.json).toEqual({ prompt: { text: "x" }, priority: 0 });
  });

  it.each([
    [{ agentId: "bc-x" }, "extraBody.agentId"],
    [{ envVars: {} }, "extraBody.envVars"],
    [{ prompt: { text: "y" } }, "extraBody.prompt"],
    [{ name: "b" }, "extraBody.name"],
  ])("rejects %j in extraBody, which has a parameter of its own", async (extraBody, argument) => {
    const { cursor, requests } = fake(reply(201, created(agentId)));
    const call = cursor.agents.create({ prompt: "x", name: "a" }, { extraBody });
    await expect(call).rejects.toMatchObject({ kind: "argument", argument });
    expect(requests).toEqual([]);
  });

  it("leaves the caller's object unchanged", async () => {
    const params = Object.freeze({ prompt: "x", repos: Object.freeze([]) });
    await fake(reply(201, created(agentId))).cursor.agents.create(params as never);
    expect(params).toEqual({ prompt: "x", repos: [] });
  });
});

it.each([400, 401, 403, 429, 503])(
  "a lost answer followed by a %i leaves the outcome unknown",
  async (status) => {
    const headers = { "retry-after": "120" };
    const { cursor, fails } = fake([
      broken(),
      reply(status, { error: { code: "x", message: "m" } }, headers),
    ]);
    const error = await fails(cursor.agents.create({ prompt: "x" }));
    expect(error).toMatchObject({ kind: "api", status, outcome: "unknown" });
    expect(error.agentId).toMatch(/^bc-/);
  },
);

it.each([{}, [], 1, "x", { agent: {} }])("a 201 with %j is an invalid response", async (body) => {
  const { cursor, fails } = fake(reply(201, body as object));
  const error = await fails(cursor.agents.create({ prompt: "x", envVars: { A: "value" } }));
  expect(error).toMatchObject({ kind: "api", code: "invalid_response", outcome: "unknown" });
});

it("a middleware that fails on the answer leaves the outcome unknown", async () => {
  const middleware = [
    {
      onResponse: () => {
        throw new TypeError("mine");
      },
    },
  ];
  const { cursor, fails } = fake(reply(201, { run: {} }), { middleware });
  expect(await fails(cursor.runs.create(agentId, { prompt: "x" }))).toMatchObject({ outcome: "unknown" });
});

it("a conflict whose body breaks off is repeated, since it may be with the agent whose answer was lost", async () => {
  const torn = () => new Response(bodyOf(['{"error":{"co'], "cut"), { status: 409, headers: json });
  const {
    cursor,
    run: play,
    requests,
  } = fake([broken(), torn, conflict, reply(200, { ...agent, latestRunId: run.id }), reply(200, run)]);
  const made = await play(cursor.agents.create({ prompt: "x" }, { maxRetries: 3 }));
  expect(made.run.id).toBe(run.id);
  expect(requests.map(({ method }) => method)).toEqual(["POST", "POST", "POST", "GET", "GET"]);
});

describe("the id of a create", () => {
  const slow = async (call: "create" | "prompt", params: object = {}) => {
    const controller = new AbortController();
    const ids: string[] = [];
    const { cursor, requests, fails } = fake(() => {
      controller.abort("enough");
      return new Promise<Response>(() => {});
    });
    const options = {
      signal: controller.signal,
      onAgentId: (id: string) => ids.push(id, String(requests.length)),
    };
    const error = await fails(
      call === "create"
        ? cursor.agents.create({ prompt: "x", ...params }, options)
        : cursor.prompt("x", params, options),
    );
    return { error, ids, sent: requests[0]?.json.agentId };
  };

  it.each(["create", "prompt"] as const)(
    "is known before the request, so that an abort leaves it (%s)",
    async (call) => {
      const { error, ids, sent } = await slow(call);
      expect([error, ids]).toEqual(["enough", [sent, "0"]]);
      expect(sent).toMatch(/^bc-/);
    },
  );

  it("is the caller's own where one is given, and none where none can be sent", async () => {
    expect((await slow("create", { agentId })).ids).toEqual([agentId, "0"]);
    expect((await slow("create", { envVars: { A: "1" } })).ids).toEqual([]);
  });

  it("is passed on once, however often the create is repeated", async () => {
    const ids: string[] = [];
    const { cursor, requests, run } = fake([reply(503), reply(503), reply(201, created(agentId))]);
    await run(cursor.agents.create({ prompt: "x" }, { onAgentId: (id) => ids.push(id) }));
    expect([ids.length, requests.length]).toEqual([1, 3]);
  });

  it("is not passed on where nothing is sent", async () => {
    const ids: string[] = [];
    const { cursor } = fake([]);
    const onAgentId = (id: string) => ids.push(id);
    await failure(cursor.agents.create({ prompt: "" }, { onAgentId }));
    await failure(cursor.agents.create({ prompt: "x" }, { onAgentId, signal: AbortSignal.abort("no") }));
    expect(await failure(cursor.agents.create({ prompt: "x" }, { onAgentId: 7 as never }))).toMatchObject({
      argument: "onAgentId",
    });
    expect(ids).toEqual([]);
  });
});
