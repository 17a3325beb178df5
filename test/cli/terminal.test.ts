import { ManualClock, type ScriptBuilder } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { displayWidth } from "../../src/cli/clean-text.ts";
import { RunPrinter } from "../../src/cli/run-printer.ts";
import { Terminal } from "../../src/cli/terminal.ts";
import type { RunEvent } from "../../src/index.ts";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { cli, costOf, type Setting, toLines } from "./helpers.ts";

/** Characters that a terminal acts on. */
const orders = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const title = "\u001b]0;owned\u0007";
const evil = `${title}\u001b[2J\u009b31mred\u202egnp.exe\r\nnext\ttab\rback\b`;

async function run(script: ScriptBuilder, argv: string[] = [], setting: Setting = {}) {
  const clock = new ManualClock();
  const emulator = checkedEmulator({ clock });
  emulator.script(() => true, script);
  return cli(["run", "x", ...argv], { clock, emulator, ...setting });
}

describe("text of a run can't control the terminal", () => {
  it("in the reply, where newlines, tabs and all letters stay", async () => {
    const { stdout } = await run((it) => it.text(evil).text(" – ça va? 日本 👩‍👩‍👧\n").finish(), [], {
      isTerminal: true,
    });
    expect(stdout).not.toMatch(orders);
    expect(stdout).toContain(
      "\\x1b]0;owned\\x07\\x1b[2J\\x9b31mred\\u202egnp.exe\nnext\ttab\\x0dback\\x08 – ça va? 日本 👩‍👩‍👧\n",
    );
  });

  it("in tools, names, branches, thinking, statuses, unknown events and errors", async () => {
    const { stderr, stdout } = await run(
      (it) =>
        it
          .thinking(evil)
          .tool(`a${title}`, { command: evil }, undefined, { error: evil })
          .text("Hi")
          .finish({ branch: `b${title}`, prUrl: `https://github.com/${evil}` }),
      ["--verbose", "--name", `n${title}`],
      { env: { NO_COLOR: "1" }, isTerminal: true, columns: 400 },
    );
    expect(stderr).toContain("> a\\x1b]0;owned\\x07");
    expect(stderr).toContain("b\\x1b]0;owned\\x07");
    expect(stderr).toContain("  n\\x1b]0;owned\\x07");
    expect(stderr).toContain("thinking: \\x1b]0;owned\\x07");
    expect(stderr + stdout).not.toMatch(orders);
  });

  it("in an error's message, and can't start a second line there", async () => {
    const fetch = async () =>
      Response.json({ error: { code: "x", message: `bad\nerror: forged ${title}` } }, { status: 400 });
    const { stderr } = await cli(["me"], { fetch });
    expect(stderr).toBe("error: GET /v1/me -> 400 x: bad error: forged \\x1b]0;owned\\x07\n");
  });

  it("in tables, and can't start a second row there", async () => {
    const fetch = async () =>
      Response.json({ items: [{ id: `m${title}`, displayName: "one\ntwo", parameters: [] }] });
    const { stdout } = await cli(["models"], { fetch });
    expect(stdout.trimEnd().split("\n")).toHaveLength(2);
    expect(stdout).not.toMatch(orders);
  });

  it("in lines of JSON, which parse to the same value", async () => {
    const { stdout } = await run((it) => it.text(evil).finish(), ["--json"]);
    expect(stdout).not.toMatch(orders);
    expect(toLines(stdout).find(({ type }) => type === "assistant").data.text).toBe(evil);
  });
});

describe("colours", () => {
  const coloured = /\u001b\[\d+m/;
  it.each<[string, Setting, string[], boolean]>([
    ["on a terminal", { isTerminal: true }, [], true],
    ["not in a pipe", {}, [], false],
    ["not with NO_COLOR", { isTerminal: true, env: { NO_COLOR: "1" } }, [], false],
    ["with an empty NO_COLOR", { isTerminal: true, env: { NO_COLOR: "" } }, [], true],
    ["not with --no-color", { isTerminal: true }, ["--no-color"], false],
    ["not on a dumb terminal", { isTerminal: true, env: { TERM: "dumb" } }, [], false],
    ["in a pipe with FORCE_COLOR", { env: { FORCE_COLOR: "1" } }, [], true],
    ["not with FORCE_COLOR=0", { isTerminal: true, env: { FORCE_COLOR: "0" } }, [], false],
    ["not with NO_COLOR beside FORCE_COLOR", { env: { FORCE_COLOR: "1", NO_COLOR: "1" } }, [], false],
  ])("%s", async (_, setting, argv, isColoured) => {
    const { stderr, stdout } = await run((it) => it.text("Hi").finish(), argv, setting);
    expect(coloured.test(stderr)).toBe(isColoured);
    // The reply is never coloured.
    expect(stdout).toBe("Hi\n");
  });
});

describe("on one screen", () => {
  it("no note lands inside a sentence, and each tool starts a line", async () => {
    const { screen } = await run(
      (it) => it.text("one ").cut().text("two ").tool("read_file", { path: "a" }, {}).text("three").finish(),
      ["--no-color"],
      { isTerminal: true },
    );
    expect(screen).toMatch(/\none two \n~ connection lost; .*\n> read_file a\nthree\nFINISHED/);
  });
});

describe("widths", () => {
  it("keep a tool on one line of a terminal, and whole in a pipe", async () => {
    const command = `echo ${"x".repeat(200)}`;
    const script: ScriptBuilder = (it) => it.tool("run_terminal_cmd", { command }, {}).finish();
    const narrow = await run(script, ["--no-color"], { isTerminal: true, columns: 50 });
    const line = narrow.stderr.split("\n").find((text) => text.startsWith("> ")) as string;
    expect(displayWidth(line)).toBeLessThanOrEqual(50);
    expect(line).toMatch(/x…$/);
    expect((await run(script)).stderr).toContain(command);
  });

  it("keep a tool on one line of a terminal, whatever it is called", async () => {
    const command = "\u001b[2J".repeat(9);
    const script: ScriptBuilder = (it) =>
      it.tool("n".repeat(200), { command }, {}).tool("short", { command }, {}).finish();
    const { stderr } = await run(script, ["--no-color"], { isTerminal: true, columns: 50 });
    const lines = stderr.split("\n").filter((text) => /^[>!] /.test(text));
    expect(lines.join("\n")).toMatch(/^> n+…\n> short .*…$/);
    expect(lines.map(displayWidth).filter((width) => width > 50)).toEqual([]);
  });

  it("cut the last column of a table on a terminal", async () => {
    const items = [
      { id: "m", displayName: "M", parameters: [{ id: "p", values: [{ value: "v".repeat(99) }] }] },
    ];
    const fetch = async () => Response.json({ items });
    const { stdout } = await cli(["models", "--no-color"], { fetch, isTerminal: true, columns: 40 });
    expect(stdout.split("\n").every((line) => line.length <= 40)).toBe(true);
  });
});

describe("a long tool call", () => {
  it.each([true, false])("costs little, on a terminal: %s", (isTTY) => {
    const command = "é日👩‍👩‍👧".repeat(100_000);
    let printed = "";
    const output = { isTTY, columns: 80, write: (text: string) => (printed += text) };
    const printer = new RunPrinter(new Terminal({ stdout: output, stderr: output, stdin: {}, env: {} }));
    const data = { callId: "call-1", name: command, status: "completed", args: { command }, result: {} };
    const cost = costOf(() => printer.print({ type: "tool_call", id: "1-0", data } as RunEvent));
    expect(cost).toBeLessThan(1_000);
    expect(printed.includes(command)).toBe(!isTTY);
  });
});
