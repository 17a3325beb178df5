import { toBytes } from "../body-source.ts";
import type { AgentMode, RunStatus, Usage } from "../store.ts";
import { parseRecording, type RecordedFrame, type RecordedOutcome } from "./recording.ts";

/** Any JSON value. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** What {@link RunScript.tool} may be told beside name, arguments and result. */
export interface ToolOptions {
  /** @default a new `tool_<uuid>` */
  callId?: string;
  /** The tool failed: the result becomes `{ error }`; the status is `completed` all the same, as on the wire. */
  error?: JsonValue;
  /** The arguments on their way: each is sent as `running` before the full ones. */
  growingArgs?: readonly JsonValue[];
  /** Leaves the field out and sets the flag, as the service does with values too large for the stream. */
  truncated?: { args?: true; result?: true };
}

/** How {@link RunScript.cut} cuts. */
export interface CutOptions {
  /** End the body as if it were complete, instead of destroying the connection. @default false */
  clean?: boolean;
  /** Bytes that still get through: a cut inside the next frame, or inside one of its characters. */
  afterBytes?: number;
  /** Frames that still get through. 1 before {@link RunScript.text}: a cut between the twins. */
  afterEvents?: number;
}

/** How {@link RunScript.finish} ends a run. */
export interface FinishOptions {
  /** Final reply. @default all text of the script; `""`: the result has no text */
  text?: string;
  /** Pull request on the pushed branch. @default one is made up if the agent has autoCreatePR */
  prUrl?: string;
  /** Branch that was pushed. @default one is made up if there is a `prUrl` and nothing was pushed yet */
  branch?: string;
  /** Wall-clock duration in milliseconds. @default what the clock says */
  durationMs?: number;
}

/** @internal */
export type ScriptStep =
  | { kind: "thinking" | "text"; text: string }
  | { kind: "tool"; name: string; args?: JsonValue; result?: JsonValue; options: ToolOptions }
  | { kind: "wait"; ms: number }
  | { kind: "hold"; name: string }
  | { kind: "status"; status: string }
  | { kind: "event"; name: string; data: unknown; id?: string | false }
  | { kind: "raw"; bytes: Uint8Array }
  | { kind: "error"; code: string; message: string }
  | { kind: "cut"; options: CutOptions }
  | { kind: "stall" }
  | { kind: "artifact"; path: string; bytes: Uint8Array; contentType?: string }
  | { kind: "usage"; usage: Partial<Usage> }
  | { kind: "branch"; branch: string; repoUrl?: string; prUrl?: string }
  | { kind: "recorded"; frame: RecordedFrame }
  | { kind: "outcome"; outcome: RecordedOutcome }
  | { kind: "end"; status: RunStatus; options: FinishOptions };

/** What a script is written for. */
export interface RunScriptContext {
  /** The prompt's text. */
  readonly prompt: string;
  /** The agent's id. */
  readonly agentId: string;
  /** The run's id. */
  readonly runId: string;
  /** URL of the agent's first repository. */
  readonly repoUrl?: string;
  /** Whether the agent opens a pull request when a run ends. */
  readonly autoCreatePR: boolean;
  /** The conversation's mode. */
  readonly mode: AgentMode;
}

/**
 * What one run does, step by step. Without `wait` or `hold` all of it happens at once, before anybody reads; each reader
 * then gets the whole stream in order. A script without an ending ends in {@link RunScript.finish}.
 *
 * @example
 * emulator.script(/readme/i, (run) =>
 *   run.thinking("Looking around.").text("Hel").tool("read_file", { path: "README.md" }, { content: "# Hi" })
 *     .cut().text("lo").artifact("artifacts/report.md", "# Report").finish({ branch: "cursor/readme" }));
 */
export class RunScript {
  /** The prompt, ids and options of the run this script is for. */
  readonly context: RunScriptContext;
  /** @internal */
  readonly steps: ScriptStep[] = [];
  /** Whole bodies that the first connections get instead of the stream. @internal */
  readonly preludes: ("unavailable" | Uint8Array)[] = [];
  #ended = false;

  constructor(context: RunScriptContext) {
    this.context = context;
  }

  /** The prompt of this run. */
  get prompt(): string {
    return this.context.prompt;
  }

  /** A piece of thinking: a `thinking` frame and its `thinking-delta` twin. */
  thinking(text: string): this {
    checkText("thinking", text);
    return this.#add({ kind: "thinking", text });
  }

  /** A piece of the reply: an `assistant` frame and its `text-delta` twin. */
  text(delta: string): this {
    checkText("text", delta);
    return this.#add({ kind: "text", text: delta });
  }

  /** A whole tool call: `running` without arguments, `running` with them, `completed`. The result is wrapped as `{ success }`. */
  tool(name: string, args?: JsonValue, result?: JsonValue, options: ToolOptions = {}): this {
    const values = { ...(args === undefined ? {} : { args }), ...(result === undefined ? {} : { result }) };
    return this.#add({ kind: "tool", name, ...values, options });
  }

