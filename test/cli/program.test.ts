import type { Command } from "commander";
import { ManualClock } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { toAgentId, toDuration, toRunId } from "../../src/cli/add-command.ts";
import { Context } from "../../src/cli/context.ts";
import { createProgram } from "../../src/cli/program.ts";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { cli } from "./helpers.ts";

const io = {
  stdout: { write: () => true },
  stderr: { write: () => true },
  stdin: (async function* () {})(),
  env: {},
  clock: { now: Date.now, setTimeout: () => 0, clearTimeout: () => {} },
  signals: { on: () => {}, off: () => {} },
};

function namesOf(command: Command, before: string[] = []): string[][] {
  return command.commands.flatMap((child) => {
    const names = [...before, child.name()];
    return [names, ...namesOf(child, names)];
  });
}

const program = createProgram(new Context(io));
const commands = namesOf(program);

describe("help", () => {
  it("has every command", () => {
    expect(commands.map((names) => names.join(" "))).toEqual([
      ...["run", "watch", "send", "ls", "show", "archive", "unarchive", "delete", "cancel"],
      ...[
        "artifacts",
        "artifacts ls",
        "artifacts pull",
        "usage",
        "models",
        "repos",
        "me",
        "emulator",
        "doctor",
      ],
    ]);
  });

  it.each(commands.map((names) => [names.join(" "), names] as const))(
    "of %s has a description, each option's too, an example that it understands, and the global options",
    async (_, names) => {
      const { code, stdout, stderr } = await cli([...names, "--help"]);
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toMatch(/^Usage: cursor-agents .+\n\n[A-Z].{20}/);
      expect(stdout).toMatch(new RegExp(`\\nExamples?:\\n {2}\\$ cursor-agents.* ${names[0]}`));
      expect(stdout).toContain("Global Options:\n  --version");
      const bare = stdout.split("\n").filter((line) => /^ {2}-\S+( <[^>]+>)?$/.test(line));
      expect(bare).toEqual([]);
    },
  );

  it("of the program lists commands, exit codes and what --json writes", async () => {
    const { code, stdout } = await cli(["--help"], { columns: 100 });
    expect(code).toBe(0);
    for (const text of [
      "ls|list [options]  ",
      "show|get <agent>  ",
      "  0    success; for a run: FINISHED",
      "  3    --timeout ran out; the run goes on",
      "  64   the command line is wrong",
      'With --json stdout has one JSON object a line, told apart by "type"',
    ]) {
      expect(stdout).toContain(text);
    }
    expect(stdout.split("\n").filter((line) => line.length > 120)).toEqual([]);
    expect((await cli(["help", "watch"])).stdout).toContain("--from <position>");
  });

  it("is printed, with exit code 64, when there is no command", async () => {
    const { code, stdout, stderr } = await cli([]);
    expect([code, stdout]).toEqual([64, ""]);
    expect(stderr).toContain("Commands:");
    expect((await cli(["artifacts"])).code).toBe(64);
  });

  it("shows a default once, and in words where the value says little", async () => {
    const { stdout } = await cli(["emulator", "--help"]);
    expect(stdout).toMatch(/--port <n> .* \(default: a free one\)\n/);
  });

  it("--version prints the package's", async () => {
    expect(await cli(["--version"])).toMatchObject({ code: 0, stdout: `${manifest.version}\n` });
  });
});

