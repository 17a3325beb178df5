import type { Cursor } from "cursor-cloud-agents";
import {
  artifactResponse,
  artifactsResponse,
  cancelResponse,
  followUpResponse,
} from "cursor-cloud-agents/serve";
import { describe, expect, it } from "vitest";
import { fake, reply } from "../support/fake-api.ts";

import { authorize, codeOf, get, post, stage } from "./stage.ts";

describe("cancelResponse", () => {
  it("cancels the run, and answers 409 when the run is over", async () => {
    const { cursor, emulator, start } = stage();
    const { agent, run } = start("hold");
    const response = await cancelResponse(cursor, run, { request: post({}), authorize });
    expect([response.status, JSON.parse(await response.text())]).toEqual([200, { id: run.id }]);
    expect(emulator.runs(agent.id)[0]?.status).toBe("CANCELLED");
    expect(await codeOf(await cancelResponse(cursor, run, { request: post({}), authorize }))).toEqual([
      409,
      "run_not_cancellable",
    ]);
  });
});

type Route = (
  cursor: Cursor,
  more: { authorize: () => boolean; method?: string; agentId?: string },
) => Promise<Response>;
const routes: [string, "GET" | "POST", Route][] = [
  [
    "followUpResponse",
    "POST",
    (cursor, { method = "POST", agentId = "bc-1", ...more }) =>
      followUpResponse(cursor, agentId, {
        request: method === "POST" ? post({ prompt: "x" }) : get({ method }),
        ...more,
      }),
  ],
  [
    "cancelResponse",
    "POST",
    (cursor, { method = "POST", agentId = "bc-1", ...more }) =>
      cancelResponse(
        cursor,
        { agentId, id: "run-1" },
        { request: method === "POST" ? post({}) : get({ method }), ...more },
      ),
  ],
  [
    "artifactsResponse",
    "GET",
    (cursor, { method = "GET", agentId = "bc-1", ...more }) =>
      artifactsResponse(cursor, agentId, { request: get({ method }), ...more }),
  ],
  [
    "artifactResponse",
    "GET",
    (cursor, { method = "GET", agentId = "bc-1", ...more }) =>
      artifactResponse(cursor, agentId, "artifacts/a", { request: get({ method }), ...more }),
  ],
];

describe.each(routes)("%s", (_, method, route) => {
  it("accepts authorized requests only", async () => {
    const { cursor, requests } = fake([]);
    const rejected = await route(cursor, { authorize: () => false });
    // Neither kept on the way nor taken for a page.
    expect(Object.fromEntries(rejected.headers)).toEqual({
      "cache-control": "no-store",
      "content-type": "application/json; charset=utf-8",
      "x-content-type-options": "nosniff",
    });
    expect(await codeOf(rejected)).toEqual([404, "not_found"]);
    await expect(route(cursor, {} as never)).rejects.toMatchObject({ argument: "authorize" });
    await expect(
      route(cursor, {
        authorize: () => {
          throw new Error("no session");
        },
      }),
    ).rejects.toThrow("no session");
    expect(await codeOf(await route(cursor, { authorize, agentId: "bc-1/.." }))).toEqual([404, "not_found"]);
    expect(requests).toEqual([]);
  });

  it("accepts its own method only, and names it in the answer to others", async () => {
    const { cursor, requests } = fake([]);
    for (const other of [
      "PUT",
      "DELETE",
      method === "GET" ? "PATCH" : "GET",
      ...(method === "GET" ? [] : ["HEAD"]),
    ]) {
      const response = await route(cursor, { authorize, method: other });
      expect([response.status, response.headers.get("allow")]).toEqual([
        405,
        method === "GET" ? "GET, HEAD, OPTIONS" : "POST, OPTIONS",
      ]);
    }
    expect((await route(cursor, { authorize, method: "OPTIONS" })).status).toBe(204);
    expect(requests).toEqual([]);
  });

  it.each([
    [401, "unauthorized", 502, "upstream_refused"],
    [403, "feature_unavailable", 502, "upstream_refused"],
    [404, "agent_not_found", 404, "not_found"],
    [409, "agent_archived", 409, "agent_archived"],
    [409, "something_new", 409, "conflict"],
    [400, "validation_error", 400, "invalid_request"],
    [429, "usage_limit_exceeded", 503, "usage_limit_exceeded"],
  ])("answers the API's %i %s with %i %s, in our own words", async (status, code, own, expected) => {
    const { cursor, run } = fake(reply(status, { error: { code, message: "planted words" } }));
    const response = await run(route(cursor, { authorize }));
    const text = await response.text();
    expect([response.status, JSON.parse(text).error.code]).toEqual([own, expected]);
    expect(text).not.toContain("planted");
  });

  it("keeps the Retry-After of a 429", async () => {
    const { cursor, run } = fake(reply(429, "", { "retry-after": "90" }));
    const response = await run(route(cursor, { authorize }));
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "90"]);
  });
});
