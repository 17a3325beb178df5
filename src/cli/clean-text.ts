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

/** The time that a segmenter takes grows with the square of the text's length on some versions of Node, so it gets slices. */
const sliceLength = 128;

/** The graphemes of a text, one by one, so that a reader who has enough can stop. One that is longer than a slice comes in parts. */
function* graphemesOf(text: string): Generator<string, void, undefined> {
  for (let start = 0; start < text.length; ) {
    // Half a surrogate pair would look like a grapheme of its own.
    const slice = text.slice(start, start + sliceLength).replace(/(?<=.)[\ud800-\udbff]$/s, "");
    const segments = Array.from(segmenter.segment(slice), ({ segment }) => segment);
    // The last grapheme of a slice may go on in the next one.
    if (start + slice.length < text.length && segments.length > 1) segments.pop();
    for (const segment of segments) {
      yield segment;
      start += segment.length;
    }
  }
}

/** More than any terminal has. What is wider is not measured to its end: its text may be as long as an agent wants. */
const mostColumns = 2_000;
/** More than an emoji of a family needs. Text without a width, such as a stack of accents, has an end, too. */
const charactersPerColumn = 32;

/** The number of columns that cleaned text takes on a terminal; about 2,000 stands for all that are more. */
export function displayWidth(text: string): number {
  const measured = text.slice(0, mostColumns * charactersPerColumn);
  if (/^[\x20-\x7e]*$/.test(measured)) return measured.length;
  let width = 0;
  for (const grapheme of graphemesOf(measured)) {
    width += widthOfGrapheme(grapheme);
    if (width >= mostColumns) break;
  }
  return width;
}

/** Cuts text to at most this many columns; a text that was cut ends in an ellipsis. */
export function shorten(text: string, columns: number): string {
  if (columns === Number.POSITIVE_INFINITY) return text;
  const most = Math.max(0, columns) * charactersPerColumn;
  let width = 0;
  let length = 0;
  /** The length of what leaves room for the ellipsis. */
  let kept = 0;
  for (const grapheme of graphemesOf(text.slice(0, most + 1))) {
    width += widthOfGrapheme(grapheme);
    length += grapheme.length;
    if (width > columns || length > most) return columns < 1 ? "" : `${text.slice(0, kept)}…`;
    if (width < columns) kept = length;
  }
  return text;
}

export const padEnd = (text: string, columns: number): string =>
  text + " ".repeat(Math.max(0, columns - displayWidth(text)));

export const padStart = (text: string, columns: number): string =>
  " ".repeat(Math.max(0, columns - displayWidth(text))) + text;
