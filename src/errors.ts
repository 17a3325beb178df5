import type { RunRef, TerminalRun } from "./types.ts";

/** Shared by every copy of this package in a process, so that `isInstance` works across them. */
const brand = Symbol.for("cursor-cloud-agents.error");

/** Fields of every {@link CursorError}, beside its message. */
export interface CursorErrorOptions {
  cause?: unknown;
  agentId?: string | undefined;
  runId?: string | undefined;
  outcome?: "unknown" | undefined;
}

/** The kinds of {@link CursorError}: one literal per class. */
export type CursorErrorKind = "error" | "api" | "connection" | "timeout" | "stream" | "run" | "argument";

/**
 * The base of everything this library throws, except a caller's own abort: that rejects with `signal.reason` as it is.
 *
 * Tell errors apart by `kind` (or the guards below), then by `code`, then by `status`.
 */
export class CursorError extends Error {
  /** The name of the class. */
  override readonly name: string = "CursorError";
  /** Tells the classes apart; it is the same in every copy of this package. */
  readonly kind: CursorErrorKind = "error";
  /** The agent the failed call was about, or the one it may have created. */
  declare agentId?: string;
  /** The run the failed call was about. */
  declare runId?: string;
  /** `"unknown"`: the server may have carried out the request, and it was not sent again. */
  declare outcome?: "unknown";

  /** Copies every defined option onto the error as an own property. */
  constructor(message: string, { cause, ...fields }: CursorErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    Object.defineProperty(this, brand, { value: true });
    for (const [name, value] of Object.entries(fields))
      if (value !== undefined) Object.assign(this, { [name]: value });
  }

  /** True for an error of this class, also when it comes from another copy of the package. */
  static isInstance(value: unknown): value is CursorError {
    return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[brand] === true;
  }

  /** The error as plain data, for logs: its fields and its message, without stack and cause. */
  toJSON(): Record<string, unknown> {
    return { ...(this as object), name: this.name, message: this.message };
  }
}

/** What the client itself must know of a failure to decide whether it may repeat a request. */
export interface FailureFacts {
  /** The attempt failed before its request was sent: in a slow key function or a middleware, not at the server. */
  isUnsent?: boolean;
  /** The body of the failed response did not arrive whole, so its reason may be missing. */
  isTorn?: boolean;
}

const facts = Symbol("facts");

/** Records facts on the error itself, where neither logs nor JSON show them. Errors of other libraries stay as they are. */
export function addFacts(error: unknown, more: FailureFacts): void {
  if (!CursorError.isInstance(error)) return;
  Object.defineProperty(error, facts, { value: { ...factsOf(error), ...more }, configurable: true });
}

/** The facts that {@link addFacts} recorded. */
export function factsOf(error: unknown): FailureFacts {
  return (CursorError.isInstance(error) && (error as { [facts]?: FailureFacts })[facts]) || {};
}

const isKind = (value: unknown, kind: CursorErrorKind): boolean =>
  CursorError.isInstance(value) && value.kind === kind;

/** The fields of an {@link ApiError}. */
export interface ApiErrorInit extends CursorErrorOptions {
  status: number;
  method: string;
  path: string;
  code?: string | undefined;
  requestId?: string | undefined;
  retryAfterMs?: number | undefined;
  helpUrl?: string | undefined;
  provider?: string | undefined;
  body?: string | undefined;
}

/** Codes that this library, not the server, gives an {@link ApiError}. */
export type ClientErrorCode = "invalid_response" | "redirect_refused" | "artifact_too_large";

/**
 * The server responded, but not with success: any 4xx or 5xx, a redirect (never followed), or a 2xx whose body isn't
 * what the API documents (`code: "invalid_response"`). Read `code` first, `status` second.
 */
export class ApiError extends CursorError {
  override readonly name: string = "ApiError";
  override readonly kind = "api";
  /** HTTP status of the response. */
  declare readonly status: number;
  /** HTTP method of the request. */
  declare readonly method: string;
  /** The path without its query. */
  declare readonly path: string;
  /** The server's own code (`agent_busy`, `plan_required`, …); absent where the response had none. */
  declare readonly code?: string;
  /** The `x-request-id` of the response: what support asks for. */
  declare readonly requestId?: string;
  /** How long the server asks to wait, in milliseconds. */
  declare readonly retryAfterMs?: number;
  /** A page where a person can fix the cause (`integration_not_connected`). */
  declare readonly helpUrl?: string;
  /** Which integration is missing (`integration_not_connected`). */
  declare readonly provider?: string;
  /**
   * The raw body of the response as it came, cut at 4 KB, with our own key and secrets replaced. Absent where the body is
   * empty, or where it may be part of a successful response, whose data is not for logs.
   */
  declare readonly body?: string;

  constructor(message: string, init: ApiErrorInit) {
    super(message, init);
  }

  static override isInstance(value: unknown): value is ApiError {
    return isKind(value, "api");
  }
}

/** No response: DNS, TCP, TLS, or a connection that broke before or inside the response. `cause` is the original error. */
export class ConnectionError extends CursorError {
  override readonly name: string = "ConnectionError";
  override readonly kind = "connection";
  /** HTTP method of the request. */
  declare readonly method: string;
  /** The path without its query. */
  declare readonly path: string;

  constructor(message: string, init: CursorErrorOptions & { method: string; path: string }) {
    super(message, init);
  }

