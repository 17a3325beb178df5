import { createContext, runInContext } from "node:vm";
import { Cursor, type CursorOptions } from "cursor-cloud-agents";
import { build } from "esbuild";
import { afterEach, describe, expect, it, vi } from "vitest";
import { fake, reply } from "./support/fake-api.ts";
import { agent, agentId, key } from "./support/sample-run.ts";
import { failure } from "./support/waiting.ts";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

const errorOf = (options: unknown): { kind: string; argument: string; message: string } => {
  try {
    new Cursor(options as CursorOptions);
  } catch (error) {
    return error as never;
  }
  throw new Error("was accepted");
};

/** The Authorization header that these options send. */
async function sentWith(options: CursorOptions) {
  const { cursor, requests } = fake([reply(200, agent)], options);
  await cursor.agents.get(agentId);
  return requests[0]!.headers.get("authorization");
}

describe("apiKey", () => {
  it.each([" key_TEST\n", '"key_TEST"', "'key_TEST'", '\t" key_TEST "\r\n', "key_TEST"])(
    "%j is the key key_TEST",
    async (apiKey) => {
      expect(await sentWith({ apiKey })).toBe(`Bearer ${key}`);
      expect(await sentWith({ apiKey: () => apiKey })).toBe(`Bearer ${key}`);
    },
  );

  it.each(["", "   ", '""', "key TEST", "key\nTEST", "key_\u200bTEST", "ключ", "key_\u00e9", 7, {}, null])(
    "%j is rejected, without showing it",
    async (apiKey) => {
      const error = errorOf({ apiKey });
      if (apiKey === null) return expect(error.argument).toBe("apiKey");
      expect([error.kind, error.argument]).toEqual(["argument", "apiKey"]);
      if (String(apiKey).trim().length > 3) expect(error.message).not.toContain(String(apiKey));
      const late = fake([], { apiKey: () => apiKey as string });
      expect(await late.fails(late.cursor.me())).toMatchObject({ kind: "argument", argument: "apiKey" });
      expect(late.requests).toHaveLength(0);
    },
  );

  it("a missing one ends in an error that names the option and the environment variable", () => {
    vi.stubEnv("CURSOR_API_KEY", "");
    expect(errorOf({}).message).toBe(
      "apiKey: is missing: pass `apiKey` or set the environment variable CURSOR_API_KEY",
    );
  });

  it("comes from CURSOR_API_KEY, read when the client is made", async () => {
    vi.stubEnv("CURSOR_API_KEY", " key_ENV ");
    expect(await sentWith({ apiKey: undefined })).toBe("Bearer key_ENV");
  });

  it("as a function is asked once per request", async () => {
    let count = 0;
    const { cursor, requests } = fake(reply(200, agent), { apiKey: () => Promise.resolve(`key_${++count}`) });
    expect(count).toBe(0);
    await cursor.agents.get(agentId);
    await cursor.agents.get(agentId);
    expect(requests.map(({ headers }) => headers.get("authorization"))).toEqual([
      "Bearer key_1",
      "Bearer key_2",
    ]);
  });

  it("a function that fails is the call's failure, sent and repeated never", async () => {
    const cause = new Error("the vault is closed");
    const { cursor, requests, fails } = fake([], { apiKey: () => Promise.reject(cause) });
    const error = await fails(cursor.me());
    expect([error.kind, error.cause, requests.length]).toEqual(["error", cause, 0]);
  });

  it("Basic is the key as user name with an empty password", async () => {
    expect(await sentWith({ auth: "basic" })).toBe("Basic a2V5X1RFU1Q6");
  });
});

describe("baseUrl", () => {
  it.each([
    [undefined, "https://api.cursor.com/v1/me"],
    ["https://proxy.example", "https://proxy.example/v1/me"],
    ["https://proxy.example/a/b/", "https://proxy.example/a/b/v1/me"],
    ["http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/me"],
    ["http://localhost:1", "http://localhost:1/v1/me"],
    ["http://[::1]:1", "http://[::1]:1/v1/me"],
  ])("%s: me() asks %s", async (baseUrl, expected) => {
    const { cursor, requests } = fake(reply(200, { apiKeyName: "k" }), { baseUrl });
    await cursor.me();
    expect(requests[0]!.url.href).toBe(expected);
    expect(requests[0]!.headers.get("authorization")).toBe(`Bearer ${key}`);
  });

  it.each([
    "",
    "api.cursor.com",
    "http://api.cursor.com",
    "http://127.0.0.1.evil.example",
    "http://localhost.evil.example",
    "http://10.0.0.1",
    // Resolvers may ask the network for it.
    "http://api.localhost",
    "ftp://localhost",
    "https://user:pw@api.cursor.com",
    "https://key_TEST@api.cursor.com",
    "https://api.cursor.com?x=1",
    "https://api.cursor.com#x",
    5,
  ])("%j is rejected", (baseUrl) => {
    const error = errorOf({ apiKey: key, baseUrl });
    expect([error.kind, error.argument]).toEqual(["argument", "baseUrl"]);
    expect(error.message).not.toContain(key);
  });

  it("comes from CURSOR_BASE_URL, and by the same rules", async () => {
    vi.stubEnv("CURSOR_BASE_URL", "https://env.example");
    const { cursor, requests } = fake(reply(200, { apiKeyName: "k" }));
    await cursor.me();
    expect(requests[0]!.url.host).toBe("env.example");
    vi.stubEnv("CURSOR_BASE_URL", "http://env.example");
    expect(errorOf({ apiKey: key }).argument).toBe("baseUrl");
  });
});

