import { toBytes } from "../body-source.ts";
import {
  anything,
  bool,
  checkOptions,
  content,
  count,
  duration,
  either,
  enforce,
  group,
  list,
  name as nameCheck,
  type OptionTable,
  oneOf,
  string,
} from "../check-options.ts";
import type { AgentMode, RunStatus, Usage } from "../store.ts";
import { parseRecording, type RecordedFrame, type RecordedOutcome } from "./recording.ts";

/** Any JSON value. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** Options of {@link RunScript.tool}. */
export interface ToolOptions {
  /** @default a new `tool_<uuid>` */
  callId?: string;
  /** The tool failed: the result becomes `{ error }`. The status is still `completed`, as with the service. */
  error?: JsonValue;
  /** Partial arguments; each is sent as `running` before the full ones. @default the path of an `edit_file` with `streamContent` */
  growingArgs?: readonly JsonValue[];
  /** Sends arguments and result exactly as given, without the fields that the service adds to some tools. @default false */
  exact?: boolean;
  /** Leaves the field out and sets the flag, as the service does for values too large for the stream. */
  truncated?: { args?: true; result?: true };
}

/** One of the calls of {@link RunScript.tools}. */
export interface ToolCall extends ToolOptions {
  /** Name of the tool, such as `read_file`. */
  name: string;
  /** Its arguments. */
  args?: JsonValue;
  /** Its result, which is wrapped as `{ success }`. */
  result?: JsonValue;
}

/** Options of {@link RunScript.cut}. */
export interface CutOptions {
  /** End the body as if it were complete, instead of destroying the connection. @default false */
  clean?: boolean;
  /** Bytes that still get through, to cut inside the next frame or inside one of its characters. */
  afterBytes?: number;
  /** Frames that still get through. 1 before {@link RunScript.text} cuts between a frame and its twin. */
  afterEvents?: number;
}

/** Options of {@link RunScript.finish}. */
export interface FinishOptions {
  /** Final reply; with `""` the result has no text. @default all text of the script */
  text?: string;
  /**
   * Pull request on the pushed branch.
   * @default one is made up if the agent has autoCreatePR, and a repository or a pushed branch
   */
  prUrl?: string;
  /** Branch that was pushed. @default one is made up if there is a pull request and nothing was pushed yet */
  branch?: string;
  /** Wall-clock duration in milliseconds. @default measured by the clock */
  durationMs?: number;
}

/** @internal */
export type ScriptStep =
  | { kind: "thinking" | "text"; text: string }
  | { kind: "tool"; calls: readonly ToolCall[] }
  | { kind: "step" | "heartbeat" }
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

const toolOptions: OptionTable<ToolOptions> = {
  callId: nameCheck,
  error: anything,
  growingArgs: list(anything),
  exact: bool,
  truncated: group<NonNullable<ToolOptions["truncated"]>>({ args: bool, result: bool }),
};

const toolCall: OptionTable<ToolCall> = { ...toolOptions, name: nameCheck, args: anything, result: anything };

const cutOptions: OptionTable<CutOptions> = { clean: bool, afterBytes: count, afterEvents: count };

const finishOptions: OptionTable<FinishOptions> = {
  text: string,
  prUrl: nameCheck,
  branch: nameCheck,
  durationMs: duration,
};

const endOptions: OptionTable<{ durationMs?: number }> = { durationMs: duration };

const usageOptions: OptionTable<Usage> = {
  inputTokens: count,
  outputTokens: count,
  cacheWriteTokens: count,
  cacheReadTokens: count,
  totalTokens: count,
};

