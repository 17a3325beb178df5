import type { RunEvent, RunEventData } from "./events.ts";

/** One tool call, in its latest state. */
export interface TranscriptTool {
  /** The same over all states of one call. */
  callId: string;
  /** The tool's name; an open set. Interaction updates and `tool_call` events use different names (`shell`, `read`, …). */
  name: string;
  /** The status in the latest state. */
  status: RunEventData["tool_call"]["status"];
  /** The call's arguments, as far as they are known. */
  args?: unknown;
  /** Wrapped by the server: `{ success: … }` or `{ error: … }`. */
  result?: unknown;
  /** What the server left out because it was too large. */
  truncated?: { args?: true; result?: true };
}

/** What a run has said and done so far. Immutable: each event makes a new one that shares the unchanged parts. */
export interface Transcript {
  /** The reply, as streamed. */
  readonly text: string;
  /** The thinking, as streamed. */
  readonly thinking: string;
  /** In the order of their first appearance, one per `callId`. */
  readonly tools: readonly TranscriptTool[];
  /** The family of events it is made of: the one that came first. Both families have the same content. */
  readonly family?: "simplified" | "interaction";
}

/** An empty transcript to start from. */
export const emptyTranscript: Transcript = { text: "", thinking: "", tools: [] };

type Change = { text?: string; thinking?: string; tool?: TranscriptTool };

/**
 * Adds an event to a transcript; returns the same object when it changes nothing.
 *
 * @example
 * let transcript = emptyTranscript;
 * for await (const event of cursor.runs.stream(run)) transcript = reduceTranscript(transcript, event);
 */
export function reduceTranscript(transcript: Transcript, event: RunEvent): Transcript {
  const family = event.type === "interaction_update" ? "interaction" : "simplified";
  const change = event.type === "interaction_update" ? fromUpdate(event.data) : fromSimplified(event);
  // Where both families are delivered, the second one would repeat the content of the first.
  if (!change || (transcript.family ?? family) !== family) return transcript;
  return {
    text: transcript.text + (change.text ?? ""),
    thinking: transcript.thinking + (change.thinking ?? ""),
    tools: change.tool ? upsert(transcript.tools, change.tool) : transcript.tools,
    family,
  };
}

function fromSimplified(event: RunEvent): Change | undefined {
  if (event.type === "assistant") return { text: event.data.text };
  if (event.type === "thinking") return { thinking: event.data.text };
  if (event.type !== "tool_call") return undefined;
  const { callId, name, status, args, result, truncated } = event.data;
  return { tool: tool(callId, name, status, args, result, truncated as TranscriptTool["truncated"]) };
}

function fromUpdate(update: RunEventData["interaction_update"]): Change | undefined {
  const { type, text, callId, toolCall } = update as {
    type: string;
    text?: unknown;
    callId?: unknown;
    toolCall?: { type?: unknown; args?: unknown; result?: unknown } | null;
  };
  if (type === "text-delta") return typeof text === "string" ? { text } : undefined;
  if (type === "thinking-delta") return typeof text === "string" ? { thinking: text } : undefined;
  if (type !== "tool-call-started" && type !== "partial-tool-call" && type !== "tool-call-completed")
    return undefined;
  if (typeof callId !== "string") return undefined;
  const status = type === "tool-call-completed" ? "completed" : "running";
  return {
    tool: tool(callId, String(toolCall?.type ?? "unknown"), status, toolCall?.args, toolCall?.result),
  };
}

function tool(
  callId: string,
  name: string,
  status: TranscriptTool["status"],
  args: unknown,
  result: unknown,
  truncated?: TranscriptTool["truncated"],
): TranscriptTool {
  return {
    callId,
    name,
    status,
    ...(args === undefined ? {} : { args }),
    ...(result === undefined ? {} : { result }),
    ...(truncated === undefined ? {} : { truncated }),
  };
}

/** Merges a state into the earlier one: `completed` may leave out args that `running` had. */
function upsert(tools: readonly TranscriptTool[], next: TranscriptTool): readonly TranscriptTool[] {
  const index = tools.findIndex(({ callId }) => callId === next.callId);
  if (index < 0) return [...tools, next];
  const copy = [...tools];
  copy[index] = { ...tools[index], ...next };
  return copy;
}
