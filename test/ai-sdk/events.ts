import type { RunEvent, RunEventData } from "cursor-cloud-agents";
import type { RunEventSource, UIMessageChunk } from "cursor-cloud-agents/ai-sdk";
import { ref, runId } from "../support/sample-run.ts";

// Events as the client delivers them, and the chunks that they are expected to become.

export const status = (value: string): RunEvent => ({ type: "status", data: { runId, status: value } });
export const assistant = (text: string): RunEvent => ({ type: "assistant", data: { text } });
export const thinking = (text: string): RunEvent => ({ type: "thinking", data: { text } });
export const tool = (
  callId: string,
  state: string,
  more: Partial<RunEventData["tool_call"]> = {},
): RunEvent => ({ type: "tool_call", data: { callId, name: "read_file", status: state, ...more } });
export const result = (data: Partial<RunEventData["result"]> = {}): RunEvent => ({
  type: "result",
  data: { runId, status: "FINISHED", ...data },
});
export const error: RunEvent = { type: "error", data: { code: "internal_error", message: "secret words" } };
export const heartbeat: RunEvent = { type: "heartbeat", data: {} };
export const done: RunEvent = { type: "done", data: {} };
export const unknown: RunEvent = { type: "unknown", name: "novelty", data: { a: 1 } };
export const invalid: RunEvent = { type: "invalid", name: "assistant", raw: "{" };
export const update: RunEvent = {
  type: "interaction_update",
  data: { type: "text-delta", text: "twin" },
};

/** Events from elsewhere than a RunStream; ends in `failure`, where there is one. */
export function source(events: readonly RunEvent[], failure?: unknown): RunEventSource {
  return {
    ref,
    async *[Symbol.asyncIterator]() {
      yield* events;
      if (failure !== undefined) throw failure;
    },
  };
}

export const run = (more: object = {}): UIMessageChunk => ({
  type: "data-run",
  id: "run",
  data: { agentId: ref.agentId, runId, ...more },
});
export const remote = (toolCallId: string) =>
  ({ toolCallId, dynamic: true, providerExecuted: true }) as const;
export const start: UIMessageChunk[] = [
  { type: "start", messageId: runId },
  { type: "start-step" },
  run(),
  run({ status: "RUNNING" }),
];
export const finish: UIMessageChunk[] = [
  run({ status: "FINISHED" }),
  { type: "finish-step" },
  { type: "finish" },
];

/** Events that come when they are sent. */
export function feed() {
  const waiting: ((result: IteratorResult<RunEvent, undefined>) => void)[] = [];
  const state = { asked: 0, left: 0 };
  const iterator: AsyncIterator<RunEvent, undefined> = {
    next: () => {
      state.asked++;
      return new Promise((resolve) => waiting.push(resolve));
    },
    return: async () => {
      state.left++;
      return { done: true, value: undefined };
    },
  };
  return {
    state,
    stream: { ref, [Symbol.asyncIterator]: () => iterator },
    send: (event: RunEvent) => waiting.shift()?.({ done: false, value: event }),
  };
}

export const text = (id: number, ...deltas: string[]) => block("text", id, deltas);
export const reasoning = (id: number, ...deltas: string[]) => block("reasoning", id, deltas);
const block = (type: string, id: number, deltas: string[]) => [
  { type: `${type}-start`, id: `${type}-${id}` },
  ...deltas.map((delta) => ({ type: `${type}-delta`, id: `${type}-${id}`, delta })),
  { type: `${type}-end`, id: `${type}-${id}` },
];
