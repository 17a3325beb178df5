import { ArgumentError, Cursor, isCursorError } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import { agentId, ref } from "../support/sample-run.ts";
import { failure } from "../support/waiting.ts";
import { calls, client, createParams, type Hostile } from "./provoke.ts";
import { accessToken, clientSecret, envValue, expectClean, key, secrets } from "./scan.ts";

const ok: Hostile = () => Response.json({ items: [] });

describe("a wrong argument is refused without being shown", () => {
  const cyclic: Record<string, unknown> = { ...createParams, envVars: { TOKEN: envValue } };
  cyclic["self"] = cyclic;
  it.each<[string, (cursor: Cursor) => unknown]>([
    ["a key with a line break", () => new Cursor({ apiKey: `${key}\r\nx: y` })],
    ["a key with an invisible space", () => new Cursor({ apiKey: `\u200b${key}` })],
    ["a key that is an object", () => new Cursor({ apiKey: { key } as never })],
    [
      "a key in the base URL",
      () => new Cursor({ apiKey: key, baseUrl: `https://${encodeURIComponent(key)}@x` }),
    ],
    ["a key in the base URL's query", () => new Cursor({ apiKey: key, baseUrl: `https://x/?${key}` })],
    ["a base URL that is none", () => new Cursor({ apiKey: key, baseUrl: key })],
    [
      "a key in a header that can't be sent",
      (cursor) => cursor.me({ headers: { authorization: `${key}\n` } }),
    ],
    ["a header line for a name", (cursor) => cursor.me({ headers: { [`Authorization: ${key}`]: "" } })],
    ["a header line for a pair", (cursor) => cursor.me({ headers: [`Authorization: ${key}`] as never })],
    ["a cycle in the body", (cursor) => cursor.agents.create(cyclic as never)],
    [
      "a function in the body",
      (cursor) => cursor.runs.create(agentId, { prompt: "p", f: () => "client-secret-hush" } as never),
    ],
    ["what excludes each other", (cursor) => cursor.agents.create({ ...createParams, agentId } as never)],
    [
      "extra fields that have a parameter",
      (cursor) => cursor.agents.create({ prompt: "p" }, { extraBody: { envVars: { A: envValue } } }),
    ],
    ["secrets for a prompt", (cursor) => cursor.agents.create({ prompt: { envVars: [envValue] } } as never)],
    ["a checkpoint of another run", (cursor) => cursor.runs.stream(ref, { from: { key } as never })],
    ["a body for a signal", (cursor) => cursor.me({ signal: { envValue } as never })],
  ])("%s", async (_, call) => {
    const { cursor } = client(ok);
    const error = await failure((async () => call(cursor))());
    expect(error).toBeInstanceOf(ArgumentError);
    expectClean(error);
  });
});

describe("what runs on the caller's side", () => {
  const keyed = (make: () => string) => ({ apiKey: make });
  let count = 0;
  it.each<[string, () => Parameters<typeof client>[1]]>([
    [
      "a key function that fails and quotes the key before",
      () => {
        count = 0;
        return keyed(() => {
          if (count++ === 0) return key;
          throw Object.assign(new Error(`no successor of ${key}`), { key });
        });
      },
    ],
    ["a key function that gives what can't be sent", () => keyed(() => `${key}\n${key}`)],
    [
      "a middleware that fails before the request",
      () => ({ middleware: [{ onRequest: () => Promise.reject(new Error(`no ${key}`)) }] }),
    ],
    [
      "a middleware that fails with all it has seen",
      () => ({
        middleware: [{ onResponse: (all) => Promise.reject(Object.assign(new Error("no"), { ...all })) }],
      }),
    ],
    [
      "a middleware that makes another error of one",
      () => ({
        fetch: () => Promise.reject(new TypeError("fetch failed")),
        middleware: [{ onError: ({ request }) => Object.assign(new Error(`no ${key}`), { request }) }],
      }),
    ],
  ])("%s", async (_, options) => {
    const { cursor, fails, run } = client(ok, options());
    if (count === 0 && typeof options()?.apiKey === "function")
      await run(cursor.models.list().catch(() => {}));
    const error = await fails(cursor.agents.get(agentId));
    expect(isCursorError(error)).toBe(true);
    expectClean(error);
  });

  it("middleware sees every request, before and after, without the key", async () => {
    for (const auth of ["bearer", "basic"] as const) {
      const seen: unknown[] = [];
      const middleware = [
        {
          onRequest: ({ request }: { request: Request }) => void seen.push(request),
          onResponse: ({ request }: { request: Request }) => void seen.push(request),
        },
      ];
      const { cursor, run } = client(
        ({ request }) => Response.json({ ok: request.headers.has("authorization") }),
        {
          auth,
          middleware,
        },
      );
      expect(await run(cursor.me())).toEqual({ ok: true });
      expect(seen).toHaveLength(2);
      expectClean(seen);
    }
  });
});

