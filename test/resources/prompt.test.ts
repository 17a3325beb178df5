import { describe, expect, it } from "vitest";
import { END, failedResponse, fake, type RecordedRequest, reply, STALL } from "../support/fake-api.ts";
import { assistant, done, result, status } from "../support/frames.ts";
import { agent, run } from "../support/sample-run.ts";

const created = reply(201, { agent, run });
const good = END(status(), assistant("100-0", "Hel"), assistant("101-0", "lo"), result(), done);
const paths = (requests: RecordedRequest[]) => requests.map(({ method, target }) => `${method} ${target}`);
const streamPath = `/v1/agents/${agent.id}/runs/${run.id}/stream`;

describe("prompt()", () => {
  it("creates, streams and settles", async () => {
    const { cursor, requests, run: pass } = fake([created, good]);
    const texts: string[] = [];
    const result = await pass(
      cursor.prompt("Say hello", { name: "greeter" }, { onText: (delta) => texts.push(delta) }),
    );
    expect(result).toEqual({
      agent,
      run,
      result: {
        agentId: agent.id,
        runId: run.id,
        status: "FINISHED",
        text: "Hello",
        streamedText: "Hello",
        durationMs: 10,
        source: "stream",
      },
    });
    expect(texts).toEqual(["Hel", "lo"]);
    expect(requests[0]!.json).toMatchObject({ prompt: { text: "Say hello" }, name: "greeter" });
    expect(paths(requests)).toEqual(["POST /v1/agents", `GET ${streamPath}`]);
  });

  it("passes the ids to onCreated before it opens the stream", async () => {
    const seen: unknown[] = [];
    const { cursor, requests, run: pass } = fake([created, good]);
    const onCreated = (made: { agent: { id: string }; run: { id: string } }) =>
      seen.push(made.agent.id, made.run.id, requests.length);
    await pass(cursor.prompt("x", undefined, { onCreated }));
    expect(seen).toEqual([agent.id, run.id, 1]);
  });

  it("resolves with any outcome; only FINISHED is success", async () => {
    const failed = `id: 9\nevent: result\ndata: {"runId":"${run.id}","status":"ERROR"}\n\n`;
    const { cursor, run: pass } = fake([created, END(status(), failed, done)]);
    expect((await pass(cursor.prompt("x"))).result.status).toBe("ERROR");
  });

  it("whose stream keeps failing names the agent and the run", async () => {
    const { cursor, fails } = fake((request) => {
      if (request.method === "POST") return created;
      return request.target.endsWith("/stream") ? reply(503) : failedResponse(500, "internal_error");
    });
    const ids: string[] = [];
    const error = await fails(cursor.prompt("x", {}, { onCreated: (made) => ids.push(made.agent.id) }));
    expect(error).toMatchObject({ agentId: agent.id, runId: run.id });
    expect(ids).toEqual([agent.id]);
  });

  it("whose stream gets an error status names them, too", async () => {
    const { cursor, fails } = fake([created, failedResponse(403, "role_forbidden")]);
    expect(await fails(cursor.prompt("x"))).toMatchObject({
      code: "role_forbidden",
      agentId: agent.id,
      runId: run.id,
    });
  });

  it("whose agent can't be created opens no stream", async () => {
    const { cursor, requests, fails } = fake([failedResponse(400, "invalid_model")]);
    expect((await fails(cursor.prompt("x"))).code).toBe("invalid_model");
    expect(requests).toHaveLength(1);
  });

  it("ends at the caller's abort with its reason, and cancels nothing", async () => {
    const controller = new AbortController();
    const { cursor, requests, fails } = fake([created, STALL(status(), assistant("1", "a"))]);
    const options = { signal: controller.signal, onText: () => controller.abort("enough") };
    expect(await fails(cursor.prompt("x", {}, options))).toBe("enough");
    expect(paths(requests)).toEqual(["POST /v1/agents", `GET ${streamPath}`]);
  });

  it.each(["onCreated", "onText"] as const)("whose %s throws rejects with that error", async (callback) => {
    const mistake = new Error("mine");
    const { cursor, fails } = fake([created, good]);
    const options = {
      [callback]: () => {
        throw mistake;
      },
    };
    expect(await fails(cursor.prompt("x", {}, options))).toBe(mistake);
  });

  it("passes headers and key on to both requests", async () => {
    const { cursor, requests, run: pass } = fake([created, good]);
    await pass(cursor.prompt("x", {}, { headers: { "x-team": "1" } }));
    expect(requests.map(({ headers }) => headers.get("x-team"))).toEqual(["1", "1"]);
  });
});
