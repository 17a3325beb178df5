import { type Answer, type HeaderEntries, json } from "./exchange.ts";

/** Thrown by operations to answer with an error status; `handleRequest` sends its answer. @internal */
export class FailedResponse extends Error {
  readonly answer: Answer;

  constructor(answer: Answer, message: string) {
    super(message);
    this.answer = answer;
  }
}

/** The usual error body: `{ error: { code, message } }`. */
export function failedResponse(
  status: number,
  code: string,
  message: string,
  headers: HeaderEntries = [],
): FailedResponse {
  return new FailedResponse(json(status, { error: { code, message } }, headers), message);
}

/** The flat error body of the framework and of the authentication layer; its code is literally `error`. */
export function flatFailedResponse(
  status: number,
  message: string,
  headers: HeaderEntries = [],
): FailedResponse {
  return new FailedResponse(json(status, { code: "error", message }, headers), message);
}

/** The error body of the workers' endpoints: `{ error: "<Title>: <text>" }`. */
export function titledFailedResponse(status: number, title: string, text: string): FailedResponse {
  return new FailedResponse(json(status, { error: `${title}: ${text}` }), text);
}

/** 400 `validation_error`. */
export function invalid(message: string): FailedResponse {
  return failedResponse(400, "validation_error", message);
}

/**
 * Runs a callback of the user. What it throws comes out under the callback's name: as the rejection of `fetch` it would look
 * like a failed connection, which clients try again.
 */
export function callUser<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new Error(`${name} threw: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * The answer when the emulator itself or a callback of the user fails. 501, because no client repeats that: the repetition of
 * a create would end in a conflict, which hides the reason.
 */
export function ownFailure(error: unknown): Answer {
  const message = `CursorEmulator: ${messageOf(error)}`;
  return failedResponse(501, "emulator_failure", message).answer;
}

/** The message of anything that can be thrown; errors of other kinds than `Error` keep their name. */
function messageOf(error: unknown): string {
  const { name, message } = (error ?? {}) as { name?: unknown; message?: unknown };
  if (typeof message !== "string" || message === "") return String(error);
  return typeof name === "string" && name !== "Error" && name !== "TypeError"
    ? `${name}: ${message}`
    : message;
}
