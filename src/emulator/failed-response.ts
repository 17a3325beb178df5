import { type Answer, type HeaderEntries, json } from "./exchange.ts";

/** Thrown inside the emulator to answer with an error; the request pipeline turns it into its response. */
export class FailedResponse extends Error {
  readonly answer: Answer;

  constructor(answer: Answer, message: string) {
    super(message);
    this.answer = answer;
  }
}

/** The normal error body: `{ error: { code, message } }`. */
export function failedResponse(
  status: number,
  code: string,
  message: string,
  headers: HeaderEntries = [],
): FailedResponse {
  return new FailedResponse(json(status, { error: { code, message } }, headers), message);
}

/** The flat body of the framework and the auth layer, whose code is literally `error`. */
export function flatFailedResponse(
  status: number,
  message: string,
  headers: HeaderEntries = [],
): FailedResponse {
  return new FailedResponse(json(status, { code: "error", message }, headers), message);
}

/** The form of the workers' endpoints: `{ error: "<Title>: <text>" }`. */
export function titledFailedResponse(status: number, title: string, text: string): FailedResponse {
  return new FailedResponse(json(status, { error: `${title}: ${text}` }), text);
}

/** 400 `validation_error`. */
export function invalid(message: string): FailedResponse {
  return failedResponse(400, "validation_error", message);
}
