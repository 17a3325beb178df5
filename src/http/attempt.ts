import type { Middleware } from "openapi-fetch";
import createClient from "openapi-fetch";
import { type Clock, onAbort } from "../async.ts";
import { CursorError, TimeoutError } from "../errors.ts";
import type { Settings } from "../options.ts";
import { base64 } from "../text.ts";
import type { Answer, ApiClient, AttemptInit, Verb } from "./contract.ts";
import {
  describeCause,
  isNetworkFailure,
  toConnectionError,
  toRedirectError,
  toRefusal,
} from "./failures.ts";
import type { Redactor } from "./redact.ts";
import { discard, readErrorText } from "./response.ts";
import { markUnsent } from "./retry.ts";

/** One attempt's state: nothing of it outlives the attempt, so a late failure can't touch a newer one. */
export class Connection {
  readonly redactor: Redactor;
  readonly timeout: number;
  phase: "connect" | "body" = "connect";
  timedOut = false;
  isSent = false;
  /** The answer is an error whose body did not come whole. */
  isTorn = false;
  method = "request";
  url = "";
  /** Held, so that its signal, which the one that is sent follows, lives as long as the attempt. */
  request: unknown;
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  readonly #waiting = new Set<() => void>();
  readonly #timer: unknown;
  /** Ends the following of the caller's signal. */
  readonly release: () => void;

  /** Begins an attempt that follows the caller's signal and ends after `timeout` milliseconds. */
  constructor(clock: Clock, timeout: number, signal: AbortSignal | undefined, redactor: Redactor) {
    this.#clock = clock;
    this.timeout = timeout;
    this.redactor = redactor;
    this.release = onAbort(signal, () => this.abort(signal?.reason));
    if (timeout === Number.POSITIVE_INFINITY) return;
    this.#timer = clock.setTimeout(() => {
      if (this.signal.aborted) return;
      this.timedOut = true;
      this.abort();
    }, timeout);
  }

  /** The path without its query, for errors. */
  get path(): string {
    return this.url === "" ? "" : new URL(this.url).pathname;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason?: unknown): void {
    this.#controller.abort(reason);
    for (const callback of this.#waiting) callback();
    this.#waiting.clear();
  }

  /** Ends the timeout. */
  stop(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
  }

  /** Calls back when the attempt ends, and at once when it has; returns what calls it off. No event of the signal: those cost. */
  onAbort(callback: () => void): () => void {
    if (this.signal.aborted) callback();
    else this.#waiting.add(callback);
    return () => this.#waiting.delete(callback);
  }

  /**
   * Settles as `promise` does, unless the attempt ends first: then it rejects with the signal's reason. Not every fetch
   * listens to the signal, and one that doesn't may still answer when nobody waits for it: `late` gets that answer.
   */
  race<T>(promise: PromiseLike<T>, late?: (value: T) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const off = this.onAbort(() => reject(this.signal.reason));
      Promise.resolve(promise).then(
        (value) => {
          off();
          if (this.signal.aborted) late?.(value);
          resolve(value);
        },
        (error: unknown) => {
          off();
          reject(error);
        },
      );
    });
  }
}

/** An error body is read this far; more says nothing more. */
const errorBodyLimit = 64 * 1024;

/** One operation of the contract, and what it is asked with. */
export interface Operation {
  verb: Verb;
  path: string;
  /** Asked by each attempt: what it throws is the attempt's failure. */
  input?: (() => { path?: unknown; query?: unknown; body?: unknown }) | undefined;
}

/** What a call adds to each of its attempts. */
export type CallInit = Pick<AttemptInit, "headers" | "bodySerializer">;

/** Carries one attempt through the middleware and fetch, and gives what fails on the way its name. */
export class Sender {
  readonly #settings: Settings;
  readonly #redactor: Redactor;
  readonly #hasMiddleware: boolean;
  readonly #client: ApiClient;

  constructor(settings: Settings, redactor: Redactor) {
    this.#settings = settings;
    this.#redactor = redactor;
    this.#hasMiddleware = settings.middleware.length > 0;
    this.#client = createOpenapiClient(settings);
  }

  /** Resolves with the answer's headers, whatever its status; an error's body is here, too. */
  async send(operation: Operation, init: CallInit, connection: Connection): Promise<Answer> {
    const attempt: AttemptInit = {
      ...init,
      signal: connection.signal,
      parseAs: "stream",
      fetch: (request) =>
        request instanceof PlainRequest
          ? this.#sendPlain(request, connection)
          : this.#sendRequest(request, connection),
    };
    try {
      // An abort between the answer and its way to us leaves a body that nobody else would end.
      const late = ({ response }: Answer) => discard(response.body);
      const { body, ...params } = operation.input?.() ?? {};
      const pending = this.#client[operation.verb](operation.path, { params, body, ...attempt });
      if (this.#hasMiddleware) {
        const answer = await connection.race(pending, late);
        checkUnread(answer, connection);
        return answer;
      }
      const answer = await pending;
      if (connection.signal.aborted) late(answer);
      connection.signal.throwIfAborted();
      return answer;
    } catch (error) {
      const failure = this.failure(error, connection);
      if (!connection.isSent) markUnsent(failure);
      throw failure;
    }
  }

