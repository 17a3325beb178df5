import createClient, { type Middleware } from "openapi-fetch";
import { ApiPromise, type WithResponse } from "../api-promise.ts";
import { orAbort } from "../clock.ts";
import { type ApiError, ArgumentError, about, CursorError, TimeoutError } from "../errors.ts";
import {
  checkCount,
  checkHeaders,
  checkNames,
  checkSignal,
  checkTimeout,
  type RequestOptions,
  requestOptionNames,
  type Settings,
} from "../options.ts";
import {
  describeCause,
  requestIdOf,
  toConnectionError,
  toInvalidAnswer,
  toRedirectError,
  toRefusal,
} from "./answer-errors.ts";
import type { Answer, ApiClient, AttemptInit } from "./api-client.ts";
import { discard, readErrorText, readText } from "./body.ts";
import { BodySecrets } from "./body-secrets.ts";
import { beginConnection, type Connection } from "./connection.ts";
import { isNetworkFailure } from "./network-failure.ts";
import { base64, messageOf, Redactor } from "./redact.ts";
import { isAmbiguous, markUnsent, type RetryPolicy, withRetries } from "./retry.ts";

const defaultTimeout = 60_000;
/** An error body is read this far; more says nothing more. */
const errorBodyLimit = 64 * 1024;
/** No JSON answer of this API comes near; a body without end must not fill the memory. */
const jsonBodyLimit = 64 * 1024 * 1024;
/** A key function may return a new one each time: so many are remembered. */
const keysKept = 8;

/** One operation, written as an openapi-fetch call, so that path, query, body and answer are typed by the contract. */
type Operation<T> = (client: ApiClient, init: AttemptInit) => Promise<Answer<T>>;

/** What the transport must know of a call beyond its HTTP form. */
export interface CallSpec<T> {
  /** @default "safe" */
  policy?: RetryPolicy;
  /** Milliseconds, where neither the client nor the call says. @default 60_000 */
  timeout?: number;
  /** What an answer must have to be one. */
  has?: readonly string[];
  /** The value of an empty 2xx answer, for operations whose body only repeats the request's id, or that have none. */
  empty?: T;
  /** A refusal that is in truth what was asked for, and the answer it stands for. */
  recover?: (refusal: ApiError) => T | undefined;
  /** What the call is about, for its errors. */
  agentId?: string | undefined;
  runId?: string | undefined;
  /** Called with each failure that is followed by another attempt. */
  onRetry?: (error: unknown) => void;
  /** The answer is a secret: nothing is kept of one that can't be read. */
  isSecret?: boolean;
}

/** Sends requests: auth, timeouts, retries; turns every answer into parsed JSON or one of our errors. */
export class Transport {
  readonly settings: Settings;
  readonly redactor = new Redactor(keysKept);
  #client: ApiClient;

  constructor(settings: Settings) {
    this.settings = settings;
    if (settings.fixedKey !== undefined) this.redactor.add(settings.fixedKey);
    // Redirects are never followed: another host must not get the key or the prompt.
    const client = createClient<object>({ baseUrl: settings.baseUrl, redirect: "manual" });
    client.use(...(settings.middleware as Middleware[]));
    this.#client = client as unknown as ApiClient;
  }

  /** A JSON call, already under way. */
  call<T>(operation: Operation<T>, spec: CallSpec<T> = {}, options: RequestOptions = {}): ApiPromise<T> {
    return ApiPromise.of(this.run(operation, spec, options));
  }

