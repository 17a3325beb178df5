import { concatBytes, toBytes } from "../body-source.ts";
import type { Git, RunStatus } from "../store.ts";

/** One frame of a recorded stream with its unchanged bytes. */
export interface RecordedFrame {
  bytes: Uint8Array;
  name: string;
  id?: string;
  /** The status in a `status` frame. */
  status?: string;
}

/** The outcome in a recorded `result` frame. */
export interface RecordedOutcome {
  status: RunStatus;
  text?: string;
  durationMs?: number;
  git?: Git;
}

/** A parsed recording of a stream. */
export interface Recording {
  frames: RecordedFrame[];
  outcome?: RecordedOutcome;
  /** Whether it has an `error` frame and no result. */
  failed: boolean;
}

const LINE_FEED = 10;

const CARRIAGE_RETURN = 13;

/** Splits after each blank line, with any kind of line ends. No byte is dropped. */
function splitBlocks(bytes: Uint8Array): Uint8Array[] {
  const blocks: Uint8Array[] = [];
  let start = 0;
  let lineEmpty = true;
  let lines = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) {
      lineEmpty = false;
      continue;
    }
    if (byte === CARRIAGE_RETURN && bytes[at + 1] === LINE_FEED) at++;
    if (lineEmpty && lines > 0) {
      blocks.push(bytes.subarray(start, at + 1));
      start = at + 1;
      lines = 0;
    } else if (!lineEmpty) {
      lines++;
    }
    lineEmpty = true;
  }
  if (start < bytes.length) blocks.push(bytes.subarray(start));
  return blocks;
}

function parseFrame(bytes: Uint8Array): { frame: RecordedFrame; data: string } {
  let name = "message";
  let id: string | undefined;
  const data: string[] = [];
  for (const line of new TextDecoder().decode(bytes).split(/\r\n|\n|\r/)) {
    const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === "event") name = value;
    else if (field === "id") id = value;
    else if (field === "data") data.push(value);
  }
  return { frame: { bytes, name, ...(id === undefined ? {} : { id }) }, data: data.join("\n") };
}

function readJson(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined; // A recording may contain invalid frames; they are played unchanged.
  }
}

function toOutcome(data: Record<string, unknown>): RecordedOutcome {
  return {
    status: typeof data["status"] === "string" ? (data["status"] as RunStatus) : "FINISHED",
    ...(typeof data["text"] === "string" ? { text: data["text"] } : {}),
    ...(typeof data["durationMs"] === "number" ? { durationMs: data["durationMs"] } : {}),
    ...(typeof data["git"] === "object" && data["git"] !== null ? { git: data["git"] as Git } : {}),
  };
}

/** Parses a recorded body of Stream A Run. */
export function parseRecording(recording: string | Uint8Array): Recording {
  const bytes = typeof recording === "string" ? toBytes(recording) : concatBytes([recording]);
  const frames: RecordedFrame[] = [];
  let outcome: RecordedOutcome | undefined;
  let failed = false;
  for (const block of splitBlocks(bytes)) {
    const { frame, data } = parseFrame(block);
    const json = frame.name === "status" || frame.name === "result" ? readJson(data) : undefined;
    if (frame.name === "status" && typeof json?.["status"] === "string") frame.status = json["status"];
    if (frame.name === "result" && json !== undefined) outcome ??= toOutcome(json);
    if (frame.name === "error") failed = true;
    frames.push(frame);
  }
  return { frames, ...(outcome === undefined ? {} : { outcome }), failed: failed && outcome === undefined };
}
