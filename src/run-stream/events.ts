import { copyText } from "../http/copy-text.ts";
import type { Frame } from "../sse/frames.ts";
import type {
  AssistantEventData,
  DoneEventData,
  ErrorEventData,
  HeartbeatEventData,
  InteractionUpdate,
  ResultEventData,
  StatusEventData,
  ThinkingEventData,
  ToolCallEventData,
} from "../types.ts";

/** The payload of each event of a run stream, as Stream A Run documents it. */
export interface RunEventData {
  status: StatusEventData;
  /** A piece of the reply: append it. */
  assistant: AssistantEventData;
  /** A piece of the agent's thinking: append it. */
  thinking: ThinkingEventData;
  /** One state of a tool call; later ones of the same `callId` replace it. */
  tool_call: ToolCallEventData;
  /** The richer twin of the three above, in the shape of Cursor's own SDK. */
  interaction_update: InteractionUpdate;
  heartbeat: HeartbeatEventData;
  /** The outcome; nothing but `done` follows. */
  result: ResultEventData;
  /** Something is wrong with the stream, not with the run. */
  error: ErrorEventData;
  done: DoneEventData;
}

/** The names of the documented events. */
export type RunEventType = keyof RunEventData;

/** A documented event; `data` is the wire's payload, untouched. */
export type KnownRunEvent<Type extends RunEventType = RunEventType> = {
  [Name in Type]: {
    type: Name;
    /** Opaque. `status`, `heartbeat` and `error` have none; twins, and `result` and `done`, share one. */
    id?: string;
    data: RunEventData[Name];
    /** The stream was gone: this was made from Get A Run. */
    synthesized?: true;
  };
}[Type];

/** An event this version doesn't know. */
export interface UnknownRunEvent {
  type: "unknown";
  /** The event's name on the wire. */
  name: string;
  id?: string;
  data: unknown;
}

/** An event whose payload is not what its name promises, or nests deeper than 500 levels; the stream goes on. */
export interface InvalidRunEvent {
  type: "invalid";
  name: string;
  id?: string;
  /** The payload as it came, cut at 4 KB. */
  raw: string;
}

/** One event of a run. */
export type RunEvent = KnownRunEvent | UnknownRunEvent | InvalidRunEvent;

/** Which events a stream delivers. */
export type RunStreamInclude = "simplified" | "interaction" | "all";

const rawLimit = 4096;
/** What nests deeper can be parsed, but neither be written as JSON again nor be copied: the stack overflows. */
const deepest = 500;

/** What a payload must have so that its type tells the truth; more is the server's business. */
const shapes: { [Name in RunEventType]: (data: Record<string, unknown>) => boolean } = {
  status: (data) => typeof data["status"] === "string",
  assistant: (data) => typeof data["text"] === "string",
  thinking: (data) => typeof data["text"] === "string",
  tool_call: (data) =>
    typeof data["callId"] === "string" &&
    typeof data["name"] === "string" &&
    typeof data["status"] === "string",
  interaction_update: (data) => typeof data["type"] === "string",
  heartbeat: () => true,
  result: (data) => typeof data["status"] === "string",
  error: () => true,
  done: () => true,
};

const simplifiedOnly: ReadonlySet<string> = new Set(["assistant", "thinking", "tool_call"]);

/** Whether a mode delivers events of this name; decided before the payload is parsed. */
export function isWanted(include: RunStreamInclude, name: string): boolean {
  if (include === "simplified") return name !== "interaction_update";
  if (include === "interaction") return !simplifiedOnly.has(name);
  return true;
}

/** The piece of the reply in an event, of the one family that a mode reads it from. */
export function textOf(event: RunEvent, include: RunStreamInclude): string | undefined {
  if (event.type === "assistant") return event.data.text;
  if (include !== "interaction" || event.type !== "interaction_update") return undefined;
  const { type, text } = event.data;
  return type === "text-delta" && typeof text === "string" ? text : undefined;
}

/** The SSE standard's name for a frame without `event:`. */
export const nameOf = (frame: Frame): string => frame.event ?? "message";

/** Parses a frame. Never throws: what can't be read is an `invalid` event. */
export function toRunEvent(frame: Frame): RunEvent {
  const name = nameOf(frame);
  const isKnown = Object.hasOwn(shapes, name);
  const event: Record<string, unknown> = { type: isKnown ? name : "unknown" };
  if (!isKnown) event["name"] = name;
  if (frame.id !== undefined && frame.id !== "") event["id"] = frame.id;
  const data = parse(frame.data, name);
  const isValid = isKnown
    ? typeof data === "object" &&
      data !== null &&
      shapes[name as RunEventType](data as Record<string, unknown>)
    : data !== unparsable;
  if (isValid) event["data"] = data;
  else Object.assign(event, { type: "invalid", name, raw: copyText(frame.data.slice(0, rawLimit)) });
  return event as unknown as RunEvent;
}

const unparsable = Symbol("unparsable");

function parse(text: string, name: string): unknown {
  // Frames that carry nothing by definition may carry nothing at all.
  if (text === "" && (name === "heartbeat" || name === "done")) return {};
  try {
    const data: unknown = JSON.parse(text);
    // Each level takes two characters at least.
    return text.length >= 2 * deepest && isDeeper(data, deepest) ? unparsable : data;
  } catch {
    return unparsable;
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const part of Object.values(value)) if (isDeeper(part, levels - 1)) return true;
  return false;
}
