import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { toAgentId, toDuration, toRunId } from "../../src/cli/add-command.ts";
import { Context } from "../../src/cli/context.ts";
import { createProgram } from "../../src/cli/program.ts";
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

const commands = namesOf(createProgram(new Context(io)));

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
    expect(stdout).toMatch(/--port <n> .*127\.0\.0\.1 \(default: a free one\)\n/);
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

  it("an agent may be given by the address of its page", () => {
    expect(toAgentId("https://cursor.com/agents/bc-1?tab=x")).toBe("bc-1");
    expect(toAgentId("bc-1")).toBe("bc-1");
    expect(toRunId("run-1")).toBe("run-1");
    expect(() => toAgentId("bc-1/runs")).toThrow();
  });
});
