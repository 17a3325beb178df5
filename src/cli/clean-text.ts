// What a run says goes to a terminal, and a terminal obeys: an escape sequence in it could retitle the window, move the
// cursor over what was printed, or fill the clipboard. Controls are shown, never sent. So are the marks that reorder
// text, with which a line can read otherwise than it is.

/** C0 but tab and newline, DEL, C1; bidirectional embeddings, overrides and isolates; line and paragraph separators. */
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

const show = (character: string): string => {
  const code = character.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16)}`;
};

/** Text whose controls are visible escapes; newlines, tabs and all letters stay. CRLF becomes a newline. */
export const cleanText = (text: string): string =>
  text
    .replaceAll("\r\n", "\n")
    .replace(unsafe, show)
    .replace(/\p{Surrogate}/gu, "\ufffd");

/** The same, on one line. */
export const cleanLine = (text: string): string => cleanText(text).replace(/[\n\t]+/g, " ");

/** JSON on one line that a terminal takes no orders from; it parses to the same value. */
export const toJsonLine = (value: unknown): string =>
  (JSON.stringify(value) ?? "null").replace(
    /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** Cleans text that comes in pieces: a CRLF or a surrogate pair may lie across two of them. */
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
