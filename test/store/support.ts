import type { RunEvent, RunEventData } from "cursor-cloud-agents";
import { ManualClock } from "cursor-cloud-agents/emulator";
import type { ServedFrame } from "cursor-cloud-agents/serve";
import {
  createRunStore,
  type RunSnapshot,
  type RunSource,
  type RunStore,
  type RunStoreOptions,
} from "cursor-cloud-agents/store";
import { runId } from "../support/sample-run.ts";
import { settle } from "../support/waiting.ts";

// ── Events ───────────────────────────────────────────────────────────────────────────────────────────────────────

const event = (type: string, data: object, id?: string): RunEvent =>
  ({ type, ...(id === undefined ? {} : { id }), data }) as RunEvent;

export const status = (value = "RUNNING", run = runId): RunEvent =>
  event("status", { runId: run, status: value });
export const text = (id: string, value: string): RunEvent => event("assistant", { text: value }, id);
export const thinking = (id: string, value: string): RunEvent => event("thinking", { text: value }, id);
export const tool = (id: string, callId: string, state: "running" | "completed", more = {}): RunEvent =>
  event("tool_call", { callId, name: "read_file", status: state, ...more }, id);
export const result = (more: Partial<RunEventData["result"]> = {}, id = "900-0"): RunEvent =>
  event("result", { runId, status: "FINISHED", ...more }, id);
export const done: RunEvent = event("done", {}, "900-0");
export const reset: ServedFrame = { type: "reset" };
export const end: ServedFrame = { type: "end", id: `end:${runId}` };
export const failed = (final: boolean): ServedFrame => ({
  type: "failure",
  data: { message: "the run can't be read", code: "upstream", final },
});

// ── A source that is played by hand ──────────────────────────────────────────────────────────────────────────────

/** One reading of the source. */
interface Reading {
  position: string | undefined;
  signal: AbortSignal;
  report: Parameters<RunSource>[2];
  /** Sends frames; what is sent after the reader left goes nowhere. */
  send(...frames: ServedFrame[]): void;
  end(): void;
  fail(error: unknown): void;
  /** The reader has left it. */
  returned: boolean;
}

export interface PlayedSource extends RunSource {
  readonly readings: Reading[];
  /** The latest reading. */
  readonly now: Reading;
}

export function playedSource(key?: string): PlayedSource {
  const readings: Reading[] = [];
  const source = (...[position, signal, report]: Parameters<RunSource>): AsyncIterable<ServedFrame> => {
    const frames: ServedFrame[] = [];
    let ending: { error?: unknown } | undefined;
    let wake = () => {};
    const reading: Reading = {
      position,
      signal,
      report,
      send: (...more) => {
        frames.push(...more);
        wake();
      },
      end: () => {
        ending = {};
        wake();
      },
      fail: (error) => {
        ending = { error };
        wake();
      },
      returned: false,
    };
    readings.push(reading);
    const next = async (): Promise<IteratorResult<ServedFrame, undefined>> => {
      while (frames.length === 0 && !ending) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const frame = frames.shift();
      if (frame) return { done: false, value: frame };
      if (ending && "error" in ending) throw ending.error;
      return { done: true, value: undefined };
    };
    const leave = async () => {
      reading.returned = true;
      return { done: true as const, value: undefined };
    };
    return { [Symbol.asyncIterator]: () => ({ next, return: leave }) };
  };
  return Object.defineProperties(source, {
    readings: { value: readings },
    now: { get: () => readings.at(-1) },
    key: { value: key },
  }) as unknown as PlayedSource;
}

// ── Frames of a page, drawn by hand ──────────────────────────────────────────────────────────────────────────────

export function manualFrames() {
  const waiting = new Set<() => void>();
  return {
    schedule: (callback: () => void) => {
      const run = () => {
        waiting.delete(run);
        callback();
      };
      waiting.add(run);
      return () => void waiting.delete(run);
    },
    draw: () => {
      for (const run of [...waiting]) run();
    },
    waiting,
  };
}

/** A store over a played source, with a subscriber that keeps every snapshot it is told of. */
export function stage(options: RunStoreOptions & { source?: PlayedSource } = {}) {
  const { source = playedSource("run"), ...rest } = options;
  const clock = new ManualClock();
  const frames = manualFrames();
  const store = createRunStore(source, { clock, schedule: frames.schedule, ...rest });
  const seen: RunSnapshot[] = [];
  const listen = (watched: RunStore = store) => watched.subscribe(() => seen.push(watched.getSnapshot()));
  /** Sends frames, lets them arrive, and draws a frame. */
  const play = async (...sent: ServedFrame[]) => {
    source.now.send(...sent);
    await settle();
    frames.draw();
    return store.getSnapshot();
  };
  return { source, clock, frames, store, seen, listen, play };
}
