import { fingerprint, toBytes } from "./body-source.ts";
import { invalid } from "./failed-response.ts";

/** One page of a list; without `nextCursor` it is the last one. */
export interface Page<Item> {
  items: Item[];
  nextCursor?: string;
}

/**
 * The page after an item, in lists whose page cursor is the id of the last item sent.
 *
 * @throws FailedResponse 400 `validation_error` for an unknown cursor, unless `unknown` says that its page is empty.
 * @internal
 */
export function pageAfter<Item extends { id: string }>(
  all: Item[],
  cursor: string | undefined,
  size: number,
  unknown: "fails" | "is empty" = "fails",
): Page<Item> {
  const index = cursor === undefined ? -1 : all.findIndex(({ id }) => id === cursor);
  if (cursor !== undefined && index < 0) {
    if (unknown === "is empty") return { items: [] };
    throw invalid("Invalid pagination cursor");
  }
  const start = index + 1;
  const items = all.slice(start, start + size);
  const last = start + items.length < all.length ? items.at(-1) : undefined;
  return { items, ...(last === undefined ? {} : { nextCursor: last.id }) };
}

/**
 * The page at an offset, in lists whose page cursor is the next offset in base64: `MjA` is 20. Items that move between two
 * requests are missed or come twice.
 *
 * @internal
 */
export function pageAt<Item>(all: Item[], offset: number, size: number): Page<Item> {
  const items = all.slice(offset, offset + size);
  const next = offset + items.length;
  return { items, ...(next < all.length ? { nextCursor: btoa(String(next)).replaceAll("=", "") } : {}) };
}

/**
 * The offset in a page cursor; 0 without one.
 *
 * @throws FailedResponse 400 `validation_error`.
 * @internal
 */
export function readOffset(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  try {
    const text = atob(cursor);
    if (/^\d+$/.test(text)) return Number(text);
  } catch {
    // The cursor is not base64.
  }
  throw invalid("Invalid pagination cursor");
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
