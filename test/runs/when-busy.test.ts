import { isApiError } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import { type Connection, failedResponse, type RecordedRequest, reply } from "../support/fake-api.ts";
import { agentId, runId, runOf } from "../support/sample-run.ts";
import { StreamServer } from "../support/stream-server.ts";

const busy = failedResponse(409, "agent_busy");
const created = reply(201, { run: runOf("CREATING") });

/** An agent whose run takes its time: what the POSTs of runs and of cancel are answered, in order. */
function agent(
  posts: Connection[],
  {
    runs = ["RUNNING", "RUNNING", "FINISHED"],
    cancels = [] as Connection[],
    latest = runId as string | null,
  } = {},
) {
  const server: StreamServer = new StreamServer([], {
    runs,
    other: ({ method, path }: RecordedRequest) => {
      const before = sent(server, method, path).length - 1;
      if (method === "GET")
        return { id: agentId, status: "ACTIVE", ...(latest ? { latestRunId: latest } : {}) };
      const answer = (path.endsWith("/cancel") ? cancels : posts)[before];
      if (!answer) throw new RangeError(`unexpected ${method} ${path}`);
      return answer;
    },
  });
  return server;
}
const sent = (server: StreamServer, method: string, path: string) =>
  server.requests.filter((request) => request.method === method && request.path === path);
const posts = (server: StreamServer) => sent(server, "POST", `/v1/agents/${agentId}/runs`);
const story = (server: StreamServer) =>
  server.requests.map(
    ({ method, path }) =>
      `${method} ${path.slice(`/v1/agents/${agentId}`.length).replace(runId, "$R") || "/"}`,
  );
const create = (server: StreamServer, options: object = {}) =>
  server.run(Promise.resolve(server.cursor().runs.create(agentId, { prompt: "more" }, options)));

