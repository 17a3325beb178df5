import { ApiError, ConnectionError, CursorError, StreamError, TimeoutError } from "../errors.ts";
import type { Redactor } from "../http/redact.ts";
import { isTorn } from "../http/retry.ts";
import type { RunRef } from "../types.ts";

/** Makes the errors of one reader: each names its run and the position reached, and none contains the key. */
export class StreamFailures {
  readonly #ref: RunRef;
  readonly #redactor: Redactor;
  readonly #position: () => string | undefined;

  constructor(ref: RunRef, redactor: Redactor, position: () => string | undefined) {
    this.#ref = ref;
    this.#redactor = redactor;
    this.#position = position;
  }

  /** @param code What the server said; without it, the code of the cause */
  of(reason: StreamError["reason"], message: string, cause?: unknown, code?: string): StreamError {
    const { agentId, id: runId } = this.#ref;
    const said =
      code ?? (ApiError.isInstance(cause) || StreamError.isInstance(cause) ? cause.code : undefined);
    return new StreamError(this.#redactor.text(message), {
      reason,
      cause: CursorError.isInstance(cause) ? cause : this.#redactor.error(cause),
      code: said && this.#redactor.text(said),
      agentId,
      runId,
      lastEventId: this.#position(),
    });
  }

  disconnected(message: string, cause?: unknown, code?: string): StreamError {
    return this.of("disconnected", message, cause, code);
  }

  gaveUp(attempts: number, cause: unknown): StreamError {
    const number = `${attempts} failed ${attempts === 1 ? "attempt" : "attempts"}`;
    return this.disconnected(
      `the stream of run ${this.#ref.id} could not be resumed: gave up after ${number}`,
      cause,
    );
  }
}

/**
 * What a failure to open a stream means.
 *
 * - `gone`: the server no longer has the stream; the run may go on
 * - `position`: the server does not know the position it was sent
 * - `drop`: worth another attempt
 * - `final`: no attempt will succeed
 */
export type Refusal = "gone" | "position" | "drop" | "final";

/**
 * Tells what a failure to open a stream means. Codes count before statuses, since the server's statuses vary.
 * @param resumeId The position that was sent
 */
export function judgeRefusal(error: unknown, resumeId: string | undefined): Refusal {
  if (ConnectionError.isInstance(error) || TimeoutError.isInstance(error)) return "drop";
  if (!ApiError.isInstance(error)) return "final";
  const { status, code } = error;
  if (status === 410 || code === "stream_expired") return "gone";
  if (code === "invalid_last_event_id" && resumeId !== undefined) return "position";
  // The body broke off before its code. Another attempt tells which conflict it is. A 400 can only be about the
  // position, since the rest of the request was good before; a rejected position isn't sent twice.
  if (status === 409 && isTorn(error)) return "drop";
  if (status === 400 && isTorn(error) && resumeId !== undefined) return "position";
  if (code === "usage_limit_exceeded") return "final";
  if (status >= 500 || status === 429 || status === 408 || code === "stream_unavailable") return "drop";
  return "final";
}