describe("a token", () => {
  it.each([
    ["cut off", `{"accessToken":"${accessToken}"`],
    ["with a byte too much", `{"accessToken":"${accessToken}"}}`],
    ["behind a guard against scripts", `)]}'\n{"accessToken":"${accessToken}"}`],
    ["behind a proxy's remark", `<!-- proxy -->{"accessToken":"${accessToken}"}`],
    ["bare", accessToken],
    ["as a JSON text", `"${accessToken}"`],
    ["in a list", `[{"accessToken":"${accessToken}"}]`],
    ["as a form", `accessToken=${accessToken}`],
  ])("that comes %s stays out of the error", async (_, body) => {
    const { cursor, fails } = client(() => new Response(body));
    const error = await fails(cursor.workerTokens.create({ forUserId: 1 }));
    expect(error).toMatchObject({ kind: "api", code: "invalid_response", outcome: "unknown" });
    expectClean(error);
  });
});

describe("what is shown", () => {
  it("the server's words, with the request's secrets replaced", async () => {
    const message = `envVars.TOKEN: ${envValue} is no token; ${clientSecret} is unknown`;
    const { cursor, fails } = client(() =>
      Response.json({ error: { code: "validation_error", message } }, { status: 400 }),
    );
    const error = await fails(calls["create agent"]?.(cursor, []) as Promise<unknown>);
    expect(error.message).toBe(
      "POST /v1/agents -> 400 validation_error: envVars.TOKEN: [redacted] is no token; [redacted] is unknown",
    );
  });

  it("codes and the body's form survive a secret that is a common word", async () => {
    const answer = { error: { code: "internal_error", message: "an error" } };
    const { cursor, fails } = client(() => Response.json(answer, { status: 500 }));
    const error = await fails(cursor.agents.create({ prompt: "p", envVars: { LOG_LEVEL: "error" } }));
    expect([error.code, error.message]).toEqual([
      "internal_error",
      "POST /v1/agents -> 500 internal_error: an [redacted]",
    ]);
  });

  it("a request's secrets are forgotten with it", async () => {
    const { cursor, fails } = client(() =>
      Response.json({ error: { code: "x", message: "prod" } }, { status: 500 }),
    );
    await fails(cursor.agents.create({ prompt: "p", envVars: { STAGE: "prod" } }));
    expect((await fails(cursor.me())).message).toBe("GET /v1/me -> 500 x: prod");
  });
});

it.each<[string, (secret: string) => unknown]>([
  ["a message", (secret) => new Error(`x ${secret} y`)],
  ["a cause of a cause", (secret) => new Error("x", { cause: new Error("y", { cause: secret }) })],
  ["a hidden field", (secret) => Object.defineProperty(new Error("x"), "y", { value: { secret } })],
  ["a symbol", (secret) => Object.assign(new Error("x"), { [Symbol("y")]: [secret] })],
  ["a toJSON", (secret) => Object.assign(new Error("x"), { toJSON: () => secret })],
  ["a stack", (secret) => Object.assign(new Error("x"), { stack: secret })],
  ["a Request", (secret) => ({ request: new Request("https://x/", { headers: { a: secret } }) })],
  ["a Set in a Map", (secret) => new Map([[1, new Set([secret])]])],
])("the scan finds each secret in %s", (_, hide) => {
  for (const secret of secrets) expect(() => expectClean(hide(secret))).toThrow();
});
