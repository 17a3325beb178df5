import type { RunEvent } from "../index.ts";

/**
 * What a page receives of a run: its events as the API sent them, and three frames of the server in between. Each
 * travels as one unnamed SSE message, `data: <this, as JSON>`, with the event's own id as the message's id.
 */
export type ServedFrame = RunEvent | ResetFrame | FailureFrame | EndFrame;

/** Forget what was received: the run follows from its start, since the position asked for isn't known any more. */
export interface ResetFrame {
  type: "reset";
}

/** The response ends here, without the run's outcome. A page may connect again from its position, unless `final`. */
export interface FailureFrame {
  type: "failure";
  data: { message: string; code?: string; final: boolean };
}

/** The last frame of a run, behind which nothing follows. Its id is `end:<runId>`: a request from there gets 204. */
export interface EndFrame {
  type: "end";
  id: string;
}
