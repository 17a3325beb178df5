import { type Answer, type HeaderEntries, json } from "./exchange.ts";

/** Thrown inside the emulator to answer with an error; the request pipeline turns it into its response. */
export class Refusal extends Error {
  readonly answer: Answer;

  constructor(answer: Answer, message: string) {
    super(message);
    this.answer = answer;
  }
}

/** The normal error body: `{ error: { code, message } }`. */
export function refusal(status: number, code: string, message: string, headers: HeaderEntries = []): Refusal {
  return new Refusal(json(status, { error: { code, message } }, headers), message);
}

/** The flat body of the framework and the auth layer, whose code is literally `error`. */
export function flatRefusal(status: number, message: string, headers: HeaderEntries = []): Refusal {
  return new Refusal(json(status, { code: "error", message }, headers), message);
}

/** The form of the fleet's endpoints: `{ error: "<Title>: <text>" }`. */
export function textRefusal(status: number, title: string, text: string): Refusal {
  return new Refusal(json(status, { error: `${title}: ${text}` }), text);
}

/** 400 `validation_error`. */
export function invalid(message: string): Refusal {
  return refusal(400, "validation_error", message);
}

/** The form of a 429 body: the envelope, the framework's flat one, or the one that comes from a backend service. */
export type RateLimitForm = "envelope" | "flat" | "connect";

/** 429 in one of the forms that were seen. */
export function rateLimited(form: RateLimitForm, headers: HeaderEntries, retryAfterSeconds: number): Refusal {
  if (form === "flat") return flatRefusal(429, "Too Many Requests", headers);
  if (form === "envelope") {
    return refusal(429, "rate_limit_exceeded", "Rate limit exceeded. Try again later.", headers);
  }
  const details = {
    title: "Rate limited",
    isRetryable: true,
    additionalInfo: { operation: "getScopedInstallationAccessKey", retryAfter: String(retryAfterSeconds) },
  };
  const body = {
    code: "resource_exhausted",
    message: "[resource_exhausted] Error",
    details: [{ debug: { error: "ERROR_RATE_LIMITED", details } }],
  };
  return new Refusal(json(429, body, headers), body.message);
}
