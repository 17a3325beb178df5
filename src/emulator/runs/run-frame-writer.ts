import { fingerprint, toBytes } from "../body-source.ts";
import type { AgentRecord, RunRecord, Store } from "../store.ts";
import type { JsonValue, ToolCall } from "./run-script.ts";
import {
  completeArguments,
  completeResult,
  isAnnounced,
  partialArguments,
  toInteractionToolCall,
} from "./tool-forms.ts";

/** A tool call in the forms that its frames have. */
interface Written {
  call: { callId: string; name: string };
  modelCallId: string;
  isAnnounced: boolean;
  partials: readonly JsonValue[];
  args: JsonValue | undefined;
  /** `args` of a frame, or the flag that they were left out. */
  shown: object;
  /** `result` of the last frame. */
  result: object;
  toolCall: Record<string, unknown>;
  outputTokens: number;
}

const tokensOf = (text: string) => Math.max(1, Math.ceil(text.length / 4));

/**
 * Writes frames in the form of the service: each simplified frame is followed by its `interaction_update` twin with the
 * same id, with single updates (steps, tokens, the user's message) around them.
 */
export class RunFrameWriter {
  readonly #store: Store;
  readonly #agent: AgentRecord;
  readonly #run: RunRecord;
  readonly #interactions: boolean;
  #stepId = 0;
  #stepStartedAt: number | undefined;
  #thinkingStartedAt: number | undefined;
  /** What comes next starts a new step. */
  #isStepOver = false;
  #modelCalls = 0;
  #tokens = 0;
  #deltas = 0;
  /** Tokens of deltas that had no `token-delta` of their own. */
  #uncounted = 0;
  readonly #requestId: string;

  constructor(store: Store, agent: AgentRecord, run: RunRecord, interactions: boolean) {
    this.#store = store;
    this.#agent = agent;
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

  /** Ends the step: what follows belongs to the next one. */
  step(): void {
    this.#endThinking();
    this.#isStepOver = true;
  }

  thinking(text: string): void {
    this.#enterStep();
    this.#thinkingStartedAt ??= this.#store.now();
    this.#pair("thinking", { text }, { type: "thinking-delta", text });
    this.#countDelta(text);
  }

  text(text: string): void {
    this.#endThinking();
    this.#enterStep();
    this.#pair("assistant", { text }, { type: "text-delta", text });
    this.#countDelta(text);
  }

  /** Writes tool calls that run at the same time: one step, in which their frames interleave. */
  tools(calls: readonly ToolCall[]): void {
    this.#endThinking();
    this.#enterStep();
    for (const { args } of calls) this.#countArguments(JSON.stringify(args ?? {}));
    const written = calls.map((call) => this.#write(call));
    for (const { call, isAnnounced } of written) {
      if (isAnnounced) this.#single("tool_call", { ...call, status: "running" });
    }
    for (const tool of written) {
      for (const args of tool.partials) {
        const toolCall = toInteractionToolCall(tool.call.name, args);
        this.#toolPair(tool, "partial-tool-call", { status: "running", args }, toolCall);
      }
    }
    // A call whose arguments come in pieces has them all a little later than the others.
    const inOrder = [...written].sort(
      (one, other) => Number(one.partials.length > 0) - Number(other.partials.length > 0),
    );
    for (const tool of inOrder) {
      const toolCall = toInteractionToolCall(tool.call.name, tool.args);
      this.#toolPair(tool, "tool-call-started", { status: "running", ...tool.shown }, toolCall);
    }
    for (const tool of inOrder) {
      this.#toolPair(tool, "tool-call-completed", { status: "completed", ...tool.result }, tool.toolCall);
      this.#update({ type: "token-delta", tokens: tool.outputTokens });
    }
    this.#isStepOver = true;
  }

  /** Writes the end of a turn that was not interrupted. */
  endTurn(): void {
    this.#endThinking();
    this.#flushTokens();
    this.#update({ type: "turn-ended" });
    this.#endStep();
  }

  #write({ name, args: given, result: success, ...options }: ToolCall): Written {
    const { error, truncated, exact = false } = options;
    const callId = options.callId ?? `tool_${this.#store.ids.uuid()}`;
    const args = exact ? given : completeArguments(name, given, { callId, agentId: this.#agent.id });
    const wrapped = exact ? { success: success ?? {} } : completeResult(name, given, success);
    const outcome = error === undefined ? wrapped : { error };
    const hasArgs = args !== undefined && truncated?.args !== true;
    const shown = hasArgs ? { args } : {};
    const toolCall = toInteractionToolCall(
      name,
      args,
      error === undefined ? { success: wrapped["success"] ?? {} } : { error },
    );
    return {
      call: { callId, name },
      modelCallId: this.#modelCallId(),
      isAnnounced: isAnnounced(name),
      partials: options.growingArgs ?? (truncated?.args === true ? [] : partialArguments(name, args)),
      args,
      shown: { ...shown, ...(truncated?.args === true ? { truncated: { args: true } } : {}) },
      result: {
        ...shown,
        ...(truncated?.result === true ? {} : { result: outcome }),
        ...(truncated === undefined ? {} : { truncated }),
      },
      toolCall,
      outputTokens: tokensOf(JSON.stringify(outcome)),
    };
  }

  /** Ends in the number of a call, which has gaps, and in four characters. */
  #modelCallId(): string {
    const number = ++this.#modelCalls;
    const digest = fingerprint(toBytes(`${this.#requestId} ${number}`)).slice(0, 8);
    const suffix = Number.parseInt(digest, 16).toString(36).slice(-4).padStart(4, "0");
    return `${this.#requestId}-${number}-${suffix}`;
  }

  #startStep(): void {
    this.#stepStartedAt = this.#store.now();
    this.#stepId = this.#agent.updates;
    this.#update({ type: "step-started", stepId: this.#stepId });
  }

  #endStep(): void {
    const stepDurationMs = this.#store.now() - (this.#stepStartedAt ?? this.#store.now());
    this.#update({ type: "step-completed", stepId: this.#stepId, stepDurationMs });
  }

