import createClient from "openapi-fetch";
import { ApiPromise, type WithResponse } from "../api-promise.ts";
import { follow, orAbort } from "../clock.ts";
import { ApiError, ArgumentError, about, ConnectionError, CursorError, TimeoutError } from "../errors.ts";
import {
  checkCount,
  checkHeaders,
  checkSignal,
  checkTimeout,
  type RequestOptions,
  type Settings,
} from "../options.ts";
import type { Answer, ApiClient, AttemptInit } from "./api-client.ts";
import { discard, readText } from "./body.ts";
import { copyText } from "./copy-text.ts";
import { readErrorBody } from "./error-body.ts";
import { isNetworkFailure } from "./network-failure.ts";
import { base64, Redactor } from "./redact.ts";
import { isAmbiguous, markUnsent, type RetryPolicy, retryAfter, withRetries } from "./retry.ts";

const defaultTimeout = 60_000;
/** An error body is read this far; more says nothing more. */
const errorBodyLimit = 64 * 1024;
/** No JSON answer of this API comes near; a body without end must not fill the memory. */
const jsonBodyLimit = 64 * 1024 * 1024;
const errorBodyKept = 4096;

/** One operation, written as an openapi-fetch call, so that path, query, body and answer are typed by the contract. */
type Operation<T> = (client: ApiClient, init: AttemptInit) => Promise<Answer<T>>;

/** What the transport must know of a call beyond its HTTP form. */
export interface CallSpec<T> {
  /** @default "safe" */
  policy?: RetryPolicy;
  /** Milliseconds, where neither the client nor the call says. @default 60_000 */
  timeout?: number;
  /** The value of an empty 2xx answer, for operations whose body only repeats the request's id. */
  empty?: T;
  /** The objects that every answer of the operation holds. */
  members?: readonly string[];
  /** A refusal that is in truth what was asked for, and the answer it stands for. */
  recover?: (refusal: ApiError) => T | undefined;
  /** What the call is about, for its errors. */
  agentId?: string | undefined;
  runId?: string | undefined;
  /** Called with each failure that is followed by another attempt. */
  onRetry?: (error: unknown) => void;
}

/** Sends requests: auth, timeouts, retries; turns every answer into parsed JSON or one of our errors. */
export class Transport {
  readonly settings: Settings;
  readonly redactor = new Redactor();
  #client: ApiClient;

