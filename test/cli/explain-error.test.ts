import { type EmulatorOptions, ManualClock } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { cli, key } from "./helpers.ts";

const agentId = "bc-00000000-0000-4000-8000-00000000000a";

function stage(options: EmulatorOptions = {}) {
  const clock = new ManualClock();
  return { clock, emulator: checkedEmulator({ clock, ...options }) };
}

/** Runs `me` against an API that answers with this error. */
async function refused(
  status: number,
  code: string | undefined,
  headers: Record<string, string> = {},
  body?: object,
) {
  const world = stage();
  world.emulator.faults.status("getApiKeyInfo", status, {
    times: 10,
    headers,
    ...(code === undefined ? {} : { code }),
    ...(body === undefined ? {} : { body }),
  });
  return cli(["me"], world);
}

describe("an error is printed in one line, with what to do about it", () => {
  it.each<[number, string | undefined, number, RegExp]>([
    [401, "unauthorized", 4, /key in CURSOR_API_KEY is not accepted[\s\S]*cursor\.com\/dashboard/],
    [401, "api_key_not_found", 4, /not accepted/],
    [401, undefined, 4, /not accepted/],
    [403, "plan_required", 4, /the key is valid.*a new key won't help\n.*pricing.*docs\/cloud-agent\/api/],
    [403, "role_forbidden", 4, /ask an admin/],
    [403, "feature_unavailable", 4, /not enabled for the account/],
    [403, "service_account_required", 4, /service account's key/],
    [403, "something_new", 4, /may not do this/],
    [403, "repository_access", 1, /can't access the repository.*cursor-agents repos/],
    [
      400,
      "usage_limit_exceeded",
      4,
      /spend limit is reached: wait for the next billing period[\s\S]*\(Usage\)/,
    ],
    [404, "agent_not_found", 1, /check the id \(cursor-agents ls\)/],
    [409, "agent_archived", 1, /^error: GET \/v1\/me -> 409 agent_archived/],
    [400, "invalid_model", 1, /cursor-agents models/],
    [400, "invalid_branch_name", 1, /check --ref/],
    [500, "internal_error", 1, /^error: GET \/v1\/me -> 500 internal_error/],
    // The names of object properties are not known codes.
    [400, "constructor", 1, /^error: GET \/v1\/me -> 400 constructor/],
    [401, "__proto__", 4, /not accepted/],
    [400, "valueOf", 1, /^error: GET \/v1\/me -> 400 valueOf/],
  ])("%s %s", async (status, code, exitCode, said) => {
    const { code: ended, stderr, stdout } = await refused(status, code);
    expect([ended, stdout]).toEqual([exitCode, ""]);
    expect(stderr).toMatch(said);
    expect(stderr).toMatch(/^error: GET \/v1\/me -> /);
    expect(stderr).not.toMatch(/\n\s+at |node:|\.ts/);
  });

  it("says when to try again after too many requests", async () => {
    const { code, stderr } = await refused(429, "rate_limit_exceeded", { "retry-after": "150" });
    expect(code).toBe(1);
    expect(stderr).toContain("too many requests: try again in 2 min 30 s (at 00:02:30 UTC)");
  });

  it("says when the spend limit ends, if the server says so", async () => {
    const { code, stderr } = await refused(429, "usage_limit_exceeded", { "retry-after": "7200" });
    expect(code).toBe(4);
    expect(stderr).toContain("the spend limit is reached: try again in 2 h 0 min (at 02:00:00 UTC)");
  });

  const usedUp = "All of the plan's included agent usage has been used: turn on on-demand usage to go on";

  it.each([
    [429, "rate_limit_exceeded", usedUp, {}],
    [429, "rate_limit_exceeded", usedUp, { "retry-after": "2" }],
    [429, undefined, "ON-DEMAND  USAGE is off", {}],
    [429, "something_new", "Usage that is INCLUDED in the plan is over", { "retry-after": "900" }],
    [402, "usage_limit_exceeded", "raise the hard limit", {}],
    [500, "usage_limit_exceeded", "m", {}],
  ] as const)(
    "tells a limit of the account from a limit of the rate: %s %s %s",
    async (status, code, message, headers) => {
      const { code: exitCode, stderr } = await refused(status, code, headers, { error: { code, message } });
      expect(exitCode).toBe(4);
      expect(stderr).toMatch(
        /the spend limit is reached: wait for the next billing period.*\n.*dashboard \(Usage\)/,
      );
      expect(stderr).not.toMatch(/too many requests|try again in/);
    },
  );

  it.each([
    [429, "rate_limit_exceeded", "Too many requests are included"],
    [429, "rate_limit_exceeded", "Usage of the API is too high"],
  ])("and a limit of the rate from one of the account: %s %s %s", async (status, code, message) => {
    const { code: exitCode, stderr } = await refused(status, code, {}, { error: { code, message } });
    expect(exitCode).toBe(1);
    expect(stderr).toContain("too many requests: wait a minute");
  });

  it("says so for a create, a follow-up, a stream and in a list, too", async () => {
    const body = { error: { code: "rate_limit_exceeded", message: usedUp } };
    const world = stage();
    const { run } = world.emulator.addAgent({ prompt: { text: "x" }, agentId });
    await world.clock.advance(60_000);
    for (const operation of ["createAgent", "createRun", "streamRun", "listModels", "getRun"] as const) {
      world.emulator.faults.status(operation, 429, { body, times: 100 });
    }
    for (const argv of [["run", "x"], ["send", agentId, "x"], ["watch", agentId, run.id], ["models"]]) {
      const { code, stderr } = await cli(argv, world);
      expect([argv, code]).toEqual([argv, 4]);
      expect(stderr).toContain("limits and usage: https://cursor.com/dashboard (Usage)");
    }
    const { stderr } = await cli(["ls"], world);
    expect(stderr).toBe("the status of 1 is not known (the spend limit is reached)\n");
  });

  it("links to the page where an integration is connected", async () => {
    const error = {
      code: "integration_not_connected",
      message: "Connect first",
      provider: "GitHub",
      helpUrl: "https://cursor.com/connect",
    };
    const { code, stderr } = await refused(403, undefined, {}, { error });
    expect(code).toBe(4);
    expect(stderr).toContain("connect GitHub to Cursor: https://cursor.com/connect");
  });

  it("distinguishes a branch that can't be verified from an invalid request", async () => {
    const error = { code: "validation_error", message: "Failed to verify that branch x exists" };
    expect((await refused(400, undefined, {}, { error })).stderr).toContain("otherwise --ref is wrong");
    const plain = await refused(400, undefined, {}, { error: { ...error, message: "limit" } });
    expect(plain.stderr).toBe(
      "error: GET /v1/me -> 400 validation_error: limit\n  request id for support: req-00000001\n",
    );
  });

  it("says what to do with a busy agent", async () => {
    const world = stage();
    world.emulator.script(
      () => true,
      (run) => run.hold("never"),
    );
    world.emulator.addAgent({ prompt: { text: "x" }, agentId });
    const { code, stderr } = await cli(["send", agentId, "y"], world);
    expect(code).toBe(1);
    expect(stderr).toContain("--wait-if-busy waits for it");
    expect(stderr).toContain(`or follow it: cursor-agents watch ${agentId}`);
  });

  it("says where to look when the outcome is unknown", async () => {
    const world = stage();
    world.emulator.addAgent({ prompt: { text: "x" }, agentId });
    await world.clock.advance(60_000);
    world.emulator.faults.dropAnswer("createRun");
    const sent = await cli(["send", agentId, "y"], world);
    expect(sent.code).toBe(1);
    expect(sent.stderr).toContain(
      `outcome unknown: the server may have processed the request, but not twice`,
    );
    expect(sent.stderr).toContain(`check before you repeat it: cursor-agents show ${agentId}`);
    world.emulator.faults.dropAnswer("createAgent");
    const created = await cli(["run", "y", "--env-var", "A"], { ...world, env: { A: "1" } });
    expect(created.stderr).toContain("check before you repeat it: cursor-agents ls");
  });

  it("suggests doctor when the API can't be reached", async () => {
    const fetch = async () => {
      throw new TypeError("fetch failed", {
        cause: Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" }),
      });
    };
    const { code, stderr } = await cli(["me", "--base-url", "https://api.example.com"], { fetch });
    expect(code).toBe(1);
    expect(stderr).toContain(
      "could not be reached at https://api.example.com; find out why: cursor-agents doctor",
    );
  });

  it.each([
    [
      "20.20.2",
      {},
      /HTTPS_PROXY is set; this Node \(20\.20\.2\) can't send requests through it: use Node 22\.21/,
    ],
    ["22.21.0", {}, /HTTPS_PROXY is set; Node doesn't use it: export NODE_USE_ENV_PROXY=1/],
    [
      "24.11.0",
      { NODE_USE_ENV_PROXY: "1" },
      /HTTPS_PROXY is set; requests go through it: check that it runs/,
    ],
  ])("mentions the proxy that is set, with advice that fits Node %s", async (nodeVersion, env, said) => {
    const fetch = async () => {
      throw new TypeError("fetch failed", { cause: Object.assign(new Error("no"), { code: "ENOTFOUND" }) });
    };
    const HTTPS_PROXY = "http://me:hush@proxy:3128";
    for (const argv of [["me"], ["ls"], ["run", "x"], ["watch", agentId, "run-1"]]) {
      const { code, stderr } = await cli(argv, { fetch, nodeVersion, env: { HTTPS_PROXY, ...env } });
      expect([argv, code]).toEqual([argv, 1]);
      expect(stderr).toMatch(said);
      expect(stderr).not.toMatch(/hush|407/);
    }
  });

  it("says that the proxy wants a user name and a password", async () => {
    const refusal = new Error("Proxy response (407) !== 200 when HTTP Tunneling");
    const fetch = async () => {
      throw new TypeError("fetch failed", { cause: new Error("tunnel", { cause: refusal }) });
    };
    const env = { HTTPS_PROXY: "http://proxy:3128", NODE_USE_ENV_PROXY: "1" };
    const { stderr } = await cli(["me"], { fetch, nodeVersion: "24.11.0", env });
    expect(stderr).toContain("the proxy answered 407: it wants a user name and a password");
  });

  it("suspects a proxy when the response is an HTML page", async () => {
    const fetch = async () =>
      new Response("<html>login</html>", { headers: { "content-type": "text/html" } });
    const { stderr } = await cli(["me"], { fetch });
    expect(stderr).toMatch(
      /invalid_response[\s\S]*is https:\/\/api\.cursor\.com the API, or a proxy in front of it\?/,
    );
  });

  it("says how to follow the run again after a stream fails for good", async () => {
    const world = stage();
    world.emulator.script(
      () => true,
      (run) => run.text("Hi").cut().hold("never"),
    );
    world.emulator.faults.status("getRun", 500, { times: 1_000 });
    world.emulator.faults.cut("streamRun", { times: 1 });
    let opened = 0;
    const fetch: typeof globalThis.fetch = (input, init) => {
      const request = new Request(input, init);
      if (request.url.endsWith("/stream") && ++opened > 2) throw new TypeError("fetch failed");
      return world.emulator.fetch(request);
    };
    const { code, stderr } = await cli(["run", "x"], { ...world, fetch });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /error: [^\n]+\n {2}the run may go on; follow it again: cursor-agents watch bc-\S+ run-\S+ --from/,
    );
  });

  it("prints an unexpected error without its stack", async () => {
    const fetch = async () => {
      throw new RangeError(`odd ${key}\nsecond line`);
    };
    const { code, stderr } = await cli(["me"], { fetch });
    expect(code).toBe(1);
    expect(stderr.split("\n")[0]).toMatch(/^error: .*odd \[redacted\]/);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  it("rejects a base URL that is not https", async () => {
    const { code, stderr } = await cli(["ls", "--base-url", "http://example.com"]);
    expect([code, stderr]).toEqual([
      64,
      "error: baseUrl: must be https (http is accepted on a loopback address only)\n",
    ]);
  });
});
