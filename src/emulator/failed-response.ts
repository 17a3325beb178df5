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