  static override isInstance(value: unknown): value is ConnectionError {
    return isKind(value, "connection");
  }
}

/** Time ran out: before the response's headers (`connect`), inside its body (`body`), or for a whole job (`deadline`). */
export class TimeoutError extends CursorError {
  override readonly name: string = "TimeoutError";
  override readonly kind = "timeout";
  /** What took too long: the response's headers, its body, or the whole job. */
  declare readonly phase: "connect" | "body" | "deadline";

  constructor(message: string, init: CursorErrorOptions & { phase: "connect" | "body" | "deadline" }) {
    super(message, init);
  }

  static override isInstance(value: unknown): value is TimeoutError {
    return isKind(value, "timeout");
  }
}

/**
 * Why a run stream ended without an outcome.
 *
 * - `disconnected`: gave up after too many attempts in a row without progress; resume later from `lastEventId`
 * - `invalid_position`: the server rejected the position the caller gave (`from`)
 * - `event_too_large`: one event is larger than `maxEventBytes`
 * - `reply_too_large`: the reply's text is longer than what {@link RunStream.result} collects
 * - `closed`: {@link RunStream.close} was called while a result was awaited
 */
export type StreamErrorReason =
  | "disconnected"
  | "invalid_position"
  | "event_too_large"
  | "reply_too_large"
  | "closed";

/** A run stream ended without an outcome. Failed HTTP responses (401, 403, 404, …) are {@link ApiError}s instead. */
export class StreamError extends CursorError {
  override readonly name: string = "StreamError";
  override readonly kind = "stream";
  /** Why there is no outcome. */
  declare readonly reason: StreamErrorReason;
  /** The id of the last event delivered: pass it as `from` to resume. */
  declare readonly lastEventId?: string;
  /** The code of the server's `error` event or failed response, when there was one. */
  declare readonly code?: string;

  constructor(
    message: string,
    init: CursorErrorOptions & {
      reason: StreamErrorReason;
      lastEventId?: string | undefined;
      code?: string | undefined;
    },
  ) {
    super(message, init);
  }

  static override isInstance(value: unknown): value is StreamError {
    return isKind(value, "stream");
  }
}

/** A run ended with a status other than FINISHED; thrown only with `throwOnFailure`. */
export class RunFailedError extends CursorError {
  override readonly name: string = "RunFailedError";
  override readonly kind = "run";
  /** The run as Get A Run reports it. */
  readonly run: TerminalRun;

  constructor(run: TerminalRun) {
    super(`run ${run.id} ended with ${run.status}`, { agentId: run.agentId, runId: run.id });
    this.run = run;
  }

  static override isInstance(value: unknown): value is RunFailedError {
    return isKind(value, "run");
  }
}

/** An argument was rejected before anything was sent, because it is not valid. */
export class ArgumentError extends CursorError {
  override readonly name: string = "ArgumentError";
  override readonly kind = "argument";
  /** The name of the argument, as a path where it is nested: `prompt.images[0].url`. */
  readonly argument: string;

  constructor(argument: string, problem: string) {
    super(`${argument}: ${problem}`);
    this.argument = argument;
  }

  static override isInstance(value: unknown): value is ArgumentError {
    return isKind(value, "argument");
  }
}

/** The type of a wrong value. The value itself is not shown: it may be a secret passed in the wrong place. */
export const describe = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "an array" : `${typeof value}`;

/** The error for a value of the wrong type. */
export const unexpected = (argument: string, expected: string, value: unknown, hint = ""): ArgumentError =>
  new ArgumentError(argument, `expected ${expected}, got ${describe(value)}${hint}`);

/** True for any error of this library, also from another copy of it. */
export const isCursorError = (error: unknown): error is CursorError => CursorError.isInstance(error);

/**
 * True for an {@link ApiError}, with `code` when one is given.
 *
 * @example
 * if (isApiError(error, "agent_busy")) …
 */
export function isApiError(error: unknown): error is ApiError;
export function isApiError<Code extends string>(
  error: unknown,
  code: Code,
): error is ApiError & { readonly code: Code };
export function isApiError(error: unknown, code?: string): error is ApiError {
  return ApiError.isInstance(error) && (code === undefined || error.code === code);
}

/** True for a {@link ConnectionError}. */
export const isConnectionError = (error: unknown): error is ConnectionError =>
  ConnectionError.isInstance(error);
/** True for a {@link TimeoutError}. */
export const isTimeoutError = (error: unknown): error is TimeoutError => TimeoutError.isInstance(error);
/** True for a {@link StreamError}. */
export const isStreamError = (error: unknown): error is StreamError => StreamError.isInstance(error);
/** True for a {@link RunFailedError}. */
export const isRunFailedError = (error: unknown): error is RunFailedError => RunFailedError.isInstance(error);
/** True for an {@link ArgumentError}. */
export const isArgumentError = (error: unknown): error is ArgumentError => ArgumentError.isInstance(error);

/** Adds the agent and the run that an error is about, where they are missing. */
export function about(error: unknown, ref: Partial<RunRef>): unknown {
  if (CursorError.isInstance(error)) {
    if (error.agentId === undefined && ref.agentId !== undefined) error.agentId = ref.agentId;
    if (error.runId === undefined && ref.id !== undefined) error.runId = ref.id;
  }
  return error;
}