/** The run that a script is written for. */
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
 * What one run does, step by step. Without `wait` or `hold` everything happens at once, before the stream is read; each
 * reader then gets the whole stream in order. A script without an ending ends with {@link RunScript.finish}.
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
  /** Whole bodies that the first connections get instead of the stream's frames. @internal */
  readonly preludes: ("unavailable" | Uint8Array)[] = [];
  #ended = false;

  constructor(context: RunScriptContext) {
    this.context = context;
  }

  /** The prompt of this run. */
  get prompt(): string {
    return this.context.prompt;
  }

  /** Sends a piece of thinking: a `thinking` frame and its `thinking-delta` twin. */
  thinking(text: string): this {
    checkText("thinking", text);
    return this.#add({ kind: "thinking", text });
  }

  /** Sends a piece of the reply: an `assistant` frame and its `text-delta` twin. */
  text(delta: string): this {
    checkText("text", delta);
    return this.#add({ kind: "text", text: delta });
  }

  /**
   * Sends a whole tool call, in a step of its own unless text or thinking came before it: `running` without arguments (not for
   * `run_terminal_cmd` and `task`), `running` with them, `completed`. The result is wrapped as `{ success }`.
   */
  tool(name: string, args?: JsonValue, result?: JsonValue, options: ToolOptions = {}): this {
    enforce(name, nameCheck, "RunScript: tool: name");
    checkOptions("RunScript: tool", options, toolOptions);
    const values = { ...(args === undefined ? {} : { args }), ...(result === undefined ? {} : { result }) };
    return this.#add({ kind: "tool", calls: [{ ...options, name, ...values }] });
  }

  /** Sends tool calls that run at the same time: in one step, with their frames interleaved. */
  tools(calls: readonly ToolCall[]): this {
    enforce(calls, list(group(toolCall)), "RunScript: tools");
    for (const { name } of calls) enforce(name, nameCheck, "RunScript: tools: name");
    return this.#add({ kind: "tool", calls: calls.map((call) => ({ ...call })) });
  }

  /** Ends the step of the agent's work: what follows belongs to the next one. Tool calls end theirs by themselves. */
  step(): this {
    return this.#add({ kind: "step" });
  }

  /** Sends a heartbeat to the readers of the moment. Heartbeats that a script begins with come between CREATING and RUNNING. */
  heartbeat(): this {
    return this.#add({ kind: "heartbeat" });
  }

  /** Waits for `ms` milliseconds of the emulator's clock. */
  wait(ms: number): this {
    enforce(ms, duration, "RunScript: wait: ms");
    return this.#add({ kind: "wait", ms });
  }

  /** Waits until `emulator.release(name)` is called. A released gate stays open. */
  hold(name: string): this {
    enforce(name, nameCheck, "RunScript: hold: name");
    return this.#add({ kind: "hold", name });
  }

  /** Sends a `status` frame without an id to every reader. A status that is not terminal becomes the run's own. */
  status(status: string): this {
    enforce(status, nameCheck, "RunScript: status: status");
    return this.#add({ kind: "status", status });
  }

  /** Sends any event, known or unknown. Its `id` is a new one unless you pass your own, or `false` for none. */
  event(name: string, data: unknown, options: { id?: string | false } = {}): this {
    enforce(name, nameCheck, "RunScript: event: name");
    checkOptions<{ id?: string | false }>("RunScript: event", options, {
      id: either(oneOf(false), nameCheck),
    });
    return this.#add({ kind: "event", name, data, ...options });
  }

  /** Sends bytes unchanged. */
  raw(text: string | Uint8Array): this {
    enforce(text, content, "RunScript: raw");
    return this.#add({ kind: "raw", bytes: typeof text === "string" ? toBytes(text) : text });
  }

  /** Once: the first connection to get here receives `error` and `done` (both without an id) and ends. The run continues. */
  error(code: string, message: string): this {
    enforce(code, nameCheck, "RunScript: error: code");
    enforce(message, string, "RunScript: error: message");
    return this.#add({ kind: "error", code, message });
  }

  /** Once: the first connection to get here is destroyed, or ended cleanly. */
  cut(options: CutOptions = {}): this {
    checkOptions("RunScript: cut", options, cutOptions);
    return this.#add({ kind: "cut", options });
  }

  /** Once: the first connection to get here receives nothing more, not even heartbeats, and stays open. */
  stall(): this {
    return this.#add({ kind: "stall" });
  }

  /** The first connections receive `stream_unavailable` inside the stream, as if it was opened too early. */
  unavailable(times = 1): this {
    enforce(times, count, "RunScript: unavailable: times");
    for (let index = 0; index < times; index++) this.preludes.push("unavailable");
    return this;
  }

  /** Writes an artifact; `path` is the one that List Artifacts shows. */
  artifact(path: string, bytes: Uint8Array | string, contentType?: string): this {
    checkText("artifact", path);
    if (!path.startsWith("artifacts/")) {
      throw new TypeError(
        `RunScript: artifact() expected a path that starts with "artifacts/", got "${path}"`,
      );
    }
    enforce(bytes, content, "RunScript: artifact: bytes");
    return this.#add({
      kind: "artifact",
      path,
      bytes: typeof bytes === "string" ? toBytes(bytes) : bytes,
      ...(contentType === undefined ? {} : { contentType }),
    });
  }

  /** Sets the token counts; `totalTokens` is their sum. @default counted from the run's text when it ends */
  usage(usage: Partial<Usage>): this {
    checkOptions("RunScript: usage", usage, usageOptions);
    return this.#add({ kind: "usage", usage });
  }

  /** Pushes a branch. It is visible at once in `git` of every run of the agent. */
  branch(name: string, options: { repoUrl?: string; prUrl?: string } = {}): this {
    enforce(name, nameCheck, "RunScript: branch: name");
    checkOptions<{ repoUrl?: string; prUrl?: string }>("RunScript: branch", options, {
      repoUrl: nameCheck,
      prUrl: nameCheck,
    });
    return this.#add({ kind: "branch", branch: name, ...options });
  }

  /** Ends the run as FINISHED. */
  finish(options: FinishOptions = {}): this {
    checkOptions("RunScript: finish", options, finishOptions);
    return this.#end("FINISHED", options);
  }

  /** Ends the run as ERROR; its result has no text and no reason, as with the service. */
  fail(options: { durationMs?: number } = {}): this {
    checkOptions("RunScript: fail", options, endOptions);
    return this.#end("ERROR", options);
  }

  /** Ends the run as EXPIRED. */
  expire(options: { durationMs?: number } = {}): this {
    checkOptions("RunScript: expire", options, endOptions);
    return this.#end("EXPIRED", options);
  }

  /** Ends the run as CANCELLED, as if another client had cancelled it. */
  cancelled(options: { durationMs?: number } = {}): this {
    checkOptions("RunScript: cancelled", options, endOptions);
    return this.#end("CANCELLED", options);
  }

  /**
   * Plays a recorded body of Stream A Run byte by byte, including its run ids. Its `result` frame decides the outcome. A
   * recording with an `error` frame and no result is what the first connection gets; the run then continues.
   */
  replay(recording: string | Uint8Array): this {
    const parsed = parseRecording(recording);
    if (!parsed.frames.some(({ name }) => name !== "message")) {
      throw new TypeError("RunScript: replay() expected the body of a run's stream, but it has no event");
    }
    if (parsed.outcome === undefined && parsed.failed) {
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
    if (this.#ended) throw new Error(`RunScript: a "${step.kind}" step after the run has ended`);
    this.steps.push(step);
    return this;
  }
}

function checkText(step: string, text: unknown): void {
  if (typeof text !== "string")
    throw new TypeError(`RunScript: ${step}() expected a string, got ${typeof text}`);
}
