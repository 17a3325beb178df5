const placeholder = "[redacted]";

/** How deep and how wide an error is searched for a secret: enough for every fetch we know, and bounded. */
const searchDepth = 5;
const searchNodes = 500;

/** Replaces our own secrets, in every form they travel in, by a placeholder. */
export class Redactor {
  #secrets: string[] = [];

  /** Adds a secret; the last few are kept, since a key function may return a new one each time. */
  add(secret: string): void {
    if (secret.length < 4) return;
    const forms = [secret, base64(`${secret}:`)];
    if (this.#secrets.includes(secret)) return;
    this.#secrets = [...forms, ...this.#secrets].slice(0, 16);
  }

  text(text: string): string {
    for (const secret of this.#secrets)
      if (text.includes(secret)) text = text.replaceAll(secret, placeholder);
    return text;
  }

  /** The error itself when no secret can be reached from it, else a copy with only name, message and code. */
  error(error: unknown): unknown {
    if (!this.#reaches(error, searchDepth, { nodes: searchNodes })) return error;
    if (!(error instanceof Error)) return new Error(this.text(String(error)));
    const copy = new Error(
      this.text(error.message),
      error.cause === undefined ? undefined : { cause: this.error(error.cause) },
    );
    copy.name = this.text(error.name);
    copy.stack = error.stack === undefined ? `${copy.name}: ${copy.message}` : this.text(error.stack);
    const code = (error as { code?: unknown }).code;
    return typeof code === "string" || typeof code === "number"
      ? Object.assign(copy, { code: typeof code === "string" ? this.text(code) : code })
      : copy;
  }

  #reaches(value: unknown, depth: number, budget: { nodes: number }): boolean {
    if (typeof value === "string") return this.#secrets.some((secret) => value.includes(secret));
    if (typeof value !== "object" || value === null || depth < 0 || --budget.nodes < 0) return false;
    if (value instanceof Map || isHeaders(value)) {
      return [...value].some((entry) => this.#reaches(entry, depth - 1, budget));
    }
    // Own keys whether enumerable or not: `message`, `stack` and `cause` of an error are hidden from Object.keys.
    return Object.getOwnPropertyNames(value).some((key) => {
      try {
        return this.#reaches((value as Record<string, unknown>)[key], depth - 1, budget);
      } catch {
        return false;
      }
    });
  }
}

const isHeaders = (value: object): value is Iterable<unknown> & object =>
  value.constructor?.name === "Headers" && Symbol.iterator in value;

/** `btoa` for any text: UTF-8 first. Without Buffer, which the core must not need. */
export function base64(text: string): string {
  let binary = "";
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}
