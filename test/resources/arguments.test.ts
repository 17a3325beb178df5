import type { Cursor } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import { fake, reply } from "../support/fake-api.ts";
import { agentId, runId } from "../support/sample-run.ts";
import { failure } from "../support/waiting.ts";

// A value that can't work rejects the call with the argument's name, and nothing is sent.

const bad = (value: unknown) => value as never;
type Call = (cursor: Cursor, value: unknown) => PromiseLike<unknown>;

describe("an agent's id", () => {
  const calls: [string, Call][] = [
    ["agents.get", (c, id) => c.agents.get(bad(id))],
    ["agents.archive", (c, id) => c.agents.archive(bad(id))],
    ["agents.unarchive", (c, id) => c.agents.unarchive(bad(id))],
    ["agents.delete", (c, id) => c.agents.delete(bad(id))],
    ["runs.create", (c, id) => c.runs.create(bad(id), { prompt: "x" })],
    ["runs.list", (c, id) => c.runs.list(bad(id))],
    ["usage.get", (c, id) => c.usage.get(bad(id))],
    ["artifacts.list", (c, id) => c.artifacts.list(bad(id))],
    ["artifacts.url", (c, id) => c.artifacts.url(bad(id), "artifacts/a")],
    ["artifacts.download", (c, id) => c.artifacts.download(bad(id), "artifacts/a")],
  ];
  const values = [undefined, null, "", "  ", ".", "..", 7, {}, ["bc-1"], "\ud800"];
  it.each(calls.flatMap(([name, call]) => values.map((value) => ({ name, call, value }))))(
    "$name rejects $value",
    async ({ call, value }) => {
      const { cursor, requests } = fake(reply(200, { items: [] }));
      expect(await failure(call(cursor, value))).toMatchObject({ kind: "argument", argument: "agentId" });
      expect(requests).toHaveLength(0);
    },
  );
});

describe("a run's ids", () => {
  const calls: [string, Call][] = [
    ["runs.get", (c, ref) => c.runs.get(bad(ref))],
    ["runs.cancel", (c, ref) => c.runs.cancel(bad(ref))],
    ["runs.wait", (c, ref) => c.runs.wait(bad(ref))],
    ["runs.stream", async (c, ref) => c.runs.stream(bad(ref)).result()],
  ];
  const values: [unknown, string][] = [
    [undefined, "ref"],
    [null, "ref"],
    [runId, "ref"],
    [{ agentId, id: undefined }, "ref.id"],
    [{ agentId, id: ".." }, "ref.id"],
    [{ agentId: "", id: runId }, "ref.agentId"],
    [{ agentId: "..", id: runId }, "ref.agentId"],
    [{ id: runId }, "ref.agentId"],
    [{ agentId, runId }, "ref.id"],
  ];
  it.each(
    calls.flatMap(([name, call]) => values.map(([value, argument]) => ({ name, call, value, argument }))),
  )("$name rejects $value", async ({ call, value, argument }) => {
    const { cursor, requests } = fake([]);
    expect(await failure(call(cursor, value))).toMatchObject({ kind: "argument", argument });
    expect(requests).toHaveLength(0);
  });
});

