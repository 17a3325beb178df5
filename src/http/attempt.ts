import createClient from "openapi-fetch";
import { onAbort } from "../async.ts";
import { type ApiError, addFacts, CursorError, TimeoutError } from "../errors.ts";
import type { Settings } from "../options.ts";
import { base64, attempt as tryTo } from "../text.ts";
import type { Verb } from "./contract.ts";
import {
  describeCause,
  isNetworkFailure,
  type RequestInfo,
  toApiError,
  toConnectionError,
  toRedirectError,
} from "./failures.ts";
import type { Redactor } from "./redact.ts";
import { discard, readErrorText, readText } from "./response.ts";

/** At most this much of an error body is read, in bytes; the part that is kept is far shorter. */
const errorBodyLimit = 64 * 1024;
/** No JSON response of this API comes near this many bytes; a body without end must not fill the memory. */
const jsonBodyLimit = 64 * 1024 * 1024;

/** What all attempts of one client share. */
export interface AttemptHost {
  readonly settings: Settings;
  readonly redactor: Redactor;
  readonly client: ApiClient;
}

/** One call, in the form in which each of its attempts sends it. */
export interface Call {
  verb: Verb;
  path: string;
  /** Each attempt asks for the parameters and the body; an error that this throws is the attempt's failure. */
  input?: (() => { path?: unknown; query?: unknown; body?: unknown }) | undefined;
  headers: Record<string, string>;
  /** Writes the body as JSON. */
  serialise(body: unknown): string;
  signal: AbortSignal | undefined;
  /** Milliseconds that one attempt may take. */
  timeout: number;
  /** Replaces the client's keys and the secrets in the call's body. */
  redactor: Redactor;
}

/** What the server, or a middleware in its place, answered. */
export interface Answer {
  response: Response;
  /** Present for a failed response: a 4xx or 5xx, whose body has been read. */
  failure?: ApiError;
}

/**
 * One attempt at a request. On the way down, openapi-fetch makes the request, the middleware sees it, the key is added,
 * and `fetch` sends it. On the way up, the response passes the same places, and every failure becomes a typed error.
 *
 * All state is here and ends with the attempt, so a late response of one attempt can't disturb the next one. The file is
 * long because everything that a request passes between the transport and `fetch` is in it, in reading order.
 */
export class Attempt implements RequestInfo {
  method = "request";
  url = "";
  /** Held, because a Request that has been collected as garbage no longer passes an abort on to its own signal. */
  request: unknown;
  readonly #host: AttemptHost;
  readonly #call: Call;
  readonly #controller = new AbortController();
  /**
   * Ends what the attempt is waiting for. It waits for one thing at a time, so one callback is enough. With `race` and
   * `follow`, which add listeners to the signal, a request would cost half as much again.
   */
  #interrupt: (() => void) | undefined;
  readonly #timer: unknown;
  readonly #stopFollowing: (() => void) | undefined;
  #phase: "connect" | "body" = "connect";
  #isSent = false;
  /** The failed response that `fetch` gave, with its body. */
  #failed: { response: Response; text: string; isComplete: boolean } | undefined;

  constructor(host: AttemptHost, call: Call) {
    this.#host = host;
    this.#call = call;
    const { signal, timeout } = call;
    if (signal !== undefined) this.#stopFollowing = onAbort(signal, () => this.#abort(signal.reason));
    if (timeout !== Number.POSITIVE_INFINITY) {
      this.#timer = host.settings.clock.setTimeout(() => this.#abort(this.#timeoutError()), timeout);
    }
  }

  /** The path without its query, for errors. */
  get path(): string {
    return this.url === "" ? "" : new URL(this.url).pathname;
  }

  get redactor(): Redactor {
    return this.#call.redactor;
  }

