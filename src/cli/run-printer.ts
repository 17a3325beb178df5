import type { GitBranch, GitInfo, RunEvent, RunEventData, RunResult } from "../index.ts";
import { cleanLine } from "./clean-text.ts";
import { displayWidth, shorten } from "./display-width.ts";
import { duration } from "./format.ts";
import { bold, faint, green, type Part, red, type Terminal, yellow } from "./terminal.ts";

/** Tells a run to a person: its reply on stdout as it comes; tools, notes and the outcome beside it. */
export class RunPrinter {
  readonly #terminal: Terminal;
  /** Tool calls that were told of, so that none is told of twice. */
  readonly #told = new Set<string>();
  #isThinking = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** False when stdout asks to wait. */
  print(event: RunEvent): unknown {
    const terminal = this.#terminal;
    if (event.type === "thinking") {
      this.#thinking(event.data.text);
      return true;
    }
    if (event.type === "assistant") {
      this.#isThinking = false;
      return terminal.text(event.data.text);
    }
    if (event.type === "tool_call") this.#tool(event.data);
    if (event.type === "status") terminal.detail(`status ${event.data.status}`);
    if (event.type === "error") {
      const { code, message } = event.data as { code?: unknown; message?: unknown };
      terminal.detail(`stream: ${[code, message].filter(Boolean).join(": ")}`);
    }
    if (event.type === "unknown" || event.type === "invalid")
      terminal.detail(`${event.type} event ${event.name}`);
    return true;
  }

  outcome(result: RunResult, isResumed: boolean): void {
    const { status, text, streamedText, source, durationMs, git } = result;
    const terminal = this.#terminal;
    terminal.endText();
    // A stream that was gone told nothing, or not all: then the final reply is all there is.
    const isMissing = source === "run" ? text !== streamedText : streamedText === "" && !isResumed;
    if (typeof text === "string" && isMissing) {
      if (streamedText !== "") terminal.note(faint("~ the stream was gone; the whole reply:"));
      terminal.text(text);
      terminal.endText();
    }
    const colour = status === "FINISHED" ? green : status === "ERROR" ? red : yellow;
    terminal.note(colour(status), faint(describeDuration(durationMs)));
    for (const branch of describeBranches(git)) terminal.note("  ", ...branch);
  }

  /** Thinking comes in pieces and is of passing interest: its beginning is enough. */
  #thinking(text: string): void {
    if (this.#isThinking || text.trim() === "") return;
    this.#isThinking = true;
    this.#terminal.detail(shorten(`thinking: ${text.trim()}`, this.#terminal.noteColumns - 1));
  }

  #tool({ callId, name, status, args, result }: RunEventData["tool_call"]): void {
    this.#isThinking = false;
    const isOver = status !== "running";
    const hasFailed = isOver && isError(result);
    // Arguments may come later than the call: it is worth a line when it says what it is about.
    if (!this.#told.has(callId) && (args !== undefined || isOver)) {
      this.#told.add(callId);
      this.#terminal.step(...this.#toolLine(name, args, hasFailed));
    } else if (hasFailed) {
      this.#terminal.step(...this.#toolLine(name, args, true));
    }
    if (isOver) this.#told.add(callId);
  }

  #toolLine(name: string, args: unknown, hasFailed: boolean): Part[] {
    const mark = hasFailed ? red("! ") : faint("> ");
    // Cleaned before it is measured: a control that is shown is longer than one that is not.
    const room = this.#terminal.noteColumns - 4 - (hasFailed ? 9 : 0);
    const shown = shorten(cleanLine(name), room);
    const subject = shorten(cleanLine(subjectOf(args).replace(/\s+/g, " ")), room - displayWidth(shown));
    return [mark, bold(shown), faint(` ${subject}`), hasFailed ? " (failed)" : ""];
  }
}

// The outcome's fields are the server's promise, which nobody has checked: one that is broken must not turn a run that
// finished into a command that failed. What is not what it should be is left out.

/** ` in 3 s`, or nothing. */
export const describeDuration = (ms: unknown): string =>
  typeof ms === "number" ? ` in ${duration(ms)}` : "";

/** A line for each branch: itself with its pull request, or the repository alone. */
export function describeBranches(git: GitInfo | undefined): Part[][] {
  const branches: unknown = git?.branches;
  return Array.isArray(branches) ? branches.flatMap((branch) => describeBranch(branch ?? {})) : [];
}

function describeBranch({ repoUrl, branch, prUrl }: Record<keyof GitBranch, unknown>): Part[][] {
  const pushed = [branch, prUrl].filter(isText).join("  ");
  if (!isText(repoUrl)) return pushed === "" ? [] : [[pushed]];
  if (pushed === "") return [[faint(`${repoUrl}: nothing pushed`)]];
  return [[pushed, isText(prUrl) ? "" : faint(`  ${repoUrl}`)]];
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

const isError = (result: unknown): boolean =>
  typeof result === "object" && result !== null && "error" in result && !("success" in result);

/** What a tool call is about: its command, path, pattern, … */
function subjectOf(args: unknown): string {
  if (typeof args !== "object" || args === null) return "";
  const known = args as Record<string, unknown>;
  const names = ["command", "path", "target_file", "pattern", "query", "description", "toolName"];
  const name = names.find((candidate) => typeof known[candidate] === "string");
  return name === undefined ? "" : (known[name] as string);
}
