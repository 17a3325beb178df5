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
  #value: string | undefined;

  constructor(io: KeyIo, file?: string) {
    this.#io = io;
    this.#file = file;
    // The environment's key is redacted even where the key comes from elsewhere, until that one is known.
    this.#value = io.env["CURSOR_API_KEY"];
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
    if (this.#file !== undefined) {
      this.#reading ??= readText(this.isFromStdin ? this.#io.stdin : this.#file, signal);
      this.#value = await this.#reading;
    }
    if (this.#value === undefined || this.#value.trim() === "") {
      throw new MissingKeyError(
        this.#file === undefined ? "there is no API key" : `there is no API key in ${this.source}`,
      );
    }
    return this.#value;
  }

  redact(text: string): string {
    return redactKey(text, this.#value);
  }
}

/** A shorter key may be an ordinary word. */
const shortestKey = 6;

/**
 * Removes the key from a text, in each form in which it is sent. The client's own errors don't contain it; this is for other
 * texts: an argument that was the key by mistake, or a message of the system.
 */
export function redactKey(text: string, key: string | undefined): string {
  const plain = key?.trim().replace(/^["'](.*)["']$/s, "$1") ?? "";
  if (plain.length < shortestKey) return text;
  const base64 = (value: string) => Buffer.from(value).toString("base64").replace(/=+$/, "");
  const forms = [plain, base64(plain), base64(`${plain}:`), encodeURIComponent(plain)];
  return forms.reduce((rest, form) => rest.replaceAll(form, "[redacted]"), text);
}