  constructor(settings: Settings) {
    this.settings = settings;
    // Redirects are never followed: another host must not get the key or the prompt.
    const client = createClient<object>({ baseUrl: settings.baseUrl, redirect: "manual" });
    client.use(...settings.middleware);
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
    const { policy = "safe", onRetry } = spec;
    const signal = checkSignal(options.signal);
    const timeout = this.#timeout(spec.timeout, options);
    const init = this.#init(options);
    const maxRetries = checkCount("maxRetries", options.maxRetries) ?? this.settings.maxRetries;
    const { clock, random } = this.settings;
    try {
      return await withRetries({ policy, maxRetries, signal, clock, random, onRetry }, () =>
        this.#attempt(operation, spec, init, timeout, signal),
      );
    } catch (error) {
      if (CursorError.isInstance(error) && policy !== "safe" && isAmbiguous(error)) error.outcome = "unknown";
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
    const connection = this.#deadline(timeout, options.signal);
    try {
      const { response, error } = await this.#send(operation, this.#init(options), connection);
      connection.stop();
      if (!response.ok) throw this.#refusal(response, connection, error);
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
    timeout: number,
    signal: AbortSignal | undefined,
  ): Promise<WithResponse<T>> {
    const connection = this.#deadline(timeout, signal);
    try {
      const { response, error } = await this.#send(operation, init, connection);
      if (!response.ok) {
        const refusal = this.#refusal(response, connection, error);
        const answer = spec.recover?.(refusal);
        if (answer !== undefined) return withResponse(answer, response);
        throw refusal;
      }
      connection.phase = "body";
      if (response.bodyUsed) {
        throw new CursorError(
          `${connection.method} ${connection.path}: a middleware has read the body; clone it first`,
        );
      }
      const { text, complete } = await this.#read(response, jsonBodyLimit, connection);
      if (!complete) throw this.#invalid(response, connection, text, "too large");
      const data = parse(text);
      const isEmpty = data === null || text.trim() === "";
      if (isEmpty && spec.empty !== undefined) return withResponse(spec.empty, response);
      if (data === undefined) {
        const type = response.headers.get("content-type") ?? "no content type";
        throw this.#invalid(response, connection, text, isEmpty ? "empty" : `not JSON (${type})`);
      }
      const missing = isObject(data) && spec.members?.find((name) => !isObject(data[name]));
      if (!isObject(data) || missing) {
        throw this.#invalid(response, connection, text, missing ? `without "${missing}"` : "no object");
      }
      return withResponse(data as T, response);
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
    // A middleware may send a request elsewhere; the key doesn't go along.
    if (url.origin === this.settings.origin)
      request.headers.set("authorization", await this.#authorization());
    // Middleware and a key function take their time; what was given up meanwhile isn't sent.
    connection.signal.throwIfAborted();
    connection.isSent = true;
    let response: Response;
    try {
      const pending = Promise.resolve(this.settings.fetch(request));
      // A fetch that doesn't listen to the signal may still answer when nobody waits for it.
      pending.then((late) => connection.signal.aborted && discard(late.body)).catch(() => {});
      response = await orAbort(pending, connection.signal);
    } catch (error) {
      if (connection.signal.aborted || !isNetworkFailure(error)) throw error;
      throw this.#connectionError(error, connection);
    }
    if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
      discard(response.body);
      throw this.#redirect(response, connection);
    }
    if (response.ok) return response;
    // Read here, within our limits, so that openapi-fetch and middleware find a body that can't stall or run over.
    connection.phase = "body";
    const { text } = await this.#read(response, errorBodyLimit, connection);
    const { status, statusText } = response;
    const headers = withoutLength(response.headers);
    // Servers send statuses (999) that no Response can be made with.
    const copy = new Response(text, { status: Math.min(status, 599), statusText, headers });
    return status > 599 ? Object.defineProperty(copy, "status", { value: status }) : copy;
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
      throw this.#connectionError(error, connection);
    }
  }

  /** Gives a failure of an attempt its name: a caller's abort stays what it is. */
  #failure(error: unknown, connection: Connection): unknown {
    const { signal, method, path } = connection;
    if (connection.timedOut) {
      const phase = connection.phase;
      const what = phase === "connect" ? "no answer" : "the answer's body did not end";
      return new TimeoutError(`${method} ${path}: ${what} within ${connection.timeout} ms`, { phase });
    }
    if (signal.aborted) return signal.reason;
    if (CursorError.isInstance(error)) return error;
    const cause = this.redactor.error(error);
    return new CursorError(`${method} ${path} could not be sent: ${messageOf(cause)}`, { cause });
  }

  #connectionError(error: unknown, { method, path }: Connection): ConnectionError {
    const cause = this.redactor.error(error);
    return new ConnectionError(`${method} ${path}: connection failed: ${messageOf(cause)}`, {
      cause,
      method,
      path,
    });
  }