  /** Lets `ms` milliseconds pass on the emulator's clock. */
  wait(ms: number): this {
    return this.#add({ kind: "wait", ms });
  }

  /** Goes on when `emulator.release(name)` is called (or was: a released gate stays open). */
  hold(name: string): this {
    return this.#add({ kind: "hold", name });
  }

  /** An id-less `status` frame; every reader gets it. A status that is not terminal becomes the run's own. */
  status(status: string): this {
    return this.#add({ kind: "status", status });
  }

  /** Any event, known or not. `id`: one of your own, or `false` for none. @default a new id */
  event(name: string, data: unknown, options: { id?: string | false } = {}): this {
    return this.#add({ kind: "event", name, data, ...options });
  }

  /** Bytes as they are, in the middle of the stream. */
  raw(text: string | Uint8Array): this {
    return this.#add({ kind: "raw", bytes: typeof text === "string" ? toBytes(text) : text });
  }

  /** Once: the first connection that gets here is sent `error` and `done` (both without an id) and ended. The run goes on. */
  error(code: string, message: string): this {
    return this.#add({ kind: "error", code, message });
  }

  /** Once: the first connection that gets here is destroyed, or ended cleanly. */
  cut(options: CutOptions = {}): this {
    return this.#add({ kind: "cut", options });
  }

  /** Once: the first connection that gets here hears nothing more, no heartbeat either, and stays open. */
  stall(): this {
    return this.#add({ kind: "stall" });
  }

  /** The first connections are told `stream_unavailable` inside the stream, as runs opened too early are. */
  unavailable(times = 1): this {
    for (let count = 0; count < times; count++) this.preludes.push("unavailable");
    return this;
  }

  /** Writes a file; `path` as List Artifacts will show it. */
  artifact(path: string, bytes: Uint8Array | string, contentType?: string): this {
    checkText("artifact", path);
    if (!path.startsWith("artifacts/")) {
      throw new TypeError(`RunScript: artifact() takes a path that starts with "artifacts/", not "${path}"`);
    }
    const content = typeof bytes === "string" ? toBytes(bytes) : bytes;
    return this.#add({
      kind: "artifact",
      path,
      bytes: content,
      ...(contentType === undefined ? {} : { contentType }),
    });
  }

  /** Token counts from now on; `totalTokens` is summed up. @default counted from what the run said, at its end */
  usage(usage: Partial<Usage>): this {
    return this.#add({ kind: "usage", usage });
  }

  /** Pushes a branch: visible at once in `git` of every run of the agent. */
  branch(name: string, options: { repoUrl?: string; prUrl?: string } = {}): this {
    return this.#add({ kind: "branch", branch: name, ...options });
  }

  /** Ends the run as FINISHED. */
  finish(options: FinishOptions = {}): this {
    return this.#end("FINISHED", options);
  }

  /** Ends the run as ERROR; its result has no text and no reason, as on the wire. */
  fail(options: { durationMs?: number } = {}): this {
    return this.#end("ERROR", options);
  }

  /** Ends the run as EXPIRED. */
  expire(options: { durationMs?: number } = {}): this {
    return this.#end("EXPIRED", options);
  }

  /** Ends the run as CANCELLED, as if somebody else had cancelled it. */
  cancelled(options: { durationMs?: number } = {}): this {
    return this.#end("CANCELLED", options);
  }

  /**
   * Plays a recorded body of Stream A Run, frame by frame and byte by byte, run ids included. Its `result` frame is the
   * outcome. A recorded refusal (an `error` frame, no result) is what the first connection gets; the run then goes on.
   */
  replay(recording: string | Uint8Array): this {
    const parsed = parseRecording(recording);
    if (!parsed.frames.some(({ name }) => name !== "message")) {
      throw new TypeError("RunScript: replay() takes the body of a run's stream; this has no event of one");
    }
    if (parsed.outcome === undefined && parsed.refused) {
      this.preludes.push(typeof recording === "string" ? toBytes(recording) : recording);
      return this;
    }
    const outcomeAt = parsed.frames.findIndex((frame) => frame.name === "result");
    parsed.frames.forEach((frame, index) => {
      if (index === outcomeAt && parsed.outcome !== undefined)
        this.#add({ kind: "outcome", outcome: parsed.outcome });
      this.#add({ kind: "recorded", frame });
    });
    if (parsed.outcome !== undefined) this.#ended = true;
    return this;
  }

  /** The steps, with an ending. @internal */
  complete(): readonly ScriptStep[] {
    if (!this.#ended) this.finish();
    return this.steps;
  }

  #end(status: RunStatus, options: FinishOptions): this {
    this.#add({ kind: "end", status, options });
    this.#ended = true;
    return this;
  }

  #add(step: ScriptStep): this {
    if (this.#ended) throw new Error(`RunScript: "${step.kind}" after the run has ended`);
    this.steps.push(step);
    return this;
  }
}

function checkText(step: string, text: unknown): void {
  if (typeof text !== "string")
    throw new TypeError(`RunScript: ${step}() takes a string, not ${typeof text}`);
}
