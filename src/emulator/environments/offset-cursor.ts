import { invalid } from "../refusal.ts";

/** A cursor as List Environments gives it: `MjA` is 20. What moves during a walk is missed, or comes twice. */
export function offsetCursor(offset: number): string {
  return btoa(String(offset)).replaceAll("=", "");
}

/**
 * The offset in a cursor; 0 without one.
 *
 * @throws Refusal 400 `validation_error`.
 */
export function readOffset(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  try {
    const text = atob(cursor);
    if (/^\d+$/.test(text)) return Number(text);
  } catch {
    // Not base64.
  }
  throw invalid("Invalid pagination cursor");
}