it.each([
  [{ auth: "digest" }, "auth"],
  [{ fetch: "node-fetch" }, "fetch"],
  [{ timeout: 0 }, "timeout"],
  [{ timeout: -1 }, "timeout"],
  [{ timeout: Number.NaN }, "timeout"],
  [{ timeout: "5s" }, "timeout"],
  [{ maxRetries: -1 }, "maxRetries"],
  [{ maxRetries: 1.5 }, "maxRetries"],
  [{ maxRetries: "2" }, "maxRetries"],
  [{ maxRetries: Number.NaN }, "maxRetries"],
])("%j is rejected by name", (options, argument) => {
  expect(errorOf({ apiKey: key, ...options })).toMatchObject({ kind: "argument", argument });
});

it.each([null, "key_TEST", 7])("%j instead of options is rejected", (options) => {
  expect(errorOf(options)).toMatchObject({ kind: "argument", argument: "options" });
});

describe("fetch", () => {
  /** A platform's fetch: rejects being called as a method of an object. */
  const strict = (answered: string) =>
    function (this: unknown) {
      if (this !== undefined && this !== globalThis) throw new TypeError("Illegal invocation");
      return Promise.resolve(Response.json({ apiKeyName: answered, createdAt: "" }));
    } as unknown as typeof fetch;

  it("is called without a this, be it given or global", async () => {
    expect((await new Cursor({ apiKey: key, fetch: strict("given") }).me()).apiKeyName).toBe("given");
    vi.stubGlobal("fetch", strict("global"));
    expect((await new Cursor({ apiKey: key }).me()).apiKeyName).toBe("global");
  });

  it("the global one is looked up at each call: what is installed later is used", async () => {
    const cursor = new Cursor({ apiKey: key });
    vi.stubGlobal("fetch", strict("first"));
    expect((await cursor.me()).apiKeyName).toBe("first");
    vi.stubGlobal("fetch", strict("second"));
    expect((await cursor.me()).apiKeyName).toBe("second");
  });
});

describe("a runtime with nothing but web globals", () => {
  const web = {
    fetch,
    Request,
    Response,
    Headers,
    URL,
    URLSearchParams,
    AbortController,
    AbortSignal,
    TextEncoder,
  };
  const more = {
    TextDecoder,
    ReadableStream,
    crypto,
    btoa,
    setTimeout,
    clearTimeout,
    structuredClone,
    DOMException,
    performance,
  };

  it("imports, constructs and calls; a missing key says what to do", async () => {
    const entry = new URL("../src/index.ts", import.meta.url).pathname;
    const { outputFiles } = await build({
      entryPoints: [entry],
      bundle: true,
      write: false,
      format: "iife",
      globalName: "sdk",
      platform: "browser",
    });
    const code = outputFiles[0]!.text;
    expect(code).not.toMatch(/["']node:|\bBuffer\b/);
    const sandbox = createContext({ ...web, ...more });
    runInContext(code, sandbox);
    expect(() => runInContext("new sdk.Cursor()", sandbox)).toThrow(/apiKey: is missing.*CURSOR_API_KEY/);
    const answer = async () => Response.json({ apiKeyName: "k", createdAt: "" });
    Object.assign(sandbox, { answer });
    const call = runInContext(
      'new sdk.Cursor({ apiKey: "key_TEST", auth: "basic", fetch: answer }).me().then((me) => me.apiKeyName)',
      sandbox,
    );
    expect(await call).toBe("k");
  });
});

it("the caller's options object is left as it is", async () => {
  const options = Object.freeze({
    apiKey: key,
    headers: Object.freeze({ "X-A": "1" }),
    fetch: fake([]).fetch,
  });
  const error = await failure(new Cursor(options as never).me());
  expect(error.message).toContain("unexpected request");
  expect(options).toEqual({ apiKey: key, headers: { "X-A": "1" }, fetch: options.fetch });
});

it.each(["baseURL", "apikey", "maxRetry"])(
  "a misspelt option (%s) is named, with the ones there are",
  (name) => {
    expect(() => new Cursor({ apiKey: key, [name]: "x" })).toThrow(
      expect.objectContaining({
        kind: "argument",
        argument: name,
        message: expect.stringContaining("baseUrl"),
      }),
    );
  },
);
