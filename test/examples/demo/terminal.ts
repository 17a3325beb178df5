/** What the demo draws with: text as it comes, whole lines, tables, a progress bar. */
export interface Terminal {
  /** A piece of running text. */
  text(piece: string): void;
  /** Ends running text, if there is some. */
  endText(): void;
  /** A line of its own; running text is ended first. */
  line(text?: string): void;
  /** A line that waits until running text is over: it never lands inside a sentence. */
  note(text: string): void;
  heading(text: string): void;
  table(rows: readonly (readonly string[])[]): void;
  /** Draws a bar; on a terminal in place, elsewhere once when it is full. */
  progress(label: string, loaded: number, total: number | undefined): void;
  /** Faint text, where the output can show it. */
  faint(text: string): string;
}

export interface Output {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

export function createTerminal(
  output: Output,
  environment: Record<string, string | undefined> = {},
): Terminal {
  const isLive = output.isTTY === true;
  const hasColour = isLive && !environment["NO_COLOR"];
  const paint = (code: number, text: string) => (hasColour ? `\u001b[${code}m${text}\u001b[0m` : text);
  let isInText = false;
  let waiting: string[] = [];

  const endText = () => {
    if (!isInText) return;
    isInText = false;
    output.write("\n");
    const notes = waiting;
    waiting = [];
    for (const note of notes) output.write(`${note}\n`);
  };

  const terminal: Terminal = {
    endText,
    text(piece) {
      isInText = true;
      output.write(piece);
    },
    line(text = "") {
      endText();
      output.write(`${text}\n`);
    },
    note(text) {
      if (isInText) waiting.push(text);
      else terminal.line(text);
    },
    heading(text) {
      terminal.line();
      terminal.line(paint(1, text));
    },
    table(rows) {
      const widths = (rows[0] ?? []).map((_, column) =>
        Math.max(...rows.map((row) => (row[column] ?? "").length)),
      );
      rows.forEach((row, index) => {
        const cells = row.map((cell, column) =>
          // Numbers to the right, under each other.
          /^[\d,.%-]+$/.test(cell) || (index === 0 && column > 0)
            ? cell.padStart(widths[column] ?? 0)
            : cell.padEnd(widths[column] ?? 0),
        );
        terminal.line(`  ${index === 0 ? paint(2, cells.join("  ")) : cells.join("  ")}`);
      });
    },
    progress(label, loaded, total) {
      const share = total ? loaded / total : 1;
      const isFull = total === undefined || loaded >= total;
      if (!isLive && !isFull) return;
      endText();
      const tail = ` ${String(Math.round(share * 100)).padStart(3)} %  ${size(loaded)}`;
      // On one line whatever the terminal's width, or each update would begin a new one.
      const width = Math.max(4, Math.min(28, (output.columns ?? 80) - label.length - tail.length - 6));
      const filled = Math.round(share * width);
      const bar = `${"█".repeat(filled)}${"░".repeat(width - filled)}`;
      const line = `  ${label}  ${bar}${tail}`;
      output.write(`${isLive ? "\r" : ""}${line}${isFull ? "\n" : ""}`);
    },
    faint: (text) => paint(2, text),
  };
  return terminal;
}

export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 ** 2) return `${(bytes / 1024).toFixed(1)} KiB`;
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}

/** A duration as a person would say it. */
export function duration(ms: number | undefined): string {
  if (ms === undefined) return "?";
  return ms < 60_000
    ? `${(ms / 1000).toFixed(1)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}
