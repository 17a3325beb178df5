import type { RunEvent } from "../index.ts";

/**
 * What a page receives of a run: its events as the API sent them, and three frames of the server in between. Each
 * travels as one SSE message, `data: <this, as JSON>`, unnamed unless `named` was asked for.
 *
 * The message's own id is the position to go on from: the event's id, untouched. Only the end has positions of its own,
 * since its events share an id or have none: `result:<runId>`, `done:<runId>` and `end:<runId>`.
 */
export type ServedFrame = RunEvent | ResetFrame | FailureFrame | EndFrame;

/**
 * Forget what was received: the run follows from its start, since the position asked for isn't known any more.
 * Its message has an empty id, which makes an EventSource forget its position, too.
 */
export interface ResetFrame {
  /** Always `reset`. */
  type: "reset";
}

/** The response ends here, without the run's outcome. A page may connect again from its position, unless `final`. */
export interface FailureFrame {
  /** Always `failure`. */
  type: "failure";
  /** `end:<runId>` where it is final: a request from there gets 204, which stops an EventSource. */
  id?: string;
  /** What may be told; `final`: another try would fail, too. */
  data: { message: string; code?: string; final: boolean };
}

/** The last frame of a run, behind which nothing follows. Its id is `end:<runId>`: a request from there gets 204. */
export interface EndFrame {
  /** Always `end`. */
  type: "end";
  /** `end:<runId>`. */
  id: string;
}