  /** A JSON call: attempts under the call's retry policy. */
  async run<T>(
    operation: Operation<T>,
    spec: CallSpec<T> = {},
    options: RequestOptions = {},
  ): Promise<WithResponse<T>> {
    checkNames(options, requestOptionNames);
    const { policy = "safe" } = spec;
    let mayHaveActed = false;
    const onRetry = (error: unknown) => {
      mayHaveActed ||= isAmbiguous(error);
      spec.onRetry?.(error);
    };
    const signal = checkSignal(options.signal);
    const timeout = this.#timeout(spec.timeout, options);
    const redactor = new BodySecrets(this.redactor);
    const init = this.#init(options, redactor);
    const maxRetries = checkCount("maxRetries", options.maxRetries) ?? this.settings.maxRetries;
    const { clock, random } = this.settings;
    try {
      return await withRetries({ policy, maxRetries, signal, clock, random, onRetry }, () =>
        this.#attempt(operation, spec, init, beginConnection(clock, timeout, signal, redactor)),
      );
    } catch (error) {
      // An earlier attempt counts, too: what it may have made, a later refusal doesn't unmake.
      if (
        CursorError.isInstance(error) &&
        policy !== "safe" &&
        (mayHaveActed || isAmbiguous(error, policy))
      ) {
        error.outcome = "unknown";
      }
      throw about(error, { agentId: spec.agentId, id: spec.runId } as { agentId: string; id: string });
    }
  }

  /**
   * One attempt at a streaming answer: resolves when its headers are here, rejects when they say no.
   * The timeout ends with the headers; the caller ends the connection.
   */
  async open(
    operation: Operation<unknown>,
    options: RequestOptions,
  ): Promise<{ response: Response; close(): void }> {
    const timeout = this.#timeout(undefined, options);
    const connection = beginConnection(this.settings.clock, timeout, options.signal, this.redactor);
    try {
      const { response, error } = await this.#send(operation, this.#init(options), connection);
      connection.stop();
      if (!response.ok) throw toRefusal(response, connection, error, this.settings.clock.now());
      checkUnread(response, connection);
      return {
        response,
        close: () => {
          connection.release();
          connection.abort();
        },
      };
    } catch (error) {
      connection.stop();
      connection.release();
      connection.abort();
      throw error;
    }
  }

