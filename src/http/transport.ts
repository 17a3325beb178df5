import type { WithResponse } from "../api-promise.ts";
import { type Checked, checkOptions } from "../check.ts";
import { type ApiError, ArgumentError, about, CursorError } from "../errors.ts";
import { type RequestOptions, requestOptions, type Settings } from "../options.ts";
import { messageOf } from "../text.ts";
import { type ApiClient, Attempt, type AttemptHost, type Call, createApiClient } from "./attempt.ts";
import type { Input, Output, PathsWith, Verb } from "./contract.ts";
import { type RequestInfo, toInvalidResponse } from "./failures.ts";
import { Redactor, withSecretsOf } from "./redact.ts";
import { parseObject, requestIdOf } from "./response.ts";
import { isAmbiguous, type RetryPolicy, retry } from "./retry.ts";

const defaultTimeout = 60_000;
/** A key function may return a new key each time: the redactor remembers the latest ones. */
const keysKept = 8;

/** What the transport must know about a call, besides its method, path and input. */
export interface CallSpec<T> {
  /** @default "safe" */
  policy?: RetryPolicy;
  /** Milliseconds per attempt, where neither the options of the call nor those of the client set it. @default 60_000 */
  timeout?: number;
  /** Top-level fields a 2xx body must contain; otherwise the call rejects with `invalid_response`. */
  has?: readonly string[];
  /** The value of an empty 2xx body, for operations whose body only repeats the request's id, or that have none. */
  empty?: T;
  /** Maps an error that actually means success (404 on a repeated DELETE) to the value to return. */
  recover?: (error: ApiError) => T | undefined;
  /** The agent that the call is about, for its errors. */
  agentId?: string | undefined;
  /** The run that the call is about, for its errors. */
  runId?: string | undefined;
  /** Called with each failure that another attempt follows. */
  onRetry?: (error: unknown) => void;
  /** The body is a secret: an error keeps nothing of a body that can't be read. */
  isSecret?: boolean;
}

/** One operation of the contract, without its types. */
type Operation = Pick<Call, "verb" | "path" | "input">;

/** Options of a call after {@link checkOptions}; where nothing was given, they may be missing. */
type CheckedRequest = Partial<Checked<RequestOptions, typeof requestOptions>>;

/** Sends requests, with retries, and turns every response into parsed JSON or one of our errors. */
export class Transport implements AttemptHost {
  readonly settings: Settings;
  readonly redactor = new Redactor(keysKept);
  readonly client: ApiClient;

  constructor(settings: Settings) {
    this.settings = settings;
    if (typeof settings.apiKey === "string") this.redactor.add(settings.apiKey);
    this.client = createApiClient(settings);
  }

  /** Sends a request, and sends it again where the call's retry policy allows it. The contract types input and result. */
  async run<Method extends Verb, Path extends PathsWith<Method>>(
    verb: Method,
    path: Path,
    input?: () => Input<Method, Path>,
    spec: CallSpec<Output<Method, Path>> = {},
    options?: RequestOptions | null,
  ): Promise<WithResponse<Output<Method, Path>>> {
    const {
      signal,
      maxRetries = this.settings.maxRetries,
      ...checked
    } = checkOptions(requestOptions, options);
    const call = this.#call({ verb, path, input } as Operation, { signal, ...checked }, spec.timeout);
    const { policy = "safe" } = spec;
    const { clock, random } = this.settings;
    let mayHaveActed = false;
    const onRetry = (error: unknown) => {
      mayHaveActed ||= isAmbiguous(error);
      spec.onRetry?.(error);
    };
    try {
      return await this.#attempt(call, spec).catch((failure: unknown) =>
        retry(failure, { policy, maxRetries, signal, clock, random, onRetry }, () =>
          this.#attempt(call, spec),
        ),
      );
    } catch (error) {
      // Earlier attempts count, too: a later 4xx doesn't undo what an earlier one may have made.
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

  async #attempt<T>(call: Call, spec: CallSpec<T>): Promise<WithResponse<T>> {
    const attempt = new Attempt(this, call);
    try {
      const { response, failure } = await attempt.send();
      if (failure === undefined) return unwrap(await attempt.read(response), response, spec, attempt);
      const value = spec.recover?.(failure);
      if (value === undefined) throw failure;
      return withResponse(value, response);
    } finally {
      attempt.release();
    }
  }

  /**
   * Makes one attempt to open a stream: resolves when the headers of a success have arrived. The timeout ends there; the
   * caller ends the connection.
   * @param options Checked already, once for all connections of the stream
   */
  async open<Path extends PathsWith<"GET">>(
    path: Path,
    input: () => Input<"GET", Path>,
    options: RequestOptions,
    lastEventId?: string,
  ): Promise<{ response: Response; close(): void }> {
    const call = this.#call({ verb: "GET", path, input } as Operation, options as CheckedRequest);
    call.headers = {
      ...call.headers,
      accept: "text/event-stream",
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    };
    const attempt = new Attempt(this, call);
    try {
      const { response, failure } = await attempt.send();
      if (failure !== undefined) throw failure;
      attempt.stopTimeout();
      return { response, close: () => attempt.close() };
    } catch (error) {
      attempt.close();
      throw error;
    }
  }

  /** What all attempts of a call share. */
  #call(
    operation: Operation,
    { signal, timeout, headers }: CheckedRequest,
    usualTimeout = defaultTimeout,
  ): Call {
    let body: string | undefined;
    const call: Call = {
      ...operation,
      signal,
      timeout: timeout ?? this.settings.timeout ?? usualTimeout,
      headers: { ...this.settings.headers, ...headers },
      redactor: this.redactor,
      // Serialised once: every attempt sends the same bytes, even if the caller changes the object in between.
      serialise: (value) => {
        if (body === undefined) {
          call.redactor = withSecretsOf(value, this.redactor);
          body = toJson(value);
        }
        return body;
      },
    };
    return call;
  }
}

/** Parses the body of a successful response into the value of the call. @throws ApiError `invalid_response` */
function unwrap<T>(
  text: string | undefined,
  response: Response,
  spec: CallSpec<T>,
  request: RequestInfo,
): WithResponse<T> {
  const data = text === undefined ? undefined : parseObject(text);
  if (data === undefined) {
    const isEmpty = text !== undefined && /^\s*(null)?\s*$/.test(text);
    if (isEmpty && "empty" in spec) return withResponse(spec.empty as T, response);
    throw toInvalidResponse(response, request, text, spec.isSecret);
  }
  const missing = spec.has?.find((name) => data[name] === undefined || data[name] === null);
  if (missing === undefined) return withResponse(data as T, response);
  if (spec.empty !== undefined) return withResponse({ ...data, ...spec.empty }, response);
  throw toInvalidResponse(response, request, text, spec.isSecret, missing);
}

function withResponse<T>(data: T, response: Response): WithResponse<T> {
  const requestId = requestIdOf(response);
  return requestId === undefined ? { data, response } : { data, response, requestId };
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new ArgumentError("params", `can't be sent as JSON: ${messageOf(cause)}`);
  }
}