  #refusal(response: Response, connection: Connection, error: unknown): ApiError {
    const body = this.redactor.text(textOf(error));
    const { message, ...details } = readErrorBody(body);
    const { method, path } = connection;
    const { status } = response;
    return new ApiError(describeAnswer(method, path, status, details.code, message ?? response.statusText), {
      ...details,
      status,
      method,
      path,
      requestId: requestIdOf(response),
      retryAfterMs: retryAfter(response.headers, this.settings.clock.now()) ?? details.retryAfterMs,
      body: body === "" ? undefined : copyText(body.slice(0, errorBodyKept)),
    });
  }

  #invalid(response: Response, { method, path }: Connection, text: string, problem: string): ApiError {
    const code = "invalid_response";
    return new ApiError(describeAnswer(method, path, response.status, code, `the body is ${problem}`), {
      status: response.status,
      method,
      path,
      code,
      requestId: requestIdOf(response),
      // The beginning of a real answer may hold a worker's token or a signed address; a page from elsewhere doesn't.
      body: /^\s*([{["]|$)/.test(text)
        ? undefined
        : copyText(this.redactor.text(text).slice(0, errorBodyKept)),
    });
  }

  #redirect(response: Response, { method, path, target }: Connection): ApiError {
    const location = response.headers.get("location") ?? "";
    const host = URL.canParse(location, target?.href)
      ? new URL(location, target?.href).host
      : "an unnamed place";
    const code = "redirect_refused";
    return new ApiError(
      describeAnswer(method, path, response.status, code, `redirects to ${host}, not followed`),
      {
        status: response.status,
        method,
        path,
        code,
        requestId: requestIdOf(response),
      },
    );
  }

  #timeout(ofCall: number | undefined, options: RequestOptions): number {
    return checkTimeout("timeout", options.timeout) ?? this.settings.timeout ?? ofCall ?? defaultTimeout;
  }

  #init(options: RequestOptions): Omit<AttemptInit, "signal"> {
    let body: string | undefined;
    return {
      headers: { ...this.settings.headers, ...checkHeaders("headers", options.headers) },
      // Serialised once: every attempt sends the same bytes, whatever happens to the caller's object meanwhile.
      bodySerializer: (value) => {
        body ??= serialise(value);
        return body;
      },
    };
  }

  #deadline(timeout: number, signal: AbortSignal | undefined): Connection {
    const { clock } = this.settings;
    const controller = follow(signal);
    const timer =
      timeout === Number.POSITIVE_INFINITY
        ? undefined
        : clock.setTimeout(() => {
            if (controller.signal.aborted) return;
            connection.timedOut = true;
            controller.abort();
          }, timeout);
    const connection: Connection = {
      signal: controller.signal,
      timeout,
      phase: "connect",
      timedOut: false,
      isSent: false,
      method: "request",
      path: "",
      abort: () => controller.abort(),
      release: () => controller.release(),
      stop: () => timer !== undefined && clock.clearTimeout(timer),
    };
    return connection;
  }
}

/** One attempt's state: nothing of it outlives the attempt, so a late failure can't touch a newer one. */
interface Connection {
  readonly signal: AbortSignal;
  readonly timeout: number;
  phase: "connect" | "body";
  timedOut: boolean;
  isSent: boolean;
  method: string;
  path: string;
  target?: URL;
  abort(): void;
  release(): void;
  stop(): void;
}

function withResponse<T>(data: T, response: Response): WithResponse<T> {
  const requestId = requestIdOf(response);
  return requestId === undefined ? { data, response } : { data, response, requestId };
}

const requestIdOf = (response: Response): string | undefined =>
  response.headers.get("x-request-id") ?? undefined;

const messageOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  const code = ((error as Error | undefined)?.cause as { code?: unknown } | undefined)?.code;
  return typeof code === "string" && !message.includes(code) ? `${message} (${code})` : message;
};

function describeAnswer(
  method: string,
  path: string,
  status: number,
  code?: string,
  message?: string,
): string {
  return `${method} ${path} -> ${status}${code ? ` ${code}` : ""}${message ? `: ${message}` : ""}`;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An error body as openapi-fetch has read it, as text again. */
function textOf(error: unknown): string {
  if (typeof error === "string" || error === undefined) return error ?? "";
  try {
    return JSON.stringify(error);
  } catch {
    return ""; // nested deeper than the stack
  }
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
