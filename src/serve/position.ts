import { isPosition } from "./messages.ts";

/**
 * Where a browser wants to go on: the `Last-Event-ID` header, which an EventSource sends when it reconnects, else the
 * query's `lastEventId`, for who can't set a header. The header is the later word. `"unreadable"`: no position of ours.
 */
export function positionOf({ headers, url }: Request): { at?: string } | "unreadable" {
  const header = headers.get("last-event-id");
  const text = header ? fromHeader(header) : new URL(url).searchParams.get("lastEventId");
  if (text === null || text === "") return {};
  return isPosition(text) ? { at: text } : "unreadable";
}

/** Browsers send an id as UTF-8, and a `Headers` shows a header's bytes as so many characters. */
function fromHeader(value: string): string {
  if (!/[\x80-\xff]/.test(value) || /[^\0-\xff]/.test(value)) return value;
  try {
    const bytes = Uint8Array.from(value, (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return value;
  }
}
