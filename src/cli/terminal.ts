import { cleanLine, displayWidth, padEnd, padStart, shorten, TextCleaner, toJsonLine } from "./clean-text.ts";
import type { JsonLine } from "./json-line.ts";

/** Where text goes: a process's stdout or stderr, or a test's. */
export interface Output {
  /** False asks the writer to wait for `drain`. */
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  on?(event: "drain" | "error", listener: (error: Error) => void): unknown;
  off?(event: "drain" | "error", listener: (error: Error) => void): unknown;
}

/** What the terminal writes to, and what it looks at to decide how. */
export interface TerminalIo {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly stdin: { readonly isTTY?: boolean | undefined };
  readonly env: Readonly<Record<string, string | undefined>>;
}

export type Style = "bold" | "faint" | "red" | "green" | "yellow";

/** A piece of a line. Text is cleaned when it is written, wherever it comes from; a style is the only way to a colour. */
export type Part = string | { readonly text: string; readonly style: Style };

const styled =
  (style: Style) =>
  (text: string): Part => ({ text, style });
export const bold = styled("bold");
export const faint = styled("faint");
export const red = styled("red");
export const green = styled("green");
export const yellow = styled("yellow");

const codes: Record<Style, number> = { bold: 1, faint: 2, red: 31, green: 32, yellow: 33 };
const textOf = (part: Part): string => cleanLine(typeof part === "string" ? part : part.text);
const clearLine = "\r\u001b[K";

/** How much is printed, and how. */
export interface TerminalOptions {
  colour?: boolean;
  quiet?: boolean;
  verbose?: boolean;
}

/**
 * Prints everything that a command prints. Its answer goes to stdout: a run's reply, a table, lines of JSON. Notes, progress,
 * questions and errors go to stderr. So the reply can go to a file while the user watches the rest.
 */
export class Terminal {
  readonly #io: TerminalIo;
  readonly #options: TerminalOptions;
  readonly #cleaner = new TextCleaner();
  #atLineStart = true;
  /** Notes that wait for the end of a line of running text. */
  #waiting: string[] = [];
  #hasProgress = false;

  constructor(io: TerminalIo, options: TerminalOptions = {}) {
    this.#io = io;
    this.#options = options;
  }

  /** Whether a question can be asked: both the question and the answer need a terminal. */
  get canAsk(): boolean {
    return this.#io.stdin.isTTY === true && this.#io.stderr.isTTY === true;
  }

  /** Prints a piece of a run's reply. Returns false where stdout asks to wait for its `drain`. */
  text(piece: string): unknown {
    return this.#write(this.#cleaner.add(piece));
  }

