import { defaultScript } from "./default-script.ts";
import { RunScript, type RunScriptContext } from "./run-script.ts";

/** Which prompts a script is for: a part of the text, a pattern, or a test. */
export type PromptMatch = string | RegExp | ((prompt: string) => boolean);

/** Writes the script of one run. What it returns is ignored, so that a chain can be returned. */
export type ScriptBuilder = (run: RunScript) => unknown;

function matches(match: PromptMatch, prompt: string): boolean {
  if (typeof match === "string") return prompt.includes(match);
  // `search` ignores the state a global pattern would keep between calls.
  return typeof match === "function" ? match(prompt) : prompt.search(match) >= 0;
}

/** The scripts of one emulator; the newest that matches wins. @internal */
export class ScriptBook {
  readonly #scripts: { match: PromptMatch; build: ScriptBuilder }[] = [];

  add(match: PromptMatch, build: ScriptBuilder): void {
    this.#scripts.unshift({ match, build });
  }

  clear(): void {
    this.#scripts.length = 0;
  }

  write(context: RunScriptContext): RunScript {
    const script = new RunScript(context);
    const build = this.#scripts.find(({ match }) => matches(match, context.prompt))?.build ?? defaultScript;
    build(script);
    return script;
  }
}
