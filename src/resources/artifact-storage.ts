import { race } from "../async.ts";
import { isSafeTransport } from "../check.ts";
import { ApiError, type ClientErrorCode, ConnectionError, CursorError, TimeoutError } from "../errors.ts";
import { isNetworkFailure } from "../http/failures.ts";
import { Redactor } from "../http/redact.ts";
import { discard, readErrorText, retryAfter } from "../http/response.ts";
import type { Transport } from "../http/transport.ts";
import { messageOf } from "../text.ts";

const errorBodyLimit = 16 * 1024;
const shortestSignature = 6;

/** The artifact storage as one download sees it: requests without our key, silence noticed, failures named, no signature told. */
export class ArtifactStorage {
  readonly #transport: Transport;
  readonly #path: string;
  readonly #idleMs: number;
  /** The signature is a secret: whoever has it may read the file. */
  readonly #redactor: Redactor;

  /** @param path The path of the API's own request, which errors name instead of the storage's. */
  constructor(transport: Transport, path: string, idleMs: number) {
    this.#transport = transport;
    this.#path = path;
    this.#idleMs = idleMs;
    this.#redactor = new Redactor(Number.POSITIVE_INFINITY, transport.redactor);
  }

  /** Asks for the file; resolves with the headers of an answer of any status. */
  get(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    return this.#timed("connect", async () => {
      let response: Response;
      try {
        // Nothing of ours goes along: no key, no default headers; the signature in the URL is all the storage takes.
        const pending = this.#transport.settings.fetch(url, { headers, redirect: "manual", signal });
        // A fetch that ignores the signal may still answer after the abort.
        response = await race(pending, { signal, late: ({ body }) => discard(body) });
      } catch (error) {
        throw this.connectionError(error, signal);
      }
      if (response.type === "error") throw this.connectionError(new Error("no answer came"), signal);
      return response;
    });
  }

  /** The next piece of a body, or undefined at its end. */
  read(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    signal: AbortSignal,
  ): Promise<Uint8Array | undefined> {
    return this.#timed("body", async () => {
      try {
        return (await race(reader.read(), { signal })).value;
      } catch (error) {
        throw this.connectionError(error, signal);
      }
    });
  }

  /** Takes a URL to be asked for, and learns its secrets. */
  checkUrl(url: string): string {
    const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
    // This machine's own services are reached through it only where the API itself is on it: an emulator.
    const isLocal = this.#transport.settings.origin.startsWith("http:");
    const isSafe = parsed && (parsed.protocol === "https:" || (isLocal && isSafeTransport(parsed)));
    if (!isSafe || parsed.username !== "" || parsed.password !== "") {
      throw this.invalid(200, "has no https address");
    }
    for (const pair of parsed.search.slice(1).split("&")) {
      const value = pair.slice(pair.indexOf("=") + 1);
      // A shorter one is no signature, and may be a word.
      if (value.length < shortestSignature) continue;
      this.#redactor.add(value);
      for (const decoded of new URLSearchParams(pair).values()) this.#redactor.add(decoded);
    }
    this.#redactor.add(parsed.search.slice(1));
    return url;
  }

  async #timed<T>(phase: "connect" | "body", step: () => Promise<T>): Promise<T> {
    const { clock } = this.#transport.settings;
    if (this.#idleMs === Number.POSITIVE_INFINITY) return step();
    let timer: unknown;
    const timeout = new Promise<never>((_, reject) => {
      timer = clock.setTimeout(() => {
        const message = `GET ${this.#path}: the artifact storage was silent for ${this.#idleMs} ms`;
        reject(new TimeoutError(message, { phase }));
      }, this.#idleMs);
    });
    try {
      return await Promise.race([step(), timeout]);
    } finally {
      clock.clearTimeout(timer);
    }
  }

  /** Names a failure of a connection; an abort stays what it is. */
  connectionError(error: unknown, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason;
    const cause = this.#redactor.error(error);
    const about = `GET ${this.#path}: the artifact storage's connection failed: ${messageOf(cause)}`;
    if (!isNetworkFailure(error)) return new CursorError(about, { cause });
    return new ConnectionError(about, { cause, method: "GET", path: this.#path });
  }

  /** A storage error speaks XML, and quotes the request: only its code and status are passed on. */
  async refusal(response: Response, signal: AbortSignal): Promise<ApiError> {
    const { text } = await readErrorText(response, errorBodyLimit, this.#transport.settings.clock, signal);
    const isRedirect =
      response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400);
    const named = /<Code>([A-Za-z0-9]{1,60})<\/Code>/.exec(text)?.[1];
    const code = isRedirect ? "redirect_refused" : named && this.#redactor.text(named);
    const requestId = response.headers.get("x-amz-request-id");
    const { status } = response;
    return new ApiError(
      `GET ${this.#path}: the artifact storage answered ${status}${code ? ` ${code}` : ""}`,
      {
        status,
        method: "GET",
        path: this.#path,
        code,
        requestId: requestId === null ? undefined : this.#redactor.text(requestId),
        retryAfterMs: retryAfter(response.headers, this.#transport.settings.clock.now()),
      },
    );
  }

  /** An answer that can't be the file. */
  invalid(status: number, problem: string, code: ClientErrorCode = "invalid_response"): ApiError {
    const message = `GET ${this.#path} -> ${status} ${code}: the artifact ${problem}`;
    return new ApiError(message, { status, method: "GET", path: this.#path, code });
  }
}