  /** Ends running text with a newline, if there is any, and prints the notes that waited for it. */
  endText(): void {
    this.#write(this.#cleaner.end());
    if (!this.#atLineStart) this.#write("\n");
    for (const line of this.#waiting.splice(0)) this.#io.stderr.write(line);
  }

  /** Prints a line of the answer. */
  line(...parts: Part[]): void {
    this.endText();
    this.#clearProgress();
    this.#io.stdout.write(`${this.#render(this.#io.stdout, parts)}\n`);
  }

  /** Prints a line of JSON. Returns false where stdout asks to wait for its `drain`. */
  json(value: JsonLine): unknown {
    this.#clearProgress();
    return this.#io.stdout.write(`${toJsonLine(value)}\n`);
  }

  /**
   * Prints a note, unless `--quiet`. While running text is printed, the note waits for the end of the line, so that it never
   * lands inside a sentence.
   */
  note(...parts: Part[]): void {
    if (this.#options.quiet) return;
    const line = `${this.#render(this.#io.stderr, parts)}\n`;
    this.#clearProgress();
    if (this.#atLineStart) this.#io.stderr.write(line);
    else this.#waiting.push(line);
  }

  /** Prints a note about a step of the run: running text ends before it. */
  step(...parts: Part[]): void {
    this.endText();
    this.note(...parts);
  }

  /** Prints a note only with `--verbose`. */
  detail(...parts: Part[]): void {
    if (this.#options.verbose)
      this.note(...parts.map((part) => (typeof part === "string" ? faint(part) : part)));
  }

  /**
   * Prints a line on stderr at once, with `--quiet` too. It ends running text only where stdout is a terminal, because only
   * there both may be on one screen.
   */
  alert(...parts: Part[]): void {
    if (this.#io.stdout.isTTY) this.endText();
    this.#clearProgress();
    this.#io.stderr.write(`${this.#render(this.#io.stderr, parts)}\n`);
  }

  /** Prints a question; the answer is typed on the same line. */
  question(text: string): void {
    this.endText();
    this.#io.stderr.write(`${cleanLine(text)} `);
  }

  /** Prints rows under a header, with aligned columns, numbers to the right. On a terminal the last column is cut to its width. */
  table(header: readonly string[], rows: readonly (readonly Part[])[]): void {
    const all: (readonly Part[])[] = [header.map((name) => faint(name)), ...rows];
    const widths = header.map((_, column) =>
      Math.max(...all.map((row) => displayWidth(textOf(row[column] ?? "")))),
    );
    const isNumeric = header.map(
      (_, column) =>
        rows.length > 0 && rows.every((row) => /^[\d,.]+( [KMG]?i?B)?$|^$/.test(textOf(row[column] ?? ""))),
    );
    const room = this.#io.stdout.isTTY ? (this.#io.stdout.columns ?? 80) : Number.POSITIVE_INFINITY;
    for (const row of all) {
      const last = header.length - 1;
      let used = 0;
      const parts = header.flatMap((_, column): Part[] => {
        const part = row[column] ?? "";
        const width = widths[column] as number;
        const text = textOf(part);
        const aligned = isNumeric[column]
          ? padStart(text, width)
          : column === last
            ? shorten(text, Math.max(8, room - used))
            : padEnd(text, width);
        used += width + 2;
        const gap = column === last ? "" : "  ";
        return typeof part === "string" ? [aligned + gap] : [{ text: aligned, style: part.style }, gap];
      });
      this.line(...parts);
    }
  }

  /** How many columns a note may take without a second line. */
  get noteColumns(): number {
    return this.#io.stderr.isTTY ? (this.#io.stderr.columns ?? 80) : Number.POSITIVE_INFINITY;
  }

  /** Redrawing a line needs a terminal that can move back to its start. */
  get #canRedraw(): boolean {
    return this.#io.stderr.isTTY === true && this.#io.env["TERM"] !== "dumb" && !this.#options.quiet;
  }

  /** Draws a bar that replaces the one before, until any other line is printed. */
  progress(label: string, share: number, tail: string): void {
    if (!this.#canRedraw) return;
    const columns = this.noteColumns;
    const name = shorten(cleanLine(label), Math.max(8, Math.floor(columns / 2)));
    const end = `  ${cleanLine(tail)}`;
    const width = Math.max(4, Math.min(24, columns - displayWidth(name) - displayWidth(end) - 5));
    const filled = Math.round(Math.min(1, Math.max(0, share)) * width);
    const bar = `${"█".repeat(filled)}${"░".repeat(width - filled)}`;
    this.#io.stderr.write(`${clearLine}${shorten(`${bar}  ${name}${end}`, columns - 1)}`);
    this.#hasProgress = true;
  }

  /** Ends the output with a whole line. */
  end(): void {
    this.endText();
    this.#clearProgress();
  }

  #write(text: string): unknown {
    if (text === "") return true;
    this.#atLineStart = text.endsWith("\n");
    return this.#io.stdout.write(text);
  }

  #clearProgress(): void {
    if (!this.#hasProgress) return;
    this.#hasProgress = false;
    this.#io.stderr.write(clearLine);
  }

  #render(output: Output, parts: readonly Part[]): string {
    const hasColour = this.#hasColour(output);
    return parts
      .map((part) => {
        const text = textOf(part);
        if (typeof part === "string" || !hasColour || text === "") return text;
        return `\u001b[${codes[part.style]}m${text}\u001b[0m`;
      })
      .join("")
      .trimEnd();
  }

  #hasColour(output: Output): boolean {
    const { env } = this.#io;
    if (this.#options.colour === false || env["NO_COLOR"]) return false;
    if (env["FORCE_COLOR"] !== undefined) return !["0", "false"].includes(env["FORCE_COLOR"]);
    return output.isTTY === true && env["TERM"] !== "dumb";
  }
}
