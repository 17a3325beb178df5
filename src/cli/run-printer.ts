import type { GitBranch, GitInfo, RunEvent, RunEventData, RunResult } from "../index.ts";
import { cleanLine, displayWidth, shorten } from "./clean-text.ts";
import { formatDuration } from "./format.ts";
import { bold, faint, type Part, red, type Style, type Terminal } from "./terminal.ts";

/** Prints a run for people: its reply on stdout as it arrives; tool calls, notes and the outcome on stderr. */
export class RunPrinter {
  readonly #terminal: Terminal;
  /** The ids of the tool calls that have their line. */
  readonly #printedTools = new Set<string>();
  #isThinking = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Returns false where stdout asks to wait for its `drain`. */
  print(event: RunEvent): unknown {
    const terminal = this.#terminal;
    switch (event.type) {
      case "assistant":
        this.#isThinking = false;
        return terminal.text(event.data.text);
      case "thinking":
        this.#thinking(event.data.text);
        break;
      case "tool_call":
        this.#tool(event.data);
        break;
      case "status":
        terminal.detail(`status ${event.data.status}`);
        break;
      case "error": {
        const { code, message } = event.data as { code?: unknown; message?: unknown };
        terminal.detail(`stream: ${[code, message].filter(Boolean).join(": ")}`);
        break;
      }
      case "unknown":
      case "invalid":
        terminal.detail(`${event.type} event ${event.name}`);
    }
    return true;
  }

  /** @param isResumed The stream was read from a later position than the run's start */
  outcome(result: RunResult, isResumed: boolean): void {
    const { status, text, streamedText, source, durationMs, git } = result;
    const terminal = this.#terminal;
    terminal.endText();
    // Where the stream was gone, it delivered nothing of the reply or only a part: then the whole reply is printed.
    const isMissing = source === "run" ? text !== streamedText : streamedText === "" && !isResumed;
    if (typeof text === "string" && isMissing) {
      if (streamedText !== "") terminal.note(faint("~ the stream was gone; the whole reply:"));
      terminal.text(text);
      terminal.endText();
    }
    terminal.note({ text: status, style: styleOf(status) ?? "yellow" }, faint(describeDuration(durationMs)));
    for (const branch of describeBranches(git)) terminal.note("  ", ...branch);
  }

  /** Thinking arrives in pieces; the beginning of each stretch is enough. */
  #thinking(text: string): void {
    if (this.#isThinking || text.trim() === "") return;
    this.#isThinking = true;
    this.#terminal.detail(shorten(`thinking: ${text.trim()}`, this.#terminal.noteColumns - 1));
  }

  /** One line for each call, and a second one where it fails after its first line. */
  #tool({ callId, name, status, args, result }: RunEventData["tool_call"]): void {
    this.#isThinking = false;
    const isOver = status !== "running";
    const hasFailed = isOver && isError(result);
    // The arguments may arrive after the call itself: the line waits for them, because it says what the call is about.
    const isFirstLine = !this.#printedTools.has(callId) && (args !== undefined || isOver);
    if (!isFirstLine && !hasFailed) return;
    this.#printedTools.add(callId);
    this.#terminal.step(...this.#toolLine(name, args, hasFailed));
  }

  #toolLine(name: string, args: unknown, hasFailed: boolean): Part[] {
    const mark = hasFailed ? red("! ") : faint("> ");
    // Cleaned before it is measured: the visible escape of a control character is longer than the character.
    const room = this.#terminal.noteColumns - 4 - (hasFailed ? 9 : 0);
    const shown = shorten(cleanLine(name), room);
    const subject = shorten(cleanLine(subjectOf(args).replace(/\s+/g, " ")), room - displayWidth(shown));
    return [mark, bold(shown), faint(` ${subject}`), hasFailed ? " (failed)" : ""];
  }
}

// The fields of an outcome come from the server unchecked. A malformed one must not turn a finished run into a failed
// command, so the functions below leave out what is not as documented.

/** ` in 3 s`, or nothing. */
export const describeDuration = (ms: unknown): string =>
  typeof ms === "number" ? ` in ${formatDuration(ms)}` : "";

/** A line for each branch: its name and its pull request, or only the repository if nothing was pushed. */
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

/** A run's status in its colour. A run that goes on has none. */
export function paintStatus(status: string): Part {
  const style = styleOf(status);
  return style === undefined ? status : { text: status, style };
}

function styleOf(status: string): Style | undefined {
  if (status === "FINISHED") return "green";
  if (status === "ERROR") return "red";
  return status === "CANCELLED" || status === "EXPIRED" ? "yellow" : undefined;
}

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
