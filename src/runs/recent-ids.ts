import { copyText } from "../text.ts";

/** At least this many of the latest ids are remembered, to recognise a server that replays more than was asked for. */
const rememberedIds = 10_000;
/** Characters of one generation: a server that sends endless ids must not fill the memory. */
const rememberedCharacters = 3 * 1024 * 1024;

/** Written after each id: a line feed, which no id can contain. */
const separator = 10;

/**
 * Ids as character codes in one array. Written into memory that is allocated already, they neither keep the chunks in
 * which they arrived nor leave strings for the garbage collector to trace.
 */
class Generation {
  count = 0;
  length = 0;
  /** Two bytes per character only from the first id on that needs them. */
  #codes: Uint8Array | Uint16Array = new Uint8Array(0);

  get isFull(): boolean {
    return this.count >= rememberedIds || this.length >= rememberedCharacters;
  }

  add(id: string): void {
    const length = this.length + id.length + 1;
    if (length > this.#codes.length) this.#grow(length);
    const codes = this.#codes;
    let at = this.length;
    let all = 0;
    for (let index = 0; index < id.length; index++) {
      const code = id.charCodeAt(index);
      all |= code;
      codes[at++] = code;
    }
    if (all > 0xff && codes instanceof Uint8Array) {
      this.#codes = new Uint16Array(codes);
      this.add(id);
      return;
    }
    codes[at] = separator;
    this.length = length;
    this.count++;
  }

  /** Forgets all ids; keeps the memory unless it became very large. */
  clear(): void {
    if (this.#codes.length > 2 * rememberedCharacters) this.#codes = new Uint8Array(0);
    this.count = 0;
    this.length = 0;
  }

  addTo(index: Set<string>): void {
    for (let from = 0; from < this.length; ) {
      const to = this.#codes.indexOf(separator, from);
      index.add(textOf(this.#codes.subarray(from, to)));
      from = to + 1;
    }
  }

  #grow(length: number): void {
    const size = Math.max(1024, length, Math.min(2 * this.#codes.length, rememberedCharacters));
    const codes = this.#codes instanceof Uint8Array ? new Uint8Array(size) : new Uint16Array(size);
    codes.set(this.#codes);
    this.#codes = codes;
  }
}

/** In pieces, since engines limit the number of arguments. */
function textOf(codes: Uint8Array | Uint16Array): string {
  let text = "";
  for (let from = 0; from < codes.length; from += 4096) {
    text += String.fromCharCode(...codes.subarray(from, from + 4096));
  }
  return text;
}

/**
 * The latest ids of a stream. They are searched only after a connection broke, so a stream on which none does only pays
 * for copying them.
 *
 * Kept in two generations: when the newer one is full, the older one is forgotten as a whole.
 */
export class RecentIds {
  /** Whether ids were added that are not remembered any more. */
  hasForgotten = false;
  #newer = new Generation();
  #older = new Generation();
  /** All ids, from the first search on. */
  #index: Set<string> | undefined;

  get isEmpty(): boolean {
    return this.#newer.count + this.#older.count === 0;
  }

  has(id: string): boolean {
    if (!this.#index) {
      this.#index = new Set();
      this.#older.addTo(this.#index);
      this.#newer.addTo(this.#index);
    }
    return this.#index.has(id);
  }

  add(id: string): void {
    this.#newer.add(id);
    this.#index?.add(copyText(id));
    if (!this.#newer.isFull) return;
    this.hasForgotten ||= this.#older.count > 0;
    [this.#older, this.#newer] = [this.#newer, this.#older];
    this.#newer.clear();
    this.#index = undefined;
  }
}
