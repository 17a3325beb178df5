import type { Frame } from "../sse.ts";
import { copyText } from "../text.ts";
import {
  type AssistantEventData,
  type DoneEventData,
  type ErrorEventData,
  type HeartbeatEventData,
  type InteractionUpdate,
  isTerminalStatus,
  type ResultEventData,
  type Run,
  type StatusEventData,
  type ThinkingEventData,
  type ToolCallEventData,
} from "../types.ts";

/** The payload of each event of a run stream, as Stream A Run documents it. */
export interface RunEventData {
  /** A change of status; no outcome. */
  status: StatusEventData;
  /** A piece of the reply: append it. */
  assistant: AssistantEventData;
  /** A piece of the agent's thinking: append it. */
  thinking: ThinkingEventData;
  /** One state of a tool call; later ones of the same `callId` replace it. */
  tool_call: ToolCallEventData;
  /** The richer twin of the three above, in the shape of Cursor's own SDK. */
  interaction_update: InteractionUpdate;
  /** A sign of life, every 15 seconds. */
  heartbeat: HeartbeatEventData;
  /** The outcome; nothing but `done` follows. */
  result: ResultEventData;
  /** Something is wrong with the stream, not with the run. */
  error: ErrorEventData;
  /** The end of the stream. */
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
  /** Always `unknown`; `name` says what it is. */
  type: "unknown";
  /** The event's name on the wire. */
  name: string;
  /** Opaque; absent where the wire had none. */
  id?: string;
  /** The parsed payload, untouched. */
  data: unknown;
}

/** An event whose payload is not what its name promises, or nests deeper than 500 levels; the stream goes on. */
export interface InvalidRunEvent {
  /** Always `invalid`; `name` says what it should be. */
  type: "invalid";
  /** The event's name on the wire. */
  name: string;
  /** Opaque; absent where the wire had none. */
  id?: string;
  /** The payload as it came, cut at 4 KB. */
  raw: string;
}

/** One event of a run. */
export type RunEvent = KnownRunEvent | UnknownRunEvent | InvalidRunEvent;

/** Which events a stream delivers. */
export type RunStreamInclude = "simplified" | "interaction" | "all";

const rawLimit = 4096;

const isText = (value: unknown): boolean => typeof value === "string";

/**
 * What an event is by its name, provided that its payload has what the name promises; more is the server's business.
 * Compared rather than looked up, and answered with a literal: names fresh from the wire would have to be hashed, and
 * each is a view of its whole chunk.
 */
function typeOf(name: string, data: Record<string, unknown>): RunEventType | "unknown" | "invalid" {
  switch (name) {
    case "interaction_update":
      return isText(data["type"]) ? "interaction_update" : "invalid";
    case "assistant":
      return isText(data["text"]) ? "assistant" : "invalid";
    case "thinking":
      return isText(data["text"]) ? "thinking" : "invalid";
    case "tool_call":
      return isText(data["callId"]) && isText(data["name"]) && isText(data["status"])
        ? "tool_call"
        : "invalid";
    case "heartbeat":
      return "heartbeat";
    case "status":
      return isText(data["status"]) ? "status" : "invalid";
    case "result":
      return isText(data["status"]) ? "result" : "invalid";
    case "error":
      return "error";
    case "done":
      return "done";
    default:
      return "unknown";
  }
}

/** Whether a mode delivers events of this name; decided before the payload is parsed. */
export function isWanted(include: RunStreamInclude, name: string): boolean {
  if (include === "simplified") return name !== "interaction_update";
  if (include === "interaction") return name !== "assistant" && name !== "thinking" && name !== "tool_call";
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
  const data = parse(frame.data, name);
  const isObject = typeof data === "object" && data !== null;
  const type = typeOf(name, isObject ? (data as Record<string, unknown>) : nothing);
  const { id } = frame;
  if (type === "unknown") {
    if (data === unparsable) return invalid(frame);
    return id ? { type, name, id, data } : { type, name, data };
  }
  if (type === "invalid" || !isObject) return invalid(frame);
  // Written out, so that all events have one of two shapes.
  return (id ? { type, id, data } : { type, data }) as KnownRunEvent;
}

const nothing = {};

function invalid(frame: Frame): InvalidRunEvent {
  return {
    type: "invalid",
    name: nameOf(frame),
    ...(frame.id ? { id: frame.id } : {}),
    raw: copyText(frame.data.slice(0, rawLimit)),
  };
}

const unparsable = Symbol("unparsable");

function parse(text: string, name: string): unknown {
  // Frames that carry nothing by definition may carry nothing at all.
  if (text === "" && (name === "heartbeat" || name === "done")) return {};
  try {
    const data: unknown = JSON.parse(text);
    // A shorter text has no room for so many levels.
    return text.length > 1_000 && isDeeper(data, 500) ? unparsable : data;
  } catch {
    return unparsable;
  }
}

/** What nests too deep can be parsed, but neither be written as JSON again nor be copied: the stack overflows. */
const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (!levels || Object.values(value).some((part) => isDeeper(part, levels - 1)));

/** How a run came out, from its `result` event or from Get A Run. */
export type Outcome = Pick<RunEventData["result"], "status" | "text" | "durationMs" | "git"> & {
  source: "stream" | "run";
};

/** The outcome as Get A Run tells it. */
export const outcomeOf = (run: Run): Outcome => toOutcome({ ...run, text: run.result }, "run");

/** The outcome as the stream tells it. */
export const outcomeOfResult = (data: RunEventData["result"]): Outcome => toOutcome(data, "stream");

/** The two events with which a stream that is gone would have ended. */
export function endOfStream(run: Run): RunEvent[] {
  const { source: _, ...outcome } = outcomeOf(run);
  return [
    { type: "result", data: { runId: run.id, ...outcome }, synthesized: true },
    { type: "done", data: {}, synthesized: true },
  ];
}

function toOutcome(
  {
    status,
    text,
    durationMs,
    git,
  }: Pick<RunEventData["result"], "status" | "durationMs" | "git"> & { text?: string | undefined },
  source: Outcome["source"],
): Outcome {
  return {
    status,
    ...(text === undefined ? {} : { text }),
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(git === undefined ? {} : { git }),
    source,
  };
}

const stages: Record<string, number> = { CREATING: 0, RUNNING: 1 };

/** How far a run is by its status; a status this version doesn't know has no place. */
const stageOf = (status: string): number | undefined =>
  isTerminalStatus(status) ? 2 : Object.hasOwn(stages, status) ? stages[status] : undefined;

/**
 * Whether an id-less status tells a reader something: each connection opens with the current one, and a replay tells
 * old ones again. A run never goes back, so neither does what is told of it.
 */
export function isStatusNews(status: string, last: string | undefined): boolean {
  if (last === undefined) return true;
  const lastStage = stageOf(last);
  // One that is unknown may come anywhere before the end: behind it, it is an old one told again.
  const stage = stageOf(status) ?? 1;
  return status !== last && (lastStage === undefined || stage >= lastStage);
}
