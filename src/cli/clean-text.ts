// Text of a run is printed on a terminal, and a terminal obeys escape sequences: they could change the window's title, move
// the cursor over earlier output, or fill the clipboard. So control characters are printed as visible escapes. So are the
// marks that reorder text, because with them a line can read differently from what it says.

/** C0 except tab and newline, DEL, C1; bidirectional embeddings, overrides and isolates; line and paragraph separators. */
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

function toVisibleEscape(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16)}`;
}

/**
 * Makes text safe for a terminal: control characters become visible escapes, a lone surrogate becomes U+FFFD, CRLF becomes
 * a newline. Newlines, tabs and all letters stay.
 */
export const cleanText = (text: string): string =>
  text
    .replaceAll("\r\n", "\n")
    .replace(unsafe, toVisibleEscape)
    .replace(/\p{Surrogate}/gu, "\ufffd");

/** Like {@link cleanText}, but on one line: newlines and tabs become spaces. */
export const cleanLine = (text: string): string => cleanText(text).replace(/[\n\t]+/g, " ");

/** JSON on one line, without characters that a terminal acts on. It parses to the same value. */
export const toJsonLine = (value: unknown): string =>
  (JSON.stringify(value) ?? "null").replace(
    /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** Cleans text that arrives in pieces. A CRLF or a surrogate pair may be split between two of them. */
export class TextCleaner {
  #held = "";

  add(piece: string): string {
    const text = this.#held + piece;
    this.#held = /[\r\ud800-\udbff]$/.exec(text)?.[0] ?? "";
    return cleanText(text.slice(0, text.length - this.#held.length));
  }

  end(): string {
    const rest = cleanText(this.#held);
    this.#held = "";
    return rest;
  }
}

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f/u;
const invisible = /^[\p{Mark}\u200b-\u200f\u2060\ufeff]+$/u;

const widthOfGrapheme = (grapheme: string): number =>
  invisible.test(grapheme) ? 0 : wide.test(grapheme) ? 2 : 1;

/** The number of columns that cleaned text takes on a terminal. */
export function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += widthOfGrapheme(segment);
  return width;
}

/** Cuts text to at most this many columns; a text that was cut ends in an ellipsis. */
export function shorten(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let width = 0;
  let kept = "";
  for (const { segment } of segmenter.segment(text)) {
    width += widthOfGrapheme(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return columns < 1 ? "" : `${kept}…`;
}

export const padEnd = (text: string, columns: number): string =>
  text + " ".repeat(Math.max(0, columns - displayWidth(text)));

export const padStart = (text: string, columns: number): string =>
  " ".repeat(Math.max(0, columns - displayWidth(text))) + text;