  /** Sends the request; resolves as soon as the response's headers have arrived, whatever its status. */
  async send(): Promise<Answer> {
    const { client, settings } = this.#host;
    const { middleware } = settings;
    const { verb, path, input, headers, serialise } = this.#call;
    const { signal } = this.#controller;
    try {
      const { body, ...params } = input?.() ?? {};
      const pending = client[verb](path, {
        params,
        body,
        headers,
        bodySerializer: serialise,
        signal,
        parseAs: "stream",
        middleware: middleware.length === 0 ? undefined : [this.#lastMiddleware(), ...middleware],
        fetch: (request) => this.#fetch(request),
      });
      const { response, error } = await this.#race(pending);
      return response.ok ? { response } : { response, failure: this.#failureOf(response, error) };
    } catch (error) {
      throw this.#toRejection(error);
    }
  }

  /** Reads a success's body as text; undefined where it is too large. */
  async read(response: Response): Promise<string | undefined> {
    this.#phase = "body";
    const { signal } = this.#controller;
    try {
      const { text, complete } = await readText(response, jsonBodyLimit, (stop) => {
        this.#interrupt = stop;
        if (signal.aborted) stop();
      });
      signal.throwIfAborted();
      return complete ? text : undefined;
    } catch (error) {
      throw signal.aborted ? signal.reason : toConnectionError(error, this);
    }
  }

  /** Ends the timeout. The attempt still follows the caller's signal. */
  stopTimeout(): void {
    if (this.#timer !== undefined) this.#host.settings.clock.clearTimeout(this.#timer);
  }

  /** Ends the timeout, and stops following the caller's signal. */
  release(): void {
    this.stopTimeout();
    this.#stopFollowing?.();
  }

  /** Ends the connection. */
  close(): void {
    this.release();
    this.#abort();
  }

  #abort(reason?: unknown): void {
    this.#controller.abort(reason);
    this.#interrupt?.();
  }

  /**
   * Waits for an answer until the attempt ends: neither a middleware, nor a key function, nor a custom fetch has to
   * listen to the signal. The body of an answer that arrives later is discarded.
   */
  #race<T extends { response: Response }>(pending: Promise<T>): Promise<T> {
    const { signal } = this.#controller;
    return new Promise((resolve, reject) => {
      this.#interrupt = () => reject(signal.reason);
      if (signal.aborted) this.#interrupt();
      pending.then((answer) => {
        if (signal.aborted) discard(answer.response.body);
        resolve(answer);
      }, reject);
    });
  }

  // ── The way down ──────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Called by openapi-fetch, after the middleware. A custom `fetch` always gets `(url, init)`, with a middleware and without
   * one.
   */
  async #fetch(request: Request | LightRequest): Promise<Response> {
    const { settings } = this.#host;
    const { signal } = this.#controller;
    this.method = request.method;
    this.url = request.url;
    this.request = request;
    const init = request instanceof LightRequest ? request.init : await initOf(request);
    // A middleware may have sent the request to another origin: the key must not go there.
    if (new URL(request.url).origin === settings.origin) {
      const { apiKey } = settings;
      const key = typeof apiKey === "string" ? apiKey : await this.#newKey(apiKey);
      init.headers.set(
        "authorization",
        settings.auth === "basic" ? `Basic ${base64(`${key}:`)}` : `Bearer ${key}`,
      );
    }
    // The middleware and the key function may have taken a while. If the attempt was aborted in that time, nothing is sent.
    signal.throwIfAborted();
    this.#isSent = true;
    let response: Response;
    try {
      response = await settings.fetch(request.url, init);
    } catch (error) {
      if (signal.aborted || !isNetworkFailure(error)) throw error;
      throw toConnectionError(error, this);
    }
    if (signal.aborted) {
      // A fetch that ignores the signal may respond after the attempt has ended.
      discard(response.body);
      throw signal.reason;
    }
    return response.ok ? response : this.#takeFailed(response);
  }

  async #newKey(apiKey: () => Promise<string>): Promise<string> {
    const key = await apiKey();
    this.#host.redactor.add(key);
    return key;
  }

  // ── The way up ────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Reads the body of a failed response, within our limits, and returns a response that holds it in memory, so that
   * neither openapi-fetch nor a middleware has to read a body that stalls or never ends.
   */
  async #takeFailed(response: Response): Promise<Response> {
    const { status, statusText, headers, type } = response;
    if (type === "opaqueredirect" || (status >= 300 && status < 400)) {
      discard(response.body);
      throw toRedirectError(response, this);
    }
    if (type === "error") throw toConnectionError(new Error("no answer came"), this);
    const { clock } = this.#host.settings;
    const { text, complete } = await readErrorText(response, errorBodyLimit, clock, this.#controller.signal);
    this.#controller.signal.throwIfAborted();
    // The constructor of Response accepts no such status, so the attempt fails here, and no middleware sees this response.
    if (status < 200 || status > 599)
      throw toApiError(response, this, { text, isComplete: complete }, clock.now());
    const inMemory = new Response(text, { status, statusText, headers: withoutLength(headers) });
    this.#failed = { response: inMemory, text, isComplete: complete };
    return inMemory;
  }

  /** Our own middleware. It is the first of the list, so openapi-fetch shows it the response last. */
  #lastMiddleware(): Settings["middleware"][number] {
    return { onResponse: ({ response }) => this.#checkResponse(response) };
  }

  async #checkResponse(response: Response): Promise<undefined> {
    if (response.bodyUsed || response.body?.locked) {
      throw new CursorError(`${this.method} ${this.path}: a middleware has read the body; clone it first`);
    }
    if (response.ok || response === this.#failed?.response) return;
    // A middleware has replaced our response by one of its own. Its text is kept here, because openapi-fetch parses the body
    // and drops the text.
    this.#failed = {
      response,
      text: await response.clone().text(),
      isComplete: this.#failed?.isComplete ?? true,
    };
  }

  /** @param parsed The body as openapi-fetch has read it: JSON where it could be parsed, else text */
  #failureOf(response: Response, parsed: unknown): ApiError {
    const { clock } = this.#host.settings;
    if (response === this.#failed?.response) {
      return toApiError(response, this, { ...this.#failed, parsed }, clock.now());
    }
    // Only a response that a middleware returned from onRequest gets here. openapi-fetch has dropped its text, so a text is
    // made from what was parsed.
    const text = typeof parsed === "string" ? parsed : (tryTo(() => JSON.stringify(parsed)) ?? "");
    return toApiError(response, this, { text, parsed, isComplete: true }, clock.now());
  }

  /** Returns the error that the call rejects with: the reason of an abort as it is, or a typed error. */
  #toRejection(error: unknown): unknown {
    const { signal } = this.#controller;
    let failure = error;
    if (signal.aborted) {
      failure = signal.reason;
    } else if (!CursorError.isInstance(error)) {
      const cause = this.redactor.error(error);
      failure = new CursorError(`${this.method} ${this.path} could not be sent: ${describeCause(cause)}`, {
        cause,
      });
    }
    if (!this.#isSent) addFacts(failure, { isUnsent: true });
    return failure;
  }

  #timeoutError(): TimeoutError {
    const phase = this.#phase;
    const problem = phase === "connect" ? "no answer" : "the answer's body did not end";
    return new TimeoutError(`${this.method} ${this.path}: ${problem} within ${this.#call.timeout} ms`, {
      phase,
    });
  }
}