  /** A step ends with its tool calls; what follows them starts the next step. */
  #enterStep(): void {
    if (!this.#isStepOver) return;
    this.#isStepOver = false;
    this.#flushTokens();
    this.#endStep();
    this.#modelCalls += 3;
    this.#startStep();
  }

  #endThinking(): void {
    if (this.#thinkingStartedAt === undefined) return;
    const thinkingDurationMs = this.#store.now() - this.#thinkingStartedAt;
    this.#thinkingStartedAt = undefined;
    this.#update({ type: "thinking-completed", thinkingDurationMs });
  }

  /** Counts a delta's tokens. Each fifth delta has no `token-delta`: the next one counts for both, as with the service. */
  #countDelta(text: string): void {
    const tokens = tokensOf(text);
    this.#tokens += tokens;
    this.#uncounted += tokens;
    this.#deltas += 1;
    if (this.#deltas % 5 !== 0) this.#flushTokens();
  }

  /** The arguments of a tool are written before its call is announced, in up to three pieces. */
  #countArguments(text: string): void {
    const tokens = tokensOf(text);
    this.#tokens += tokens;
    this.#uncounted += tokens;
    const piece = Math.ceil(this.#uncounted / 3);
    while (this.#uncounted > 0) this.#flushTokens(Math.min(piece, this.#uncounted));
  }

  #flushTokens(tokens = this.#uncounted): void {
    if (tokens === 0) return;
    this.#uncounted -= tokens;
    this.#update({ type: "token-delta", tokens });
  }

  #update(data: Record<string, unknown>): void {
    if (this.#interactions) this.#single("interaction_update", data);
  }

  #single(name: string, data: unknown): void {
    this.#run.log.frame(name, data, this.#mintId());
  }

  #pair(name: string, data: unknown, twin: Record<string, unknown>): void {
    const id = this.#mintId();
    this.#run.log.frame(name, data, id);
    if (this.#interactions) this.#run.log.frame("interaction_update", twin, id);
  }

  #toolPair(
    { call, modelCallId }: Written,
    type: string,
    data: object,
    toolCall: Record<string, unknown>,
  ): void {
    const { callId } = call;
    this.#pair("tool_call", { ...call, ...data }, { type, callId, toolCall, modelCallId });
  }

  #mintId(): string {
    this.#agent.updates += 1;
    return this.#store.mintStreamId();
  }
}
