import { type EmulatorOptions, ManualClock } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { checkNode } from "../../../src/cli/commands/doctor.ts";
import { checkedEmulator } from "../../support/checked-emulator.ts";
import { cli, key, type Setting } from "../helpers.ts";

function stage(options: EmulatorOptions = {}) {
  const clock = new ManualClock();
  return { clock, emulator: checkedEmulator({ clock, ...options }) };
}

async function doctor(setting: Setting, ...argv: string[]) {
  const { code, stdout, stderr } = await cli(["doctor", ...argv], setting);
  expect(stderr).toBe("");
  expect(stdout).not.toContain(key);
  const states = Object.fromEntries(
    [...stdout.matchAll(/^(ok|warn|fail) +(\S+(?: url)?) /gm)].map(([, state, name]) => [name, state]),
  );
  return { code, stdout, states };
}

const allWell = {
  node: "ok",
  "base url": "ok",
  key: "ok",
  auth: "ok",
  plan: "ok",
  clock: "ok",
  models: "ok",
  repositories: "ok",
};

describe("doctor", () => {
  it("passes all checks where everything is right, and starts nothing", async () => {
    const world = stage();
    const { code, states, stdout } = await doctor(
      world,
      "--model",
      "composer",
      "--repo",
      "your-org/your-repo",
    );
    expect([code, states]).toEqual([0, allWell]);
    expect(stdout).toContain('"Production API Key" of developer@example.com');
    expect(stdout).toContain("composer is Composer 2");
    expect(world.emulator.requests.map(({ method }) => method)).toEqual(["GET", "GET", "GET"]);
  });

  it("reports a missing key", async () => {
    const { code, stdout, states } = await doctor({ ...stage(), env: { CURSOR_API_KEY: undefined } });
    expect([code, states["key"]]).toEqual([4, "fail"]);
    expect(stdout).toContain("cursor.com/dashboard");
  });

  it("distinguishes a rejected key from a missing plan", async () => {
    const keys = [{ key, revoked: true }];
    const revoked = await doctor(stage({ keys }));
    expect([revoked.code, revoked.states]).toEqual([
      4,
      { node: "ok", "base url": "ok", key: "ok", auth: "fail" },
    ]);
    expect(revoked.stdout).toContain("is not accepted");

    const free = await doctor(stage({ keys: [{ key, plan: "free" }] }));
    expect([free.code, free.states]).toEqual([
      4,
      { node: "ok", "base url": "ok", key: "ok", auth: "ok", plan: "fail" },
    ]);
    expect(free.stdout).toContain("a new key won't help");
  });

  it("detects that something removes Bearer tokens", async () => {
    const world = stage();
    const fetch: typeof globalThis.fetch = (input, init) => {
      const request = new Request(input, init);
      if (request.headers.get("authorization")?.startsWith("Bearer")) request.headers.delete("authorization");
      return world.emulator.fetch(request);
    };
    const { code, stdout } = await doctor({ ...world, fetch });
    expect(code).toBe(4);
    expect(stdout).toContain("the key works as Basic, but not as Bearer");
  });

  it("reports that the network doesn't answer", async () => {
    const fetch = async () => {
      throw new TypeError("fetch failed");
    };
    const { code, states, stdout } = await doctor({ fetch });
    expect([code, states["network"]]).toEqual([1, "fail"]);
    expect(stdout).toContain("check the network, DNS, TLS and proxy");
  });

  it("warns about another base URL and about a proxy that Node doesn't use, and fails for an invalid base URL", async () => {
    const world = stage({ baseUrl: "https://proxy.example.com/cursor" });
    const other = await doctor({ ...world, env: { CURSOR_BASE_URL: "https://proxy.example.com/cursor" } });
    expect([other.code, other.states["base url"]]).toEqual([0, "warn"]);
    expect(other.stdout).toContain("(CURSOR_BASE_URL)");
    for (const [nodeVersion, state, said] of [
      ["20.20.2", "warn", "HTTPS_PROXY is set\n"],
      ["20.20.2", "warn", "use Node 22.21, 24 or newer, and export NODE_USE_ENV_PROXY=1"],
      ["24.0.0", "warn", "Node doesn't use it: export NODE_USE_ENV_PROXY=1"],
    ] as const) {
      const proxied = await doctor({
        ...stage(),
        nodeVersion,
        env: { HTTPS_PROXY: "http://me:hush@proxy:3128" },
      });
      expect(proxied.states["base url"]).toBe(state);
      expect(proxied.stdout).toContain(said);
      expect(proxied.stdout).not.toContain("hush");
    }
    const env = { HTTPS_PROXY: "http://proxy:3128", NODE_USE_ENV_PROXY: "1" };
    const used = await doctor({ ...stage(), nodeVersion: "24.0.0", env });
    expect([used.code, used.states]).toEqual([0, allWell]);
    expect(used.stdout).toContain("https://api.cursor.com, through the proxy of HTTPS_PROXY");
    const wrong = await doctor(stage(), "--base-url", "https://me:hush@api.example.com");
    expect(wrong.code).toBe(1);
    expect(wrong.stdout).not.toContain("hush");
  });

  it.each([
    "https://me:hush@api.example.com",
    "https://me:hu/hush@api.example.com",
    "https://me:hu@hush@api.example.com/x",
    "https://hush@api.example.com",
    "https://api.example.com/?key=hush",
    "https://api.example.com/v1?hush",
    "https://api.example.com/#hush",
    "api.example.com:hush@",
    "me:hush@api.example.com",
    "//me:hush@api.example.com",
    "hush",
    "http://me:hush@127.0.0.1:1",
  ])("prints nothing of a base URL that may be a secret: %s", async (baseUrl) => {
    for (const json of [[], ["--json"]]) {
      const given = await cli(["doctor", "--base-url", baseUrl, ...json], stage());
      expect(given.code).toBe(1);
      expect(given.stdout + given.stderr).not.toContain("hush");
      const inherited = await cli(["doctor", ...json], { ...stage(), env: { CURSOR_BASE_URL: baseUrl } });
      expect(inherited.stdout + inherited.stderr).not.toContain("hush");
      const other = await cli(["me", ...json], { ...stage(), env: { CURSOR_BASE_URL: baseUrl } });
      expect(other.code).toBe(64);
      expect(other.stdout + other.stderr).not.toContain("hush");
    }
  });

  it("hides what looks like a key in a wrong place", async () => {
    const { stdout } = await doctor(stage(), "--model", "crsr_another-key-of-mine");
    expect(stdout).toContain("[redacted] is not in the list");
  });

  it("warns about a clock that is wrong", async () => {
    const world = stage();
    for (const [shift, said] of [
      [3_600_000, "1 h 0 min behind the server's"],
      [-600_000, "10 min ahead of the server's"],
      [30_000, "agrees with the server's"],
    ] as const) {
      const fetch: typeof globalThis.fetch = async (input, init) => {
        const answer = await world.emulator.fetch(input, init);
        const headers = new Headers(answer.headers);
        headers.set("date", new Date(world.clock.now() + shift).toUTCString());
        return new Response(answer.body, { status: answer.status, headers });
      };
      expect((await doctor({ ...world, fetch })).stdout).toContain(said);
    }
  });

  it("checks the given model and the given repository", async () => {
    const { code, states, stdout } = await doctor(
      stage(),
      "--model",
      "gpt-0",
      "--repo",
      "https://github.com/x/y.git",
    );
    expect([code, states["models"], states["repositories"]]).toEqual([1, "warn", "fail"]);
    expect(stdout).toContain("choose one of: default, composer-2");
    const git = await doctor(stage(), "--repo", "git@github.com:Your-Org/Your-Repo.git");
    expect(git.states["repositories"]).toBe("ok");
  });

  it("only warns when the repositories can't be listed now", async () => {
    const world = stage();
    await doctor(world);
    const again = await doctor(world);
    expect([again.code, again.states]).toEqual([0, { ...allWell, repositories: "warn" }]);
  });

  it.each([
    ["20.18.9", "fail"],
    ["20.19.0", "ok"],
    ["18.20.0", "fail"],
    ["22.0.0", "ok"],
  ])("Node %s: %s", (version, state) => expect(checkNode(version).state).toBe(state));
});