// ── openapi-fetch ────────────────────────────────────────────────────────────────────────────────────────────────

/** What an attempt passes to openapi-fetch. */
interface OperationInit {
  params: { path?: unknown; query?: unknown };
  body?: unknown;
  headers: Record<string, string>;
  bodySerializer: (body: unknown) => string;
  signal: AbortSignal;
  /** We read bodies ourselves, within our limits. */
  parseAs: "stream";
  middleware: Settings["middleware"] | undefined;
  fetch: (request: Request | LightRequest) => Promise<Response>;
}

/**
 * The part of an openapi-fetch client that we use. `Transport` types its calls by the contract; the types of
 * openapi-fetch would rebuild every response member by member and lose the open string unions on the way.
 */
export type ApiClient = Record<
  Verb,
  (path: string, init: OperationInit) => Promise<{ error?: unknown; response: Response }>
>;

/** Makes the openapi-fetch client, which turns an operation into a request and passes it through the middleware. */
export function createApiClient({ baseUrl, middleware }: Settings): ApiClient {
  const client = createClient<object>({
    baseUrl,
    // Redirects are never followed: another host must not get the key or the prompt.
    redirect: "manual",
    // Only a middleware needs a real Request. Making one takes as long as the rest of the call.
    ...(middleware.length > 0 ? {} : { Request: LightRequest as unknown as typeof Request }),
  });
  return client as unknown as ApiClient;
}

/** What `fetch` gets in addition to the URL. */
type FetchInit = RequestInit & { headers: Headers };

/** What openapi-fetch creates instead of a `Request`: it only keeps the URL and the init, as they were given. */
class LightRequest {
  readonly url: string;
  readonly method: string;
  readonly init: FetchInit;

  constructor(url: string, init: FetchInit & { method: string }) {
    this.url = url;
    this.method = init.method;
    this.init = init;
  }
}

/** The other settings that a middleware may choose in a `Request` of its own, with their default values. */
const usualSettings = {
  cache: "default",
  credentials: "same-origin",
  integrity: "",
  keepalive: false,
  mode: "cors",
  referrer: "about:client",
  referrerPolicy: "",
};

/** A `Request` that the middleware has seen, as an init for `fetch`. The headers are a copy: middleware must not see the key. */
async function initOf(request: Request): Promise<FetchInit> {
  const { method, headers, signal } = request;
  // Bodies are JSON; one that a middleware has compressed is binary.
  const body = headers.has("content-encoding") ? await request.arrayBuffer() : await request.text();
  const init: FetchInit = { method, headers: new Headers(headers), signal, redirect: "manual" };
  if (body !== "") init.body = body;
  for (const [name, usual] of Object.entries(usualSettings)) {
    const value = request[name as keyof Request];
    // Some runtimes have none of these, and reject an init that names one.
    if (value !== undefined && value !== usual) Object.assign(init, { [name]: value });
  }
  return init;
}

/** The text has been decoded and may be cut, so the length and the encoding of the original no longer hold. */
function withoutLength(headers: Headers): Headers {
  const copy = new Headers(headers);
  copy.delete("content-length");
  copy.delete("content-encoding");
  copy.delete("transfer-encoding");
  return copy;
}