  async #attempt<T>(
    operation: Operation<T>,
    spec: CallSpec<T>,
    init: Omit<AttemptInit, "signal">,
    connection: Connection,
  ): Promise<WithResponse<T>> {
    try {
      const { response, error } = await this.#send(operation, init, connection);
      if (!response.ok) {
        const refusal = toRefusal(response, connection, error, this.settings.clock.now());
        const answer = spec.recover?.(refusal);
        if (answer !== undefined) return withResponse(answer, response);
        throw refusal;
      }
      connection.phase = "body";
      checkUnread(response, connection);
      const { text, complete } = await this.#read(response, jsonBodyLimit, connection);
      const data = complete ? parse(text) : undefined;
      if (!isObject(data)) {
        if (complete && "empty" in spec && (text.trim() === "" || data === null)) {
          return withResponse(spec.empty as T, response);
        }
        throw toInvalidAnswer(response, connection, complete ? text : undefined, spec.isSecret);
      }
      const lacking = spec.has?.find((name) => data[name] === undefined || data[name] === null);
      if (lacking === undefined) return withResponse(data as T, response);
      if (spec.empty !== undefined) return withResponse({ ...data, ...spec.empty }, response);
      throw toInvalidAnswer(response, connection, text, spec.isSecret, `without "${lacking}"`);
    } finally {
      connection.stop();
      connection.release();
    }
  }

  async #send(
    operation: Operation<unknown>,
    init: Omit<AttemptInit, "signal">,
    connection: Connection,
  ): Promise<Answer<unknown>> {
    const attempt = {
      ...init,
      signal: connection.signal,
      parseAs: "stream",
      fetch: (request: Request) => this.#fetch(request, connection),
    } as AttemptInit;
    try {
      const pending = operation(this.#client, attempt);
      // An abort between the answer and its way through the middleware leaves a body that nobody else would end.
      pending.then(({ response }) => connection.signal.aborted && discard(response.body)).catch(() => {});
      return await orAbort(pending, connection.signal);
    } catch (error) {
      const failure = this.#failure(error, connection);
      if (!connection.isSent) markUnsent(failure);
      throw failure;
    }
  }

  /** What openapi-fetch calls, below the middleware. */
  async #fetch(request: Request, connection: Connection): Promise<Response> {
    const url = new URL(request.url);
    connection.method = request.method;
    connection.path = url.pathname;
    connection.target = url;
    // A copy, since middleware sees the request again beside the answer. A middleware may also have turned it to
    // another origin: the key doesn't go along.
    connection.request = request;
    const outgoing = new Request(request, { redirect: "manual" });
    if (url.origin === this.settings.origin)
      outgoing.headers.set("authorization", await this.#authorization());
    // Middleware and a key function take their time; what was given up meanwhile isn't sent.
    connection.signal.throwIfAborted();
    connection.isSent = true;
    let response: Response;
    try {
      const pending = Promise.resolve(this.settings.fetch(outgoing));
      // A fetch that doesn't listen to the signal may still answer when nobody waits for it.
      pending.then((late) => connection.signal.aborted && discard(late.body)).catch(() => {});
      response = await orAbort(pending, connection.signal);
    } catch (error) {
      if (connection.signal.aborted || !isNetworkFailure(error)) throw error;
      throw toConnectionError(error, connection);
    }
    if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
      discard(response.body);
      throw toRedirectError(response, connection);
    }
    if (response.ok) return response;
    if (response.type === "error") throw toConnectionError(new Error("no answer came"), connection);
    // Read here, within our limits, so that openapi-fetch and middleware find a body that can't stall or run over.
    const { clock } = this.settings;
    const { text, complete } = await readErrorText(response, errorBodyLimit, clock, connection.signal);
    connection.isTorn = !complete;
    if (!connection.timedOut) connection.signal.throwIfAborted();
    const { status, statusText, headers } = response;
    // No Response can be made of a status outside of HTTP's range.
    if (status < 200 || status > 599) throw toRefusal(response, connection, text, clock.now());
    return new Response(text, { status, statusText, headers: withoutLength(headers) });
  }

  async #authorization(): Promise<string> {
    const key = await this.settings.apiKey();
    this.redactor.add(key);
    return this.settings.auth === "basic" ? `Basic ${base64(`${key}:`)}` : `Bearer ${key}`;
  }

  async #read(response: Response, limit: number, connection: Connection) {
    try {
      return await readText(response, limit, connection.signal);
    } catch (error) {
      if (connection.signal.aborted) throw this.#failure(error, connection);
      throw toConnectionError(error, connection);
    }
  }

  /** Gives a failure of an attempt its name: a caller's abort stays what it is. */
  #failure(error: unknown, connection: Connection): unknown {
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

  #timeout(ofCall: number | undefined, options: RequestOptions): number {
    return checkTimeout("timeout", options.timeout) ?? this.settings.timeout ?? ofCall ?? defaultTimeout;
  }

  #init(options: RequestOptions, secrets?: BodySecrets): Omit<AttemptInit, "signal"> {
    let body: string | undefined;
    return {
      headers: { ...this.settings.headers, ...checkHeaders("headers", options.headers) },
      // Serialised once: every attempt sends the same bytes, whatever happens to the caller's object meanwhile.
      bodySerializer: (value) => {
        secrets?.learn(value);
        body ??= serialise(value);
        return body;
      },
    };
  }
}

function withResponse<T>(data: T, response: Response): WithResponse<T> {
  const requestId = requestIdOf(response);
  return requestId === undefined ? { data, response } : { data, response, requestId };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function checkUnread({ bodyUsed, body }: Response, { method, path }: Connection): void {
  if (!bodyUsed && !body?.locked) return;
  throw new CursorError(`${method} ${path}: a middleware has read the body; clone it first`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function serialise(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new ArgumentError("params", `can't be sent as JSON: ${messageOf(cause)}`);
  }
}

/** The text is decoded and may be cut: its old length and encoding would be lies. */
function withoutLength(headers: Headers): Headers {
  const copy = new Headers(headers);
  copy.delete("content-length");
  copy.delete("content-encoding");
  copy.delete("transfer-encoding");
  return copy;
}
