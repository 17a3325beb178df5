import type { Clock } from "./clock.ts";
import { type HeaderEntries, json } from "./exchange.ts";
import { FailedResponse, failedResponse, flatFailedResponse } from "./failed-response.ts";

/** The form of a 429 body: the usual envelope, the flat form of the framework, or the form of a backend service. */
export type RateLimitForm = "envelope" | "flat" | "connect";

/** A rate limit, counted for each operation and each key. */
export interface EmulatorRateLimit {
  /** Requests allowed in any 60 seconds; the next one gets 429. */
  perMinute: number;
  /** Body of the 429. @default "envelope" */
  form?: RateLimitForm;
  /** Send `Retry-After`. @default true */
  retryAfter?: boolean;
}

/** At most `count` requests in any window of `windowMs` milliseconds. @internal */
export interface LimitRule {
  count: number;
  windowMs: number;
}

/** Counts requests by name in sliding windows. @internal */
export class RateLimits {
  readonly #clock: Clock;
  readonly #taken = new Map<string, number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Counts a request. Returns 0 if it may pass, otherwise the milliseconds until the next one may. A request that may not
   * pass is not counted.
   */
  take(name: string, rules: readonly LimitRule[]): number {
    const now = this.#clock.now();
    const longest = Math.max(...rules.map((rule) => rule.windowMs));
    const taken = (this.#taken.get(name) ?? []).filter((at) => at > now - longest);
    this.#taken.set(name, taken);
    let wait = 0;
    for (const { count, windowMs } of rules) {
      const oldest = taken.filter((at) => at > now - windowMs).at(-count);
      if (oldest !== undefined) wait = Math.max(wait, oldest + windowMs - now);
    }
    if (wait === 0) taken.push(now);
    return wait;
  }

  /**
   * Counts a request against the limit that the emulator's options set.
   *
   * @throws FailedResponse 429 in the form and with the headers that the limit asks for.
   */
  check(name: string, limit: EmulatorRateLimit): void {
    const wait = this.take(name, [{ count: limit.perMinute, windowMs: 60_000 }]);
    if (wait === 0) return;
    const seconds = Math.ceil(wait / 1000);
    const headers: HeaderEntries = [
      ["x-ratelimit-limit", String(limit.perMinute)],
      ["x-ratelimit-remaining", "0"],
      ["x-ratelimit-reset", String(Math.ceil((this.#clock.now() + wait) / 1000))],
    ];
    if (limit.retryAfter !== false) headers.push(["retry-after", String(seconds)]);
    throw rateLimited(limit.form ?? "envelope", headers, seconds);
  }
}

/** A failed response with status 429, in one of the forms that the service has been seen to send. @internal */
export function rateLimited(
  form: RateLimitForm,
  headers: HeaderEntries,
  retryAfterSeconds: number,
): FailedResponse {
  if (form === "flat") return flatFailedResponse(429, "Too Many Requests", headers);
  if (form === "envelope") {
    return failedResponse(429, "rate_limit_exceeded", "Rate limit exceeded. Try again later.", headers);
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
  return new FailedResponse(json(429, body, headers), body.message);
}
