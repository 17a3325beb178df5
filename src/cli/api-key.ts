import { Redactor } from "../http/redact.ts";
import { trimKey } from "../text.ts";
import { MissingKeyError } from "./command-failure.ts";
import { type Input, readText } from "./read-text.ts";

/** Where the key may be. */
interface KeyIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Input;
}

/** The API key of one invocation: from a file, from stdin or from the environment, and never from the arguments. */
export class ApiKey {
  readonly #io: KeyIo;
  /** `--api-key-file`; `-` is stdin. */
  readonly #file: string | undefined;
  #reading: Promise<string> | undefined;
  #fromFile: string | undefined;

  constructor(io: KeyIo, file?: string) {
    this.#io = io;
    this.#file = file;
  }

  /** Where the key comes from, for messages. */
  get source(): string {
    if (this.#file === undefined) return "CURSOR_API_KEY";
    return this.isFromStdin ? "stdin" : this.#file;
  }

  get isFromStdin(): boolean {
    return this.#file === "-";
  }

  /** The key as it was given; a file is read only once. */
  async read(signal: AbortSignal): Promise<string> {
    let key = this.#io.env["CURSOR_API_KEY"];
    if (this.#file !== undefined) {
      this.#reading ??= readText(this.isFromStdin ? this.#io.stdin : this.#file, signal);
      key = await this.#reading;
      this.#fromFile = key;
    }
    if (key === undefined || key.trim() === "") {
      throw new MissingKeyError(
        this.#file === undefined ? "there is no API key" : `there is no API key in ${this.source}`,
      );
    }
    return key;
  }

  /** Removes the environment's key, also where another one is used, and the file's once it is read. */
  redact(text: string): string {
    return redactKeys(text, this.#io.env["CURSOR_API_KEY"], this.#fromFile);
  }
}

/** A shorter key may be an ordinary word. */
const shortestKey = 6;

/**
 * What looks like a key, although it is not the one that is in use: `crsr_…`, `key_…` with a digit in it, or a JSON web token.
 * Somebody may have typed or pasted it in a wrong place.
 */
const keyLike = /\b(?:(?:crsr|grok)_[\w-]{6,}|key_(?=[\w-]{0,100}\d)[\w-]{8,}|eyJ[\w-]{10,}(?:\.[\w-]+)*)/g;

/**
 * Removes keys from a text, in each form in which one is sent. The client's own errors don't contain its key; this is for
 * other texts: an argument that was the key by mistake, or a message of the system.
 */
export function redactKeys(text: string, ...keys: (string | undefined)[]): string {
  const redactor = new Redactor(Number.POSITIVE_INFINITY);
  for (const key of keys.map((given) => trimKey(given ?? ""))) {
    redactor.add(key);
    // With white space in it, such as in "Bearer …", a key is not sent, but a message may have a part of it.
    for (const part of key.split(/\s+/)) if (part.length >= 8) redactor.add(part);
  }
  return redactor.text(text, shortestKey).replace(keyLike, "[redacted]");
}
