import { type EmulatorOptions, ManualClock } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { redactKeys } from "../../src/cli/api-key.ts";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { cli, key } from "./helpers.ts";

function stage(options: EmulatorOptions = {}) {
  const clock = new ManualClock();
  return { clock, emulator: checkedEmulator({ clock, ...options }) };
}

describe("the API key", () => {
  it("may come from a file or from stdin", async () => {
    const { emulator, clock } = stage({ keys: [{ key: "key-of-the-file" }] });
    const env = { CURSOR_API_KEY: undefined };
    const piped = await cli(["me", "--api-key-file", "-"], {
      emulator,
      clock,
      env,
      stdin: "key-of-the-file\n",
    });
    expect(piped.code).toBe(0);
    const missing = await cli(["me", "--api-key-file", "/nowhere/key"], { emulator, clock, env });
    expect(missing).toMatchObject({ code: 64, stderr: "error: there is no file /nowhere/key\n" });
    const empty = await cli(["me", "--api-key-file", "-"], { emulator, clock, env });
    expect(empty).toMatchObject({ code: 4, stderr: expect.stringContaining("there is no API key in stdin") });
  });

  it("says where to get a key if there is none", async () => {
    for (const CURSOR_API_KEY of [undefined, "", "  "]) {
      const { code, stderr } = await cli(["ls"], { env: { CURSOR_API_KEY } });
      expect(code).toBe(4);
      expect(stderr).toMatch(/^error: there is no API key\n.*dashboard.*\n.*--api-key-file/);
    }
    const unsendable = await cli(["ls"], { env: { CURSOR_API_KEY: "crsr_with\u200bspace" } });
    expect(unsendable).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("the API key has a character"),
    });
  });
});

describe("no secret is printed", () => {
  const wrongKey = "crsr_another-key-of-mine";

  it.each([
    [["ls", "--api-key", wrongKey]],
    [["ls", `--api-key=${wrongKey}`]],
    [["run", "x", `--apikey=${wrongKey}`]],
    [["run", "x", `--token=${wrongKey}`]],
    [["ls", `--api-key-flie=${wrongKey}`]],
  ])("when a key is among the arguments: %s", async (argv) => {
    const { code, stdout, stderr } = await cli(argv);
    expect(code).toBe(64);
    const isMeant = argv.some((argument) => /^--api-?key(=|$)/.test(argument));
    expect(/everyone on this machine can read.*\n.*--api-key-file/.test(stderr)).toBe(isMeant);
    expect(stdout + stderr).not.toContain(wrongKey);
  });

  it("when the key is given in place of a command", async () => {
    const { code, stderr } = await cli([key]);
    expect(code).toBe(64);
    expect(stderr).toContain("unknown command '[redacted]'");
  });

  it.each([
    ' "crsr_TEST_000001" \n',
    '" crsr_TEST_000001 "',
    "'\tcrsr_TEST_000001'",
    "Bearer crsr_TEST_000001",
  ])(
    "when the key is given in place of a command, and the environment has it as %j",
    async (CURSOR_API_KEY) => {
      const { code, stderr } = await cli(["crsr_TEST_000001"], { env: { CURSOR_API_KEY } });
      expect(code).toBe(64);
      expect(stderr).toContain("unknown command '[redacted]'");
    },
  );

  it.each([
    ["another key of the usual form", wrongKey],
    ["another key of the older form", "key_1234567890abcdef"],
    ["the environment's key", "plain-secret-of-mine"],
  ])("when it is typed in a wrong place: %s", async (_, typed) => {
    const env = { CURSOR_API_KEY: '" plain-secret-of-mine "' };
    for (const argv of [
      [typed],
      ["show", `${typed}/x`],
      ["watch", "bc-1", `${typed}!`],
      ["ls", "--limit", typed],
      ["ls", typed],
      ["run", "x", "--repo", typed],
      ["run", "x", "--mode", typed],
      ["run", "x", "--file", typed],
      ["run", "--file", typed],
      ["me", "--api-key-file", typed],
      ["me", "--base-url", typed],
      ["run", "x", "--timeout", typed],
      ["run", "x", "--env-var", typed],
      ["run", "x", `-${typed}`],
    ]) {
      const { code, stdout, stderr } = await cli(argv, { env });
      expect([argv, code]).toEqual([argv, 64]);
      expect(stdout + stderr).not.toContain(typed);
    }
  });

  it("and words that only begin like a key stay", () => {
    const text = "invalid_key_1, key_not_supported, api_key_not_found, crsr_, bc-key_1, key_value_pairs";
    expect(redactKeys(text)).toBe(text);
  });

  it("when the server repeats the key, in any form", async () => {
    const basic = Buffer.from(`${key}:`).toString("base64");
    for (const json of [[], ["--json"]]) {
      for (const message of [`bad key ${key}`, `header was Basic ${basic}`]) {
        const world = stage();
        const body = { error: { code: "unauthorized", message } };
        world.emulator.faults.status("getApiKeyInfo", 401, { body, times: 2 });
        const { stdout, stderr } = await cli(["me", ...json], world);
        expect(stderr).toContain("[redacted]");
        expect(stdout + stderr).not.toContain(key);
        expect(stdout + stderr).not.toContain(basic.replace(/=+$/, ""));
      }
    }
  });

  it("in any form in which a key is sent", () => {
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    const quoted = 'crsr_a"b/c+d=';
    for (const form of [quoted, base64(quoted), base64(`${quoted}:`), encodeURIComponent(quoted)]) {
      expect(redactKeys(`<${form}>`, ` "${quoted}"\n`)).toMatch(/^<\[redacted\]=*>$/);
    }
    // A short key may be an ordinary word.
    expect(redactKeys("a test of it", "test")).toBe("a test of it");
    expect(redactKeys("anything", undefined)).toBe("anything");
  });

  it("with --verbose", async () => {
    const world = stage();
    world.emulator.faults.cut("streamRun", { afterEvents: 2 });
    const { stdout, stderr } = await cli(["run", "x", "--verbose", "--json"], world);
    expect(stdout + stderr).not.toContain(key);
  });
});
