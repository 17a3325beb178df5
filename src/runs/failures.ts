import { ApiError, ConnectionError, CursorError, StreamError, TimeoutError } from "../errors.ts";
import type { Redactor } from "../http/redact.ts";
import { isTorn } from "../http/retry.ts";
import type { RunRef } from "../types.ts";

/** The errors of one reading: each says which run it is of and how far it came, and none tells the key. */
export class StreamFailures {
  readonly #ref: RunRef;
  readonly #redactor: Redactor;
  readonly #position: () => string | undefined;

  constructor(ref: RunRef, redactor: Redactor, position: () => string | undefined) {
    this.#ref = ref;
    this.#redactor = redactor;
    this.#position = position;
  }

  of(reason: StreamError["reason"], message: string, cause?: unknown, code?: string): StreamError {
    const { agentId, id: runId } = this.#ref;
    return new StreamError(this.#redactor.text(message), {
      reason,
      cause: CursorError.isInstance(cause) ? cause : this.#redactor.error(cause),
      code: code && this.#redactor.text(code),
      agentId,
      runId,
      lastEventId: this.#position(),
    });
  }

  disconnected(message: string, cause?: unknown, code?: string): StreamError {
    return this.of("disconnected", message, cause, code);
  }

  givenUp(tries: number, cause: unknown): StreamError {
    return this.disconnected(
      `the stream of run ${this.#ref.id} could not be read on (${tries} ${tries === 1 ? "try" : "tries"} without progress)`,
      cause,
      StreamError.isInstance(cause) ? cause.code : undefined,
    );
  }
}

/**
 * What a failure to open a stream means.
 *
 * - `gone`: the stream is over for good, the run need not be
 * - `position`: the server doesn't know the position it was sent
 * - `drop`: worth another try
 * - `final`: nothing will change it
 */
export type Refusal = "gone" | "position" | "drop" | "final";

/** Codes first: statuses have been seen to differ. */
export function judgeRefusal(error: unknown, sent: string | undefined): Refusal {
  if (ConnectionError.isInstance(error) || TimeoutError.isInstance(error)) return "drop";
  if (!ApiError.isInstance(error)) return "final";
  const { status, code } = error;
  if (status === 410 || code === "stream_expired") return "gone";
  if (code === "invalid_last_event_id" && sent !== undefined) return "position";
  // The reason got lost on the way. Which conflict it is, asking again tells; what can be wrong with a request that was
  // good before is its position, and a refused one isn't sent twice.
  if (status === 409 && isTorn(error)) return "drop";
  if (status === 400 && isTorn(error) && sent !== undefined) return "position";
  if (code === "usage_limit_exceeded") return "final";
  if (status >= 500 || status === 429 || status === 408 || code === "stream_unavailable") return "drop";
  return "final";
}
