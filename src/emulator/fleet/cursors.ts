import { toBytes } from "../body-source.ts";
import { fingerprint } from "../store.ts";

/** What a cursor is bound to: it means nothing beside other values. @internal */
export type CursorScope = Readonly<Record<string, string | undefined>>;

/** Mints and reads opaque positions. A token of another scope, of another emulator or of nobody reads as none. @internal */
export class Cursors {
  readonly #generation: number;

  /** @param generation A number that no other state of an emulator has. */
  constructor(generation: number) {
    this.#generation = generation;
  }

  mint(kind: string, scope: CursorScope, values: readonly number[]): string {
    // No full stop between them: the time of a manual clock can have a fraction.
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
