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
  /** The status changed. Not the outcome, not even with a terminal status: that is `result`. */
  status: StatusEventData;
  /** A piece of the reply: append it. */
  assistant: AssistantEventData;
  /** A piece of the agent's thinking: append it. */
  thinking: ThinkingEventData;
  /** One state of a tool call; a later state of the same `callId` replaces it. */
  tool_call: ToolCallEventData;
  /** The richer twin of the three events above, in the shape of Cursor's own SDK. */
  interaction_update: InteractionUpdate;
  /** A sign of life, every 15 seconds. */
  heartbeat: HeartbeatEventData;
  /** The outcome; nothing but `done` follows. */
  result: ResultEventData;
  /** The stream failed, which does not mean that the run did. */
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
    /** The server never sent this event: it was made from Get A Run, or supplied to close the stream. */
    synthesized?: true;
  };
}[Type];

/** An event that this version doesn't know. */
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

/** An event whose payload is not what its name promises, or nests deeper than 500 levels. The stream continues. */
export interface InvalidRunEvent {
  /** Always `invalid`; `name` says what it should be. */
  type: "invalid";
  /** The event's name on the wire. */
  name: string;
  /** Opaque; absent where the wire had none. */
  id?: string;
  /** The payload as received, cut at 4 KB. */
  raw: string;
}

/** One event of a run. */
export type RunEvent = KnownRunEvent | UnknownRunEvent | InvalidRunEvent;

/** Which events a stream delivers. */
export type RunStreamInclude = "simplified" | "interaction" | "all";

const rawLimit = 4096;

/**
 * The type of an event by its name, if its payload has the fields that this library relies on.
 *
 * A switch with literals rather than a lookup: names fresh from the wire would have to be hashed first, and returning
 * one would keep the whole chunk of which it is a view.
 */
function typeOf(name: string, data: Record<string, unknown>): RunEventType | "unknown" | "invalid" {
  switch (name) {
    case "interaction_update":
      return typeof data["type"] === "string" ? "interaction_update" : "invalid";
    case "assistant":
      return typeof data["text"] === "string" ? "assistant" : "invalid";
    case "thinking":
      return typeof data["text"] === "string" ? "thinking" : "invalid";
    case "tool_call": {
      const isNamed = typeof data["callId"] === "string" && typeof data["name"] === "string";
      return isNamed && typeof data["status"] === "string" ? "tool_call" : "invalid";
    }
    case "heartbeat":
      return "heartbeat";
    case "status":
      return typeof data["status"] === "string" ? "status" : "invalid";
    case "result":
      return typeof data["status"] === "string" ? "result" : "invalid";
    case "error":
      return "error";
    case "done":
      return "done";
    default:
      return "unknown";
  }
}

/** Whether a mode delivers events of this name; decided before the payload is parsed. */
export function isWanted(include: RunStreamInclude, name: string | undefined): boolean {
  if (include === "simplified") return name !== "interaction_update";
  if (include === "interaction") return name !== "assistant" && name !== "thinking" && name !== "tool_call";
  return true;
}

/** The piece of the reply in an event, if it has one. Where a mode delivers both twins, only `assistant` counts. */
export function textOf(event: RunEvent, include: RunStreamInclude): string | undefined {
  if (event.type === "assistant") return event.data.text;
  if (include !== "interaction" || event.type !== "interaction_update") return undefined;
  const { type, text } = event.data;
  return type === "text-delta" && typeof text === "string" ? text : undefined;
}

/** The SSE standard's name for a frame without `event:`. */
const defaultName = "message";

/** Parses a frame. Never throws: what can't be read becomes an `invalid` event. */
export function toRunEvent(frame: Frame): RunEvent {
  const name = frame.event ?? defaultName;
  const data = parse(frame.data, name);
  const isObject = typeof data === "object" && data !== null;
  const type = typeOf(name, isObject ? (data as Record<string, unknown>) : nothing);
  const { id } = frame;
  if (type === "unknown") {
    if (data === unparsable) return invalid(frame);
    return id ? { type, name, id, data } : { type, name, data };
  }
  if (type === "invalid" || !isObject) return invalid(frame);
  // Two literals rather than a spread: objects of few shapes are faster to read.
  return (id ? { type, id, data } : { type, data }) as KnownRunEvent;
}

const nothing = {};

function invalid(frame: Frame): InvalidRunEvent {
  return {
    type: "invalid",
    name: frame.event ?? defaultName,
    ...(frame.id ? { id: frame.id } : {}),
    raw: copyText(frame.data.slice(0, rawLimit)),
  };
}

const unparsable = Symbol("unparsable");

function parse(text: string, name: string): unknown {
  // These events have no payload, so theirs may be empty.
  if (text === "" && (name === "heartbeat" || name === "done")) return {};
  try {
    const data: unknown = JSON.parse(text);
    // A shorter text cannot nest that deep.
    return text.length > 1_000 && isDeeper(data, 500) ? unparsable : data;
  } catch {
    return unparsable;
  }
}

/** A value nested too deep can be parsed, but writing it as JSON or copying it would overflow the stack. */
const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (!levels || Object.values(value).some((part) => isDeeper(part, levels - 1)));

/** How a run ended, from its `result` event or from Get A Run. */
export type Outcome = Pick<RunEventData["result"], "status" | "text" | "durationMs" | "git"> & {
  source: "stream" | "run";
};

/** The outcome by Get A Run. */
export const outcomeOf = (run: Run): Outcome => toOutcome({ ...run, text: run.result }, "run");

/** The outcome by the `result` event. */
export const outcomeOfResult = (data: RunEventData["result"]): Outcome => toOutcome(data, "stream");

/** The two events that close a stream, made from the run. */
export function closingEvents(run: Run): RunEvent[] {
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

/** How far a run is by its status; undefined for a status that this version doesn't know. */
const stageOf = (status: string): number | undefined =>
  isTerminalStatus(status) ? 2 : Object.hasOwn(stages, status) ? stages[status] : undefined;

/**
 * Whether a status without an id is new. Each connection opens with the current status, and a replay repeats old ones.
 * A run never goes back to an earlier stage, so a status of an earlier stage is an old one.
 */
export function isStatusNews(status: string, last: string | undefined): boolean {
  if (last === undefined) return true;
  const lastStage = stageOf(last);
  // An unknown status may belong anywhere before the end; after a terminal one, it is old.
  const stage = stageOf(status) ?? 1;
  return status !== last && (lastStage === undefined || stage >= lastStage);
}
