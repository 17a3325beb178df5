/** A JSON object; a list is not one. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Undefined where the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * A copy that shares no memory with its source. Engines make a slice of a text a view of the whole, so a short slice that
 * is kept would keep the whole chunk, frame or page in memory.
 */
export const copyText = (text: string): string => JSON.parse(JSON.stringify(text)) as string;

/** `btoa` for any text, which becomes UTF-8 first. Without Buffer, because the core also runs outside of Node. */
export function base64(text: string): string {
  let binary = "";
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** The message of anything that was thrown. Never throws itself, although getters of a foreign error may. */
export function messageOf(error: unknown): string {
  const message = attempt(() => (error as Error | undefined)?.message);
  const text = typeof message === "string" ? message : attempt(() => String(error));
  return typeof text === "string" ? text : "a value that can't be shown";
}

/** What `read` returns, or undefined where it throws. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** A key as it is meant: without the white space and the quotes that a file, a variable or a paste puts around it. */
export const trimKey = (text: string): string =>
  text
    .trim()
    .replace(/^(["'])(.*)\1$/s, "$2")
    .trim();
