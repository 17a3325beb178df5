import { ApiPromise, type WithResponse } from "../api-promise.ts";
import { checkCount, checkHeaders, checkNames, checkSignal, checkTimeout } from "../check.ts";
import { type ApiError, ArgumentError, about, CursorError } from "../errors.ts";
import { type RequestOptions, requestOptions, type Settings } from "../options.ts";
import { isObject, messageOf, parseJson } from "../text.ts";
import { type CallInit, Connection, type Operation, Sender } from "./attempt.ts";
import type { Input, Output, PathsWith, Verb } from "./contract.ts";
import { requestIdOf, toConnectionError, toInvalidAnswer, toRefusal } from "./failures.ts";
import { BodySecrets, Redactor } from "./redact.ts";
import { readText } from "./response.ts";
import { isAmbiguous, type RetryPolicy, withRetries } from "./retry.ts";

const defaultTimeout = 60_000;
/** No JSON answer of this API comes near; a body without end must not fill the memory. */
const jsonBodyLimit = 64 * 1024 * 1024;
/** A key function may return a new one each time: so many are remembered. */
const keysKept = 8;

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
  readonly #sender: Sender;

  constructor(settings: Settings) {
    this.settings = settings;
    if (settings.fixedKey !== undefined) this.redactor.add(settings.fixedKey);
    this.#sender = new Sender(settings, this.redactor);
  }

  /** A JSON call, already under way. */
  call<Method extends Verb, Path extends PathsWith<Method>>(
    verb: Method,
    path: Path,
    input?: () => Input<Method, Path>,
    spec?: CallSpec<Output<Method, Path>>,
    options?: RequestOptions | null,
  ): ApiPromise<Output<Method, Path>> {
    return ApiPromise.of(this.run(verb, path, input, spec, options));
  }

  /** A JSON call: attempts under the call's retry policy. The contract types what is sent and what is answered. */
  async run<Method extends Verb, Path extends PathsWith<Method>>(
    verb: Method,
    path: Path,
    input?: () => Input<Method, Path>,
    spec: CallSpec<Output<Method, Path>> = {},
    given?: RequestOptions | null,
  ): Promise<WithResponse<Output<Method, Path>>> {
    const operation = { verb, path, input } as Operation;
    const options = given ?? {};
    checkNames(options, Object.keys(requestOptions));
    const { policy = "safe" } = spec;
    let mayHaveActed = false;
    const onRetry = (error: unknown) => {
      mayHaveActed ||= isAmbiguous(error);
      spec.onRetry?.(error);
    };
    const signal = checkSignal("signal", options.signal);
    const timeout = this.#timeout(spec.timeout, options);
    const redactor = new BodySecrets(this.redactor);
    const init = this.#init(options, redactor);
    const maxRetries = checkCount("maxRetries", options.maxRetries) ?? this.settings.maxRetries;
    const { clock, random } = this.settings;
    try {
      return await withRetries({ policy, maxRetries, signal, clock, random, onRetry }, () =>
        this.#attempt(operation, spec, init, new Connection(clock, timeout, signal, redactor)),
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
  async open<Path extends PathsWith<"GET">>(
    path: Path,
    input: () => Input<"GET", Path>,
    options: RequestOptions,
    lastEventId?: string,
  ): Promise<{ response: Response; close(): void }> {
    const operation = { verb: "GET", path, input } as Operation;
    const timeout = this.#timeout(undefined, options);
    const connection = new Connection(this.settings.clock, timeout, options.signal, this.redactor);
    try {
      const init = this.#init(options);
      init.headers = {
        ...init.headers,
        accept: "text/event-stream",
        ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
      };
      const { response, error } = await this.#sender.send(operation, init, connection);
      connection.stop();
      if (!response.ok) throw toRefusal(response, connection, error, this.settings.clock.now());
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
    operation: Operation,
    spec: CallSpec<T>,
    init: CallInit,
    connection: Connection,
  ): Promise<WithResponse<T>> {
    try {
      const { response, error } = await this.#sender.send(operation, init, connection);
      if (!response.ok) {
        const refusal = toRefusal(response, connection, error, this.settings.clock.now());
        const answer = spec.recover?.(refusal);
        if (answer !== undefined) return withResponse(answer, response);
        throw refusal;
      }
      connection.phase = "body";
      const text = await this.#read(response, connection);
      const data = text === undefined ? undefined : parseJson(text);
      if (!isObject(data)) {
        if ("empty" in spec && (text?.trim() === "" || data === null)) {
          return withResponse(spec.empty as T, response);
        }
        throw toInvalidAnswer(response, connection, text, spec.isSecret);
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

  /** Undefined: too large. */
  async #read(response: Response, connection: Connection): Promise<string | undefined> {
    try {
      const { text, complete } = await readText(response, jsonBodyLimit, (stop) => connection.onAbort(stop));
      if (!connection.signal.aborted) return complete ? text : undefined;
    } catch (error) {
      if (!connection.signal.aborted) throw toConnectionError(error, connection);
    }
    throw this.#sender.failure(undefined, connection);
  }

  #timeout(ofCall: number | undefined, options: RequestOptions): number {
    return checkTimeout("timeout", options.timeout) ?? this.settings.timeout ?? ofCall ?? defaultTimeout;
  }

  #init(options: RequestOptions, secrets?: BodySecrets): CallInit {
    let body: string | undefined;
    return {
      headers:
        options.headers === undefined
          ? this.settings.headers
          : { ...this.settings.headers, ...checkHeaders("headers", options.headers) },
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

function serialise(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new ArgumentError("params", `can't be sent as JSON: ${messageOf(cause)}`);
  }
}
