import { type Deadline, race } from "../async.ts";
import { isStorageUrl } from "../check.ts";
import {
  ApiError,
  type ApiErrorInit,
  type ClientErrorCode,
  ConnectionError,
  CursorError,
  TimeoutError,
} from "../errors.ts";
import { isNetworkFailure } from "../http/failures.ts";
import { Redactor } from "../http/redact.ts";
import { discard, readErrorText, retryAfter } from "../http/response.ts";
import type { Transport } from "../http/transport.ts";
import { messageOf } from "../text.ts";

const errorBodyLimit = 16 * 1024;
const shortestSignature = 6;

/**
 * The artifact storage as one download sees it. It receives no key, its silence ends in a timeout, its failures become
 * this library's errors, and no error shows the signature of a URL.
 */
export class ArtifactStorage {
  readonly #transport: Transport;
  readonly #path: string;
  readonly #idleMs: number;
  /** Knows the signatures: anyone who has one may read the file. */
  readonly #redactor: Redactor;

  /** @param path The path of the API's own request, which errors name instead of the storage's. */
  constructor(transport: Transport, path: string, idleMs: number) {
    this.#transport = transport;
    this.#path = path;
    this.#idleMs = idleMs;
    this.#redactor = new Redactor(Number.POSITIVE_INFINITY, transport.redactor);
  }

  /** Checks a presigned URL and learns its secrets, so that no error shows them. */
  acceptUrl(url: string): string {
    if (!isStorageUrl(url, this.#transport.settings.origin)) {
      throw this.invalidAnswer(200, "has no https address");
    }
    const parsed = new URL(url);
    for (const pair of parsed.search.slice(1).split("&")) {
      const value = pair.slice(pair.indexOf("=") + 1);
      // A shorter value is no signature, and may be a word.
      if (value.length < shortestSignature) continue;
      this.#redactor.add(value);
      for (const decoded of new URLSearchParams(pair).values()) this.#redactor.add(decoded);
    }
    this.#redactor.add(parsed.search.slice(1));
    return url;
  }

  /** Requests the file; resolves with the headers of an answer of any status. */
  get(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const request = async () => {
      // Neither the key nor the default headers go along: the signature in the URL is all that the storage needs.
      const response = await this.#transport.settings.fetch(url, { headers, redirect: "manual", signal });
      if (response.type === "error") throw new Error("no answer came");
      return response;
    };
    // A custom fetch may ignore the signal, and answer when nobody waits any more.
    const late = ({ body }: Response) => discard(body);
    return race(this.#named(request, signal), { signal, deadline: this.#silence("connect"), late });
  }

  /** The next piece of a body, or undefined at its end. */
  read(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    signal: AbortSignal,
  ): Promise<Uint8Array | undefined> {
    const read = async () => (await reader.read()).value;
    return race(this.#named(read, signal), { signal, deadline: this.#silence("body") });
  }

  #silence(phase: "connect" | "body"): Deadline {
    const { clock } = this.#transport.settings;
    const message = `GET ${this.#path}: the artifact storage was silent for ${this.#idleMs} ms`;
    return { clock, ms: this.#idleMs, reason: () => new TimeoutError(message, { phase }) };
  }

  /** Runs a step; its failures become this library's errors. */
  async #named<T>(step: () => Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      return await step();
    } catch (error) {
      throw this.connectionError(error, signal);
    }
  }

  /** The error of a failed connection; after an abort, the signal's reason. */
  connectionError(error: unknown, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason;
    const cause = this.#redactor.error(error);
    const message = `GET ${this.#path}: the artifact storage's connection failed: ${messageOf(cause)}`;
    if (!isNetworkFailure(error)) return new CursorError(message, { cause });
    return new ConnectionError(message, { cause, method: "GET", path: this.#path });
  }

  /** The error of an error status. Its XML body quotes the request, so only its code is passed on. */
  async failedResponse(response: Response, signal: AbortSignal): Promise<ApiError> {
    const { status, headers, type } = response;
    const { clock } = this.#transport.settings;
    const { text } = await readErrorText(response, errorBodyLimit, clock, signal);
    const isRedirect = type === "opaqueredirect" || (status >= 300 && status < 400);
    const named = /<Code>([A-Za-z0-9]{1,60})<\/Code>/.exec(text)?.[1];
    const code = isRedirect ? "redirect_refused" : named && this.#redactor.text(named);
    const requestId = headers.get("x-amz-request-id");
    return this.#apiError(`: the artifact storage answered ${status}${code ? ` ${code}` : ""}`, {
      status,
      code,
      requestId: requestId === null ? undefined : this.#redactor.text(requestId),
      retryAfterMs: retryAfter(headers, clock.now()),
    });
  }

  /** The error of an answer that can't be the file. */
  invalidAnswer(
    status: number,
    problem: string,
    code: ClientErrorCode = "invalid_response",
    cause?: unknown,
  ): ApiError {
    return this.#apiError(` -> ${status} ${code}: the artifact ${problem}`, { status, code, cause });
  }

  #apiError(message: string, init: Omit<ApiErrorInit, "method" | "path">): ApiError {
    const request = { method: "GET", path: this.#path };
    return new ApiError(`${request.method} ${request.path}${message}`, { ...init, ...request });
  }
}
