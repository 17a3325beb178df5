import { ManualClock, type ScriptBuilder } from "cursor-cloud-agents/emulator";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  cleanLine,
  cleanText,
  displayWidth,
  padEnd,
  padStart,
  shorten,
  TextCleaner,
  toJsonLine,
} from "../../src/cli/clean-text.ts";
import { formatAge, formatBytes, formatDuration, formatShellWord } from "../../src/cli/format.ts";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { cli, type Setting, toLines } from "./helpers.ts";

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

  it("in pieces, wherever they are cut", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), fc.array(fc.nat(40)), (text, cuts) => {
        const cleaner = new TextCleaner();
        const at = [...cuts].sort((one, other) => one - other);
        const pieces = at.map((cut, index) => text.slice(at[index - 1] ?? 0, cut));
        const whole =
          [...pieces, text.slice(at.at(-1) ?? 0)].map((piece) => cleaner.add(piece)).join("") + cleaner.end();
        expect(whole).toBe(cleanText(text));
        expect(whole).not.toMatch(orders);
        expect(cleanLine(text)).not.toMatch(/[\n\t]/);
        expect(JSON.parse(toJsonLine(text))).toBe(text);
      }),
    );
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
  it("are counted in columns", () => {
    expect(["abc", "日本", "e\u0301", "👩‍👩‍👧", "한", "", "…"].map(displayWidth)).toEqual([
      3, 4, 1, 2, 2, 0, 1,
    ]);
    expect([padEnd("日本", 6), padStart("日本", 6)]).toEqual(["日本  ", "  日本"]);
    expect([shorten("abcdef", 4), shorten("日本語", 4), shorten("abc", 3), shorten("abc", 0)]).toEqual([
      "abc…",
      "日…",
      "abc",
      "",
    ]);
  });

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

describe("formats for people and shells", () => {
  it.each([
    [0, "0 ms"],
    [950, "950 ms"],
    [1_000, "1 s"],
    [1_500, "1.5 s"],
    [60_000, "1 min"],
    [83_000, "1 min 23 s"],
    [3 * 3_600_000 + 60_000, "3 h 1 min"],
    [5 * 86_400_000, "5 days"],
  ])("a duration of %s", (ms, text) => expect(formatDuration(ms)).toBe(text));

  it("a size and an age", () => {
    expect([
      formatBytes(0),
      formatBytes(1023),
      formatBytes(1024),
      formatBytes(5 * 1024 ** 2),
      formatBytes(2 * 1024 ** 3),
    ]).toEqual(["0 B", "1023 B", "1.0 KiB", "5.0 MiB", "2.0 GiB"]);
    const now = Date.parse("2026-01-10T00:00:00Z");
    expect(formatAge("2026-01-09T23:59:30Z", now)).toBe("just now");
    expect(formatAge("2026-01-01T00:00:00Z", now)).toBe("9 days ago");
    expect(formatAge("whenever", now)).toBe("whenever");
  });

  it("quotes a word that a shell would not read literally", () => {
    expect(formatShellWord("1713033006000-0")).toBe("1713033006000-0");
    expect(formatShellWord("a b; rm $(x) 'y'")).toBe(`'a b; rm $(x) '\\''y'\\'''`);
    expect(formatShellWord("")).toBe("''");
  });
});