describe("a follow-up to a busy agent", () => {
  it("is rejected at once, by default", async () => {
    const server = agent([busy]);
    const error = await create(server).catch((cause: unknown) => cause);
    expect(isApiError(error, "agent_busy")).toBe(true);
    expect(server.requests).toHaveLength(1);
  });

  it("waits for the run in the way, through Get A Run, and again when another one was faster", async () => {
    const server = agent([busy, busy, created]);
    expect(await create(server, { whenBusy: "wait" })).toMatchObject({ id: runId });
    expect(posts(server)).toHaveLength(3);
    expect(story(server).slice(0, 6)).toEqual(
      ["POST /runs", "GET /", "GET /runs/$R", "GET /runs/$R", "GET /runs/$R", "POST /runs"].slice(0, 6),
    );
    const bodies = posts(server).map(({ text }) => text);
    expect(new Set(bodies)).toEqual(new Set(['{"prompt":{"text":"more"}}']));
  });

  it("is never posted while the run in the way is known to be active", async () => {
    const server = agent([busy, created], { runs: [...Array(30).fill("RUNNING"), "CANCELLED"] });
    await create(server, { whenBusy: "wait" });
    expect(posts(server)).toHaveLength(2);
    expect(story(server).at(-1)).toBe("POST /runs");
    expect(server.lookups).toHaveLength(31);
  });

  it("cancels the run in the way where that is asked for", async () => {
    const server = agent([busy, created], {
      cancels: [reply(200, { id: runId })],
      runs: ["RUNNING", "CANCELLED"],
    });
    await create(server, { whenBusy: "cancel" });
    expect(story(server)).toEqual([
      "POST /runs",
      "GET /",
      "GET /runs/$R",
      "POST /runs/$R/cancel",
      "GET /runs/$R",
      "POST /runs",
    ]);
  });

  it("does not mind that the run had ended before it could be cancelled", async () => {
    const server = agent([busy, created], {
      cancels: [failedResponse(409, "run_not_cancellable")],
      runs: ["RUNNING", "FINISHED"],
    });
    await create(server, { whenBusy: "cancel" });
    expect(posts(server)).toHaveLength(2);
  });

  it("fails where the cancel does, and posts nothing more", async () => {
    const server = agent([busy], { cancels: [failedResponse(403, "forbidden")] });
    await expect(create(server, { whenBusy: "cancel" })).rejects.toMatchObject({ status: 403 });
    expect(posts(server)).toHaveLength(1);
  });

  it("is sent again after a second when the agent is only winding down", async () => {
    for (const whenBusy of ["wait", "cancel"]) {
      const server = agent([busy, created], { runs: ["FINISHED"] });
      await create(server, { whenBusy });
      const [first, second] = posts(server).map(({ at }) => at);
      expect(second! - first!).toBe(1_000);
      expect(sent(server, "POST", `/v1/agents/${agentId}/runs/${runId}/cancel`)).toHaveLength(0);
    }
  });

  it("asks for no run where the agent names none", async () => {
    const server = agent([busy, created], { latest: null });
    await create(server, { whenBusy: "wait" });
    expect(story(server)).toEqual(["POST /runs", "GET /", "POST /runs"]);
    expect(server.requests.some(({ path }) => path.includes("undefined"))).toBe(false);
  });

  it("gives up after two minutes without an active run, asked at growing pauses", async () => {
    const server = agent(Array(100).fill(busy), { runs: ["FINISHED"] });
    await expect(create(server, { whenBusy: "wait" })).rejects.toMatchObject({ code: "agent_busy" });
    const times = posts(server).map(({ at }) => at);
    expect(times.at(-1)! - times[0]!).toBeGreaterThanOrEqual(120_000);
    expect(times.at(-1)! - times[0]!).toBeLessThan(180_000);
    expect(times.length).toBeLessThan(20);
  });

  it("is sent however long an agent winds down within that time", async () => {
    for (const seconds of [12, 20, 60]) {
      const server: StreamServer = new StreamServer([], {
        runs: ["FINISHED"],
        other: ({ method, at }) => {
          if (method === "GET") return { id: agentId, status: "ACTIVE", latestRunId: runId };
          return at - posts(server)[0]!.at < seconds * 1_000 ? busy : created;
        },
      });
      expect(await create(server, { whenBusy: "wait" })).toMatchObject({ id: runId });
    }
  });

  it("waits in the order of the calls, with one attempt a turn, and never loses its place", async () => {
    let over = 0;
    const sentTexts: string[] = [];
    const server: StreamServer = new StreamServer([], {
      runs: ({ at }) => (at < over ? "RUNNING" : "FINISHED"),
      other: ({ method, at, text }) => {
        if (method === "GET") return { id: agentId, status: "ACTIVE", latestRunId: runId };
        if (at < over) return busy;
        over = at + 600_000;
        sentTexts.push(JSON.parse(text).prompt.text);
        return created;
      },
    });
    over = server.clock.now() + 600_000;
    const { runs } = server.cursor();
    const names = Array.from({ length: 12 }, (_, index) => `${index}`);
    await server.run(
      Promise.all(names.map((prompt) => runs.create(agentId, { prompt }, { whenBusy: "wait" }))),
    );
    expect(sentTexts).toEqual(names);
    expect(posts(server).length).toBeLessThanOrEqual(2 * names.length);
  });

  it("stops waiting when the caller aborts, with no timer left", async () => {
    const server = agent([busy], { runs: ["RUNNING"] });
    const controller = new AbortController();
    const call = server
      .cursor()
      .runs.create(agentId, { prompt: "more" }, { whenBusy: "wait", signal: controller.signal });
    const rejected = expect(call).rejects.toBe("enough");
    await server.clock.advance(60_000);
    controller.abort("enough");
    await rejected;
    const { length } = server.requests;
    await server.clock.advance(60_000);
    expect(server.requests).toHaveLength(length);
    expect(server.clock.pending).toBe(0);
  });

  it.each(["agent_archived", undefined])("fails at once for any other conflict (%s)", async (code) => {
    const server = agent([
      code ? failedResponse(409, code, { "retry-after": "5" }) : reply(409, { error: "Conflict" }),
    ]);
    const error = await create(server, { whenBusy: "wait" }).catch((cause: unknown) => cause);
    expect(isApiError(error) && error.code).toBe(code);
    expect(server.requests).toHaveLength(1);
  });

  it("rejects an unknown value of whenBusy", async () => {
    const server = agent([]);
    await expect(create(server, { whenBusy: "queue" })).rejects.toMatchObject({ argument: "whenBusy" });
  });
});
