import type { RunEvent } from "cursor-cloud-agents";
import { runId } from "./sample-run.ts";

// ── Frames as text, the way the API sends them ───────────────────────────────────────────────────────────────────

/** One frame of an event stream. A string is sent as it is, other data as JSON; without a name there is no `event` line. */
export function frame(event: string | undefined, data: unknown, id?: string): string {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return `${id === undefined ? "" : `id: ${id}\n`}${event === undefined ? "" : `event: ${event}\n`}data: ${text}\n\n`;
}
export const status = (value = "RUNNING"): string => frame("status", { runId, status: value });
export const assistant = (id: string, text: string): string => frame("assistant", { text }, id);
export const thinking = (id: string, text: string): string => frame("thinking", { text }, id);
export const tool = (id: string, callId: string, state: "running" | "completed", more = {}): string =>
  frame("tool_call", { callId, name: "read_file", status: state, ...more }, id);
/** A tool call whose arguments can be parsed, but are too deeply nested to be written as JSON again. */
export const tooDeep = (id: string): string => {
  const args = "[".repeat(20_000) + "]".repeat(20_000);
  return frame("tool_call", `{"callId":"deep","name":"x","status":"running","args":${args}}`, id);
};
export const update = (id: string, data: object): string => frame("interaction_update", data, id);
export const errorFrame = (code: string, message = "m"): string => frame("error", { code, message });
export const heartbeat = frame("heartbeat", {});
export const result = (data: object = {}, id = "900-0"): string =>
  frame("result", { runId, status: "FINISHED", text: "Hello", durationMs: 10, ...data }, id);
export const done = frame("done", {}, "900-0");

// ── Events, as the client delivers them ──────────────────────────────────────────────────────────────────────────

/** `name#id text`, for comparing whole streams at a glance. */
export function brief(event: RunEvent): string {
  const name = "name" in event ? `${event.type}:${event.name}` : event.type;
  const data = "data" in event ? (event.data as Record<string, unknown>) : {};
  const detail =
    data["text"] ?? (event.type === "status" || event.type === "tool_call" ? data["status"] : data["type"]);
  return `${name}${event.id === undefined ? "" : `#${event.id}`}${typeof detail === "string" ? ` ${detail}` : ""}`;
}

export const briefly = (events: RunEvent[]): string[] => events.map(brief);
