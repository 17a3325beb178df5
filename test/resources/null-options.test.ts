import type { Cursor } from "cursor-cloud-agents";
import { controlRequests, watchRequests } from "cursor-cloud-agents/workers";
import { describe, expect, it } from "vitest";
import { fake, type RecordedRequest } from "../support/fake-api.ts";
import { agent, agentId, ref, run } from "../support/sample-run.ts";

const none = null as never;
const answer = ({ url }: RecordedRequest) =>
  Response.json({ agent, run, items: [], id: "x", name: "n", ...(url.pathname.endsWith("/runs/x") && run) });

describe("null for options counts as no options", () => {
  it.each<[string, (cursor: Cursor) => PromiseLike<unknown>]>([
    ["me", (cursor) => cursor.me(none)],
    ["agents.create", (cursor) => cursor.agents.create({ prompt: "x" }, none)],
    ["agents.get", (cursor) => cursor.agents.get(agentId, none)],
    ["agents.list", (cursor) => cursor.agents.list(none, none)],
    ["agents.delete", (cursor) => cursor.agents.delete(agentId, none)],
    ["runs.create", (cursor) => cursor.runs.create(agentId, { prompt: "x" }, none)],
    ["runs.get", (cursor) => cursor.runs.get(ref, none)],
    ["models.list", (cursor) => cursor.models.list(none)],
    ["repositories.list", (cursor) => cursor.repositories.list(none, none)],
    ["environments.list", (cursor) => cursor.environments.list(none, none)],
    ["secrets.team.set", (cursor) => cursor.secrets.team.set("N", { value: "v" } as never, none)],
    ["secrets.team.delete", (cursor) => cursor.secrets.team.delete("N", none)],
    [
      "secrets.environment.set",
      (cursor) => cursor.secrets.environment.set("e", "N", { value: "v" } as never, none),
    ],
    ["workers.summary", (cursor) => cursor.workers.summary(none)],
  ])("%s", async (_, call) => {
    const { cursor, requests, run: settle } = fake(answer);
    await settle(call(cursor));
    expect(requests).toHaveLength(1);
  });

  it("runs.wait, artifacts.download and prompt accept it, too", async () => {
    const { cursor, fails } = fake(() => Response.json({ error: { code: "not_here" } }, { status: 404 }));
    for (const call of [
      () => cursor.runs.wait(ref, none),
      () => cursor.artifacts.download(agentId, "artifacts/x", none),
      () => cursor.prompt("x", none, none),
    ]) {
      expect(await fails(call())).toMatchObject({ name: "ApiError", code: "not_here" });
    }
  });

  it.each<[string, (cursor: Cursor) => unknown]>([
    ["runs.stream", (cursor) => cursor.runs.stream(ref, none)],
    ["watchRequests", (cursor) => watchRequests(cursor, undefined, none)],
    ["controlRequests", (cursor) => controlRequests(cursor, none)],
  ])("%s throws at once, since its options are an object", (_, call) => {
    const { cursor } = fake([]);
    expect(() => call(cursor)).toThrow(expect.objectContaining({ kind: "argument", argument: "options" }));
  });
});
