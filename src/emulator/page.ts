import { fingerprint, toBytes } from "./body-source.ts";
import { json } from "./exchange.ts";
import { invalid } from "./failed-response.ts";

/** A page cursor as List Environments returns it: `MjA` is 20. Items that move between pages are missed or come twice. @internal */
export function offsetCursor(offset: number): string {
  return btoa(String(offset)).replaceAll("=", "");
}

/**
 * The offset in a page cursor; 0 without one.
 *
 * @throws FailedResponse 400 `validation_error`.
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

/** A page of what is listed newest first and continued behind an id. */
export function pageAfter<Item extends { id: string }>(
  all: Item[],
  cursor: string | undefined,
  size: number,
) {
  const start = cursor === undefined ? 0 : all.findIndex(({ id }) => id === cursor) + 1;
  if (cursor !== undefined && start === 0) throw invalid("Invalid pagination cursor");
  const items = all.slice(start, start + size);
  const last = start + items.length < all.length ? items.at(-1) : undefined;
  return json(200, { items, ...(last === undefined ? {} : { nextCursor: last.id }) });
}

/** The values that a cursor is bound to; it is invalid with other values. @internal */
export type CursorScope = Readonly<Record<string, string | undefined>>;

/** Creates and reads opaque cursors. A cursor of another scope or of another emulator is invalid. @internal */
export class SealedCursors {
  readonly #generation: number;

  /** @param generation A number that no other state of an emulator has. */
  constructor(generation: number) {
    this.#generation = generation;
  }

  mint(kind: string, scope: CursorScope, values: readonly number[]): string {
    // The separator is not a full stop, because the time of a manual clock can have a fraction.
    const text = [kind, ...values].join(":");
    return btoa(`${text}:${this.#seal(text, scope)}`)
      .replaceAll("+", "-")
      .replaceAll("/", "_")
      .replaceAll("=", "");
  }

  read(kind: string, scope: CursorScope, token: string): number[] | undefined {
    let text: string;
    try {
      text = atob(token.replaceAll("-", "+").replaceAll("_", "/"));
    } catch {
      return undefined;
    }
    const at = text.lastIndexOf(":");
    const [found, ...values] = text.slice(0, at).split(":");
    if (found !== kind || text.slice(at + 1) !== this.#seal(text.slice(0, at), scope)) return undefined;
    return values.map(Number);
  }

  #seal(text: string, scope: CursorScope): string {
    return fingerprint(toBytes(JSON.stringify([this.#generation, text, scope]))).slice(0, 16);
  }
}
