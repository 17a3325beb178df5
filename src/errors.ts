import type { RunRef, TerminalRun } from "./types.ts";

/** Shared by every copy of this package in a process, so that `isInstance` works across them. */
const brand = Symbol.for("cursor-cloud-agents.error");

/** What every {@link CursorError} may carry beside its message. */
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
  /** The name of its class. */
  override readonly name: string = "CursorError";
  /** Tells the classes apart; it is the same in every copy of this package. */
  readonly kind: CursorErrorKind = "error";
  /** The agent the failed call was about, or the one it may have created. */
  declare agentId?: string;
  /** The run the failed call was about. */
  declare runId?: string;
  /** `"unknown"`: the server may have carried the request out; it was not sent again. */
  declare outcome?: "unknown";

  /** What is given is on the error, under its name; what is undefined isn't there. */
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

const isKind = (value: unknown, kind: CursorErrorKind): boolean =>
  CursorError.isInstance(value) && value.kind === kind;

/** What an {@link ApiError} is made of. */
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
 * The server answered, but not with success: any 4xx or 5xx, a redirect (never followed), or a 2xx whose body isn't
 * what the API documents (`code: "invalid_response"`). Read `code` first, `status` second.
 */
export class ApiError extends CursorError {
  override readonly name: string = "ApiError";
  override readonly kind = "api";
  /** HTTP status of the answer. */
  declare readonly status: number;
  /** HTTP method of the request. */
  declare readonly method: string;
  /** The path without its query. */
  declare readonly path: string;
  /** The server's own code (`agent_busy`, `plan_required`, …), absent where its answer had none. */
  declare readonly code?: string;
  /** The `x-request-id` of the answer: what support asks for. */
  declare readonly requestId?: string;
  /** How long the server asks to wait, in milliseconds. */
  declare readonly retryAfterMs?: number;
  /** Where a person can fix the cause (`integration_not_connected`). */
  declare readonly helpUrl?: string;
  /** Which integration is missing (`integration_not_connected`). */
  declare readonly provider?: string;
  /** The answer's raw body, cut at 4 KB, with our own key replaced; absent where it is a piece of a good answer. */
  declare readonly body?: string;

  constructor(message: string, init: ApiErrorInit) {
    super(message, init);
  }

  static override isInstance(value: unknown): value is ApiError {
    return isKind(value, "api");
  }
}

/** No answer: DNS, TCP, TLS, or a connection that broke before or inside the answer. `cause` is the original error. */
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

/** Time ran out: before the answer's headers (`connect`), inside its body (`body`), or for a whole job (`deadline`). */
export class TimeoutError extends CursorError {
  override readonly name: string = "TimeoutError";
  override readonly kind = "timeout";
  /** What took too long: the answer's headers, its body, or the whole job. */
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
 * - `disconnected`: the tries in a row without progress are used up; `lastEventId` is where to go on later
 * - `invalid_position`: the server refused the position the caller gave (`from`)
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

/** A run stream ended without an outcome. Refused HTTP answers (401, 403, 404, …) are {@link ApiError}s instead. */
export class StreamError extends CursorError {
  override readonly name: string = "StreamError";
  override readonly kind = "stream";
  /** Why there is no outcome. */
  declare readonly reason: StreamErrorReason;
  /** The id of the last event delivered: pass it as `from` to go on. */
  declare readonly lastEventId?: string;
  /** The code of the server's `error` event or refusal, when there was one. */
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

/** A run ended, but not with FINISHED; thrown only where `throwOnFailure` asks for it. */
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

/** A call was refused before anything was sent, because an argument can't work. */
export class ArgumentError extends CursorError {
  override readonly name: string = "ArgumentError";
  override readonly kind = "argument";
  /** The argument's name, with a path into it where it is nested: `prompt.images[0].url`. */
  readonly argument: string;

  constructor(argument: string, problem: string) {
    super(`${argument}: ${problem}`);
    this.argument = argument;
  }

  static override isInstance(value: unknown): value is ArgumentError {
    return isKind(value, "argument");
  }
}

/** What a wrong value is, without showing it: it may be a secret passed in the wrong place. */
export const describe = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "an array" : `${typeof value}`;

/** The refusal of a value that is of another type. */
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

/** Names the agent and the run an error is about, where it doesn't yet. */
export function about(error: unknown, ref: Partial<RunRef>): unknown {
  if (CursorError.isInstance(error)) {
    if (error.agentId === undefined && ref.agentId !== undefined) error.agentId = ref.agentId;
    if (error.runId === undefined && ref.id !== undefined) error.runId = ref.id;
  }
  return error;
}
