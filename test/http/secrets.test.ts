import { inspect } from "node:util";
import type { Cursor } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import { type Answer, bodyOf, END, fake, reply, SILENT } from "../support/fake-api.ts";
import { agentId, key, ref } from "../support/sample-run.ts";
import { failure } from "../support/waiting.ts";

const basic = btoa(`${key}:`);
const signature = "X-Amz-Signature=5f16bcaf";
const secrets = [key, basic, "5f16bcaf", "env-value-hush", "mcp-header-hush", "prompt-hush"];

/** Everything that could be logged of an error: message, stack, fields, JSON, inspect, and all of its causes. */
function everythingOf(error: unknown, seen = new Set<unknown>()): string {
  if (typeof error !== "object" || error === null || seen.has(error)) return String(error);
  seen.add(error);
  const own = Object.getOwnPropertyNames(error).map((name) => everythingOf(Reflect.get(error, name), seen));
  return [String(error), JSON.stringify(error), inspect(error, { depth: 9, showHidden: true }), ...own].join(
    "\n",
  );
}

function expectClean(error: unknown): void {
  const text = everythingOf(error);
  for (const secret of secrets) expect(text).not.toContain(secret);
}

/** A fetch of the kind that hangs its whole request on its error. */
const tellTale: Answer = ({ headers, text }) => {
  const request = { headers: Object.fromEntries(headers), body: "x" };
  throw Object.assign(
    new TypeError("fetch failed", { cause: new Error(`sent ${headers.get("authorization")}`) }),
    {
      config: request,
      size: text.length,
    },
  );
};

const params = {
  prompt: "prompt-hush",
  envVars: { TOKEN: "env-value-hush" },
  mcpServers: [
    {
      name: "m",
      type: "http" as const,
      url: "https://m.example/",
      headers: { Authorization: "mcp-header-hush" },
    },
  ],
};
const calls: [string, (cursor: Cursor) => PromiseLike<unknown>][] = [
  ["GET", (cursor) => cursor.agents.get(agentId)],
  ["create", (cursor) => cursor.agents.create(params)],
  ["stream", (cursor) => cursor.runs.stream(ref, { maxReconnects: 0 }).result()],
  ["download", (cursor) => cursor.artifacts.download(agentId, "artifacts/a", { maxRetries: 0 })],
];
const echo: Answer = ({ headers, text }) =>
  reply(400, {
    error: { code: "x", message: `bad token ${key}`, sent: headers.get("authorization") },
    length: text.length,
  });

describe.each(calls)("no secret in the error of a %s", (_, call) => {
  it.each<[string, Answer]>([
    ["a timeout", SILENT],
    [
      "a 401 that quotes the key",
      reply(401, { code: "error", message: `Invalid key ${key} (Basic ${basic})` }),
    ],
    ["a 400 that quotes the request", echo],
    ["a plain text 500 with the key", reply(500, `no ${key}`)],
    ["a broken connection that quotes the request", tellTale],
    [
      "a redirect",
      () => new Response(null, { status: 302, headers: { location: `https://evil/?${signature}` } }),
    ],
    ["a 200 that is not JSON", reply(200, `<html>${key} ${basic}</html>`, { "content-type": "text/html" })],
    ["a broken body", () => new Response(bodyOf([key], "cut"))],
  ])("%s, with Bearer and Basic", async (_, answer) => {
    for (const auth of ["bearer", "basic"] as const) {
      const { cursor, fails } = fake(answer, { auth, maxRetries: 0 });
      expectClean(await fails(call(cursor)));
    }
  });
});

it("what the server says is shown, with our own key replaced", async () => {
  const { cursor } = fake(reply(400, { error: { code: "x", message: `bad token ${key}` } }));
  const error = await failure(cursor.agents.get(agentId));
  expect(error.message).toBe(`GET /v1/agents/${agentId} -> 400 x: bad token [redacted]`);
  expect([String(error), error.body, inspect(error)].every((text) => text.includes("[redacted]"))).toBe(true);
});

it("every key that a function gave is known, also the one before", async () => {
  const keys = ["key_first", "key_second"];
  let count = 0;
  const { cursor, fails } = fake(reply(500, "key_first and key_second"), {
    apiKey: () => keys[Math.min(count++, 1)] as string,
    maxRetries: 1,
  });
  expect((await fails(cursor.me())).message).toBe("GET /v1/me -> 500: [redacted] and [redacted]");
});

it("an error in the stream's own words has the key replaced, too", async () => {
  const failing = `event: error\ndata: {"code":"internal_error","message":"no ${key}"}\n\n`;
  const { cursor, fails } = fake((request) =>
    request.target.endsWith("/stream") ? END(failing) : reply(500, key),
  );
  expectClean(await fails(cursor.runs.stream(ref, { maxReconnects: 0 }).result()));
});

it("a cause without a secret is the original error", async () => {
  const cause = new TypeError("fetch failed", { cause: new Error("ECONNRESET") });
  const { cursor } = fake(
    () => {
      throw cause;
    },
    { maxRetries: 0 },
  );
  expect((await failure(cursor.me())).cause).toBe(cause);
});

it.each(["200 that is cut off", "200 with a byte too much"])(
  "a %s doesn't spill the token it was to bring",
  async (form) => {
    const token = '{"accessToken":"env-value-hush","expiresAt":""}';
    const answer = reply(200, form.includes("cut") ? token.slice(0, -5) : `${token}}`);
    const { cursor, fails } = fake(answer);
    const error = await fails(cursor.workerTokens.create({ forUserId: 1 }));
    expect([error.code, error.outcome]).toEqual(["invalid_response", "unknown"]);
    expectClean(error);
  },
);

describe("a presigned URL", () => {
  const url = `https://storage.example/a?X-Amz-Credential=AKIAHUSH&${signature}`;
  const xml = `<Error><Code>AccessDenied</Code><Query>${signature}</Query><ArgumentValue>Bearer ${key}</ArgumentValue></Error>`;
  const signed = reply(200, { url, expiresAt: "2026-01-01T00:15:00.000Z" });
  it.each<[string, Answer]>([
    ["a 403 in XML", reply(403, xml)],
    ["a 500", reply(500, xml)],
    [
      "a broken connection that quotes the address",
      ({ url: { href } }) => {
        throw new TypeError(`fetch failed: ${href}`, { cause: new Error(href) });
      },
    ],
    ["an error that is not about the network", ({ url: { href } }) => Promise.reject(new RangeError(href))],
    ["silence", SILENT],
    ["a short body", () => new Response("ab", { headers: { "content-length": "3" } })],
  ])("leaves no trace in the error of %s", async (_, storage) => {
    const { cursor, fails } = fake((request) => (request.url.host === "storage.example" ? storage : signed), {
      maxRetries: 0,
    });
    const error = await fails(
      (async () => (await cursor.artifacts.download(agentId, "artifacts/a")).bytes())(),
    );
    expectClean(error);
    expect(everythingOf(error)).not.toMatch(/AKIAHUSH|X-Amz/);
    expect(error.message).toContain(`GET /v1/agents/${agentId}/artifacts/download`);
  });
});
