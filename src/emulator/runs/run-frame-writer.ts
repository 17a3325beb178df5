import type { RunRecord, Store } from "../store.ts";
import type { JsonValue, ToolOptions } from "./run-script.ts";

/**
 * Writes frames in the form of the service: each simplified frame is followed by its `interaction_update` twin with the
 * same id, with single updates (steps, tokens, the user's message) around them.
 */
export class RunFrameWriter {
  readonly #store: Store;
  readonly #run: RunRecord;
  readonly #interactions: boolean;
  #stepId = 0;
  #stepStartedAt: number | undefined;
  #thinkingStartedAt: number | undefined;
  #afterTool = false;
  #toolCount = 0;
  #tokens = 0;
  readonly #requestId: string;

  constructor(store: Store, run: RunRecord, interactions: boolean) {
    this.#store = store;
    this.#run = run;
    this.#interactions = interactions;
    this.#requestId = `serverGenReqId_${store.ids.uuid()}`;
  }

  /** Number of tokens written so far. */
  get tokens(): number {
    return this.#tokens;
  }

  begin(): void {
    this.#startStep();
    const userMessage = { type: "user_message", session_id: this.#run.id, text: this.#run.prompt };
    this.#update({ type: "user-message-appended", userMessage });
  }

  thinking(text: string): void {
    this.#betweenSteps();
    this.#thinkingStartedAt ??= this.#store.now();
    this.#pair("thinking", { text }, { type: "thinking-delta", text });
    this.#countTokens(text);
  }

  text(text: string): void {
    this.#endThinking();
    this.#betweenSteps();
    this.#pair("assistant", { text }, { type: "text-delta", text });
    this.#countTokens(text);
  }

  tool(name: string, args: JsonValue | undefined, result: JsonValue | undefined, options: ToolOptions): void {
    this.#endThinking();
    const { error, growingArgs = [], truncated } = options;
    const callId = options.callId ?? `tool_${this.#store.ids.uuid()}`;
    const modelCallId = `${this.#requestId}-${++this.#toolCount}-aaaa`;
    const call = { callId, name };
    const shownArgs = args === undefined || truncated?.args === true ? {} : { args };
    const flag = truncated === undefined ? {} : { truncated };
    const argsFlag = truncated?.args === true ? { truncated: { args: true } } : {};
    this.#single("tool_call", { ...call, status: "running" });
    for (const partial of growingArgs) {
      this.#pair(
        "tool_call",
        { ...call, status: "running", args: partial },
        { type: "partial-tool-call", callId, toolCall: toInteractionToolCall(name, partial), modelCallId },
      );
    }
    this.#pair(
      "tool_call",
      { ...call, status: "running", ...shownArgs, ...argsFlag },
      { type: "tool-call-started", callId, toolCall: toInteractionToolCall(name, args), modelCallId },
    );
    const wrapped = error === undefined ? { success: result ?? {} } : { error };
    const outcome = {
      ...(result === undefined ? {} : { result }),
      ...(error === undefined ? {} : { error }),
    };
    this.#pair(
      "tool_call",
      {
        ...call,
        status: "completed",
        ...shownArgs,
        ...(truncated?.result === true ? {} : { result: wrapped }),
        ...flag,
      },
      {
        type: "tool-call-completed",
        callId,
        toolCall: toInteractionToolCall(name, args, outcome),
        modelCallId,
      },
    );
    this.#countTokens(JSON.stringify(args ?? {}));
    this.#afterTool = true;
  }

  /** Writes the end of a turn that was not interrupted. */
  endTurn(): void {
    this.#endThinking();
    this.#update({ type: "turn-ended" });
    this.#endStep();
  }

  #startStep(): void {
    this.#stepStartedAt = this.#store.now();
    this.#update({ type: "step-started", stepId: this.#stepId });
  }

  #endStep(): void {
    const stepDurationMs = this.#store.now() - (this.#stepStartedAt ?? this.#store.now());
    this.#update({ type: "step-completed", stepId: this.#stepId, stepDurationMs });
    // The step ids of the service have gaps.
    this.#stepId += 11 + this.#toolCount;
  }

  /** A step ends with its tool calls; what follows them starts the next step. */
  #betweenSteps(): void {
    if (!this.#afterTool) return;
    this.#afterTool = false;
    this.#endStep();
    this.#startStep();
  }

  #endThinking(): void {
    if (this.#thinkingStartedAt === undefined) return;
    const thinkingDurationMs = this.#store.now() - this.#thinkingStartedAt;
    this.#thinkingStartedAt = undefined;
    this.#update({ type: "thinking-completed", thinkingDurationMs });
  }

  #countTokens(text: string): void {
    const tokens = Math.max(1, Math.ceil(text.length / 4));
    this.#tokens += tokens;
    this.#update({ type: "token-delta", tokens });
  }

  #update(data: Record<string, unknown>): void {
    if (this.#interactions) this.#single("interaction_update", data);
  }

  #single(name: string, data: unknown): void {
    this.#run.log.frame(name, data, this.#store.mintStreamId(this.#run.id));
  }

  #pair(name: string, data: unknown, twin: Record<string, unknown>): void {
    const id = this.#store.mintStreamId(this.#run.id);
    this.#run.log.frame(name, data, id);
    if (this.#interactions) this.#run.log.frame("interaction_update", twin, id);
  }
}

// `interaction_update` frames name tools differently from `tool_call` frames (July 2026 captures).
const interactionTypes: Readonly<Record<string, string>> = {
  codebase_search: "semSearch",
  create_plan: "createPlan",
  delete_file: "delete",
  edit_file: "edit",
  file_search: "glob",
  generate_image: "generateImage",
  grep_search: "grep",
  list_dir: "ls",
  read_file: "read",
  read_lints: "readLints",
  run_terminal_cmd: "shell",
  todo_write: "updateTodos",
  write_file: "write",
};

// `interaction_update` frames also have fewer fields: only these keys.
const keptArguments: Readonly<Record<string, readonly string[]>> = {
  delete: ["path"],
  edit: ["path"],
  read: ["path"],
  shell: ["command", "workingDirectory", "timeout"],
};

const keptResults: Readonly<Record<string, readonly string[]>> = {
  delete: ["fileSize"],
  edit: ["linesAdded", "linesRemoved", "diffString"],
  read: ["content", "totalLines", "fileSize"],
};

function isObject(value: JsonValue | undefined): value is { [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function pick(value: JsonValue | undefined, keys: readonly string[] | undefined): JsonValue | undefined {
  if (keys === undefined || !isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => keys.includes(key)));
}

function interactionResult(type: string, result: JsonValue): JsonValue {
  if (type !== "shell" || !isObject(result)) return pick(result, keptResults[type]) ?? null;
  const { exitCode = 0, signal = "", stdout = "", stderr = "", executionTime = 0 } = result;
  return { exitCode, signal, stdout, stderr, executionTime };
}

/** `toolCall` of an `interaction_update` frame: the same call under the names of that kind of frame. */
export function toInteractionToolCall(
  name: string,
  args: JsonValue | undefined,
  outcome?: { result?: JsonValue; error?: JsonValue },
): Record<string, unknown> {
  const type = interactionTypes[name] ?? name;
  const call = { type, args: pick(args, keptArguments[type]) ?? {} };
  if (outcome === undefined) return call;
  const result =
    outcome.error === undefined
      ? { status: "success", value: interactionResult(type, outcome.result ?? {}) }
      : { status: "error", error: outcome.error };
  return { ...call, result };
}
