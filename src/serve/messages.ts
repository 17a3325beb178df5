import type { RunEvent, RunRef } from "../index.ts";
import type { Failure } from "./failure.ts";
import type { ServedFrame } from "./frames.ts";

/** A comment: nothing for the page, a sign of life for everything in between. */
export const keepAlive = ": \n\n";

/** The first bytes: how long to wait before a reconnect, and a comment, so that headers and a body go out at once. */
export const opening = (retry: number): string => `retry: ${retry}\n\n: open\n\n`;

/** Sets how long the browser waits before it comes back. */
export const retryIn = (ms: number): string => `retry: ${ms}\n\n`;

/** Where a browser stands that has received part of the end, or all of it. */
export const endPosition = (kind: "result" | "done" | "end", { id }: RunRef): string => `${kind}:${id}`;

/** What follows behind a position in the end, without a look at the run; undefined for any other position. */
export function restOf(position: string | undefined, ref: RunRef): ServedFrame[] | undefined {
  const done: RunEvent = { type: "done", data: {}, synthesized: true };
  if (position === endPosition("result", ref)) return [done, endFrame(ref)];
  if (position === endPosition("done", ref)) return [endFrame(ref)];
  if (position === endPosition("end", ref)) return [];
  return undefined;
}

export const endFrame = (ref: RunRef): ServedFrame => ({ type: "end", id: endPosition("end", ref) });

export const failureFrame = ({ message, code, isFinal }: Failure, ref: RunRef): ServedFrame => ({
  type: "failure",
  ...(isFinal ? { id: endPosition("end", ref) } : {}),
  data: { message, code, final: isFinal },
});

/** Names that an EventSource, or a page, takes for something else when an event of the API has them. */
const taken: ReadonlySet<string> = new Set(["error", "open", "message", "reset", "failure", "end"]);

/** One SSE message. JSON has no line ends, so its data is one line whatever the run said. */
export function messageOf(frame: ServedFrame, ref: RunRef, named: boolean): { head: string; data: string } {
  const id = positionOf(frame, ref);
  const event = named ? `event: ${nameOf(frame)}\n` : "";
  return { head: (id === undefined ? "" : `id: ${id}\n`) + event, data: JSON.stringify(frame) };
}

function positionOf(frame: ServedFrame, ref: RunRef): string | undefined {
  // A result that was already seen must not come again, and it shares its id with `done`, or has none.
  if (frame.type === "result" || frame.type === "done") return endPosition(frame.type, ref);
  if (frame.type === "reset") return "";
  const { id } = frame;
  return id !== undefined && isPosition(id) ? id : undefined;
}

/** The API's own name, so that a page can listen by name; an `error` of that name would look like a broken connection. */
function nameOf(frame: ServedFrame): string {
  if (frame.type === "reset" || frame.type === "failure" || frame.type === "end") return frame.type;
  const name = "name" in frame ? frame.name : frame.type;
  return taken.has(name) ? `run_${name}` : name;
}

const longestPosition = 1024;

/** Whether a text can be a position: one that can be sent as a header, to us and from us. */
export const isPosition = (text: string): boolean =>
  text.length <= longestPosition &&
  /^[\x21-\x7e\x80-\xff]([\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/.test(text);
