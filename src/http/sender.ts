import createClient from "openapi-fetch";
import { CursorError, TimeoutError } from "../errors.ts";
import type { Settings } from "../options.ts";
import { describeCause, toConnectionError, toRedirectError, toRefusal } from "./answer-errors.ts";
import type { Answer, ApiClient, AttemptInit } from "./api-client.ts";
import { discard, readErrorText } from "./body.ts";
import type { Connection } from "./connection.ts";
import { isNetworkFailure } from "./network-failure.ts";
import { PlainRequest } from "./plain-request.ts";
import { base64, type Redactor } from "./redact.ts";
import { markUnsent } from "./retry.ts";

/** An error body is read this far; more says nothing more. */
const errorBodyLimit = 64 * 1024;

/** One operation, written as an openapi-fetch call, so that path, query, body and answer are typed by the contract. */
export type Operation<T> = (client: ApiClient, init: AttemptInit) => Promise<Answer<T>>;

/** Carries one attempt through openapi-fetch, the middleware and fetch, and gives what fails on the way its name. */
export class Sender {
  readonly #settings: Settings;
  readonly #redactor: Redactor;
  readonly #client: ApiClient;
  readonly #hasMiddleware: boolean;

  constructor(settings: Settings, redactor: Redactor) {
    this.#settings = settings;
    this.#redactor = redactor;
    const { baseUrl, middleware } = settings;
    this.#hasMiddleware = middleware.length > 0;
    // Redirects are never followed: another host must not get the key or the prompt.
    const client = createClient<object>({
      baseUrl,
      redirect: "manual",
      pathSerializer: fillPath,
      ...(!this.#hasMiddleware && { Request: PlainRequest as unknown as typeof Request }),
    });
    client.use(...middleware);
    this.#client = client as unknown as ApiClient;
  }

  /** Resolves with the answer's headers, whatever its status; an error's body is here, too. */
  async send<T>(
    operation: Operation<T>,
    init: Omit<AttemptInit, "signal">,
    connection: Connection,
  ): Promise<Answer<T>> {
    const attempt = {
      ...init,
      signal: connection.signal,
      parseAs: "stream",
      fetch: (request: Request | PlainRequest) => this.#fetch(request, connection),
    } as AttemptInit;
    try {
      // An abort between the answer and its way through the middleware leaves a body that nobody else would end.
      const pending = operation(this.#client, attempt);
      const answer = await connection.race(pending, ({ response }) => discard(response.body));
      if (this.#hasMiddleware) checkUnread(answer, connection);
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

  /** What openapi-fetch calls, below the middleware. */
  async #fetch(request: Request | PlainRequest, connection: Connection): Promise<Response> {
    connection.method = request.method;
    connection.url = request.url;
    connection.request = request;
    // A copy of a real one, since middleware sees the request again beside the answer.
    const isPlain = request instanceof PlainRequest;
    const outgoing = isPlain ? request : new Request(request, { redirect: "manual" });
    // A middleware may have turned it to another origin: the key doesn't go along.
    if (isPlain || new URL(request.url).origin === this.#settings.origin) {
      outgoing.headers.set(
        "authorization",
        this.#authorization(this.#settings.fixedKey ?? (await this.#newKey())),
      );
    }
    // Middleware and a key function take their time; what was given up meanwhile isn't sent.
    connection.signal.throwIfAborted();
    connection.isSent = true;
    let response: Response;
    try {
      const { fetch } = this.#settings;
      const pending = isPlain ? fetch(request.url, request) : fetch(outgoing as Request);
      response = await connection.race(pending, (late) => discard(late.body));
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

/** The path parameters were checked before; here each becomes one segment. */
const fillPath = (path: string, values: Record<string, unknown>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));

function checkUnread({ response }: Answer<unknown>, { method, path }: Connection): void {
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
