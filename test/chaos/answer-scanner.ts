import type { Place } from "./fault.ts";

/** Follows the bytes of one answer, whatever their pieces, and says where a place in it is reached. */
export class AnswerScanner {
  readonly #place: Place | undefined;
  readonly #passedIds: Set<string>;
  /** A chunked answer came to its end. */
  isComplete = false;
  #passed = 0;
  #target: number | undefined;
  #line = "";
  #inBody = false;
  #length = Number.POSITIVE_INFINITY;
  /** Where an answer of a known length ends. */
  #end = Number.POSITIVE_INFINITY;
  #frames = 0;
  #fresh = 0;
  #id: string | undefined;

  /** @param passedIds Ids of the frames passed on so far, in this answer and in earlier ones; it grows. */
  constructor(place: Place | undefined, passedIds: Set<string>) {
    this.#place = place;
    this.#passedIds = passedIds;
    if (place?.unit === "byte") this.#target = place.count;
  }

  /** How many of these bytes lie before the place; undefined while it is further on. */
  feed(bytes: Uint8Array): number | undefined {
    for (let at = 0; at < bytes.length && (this.#target ?? Infinity) > this.#passed + at; ) {
      const newline = bytes.indexOf(10, at);
      const end = newline < 0 ? bytes.length : newline;
      this.#line += Buffer.from(bytes.subarray(at, end)).toString("latin1");
      at = end + 1;
      if (newline >= 0) this.#endLine(this.#passed + at);
    }
    const left = this.#target === undefined ? undefined : this.#target - this.#passed;
    this.#passed += bytes.length;
    // A place at the very end of an answer is none in it: the reader has all, and leaves nothing behind.
    const isAtEnd = this.isComplete && left === bytes.length;
    if (isAtEnd || (this.#target !== undefined && this.#target >= this.#end)) return undefined;
    return left !== undefined && left <= bytes.length ? left : undefined;
  }

  #endLine(offset: number): void {
    const line = this.#line;
    this.#line = "";
    if (!this.#inBody) {
      const length = /^content-length: (\d+)/i.exec(line)?.[1];
      if (length !== undefined) this.#length = Number(length);
      if (line !== "\r") return;
      this.#inBody = true;
      this.#end = offset + this.#length;
      if (this.#place?.unit === "head") this.#reach(offset);
    } else if (line.startsWith("id: ")) {
      this.#id = line.slice(4);
    } else if (line === "") {
      this.#endFrame(offset);
    } else if (line === "0\r") {
      this.isComplete = true;
    }
  }

  #endFrame(offset: number): void {
    this.#frames++;
    if (this.#id !== undefined && !this.#passedIds.has(this.#id)) {
      this.#passedIds.add(this.#id);
      this.#fresh++;
    }
    this.#id = undefined;
    const { unit, count } = this.#place ?? {};
    if (unit === "frame" && this.#frames === count) this.#reach(offset);
    if (unit === "fresh" && this.#fresh === count) this.#reach(offset);
  }

  #reach(offset: number): void {
    this.#target ??= offset + (this.#place?.more ?? 0);
  }
}