describe("a command line that is wrong", () => {
  it.each([
    [["rnu", "x"], /unknown command 'rnu'\n\(Did you mean run\?\)/],
    [["run", "x", "--rpeo", "y"], /unknown option '--rpeo'\n\(Did you mean --repo\?\)/],
    [["artifacts", "pul"], /Did you mean pull\?/],
    [["watch"], /missing required argument 'agent'/],
    [["run", "x", "--repo"], /option '--repo <url>' argument missing/],
    [["ls", "extra"], /too many arguments/],
    [["ls", "--limit", "0"], /Expected a whole number from 1 to 1000\./],
    [["emulator", "--port", "70000"], /Expected a whole number from 0 to 65535\./],
    [["emulator", "--artifact-port", "x"], /Expected a whole number from 0 to 65535\./],
    [["emulator", "--host", "http://0.0.0.0"], /Expected an address such as 0\.0\.0\.0/],
    [["show", "run-1"], /Expected an agent's id such as bc-/],
    [["show", ".."], /Expected an agent's id such as bc-/],
    [["watch", "bc-1", "bc-2"], /Expected a run's id such as run-/],
  ])("is reported with exit code 64 and a hint, and nothing is sent: %s", async (argv, said) => {
    const { code, stdout, stderr } = await cli(argv);
    expect([code, stdout]).toEqual([64, ""]);
    expect(stderr).toMatch(said);
    expect(stderr).toContain("--help");
  });

  it.each([
    ["90", 90_000],
    ["1.5", 1_500],
    ["90s", 90_000],
    ["30m", 1_800_000],
    ["1h30m", 5_400_000],
    ["500ms", 500],
  ])("%s is a duration", (text, ms) => expect(toDuration(text)).toBe(ms));

  it.each(["", "0", "-5", "5 m", "m", "5d", "1.2.3", "5mm", "x5m", "Infinity"])(
    "%j is not a duration",
    (text) => expect(() => toDuration(text)).toThrow("such as 90s"),
  );

  const id = "bc-00000000-0000-4000-8000-00000000000a";

  it.each([
    id,
    ` ${id}\n`,
    `https://cursor.com/agents/${id}`,
    `https://cursor.com/agents/${id}/`,
    `https://cursor.com/agents/${id}?tab=x`,
    `https://cursor.com/agents?id=${id}`,
    `https://www.cursor.com/agents?selectedBcId=${id}&tab=diff`,
    `https://cursor.com/background-agent?bcId=${id}`,
    `cursor.com/agents/${id}`,
    `cursor.com/agents?id=${id}`,
    `https://cursor.com/en/agents/${id}`,
    `https://cursor.com/agents/team/${id}`,
    `https://cursor.com/de/agents/team/${id}#top`,
    `https://cursor.com/agents/${id}?selectedBcId=${id}`,
    `https://cursor.com/agents#${id}`,
    `https://cursor.com/login?next=%2Fagents%3Fid%3D${id}`,
    `cursor://anysphere.cursor-deeplink/background-agent?bcId=${id}`,
  ])("an agent may be given by its id or by an address of its page: %s", (text) =>
    expect(toAgentId(text)).toBe(id),
  );

  it.each([
    "",
    " ",
    "bc-1/runs",
    `agents/${id}`,
    "https://cursor.com/agents/team",
    "https://cursor.com/agents",
    "https://cursor.com/agents?id=",
    `https://cursor.com/agents/${id}?selectedBcId=bc-2`,
    "https://cursor.com/agents/run-1",
    "run-1",
    "..",
    "a b",
  ])("%j names no agent", (text) => expect(() => toAgentId(text)).toThrow("Expected an agent's id"));

  it.each([
    ["show"],
    ["watch"],
    ["archive"],
    ["unarchive"],
    ["delete"],
    ["cancel"],
    ["usage"],
    ["artifacts", "ls"],
  ])("an address reaches the API as the id in %s %s", async (...command) => {
    const paths: string[] = [];
    const fetch: typeof globalThis.fetch = async (input, init) => {
      paths.push(new URL(new Request(input, init).url).pathname);
      return Response.json({ error: { code: "agent_not_found", message: "no" } }, { status: 404 });
    };
    const flags = command[0] === "delete" ? ["--yes"] : [];
    await cli([...command, `https://cursor.com/agents/team/${id}`, ...flags], { fetch });
    expect(paths[0]).toMatch(new RegExp(`^/v1/agents/${id}`));
  });

  it("a run is given by its id", () => expect(toRunId("run-1")).toBe("run-1"));
});

describe("a text that begins with a dash", () => {
  const agentId = "bc-00000000-0000-4000-8000-00000000000a";
  const texts = [
    "- fix the login\n- add tests",
    "---\ntitle: x",
    "--json is broken, fix it",
    "-q is broken",
    "-help me",
    "--repo your-org/other is the name",
    "- set a=b",
    "-1 is no answer",
  ];

  async function promptOf(argv: string[]): Promise<unknown> {
    const clock = new ManualClock();
    const emulator = checkedEmulator({ clock });
    emulator.addAgent({ prompt: { text: "first" }, agentId });
    await clock.advance(60_000);
    const { code, stderr } = await cli(argv, { emulator, clock });
    expect([stderr, code]).toEqual([expect.any(String), 0]);
    const sent = emulator.requests.find(({ method }) => method === "POST");
    return sent?.json;
  }

  it.each(texts)("is a prompt where it has white space in it: %j", async (text) => {
    const expected = { prompt: { text: text.trimEnd() } };
    for (const argv of [
      ["run", text, "--no-follow"],
      ["run", "--no-follow", text],
      ["--json", "run", "--repo", "your-org/your-repo", text, "--no-follow"],
      ["run", "--no-follow", "--", text],
      ["send", agentId, text, "--wait-if-busy", "--no-follow"],
      ["send", agentId, "--wait-if-busy", "--no-follow", text],
      ["send", "--wait-if-busy", "--no-follow", "--", agentId, text],
    ]) {
      expect([argv, await promptOf(argv)]).toEqual([argv, expect.objectContaining(expected)]);
    }
  });

  it.each(texts)("is a value: %j", async (text) => {
    const sent = { name: text, prompt: { text: "x" } };
    expect(await promptOf(["run", "x", "--name", text, "--no-follow"])).toMatchObject(sent);
    expect(await promptOf(["run", "x", `--name=${text}`, "--no-follow"])).toMatchObject(sent);
    expect(await promptOf(["run", "--name", text, "--no-follow", text])).toMatchObject({
      name: text,
      prompt: { text },
    });
  });

  it("is an unknown option where it is one word, or has a value with white space", async () => {
    for (const argument of ["-fix", "--nmae=My agent", "--rpeo"]) {
      const { code, stderr } = await cli(["run", argument]);
      expect([argument, code]).toEqual([argument, 64]);
      expect(stderr).toContain("error: unknown option '-");
    }
    expect((await cli(["run", "--help"])).stdout).toMatch(/behind --\s+it may be any text/);
    expect((await cli(["ls", "- x"])).stderr).toContain("too many arguments");
    expect((await cli(["- x"])).code).toBe(64);
  });
});

describe("an option whose value is empty", () => {
  const all: [string[], string][] = [];
  const visit = (command: Command, names: string[]) => {
    for (const child of command.commands) visit(child, [...names, child.name()]);
    if (command.commands.length > 0) return;
    const options = [...command.options, ...program.options];
    for (const { long, required } of options) if (required && long) all.push([names, long]);
  };
  visit(program, []);

  it.each(
    all.flatMap(
      ([names, long]) =>
        [
          [names, long, ""],
          [names, long, " "],
        ] as const,
    ),
  )("is rejected, and nothing is sent: %s %s %j", async (names, long, value) => {
    const agent = /show|watch|send|archive|delete|cancel|usage|artifacts/.test(names.join()) ? ["bc-1"] : [];
    const emulator = checkedEmulator();
    for (const given of [[long, value], [`${long}=${value}`]]) {
      const { code, stderr, stdout } = await cli([...names, ...agent, ...given], { emulator });
      expect([code, stdout]).toEqual([64, ""]);
      expect(stderr).toContain(long);
      expect(emulator.requests).toEqual([]);
    }
  });

  it("is rejected among others, and an argument, too", async () => {
    const emulator = checkedEmulator();
    for (const [argv, said] of [
      [["run", "x", "--repo", "your-org/your-repo", "--repo", ""], "--repo"],
      [["run", "x", "--model", "m", "--model-param", "fast="], "--model-param: expected id=value"],
      [["run", "x", "--model", "m", "--model-param", "=true"], "--model-param: expected id=value"],
      [["run", ""], "the prompt is empty"],
      [["send", "bc-1", ""], "the prompt is empty"],
      [["show", ""], "Expected an agent's id"],
      [["watch", "bc-1", ""], "Expected a run's id"],
      [["cancel", "bc-1", ""], "Expected a run's id"],
      [["usage", "bc-1", ""], "Expected a run's id"],
      [["artifacts", "pull", "bc-1", ""], "folder: expected"],
    ] as [string[], string][]) {
      const { code, stderr, stdout } = await cli(argv, { emulator });
      expect([argv, code, stdout]).toEqual([argv, 64, ""]);
      expect(stderr).toContain(said);
    }
    expect(emulator.requests).toEqual([]);
  });
});
