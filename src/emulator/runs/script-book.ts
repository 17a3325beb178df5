import { callUser } from "../failed-response.ts";
import { RunScript, type RunScriptContext } from "./run-script.ts";

/** The prompts that a script is for: those with this substring, or that match this pattern or predicate. */
export type PromptMatch = string | RegExp | ((prompt: string) => boolean);

/** Writes the script of one run. Its return value is ignored, so that it can return a chain of calls. */
export type ScriptBuilder = (run: RunScript) => unknown;

/** Whether this can search a text as a RegExp can. One of another realm, as in jsdom, is no `instanceof RegExp`. @internal */
export function isPattern(value: unknown): value is RegExp {
  return typeof (value as Partial<RegExp> | null | undefined)?.[Symbol.search] === "function";
}

function matches(match: PromptMatch, prompt: string): boolean {
  if (typeof match === "string") return prompt.includes(match);
  // Unlike `test`, `search` ignores the state that a global pattern keeps between calls.
  if (typeof match !== "function") return prompt.search(match) >= 0;
  return callUser("the match function of a script", () => match(prompt));
}

/** The scripts of one emulator. The newest one that matches a prompt wins. @internal */
export class ScriptBook {
  readonly #scripts: { match: PromptMatch; build: ScriptBuilder }[] = [];

  add(match: PromptMatch, build: ScriptBuilder): void {
    this.#scripts.unshift({ match, build });
  }

  write(context: RunScriptContext): RunScript {
    const script = new RunScript(context);
    const found = this.#scripts.find(({ match }) => matches(match, context.prompt));
    if (found === undefined) return defaultScript(script);
    const name = `the script for "${typeof found.match === "function" ? context.prompt.slice(0, 60) : found.match}"`;
    const written = callUser(name, () => found.build(script)) as
      | Partial<PromiseLike<unknown>>
      | null
      | undefined;
    if (typeof written?.then === "function") {
      written.then(undefined, () => {}); // Its rejection must not be one that nobody handles.
      throw new TypeError(`${name} returned a promise; expected a function that writes the script at once`);
    }
    return script;
  }
}

/** The script of runs whose prompt matches no other: a small, plausible piece of work. */
export function defaultScript(run: RunScript): RunScript {
  const subject = run.prompt.replace(/\s+/g, " ").trim().slice(0, 60);
  const readme = "# your-repo\n";
  run
    .thinking("The user asks: ")
    .thinking(`“${subject}”. I'll look at the repository first.`)
    .tool(
      "read_file",
      { path: "/workspace/your-repo/README.md" },
      { content: readme, totalLines: 1, fileSize: readme.length, path: "/workspace/your-repo/README.md" },
    )
    .tool(
      "run_terminal_cmd",
      { command: "git status --short", timeout: 600_000 },
      { command: "git status --short", stdout: "", executionTime: 212, interleavedOutput: "" },
    )
    .text("I looked at the repository ")
    .text(`and worked on “${subject}”. `)
    .text("My notes are in `artifacts/notes.md`.");
  run.artifact("artifacts/notes.md", `# Notes\n\n${subject}\n`);
  if (run.context.repoUrl === undefined) return run.finish();
  return run.finish({ branch: `cursor/${slug(subject)}-${run.context.agentId.slice(-4)}` });
}

function slug(text: string): string {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? ["work"];
  return words.slice(0, 4).join("-");
}