  /** Gives a failure of an attempt its name: a caller's abort stays what it is. */
  failure(error: unknown, connection: Connection): unknown {
    const { signal, method, path, redactor } = connection;
    if (connection.timedOut) {
      const phase = connection.phase;
      const what = phase === "connect" ? "no answer" : "the answer's body did not end";
      return new TimeoutError(`${method} ${path}: ${what} within ${connection.timeout} ms`, { phase });
    }
    if (signal.aborted) return signal.reason;
    if (CursorError.isInstance(error)) return error;
    const cause = redactor.error(error);
    return new CursorError(`${method} ${path} could not be sent: ${describeCause(cause)}`, { cause });
  }

  async #sendPlain({ url, init }: PlainRequest, connection: Connection): Promise<Response> {
    connection.method = init.method;
    connection.url = url;
    const key = this.#settings.fixedKey ?? (await connection.race(this.#newKey()));
    init.headers.set("authorization", this.#authorization(key));
    return this.#fetch(connection, url, init);
  }

  /** Below the middleware. */
  async #sendRequest(request: Request, connection: Connection): Promise<Response> {
    connection.method = request.method;
    connection.url = request.url;
    connection.request = request;
    // A copy, since middleware sees the request again beside the answer. A middleware may also have turned it to
    // another origin: the key doesn't go along.
    const outgoing = new Request(request, { redirect: "manual" });
    if (new URL(request.url).origin === this.#settings.origin) {
      const key = this.#settings.fixedKey ?? (await this.#newKey());
      outgoing.headers.set("authorization", this.#authorization(key));
    }
    return this.#fetch(connection, outgoing);
  }

  async #fetch(connection: Connection, ...input: Parameters<typeof fetch>): Promise<Response> {
    // Middleware and a key function take their time; what was given up meanwhile isn't sent.
    connection.signal.throwIfAborted();
    connection.isSent = true;
    let response: Response;
    try {
      response = await connection.race(this.#settings.fetch(...input), (late) => discard(late.body));
    } catch (error) {
      if (connection.signal.aborted || !isNetworkFailure(error)) throw error;
      throw toConnectionError(error, connection);
    }
    return response.ok ? response : this.#refused(response, connection);
  }

  /** The error of an answer that is no success, or that answer with a body that is here. */
  async #refused(response: Response, connection: Connection): Promise<Response> {
    if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
      discard(response.body);
      throw toRedirectError(response, connection);
    }
    if (response.type === "error") throw toConnectionError(new Error("no answer came"), connection);
    // Read here, within our limits, so that openapi-fetch and middleware find a body that can't stall or run over.
    const { clock } = this.#settings;
    const { text, complete } = await readErrorText(response, errorBodyLimit, clock, connection.signal);
    connection.isTorn = !complete;
    if (!connection.timedOut) connection.signal.throwIfAborted();
    const { status, statusText, headers } = response;
    // No Response can be made of a status outside of HTTP's range.
    if (status < 200 || status > 599) throw toRefusal(response, connection, text, clock.now());
    return new Response(text, { status, statusText, headers: withoutLength(headers) });
  }

  async #newKey(): Promise<string> {
    const key = await this.#settings.apiKey();
    this.#redactor.add(key);
    return key;
  }

  #authorization(key: string): string {
    return this.#settings.auth === "basic" ? `Basic ${base64(`${key}:`)}` : `Bearer ${key}`;
  }
}

function checkUnread({ response }: Answer, { method, path }: Connection): void {
  if (!response.ok || (!response.bodyUsed && !response.body?.locked)) return;
  throw new CursorError(`${method} ${path}: a middleware has read the body; clone it first`);
}

/** The text is decoded and may be cut: its old length and encoding would be lies. */
function withoutLength(headers: Headers): Headers {
  const copy = new Headers(headers);
  copy.delete("content-length");
  copy.delete("content-encoding");
  copy.delete("transfer-encoding");
  return copy;
}

/** The openapi-fetch client, which turns each operation into a request and passes it through the middleware. */
export function createOpenapiClient({ baseUrl, middleware }: Settings): ApiClient {
  const client = createClient<object>({
    baseUrl,
    // Redirects are never followed: another host must not get the key or the prompt.
    redirect: "manual",
    ...(middleware.length > 0 ? {} : { Request: PlainRequest as unknown as typeof Request }),
  });
  client.use(...(middleware as Middleware[]));
  return client as unknown as ApiClient;
}

/**
 * What openapi-fetch hands to `fetch` in place of a `Request` where no middleware looks at it: to build a real one takes
 * as long as the rest of the call.
 */
export class PlainRequest {
  readonly url: string;
  readonly init: RequestInit & { method: string; headers: Headers };

  constructor(url: string, init: PlainRequest["init"]) {
    this.url = url;
    this.init = init;
  }
}
