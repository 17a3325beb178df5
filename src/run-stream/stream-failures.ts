import { CursorError, StreamError } from "../errors.ts";
import type { Redactor } from "../http/redact.ts";
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
