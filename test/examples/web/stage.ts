import { CursorEmulator, type JsonValue, type RunScript } from "cursor-cloud-agents/emulator";

/** The emulated account's key: known to the server alone. */
export const emulatorKey = "key_emulated_4f1d0c7b9a2e";

/** How the emulated agents are played. */
export interface StageOptions {
  /** Milliseconds of one beat: a word takes one, a tool call about twenty. 0: all of a run at once. @default 40 */
  beat?: number;
}

/** An emulated Cursor whose agents think, use tools (one fails), write, and leave files and a branch behind. */
export function setStage({ beat = 40 }: StageOptions = {}): CursorEmulator {
  const emulator = new CursorEmulator({ keys: [{ key: emulatorKey }], busyWindowMs: beat * 20 });
  const known = new Set<string>();
  emulator.script(/(?:)/, (run) => {
    const act = new Act(run, beat);
    if (known.has(run.context.agentId)) followUp(act);
    else firstRun(act);
    known.add(run.context.agentId);
  });
  emulator.script(/give up/i, (run) => {
    new Act(run, beat).think("There is nothing here that I could work with.").say("I can't do this.");
    run.fail();
  });
  return emulator;
}

/** Writes a script at the pace of a person who reads along. */
class Act {
  readonly run: RunScript;
  readonly #beat: number;
  #calls = 0;

  constructor(run: RunScript, beat: number) {
    this.run = run;
    this.#beat = beat;
  }

  think(text: string): this {
    for (const word of text.match(/\s*\S+/g) ?? []) this.run.wait(this.#beat * 0.6).thinking(word);
    this.run.thinking("\n\n");
    return this;
  }

  say(text: string): this {
    for (const word of text.match(/\s*\S+/g) ?? []) this.run.wait(this.#beat).text(word);
    this.run.text("\n\n");
    return this;
  }

  /** A tool that takes its time: seen running with its arguments, then completed. */
  use(
    name: string,
    args: JsonValue,
    outcome: { success: JsonValue } | { error: JsonValue },
    beats = 20,
  ): this {
    const call = { callId: `tool_${this.run.context.runId.slice(-8)}_${++this.#calls}`, name, args };
    this.run
      .event("tool_call", { ...call, status: "running" })
      .wait(this.#beat * beats)
      .event("tool_call", { ...call, status: "completed", result: outcome });
    return this;
  }
}

function firstRun(act: Act): void {
  const { repoUrl } = act.run.context;
  const place = repoUrl === undefined ? "an empty workspace" : repoUrl.replace(/^https?:\/\//, "");
  act
    .think(`The task is clear enough. I start in ${place}: first what is there, then what has to change.`)
    .use("list_dir", { path: "src" }, { success: { files: ["durations.js", "format.js"] } }, 12)
    .use("read_file", { path: "package.json" }, { success: { content: packageFile, totalLines: 8 } }, 14)
    .say(
      "The project has a `test` script but no README, so nobody can tell how to run it. " +
        "I'll check that the script works before I write down that it does.",
    )
    .use(
      "run_terminal_cmd",
      { command: "npm test" },
      { error: { message: "exit code 1", stderr: "Error: Cannot find module './duration.js'" } },
      34,
    )
    .think("It fails: an import still names a file that was renamed. A one-line change, so I make it.")
    .use("grep_search", { query: "duration.js" }, { success: { matches: ["src/format.js:1"] } }, 12)
    .use(
      "edit_file",
      { path: "src/format.js" },
      { success: { path: "src/format.js", linesAdded: 1, linesRemoved: 1 } },
      16,
    )
    .use(
      "run_terminal_cmd",
      { command: "npm test" },
      { success: { stdout: "12 passed\n", exitCode: 0, executionTime: 840 } },
      30,
    )
    .use("edit_file", { path: "README.md" }, { success: { path: "README.md", linesAdded: 42 } }, 18)
    .say(
      "Done. What changed:\n\n" +
        "- **README.md** is new: installation, a first example, and how to run the tests.\n" +
        "- **src/format.js** imports `./durations.js`, the name the file has now. The tests failed before, and pass again.\n\n" +
        "Each command in the README was run once, from a fresh clone. " +
        "My notes are in `report.md`; `coverage.png` shows the coverage of the last six runs.",
    );
  act.run
    .artifact("artifacts/report.md", report, "text/markdown")
    .artifact("artifacts/coverage.png", Buffer.from(coverage, "base64"), "image/png")
    .finish(repoUrl === undefined ? {} : { branch: "cursor/add-readme-a1b2", prUrl: `${repoUrl}/pull/123` });
}

function followUp(act: Act): void {
  act
    .think("A small addition. The file is known, so one edit will do.")
    .use("edit_file", { path: "README.md" }, { success: { path: "README.md", linesAdded: 11 } }, 24)
    .say("Added. The new section is at the end of `README.md`, and nothing else was touched.");
  act.run.finish();
}

const packageFile =
  '{\n  "name": "your-repo",\n  "type": "module",\n  "scripts": { "test": "node --test" }\n}\n';

const report = `# What was done

${"- read the package file, ran its commands, wrote the README\n".repeat(400)}`;

/** Six bars: a PNG of 200 by 100. */
const coverage =
  "iVBORw0KGgoAAAANSUhEUgAAAMgAAABkAgMAAAC+6JeYAAAACVBMVEX6+vcvb2PO1tBBQqiEAAAARElEQVR42u3LsQ2AMAwAQdeZjib7UTMl" +
  "MgplWmSL+/ovQirSzA4E6UrGlSFlyLOeCNKOrOfn5H2QfmTzIAiCIAjyHbkBhMeVhdOO/GkAAAAASUVORK5CYII=";
