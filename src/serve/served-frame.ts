import type { RunEvent, RunRef } from "../index.ts";
import { encodeMessage } from "../web-stream.ts";
import type { Failure } from "./failure.ts";

/**
 * What a page receives of a run: its events as the API sent them, and three frames that this server adds. Each travels as
 * one SSE message, `data: <this, as JSON>`, unnamed unless the route's option `named` is set.
 *
 * The message's own id is the position to resume from: the event's id, unchanged. Only the run's end has positions of its
 * own, since its events share an id or have none: `result:<runId>`, `done:<runId>` and `end:<runId>`.
 */
export type ServedFrame = RunEvent | ResetFrame | FailureFrame | EndFrame;

/**
 * Discard what was received: the run follows from its start, because the requested position is no longer known.
 * Its message has an empty id, which makes an EventSource forget its position, too.
 */
export interface ResetFrame {
  /** Always `reset`. */
  type: "reset";
}

/** The response ends here, without the run's outcome. A page may reconnect from its position, unless `final`. */
export interface FailureFrame {
  /** Always `failure`. */
  type: "failure";
  /** `end:<runId>` where it is final: a request from there gets 204, which stops an EventSource. */
  id?: string;
  /** What the browser may know of it; `final`: another attempt would fail, too. */
  data: { message: string; code?: string; final: boolean };
}

/** The last frame of a run; nothing follows it. Its id is `end:<runId>`: a request from there gets 204. */
export interface EndFrame {
  /** Always `end`. */
  type: "end";
  /** `end:<runId>`. */
  id: string;
}

export const endFrame = (ref: RunRef): EndFrame => ({ type: "end", id: endPosition("end", ref) });

export const failureFrame = ({ message, code, isFinal }: Failure, ref: RunRef): FailureFrame => ({
  type: "failure",
  ...(isFinal ? { id: endPosition("end", ref) } : {}),
  data: { message, code, final: isFinal },
});

// ── Writing ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** One SSE message; the event's name is in it where `named` is set. */
export const encodeFrame = (frame: ServedFrame, ref: RunRef, named: boolean): string =>
  encodeMessage({
    id: positionOf(frame, ref),
    event: named ? nameOf(frame) : undefined,
    data: JSON.stringify(frame),
  });

function positionOf(frame: ServedFrame, ref: RunRef): string | undefined {
  // The result shares its id with `done`, or has none, and must not be sent again to a browser that has it.
  if (frame.type === "result" || frame.type === "done") return endPosition(frame.type, ref);
  if (frame.type === "reset") return "";
  const { id } = frame;
  return id !== undefined && isPosition(id) ? id : undefined;
}

/** Names that an EventSource or a page would mistake for something else if they came from an event of the API. */
const reservedNames: ReadonlySet<string> = new Set(["error", "open", "message", "reset", "failure", "end"]);

/** The API's own name, so that a page can listen by name; `error` would look like a broken connection. */
function nameOf(frame: ServedFrame): string {
  if (frame.type === "reset" || frame.type === "failure" || frame.type === "end") return frame.type;
  const name = "name" in frame ? frame.name : frame.type;
  return reservedNames.has(name) ? `run_${name}` : name;
}

// ── Resuming ─────────────────────────────────────────────────────────────────────────────────────────────────────

/** What a browser is still missing. */
export type Remainder =
  | { kind: "all" }
  /** Everything after this event. */
  | { kind: "after"; eventId: string }
  /** These frames, which are known without reading the run; none of them where the browser has received the end. */
  | { kind: "ending"; frames: ServedFrame[] }
  /** Everything, after a `reset`: the browser sent a position that can't come from this server. */
  | { kind: "unknown" };

/**
 * Reads the browser's position from the `Last-Event-ID` header, which an EventSource sends when it reconnects, or else
 * from the query's `lastEventId`, for clients that can't set a header. The header wins, since an
 * EventSource keeps the query that it was created with.
 */
export function remainderOf({ headers, url }: Request, ref: RunRef): Remainder {
  const header = headers.get("last-event-id");
  const position = header ? decodeHeader(header) : new URL(url).searchParams.get("lastEventId");
  if (position === null || position === "") return { kind: "all" };
  if (!isPosition(position)) return { kind: "unknown" };
  const done: RunEvent = { type: "done", data: {}, synthesized: true };
  if (position === endPosition("result", ref)) return { kind: "ending", frames: [done, endFrame(ref)] };
  if (position === endPosition("done", ref)) return { kind: "ending", frames: [endFrame(ref)] };
  if (position === endPosition("end", ref)) return { kind: "ending", frames: [] };
  return { kind: "after", eventId: position };
}

/** The position of a browser that has received part of the run's end, or all of it. */
const endPosition = (kind: "result" | "done" | "end", { id }: RunRef): string => `${kind}:${id}`;

const longestPosition = 1024;

/** Whether a text can be a position: one that can be sent as a header, by the browser and to the API. */
const isPosition = (text: string): boolean =>
  text.length <= longestPosition &&
  /^[\x21-\x7e\x80-\xff]([\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/.test(text);

/** Browsers send an id as UTF-8, while `Headers` shows each byte of a header as one character. */
function decodeHeader(value: string): string {
  if (!/[\x80-\xff]/.test(value) || /[^\0-\xff]/.test(value)) return value;
  try {
    const bytes = Uint8Array.from(value, (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return value;
  }
}