describe("parameters", () => {
  const png = "image/png";
  const prompts: [unknown, string][] = [
    [undefined, "prompt"],
    [null, "prompt"],
    ["", "prompt"],
    [[], "prompt"],
    [{}, "prompt.text"],
    [{ text: "" }, "prompt.text"],
    [{ text: 7 }, "prompt.text"],
    [{ text: "x", images: {} }, "prompt.images"],
    [{ text: "x", images: [null] }, "prompt.images[0]"],
    [{ text: "x", images: [{}] }, "prompt.images[0]"],
    [{ text: "x", images: [{ url: "https://i" }, { data: "AA==" }] }, "prompt.images[1].mimeType"],
    [{ text: "x", images: [{ data: "AA==", mimeType: png, url: "https://i" }] }, "prompt.images[0]"],
  ];
  it.each(prompts)("the prompt %j is rejected, for agents and runs", async (prompt, argument) => {
    const { cursor, requests } = fake([]);
    const calls = [
      cursor.agents.create({ prompt: bad(prompt) }),
      cursor.runs.create(agentId, { prompt: bad(prompt) }),
      cursor.prompt(bad(prompt)),
    ];
    for (const call of calls) expect(await failure(call)).toMatchObject({ kind: "argument", argument });
    expect(requests).toHaveLength(0);
  });

  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  const rejected: [string, Call, unknown, string][] = [
    ["create", (c, value) => c.agents.create(bad(value)), undefined, "params"],
    ["create", (c, value) => c.agents.create(bad(value)), "a prompt", "params"],
    ["create", (c, value) => c.agents.create(bad(value)), { prompt: "x", agentId, envVars: {} }, "agentId"],
    ["create", (c, value) => c.agents.create(bad(value)), { prompt: "x", agentId: ".." }, "agentId"],
    [
      "create",
      (c, value) => c.agents.create(bad(value)),
      { prompt: "x", env: { type: "cloud", name: "n" }, repos: [] },
      "repos",
    ],
    [
      "create",
      (c, value) => c.agents.create({ prompt: "x" }, bad(value)),
      { onConflict: "merge" },
      "onConflict",
    ],
    ["create", (c, value) => c.agents.create({ prompt: "x" }, bad(value)), { extraBody: "x" }, "extraBody"],
    ["create", (c, value) => c.agents.create({ prompt: "x", model: bad(value) }), circle, "params"],
    ["follow-up", (c, value) => c.runs.create(agentId, bad(value)), null, "params"],
    [
      "follow-up",
      (c, value) => c.runs.create(agentId, { prompt: "x" }, bad(value)),
      { whenBusy: "no" },
      "whenBusy",
    ],
    ["worker token", (c, value) => c.workerTokens.create(bad(value)), undefined, "params"],
    ["worker token", (c, value) => c.workerTokens.create(bad(value)), {}, "params"],
    [
      "worker token",
      (c, value) => c.workerTokens.create(bad(value)),
      { forUserEmail: "a@b.c", forUserId: 1 },
      "params",
    ],
    ["artifact", (c, value) => c.artifacts.url(agentId, bad(value)), "", "path"],
    ["artifact", (c, value) => c.artifacts.url(agentId, bad(value)), undefined, "path"],
    ["download", (c, value) => c.artifacts.download(agentId, bad(value)), 7, "path"],
    ["list", (c, value) => c.agents.list(bad(value)), "limit=1", "query"],
    ["usage", (c, value) => c.usage.get(agentId, bad(value)), 20, "query"],
  ];
  it.each(rejected.map(([name, call, value, argument]) => ({ name, call, value, argument })))(
    "$name rejects $value",
    async ({ call, value, argument }) => {
      const { cursor, requests } = fake([]);
      expect(await failure(call(cursor, value))).toMatchObject({ kind: "argument", argument });
      expect(requests).toHaveLength(0);
    },
  );
});

describe("a call's options", () => {
  const calls: [string, Call][] = [
    ["agents.get", (c, options) => c.agents.get(agentId, bad(options))],
    ["agents.create", (c, options) => c.agents.create({ prompt: "x" }, bad(options))],
    ["agents.list", (c, options) => c.agents.list(undefined, bad(options))],
    ["repositories.list", (c, options) => c.repositories.list({}, bad(options))],
    ["artifacts.download", (c, options) => c.artifacts.download(agentId, "artifacts/a", bad(options))],
    ["me", (c, options) => c.me(bad(options))],
  ];
  const values: [object, string][] = [
    [{ timeout: 0 }, "timeout"],
    [{ timeout: "60" }, "timeout"],
    [{ maxRetries: -1 }, "maxRetries"],
    [{ maxRetries: 0.5 }, "maxRetries"],
    [{ signal: {} }, "signal"],
    [{ signal: new AbortController() }, "signal"],
  ];
  it.each(
    calls.flatMap(([name, call]) => values.map(([value, argument]) => ({ name, call, value, argument }))),
  )("$name rejects $value", async ({ call, value, argument }) => {
    const { cursor, requests } = fake([]);
    expect(await failure(call(cursor, value))).toMatchObject({ kind: "argument", argument });
    expect(requests).toHaveLength(0);
  });

  it("undefined and null count as no options", async () => {
    const { cursor, requests } = fake(reply(200, { items: [], id: "x" }));
    await cursor.agents.get(agentId, undefined);
    await cursor.agents.get(agentId, {
      signal: undefined,
      timeout: undefined,
      maxRetries: undefined,
      headers: undefined,
    });
    await cursor.agents.list(bad(null));
    expect(requests).toHaveLength(3);
  });
});

it("an argument error never shows the value, which may be a secret in the wrong place", async () => {
  const { cursor } = fake([]);
  const error = await failure(cursor.agents.create({ prompt: bad(["hush"]) }));
  expect(error.message).toBe('prompt: expected a string or an object with "text", got an array');
});
