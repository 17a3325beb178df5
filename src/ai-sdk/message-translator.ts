import { isTerminalStatus, type RunEvent, type RunEventData, type RunRef } from "../index.ts";
import type { RunData, UIMessageChunk } from "./ui-message-chunk.ts";

/** Why a message ends in an error. */
export interface UIMessageFailure {
  /** How the run ended; absent where its stream broke and the outcome is not known. */
  status?: RunEventData["result"]["status"];
  /** What reading the run rejected with, where it did. */
  error?: unknown;
}

type Block = { type: "text" | "reasoning"; id: string };

/**
 * Turns the events of one run into the chunks of one message. It depends on neither time nor chance: the same events
 * become the same chunks, ids included, however often and wherever they are read.
 *
 * The AI SDK's client requires this order: a part's start before its deltas, a tool's input before its output, all parts
 * closed before `finish-step`, and nothing after `finish`, `abort` or `error`.
 */
export class MessageTranslator {
  readonly #ref: RunRef;
  readonly #tools = new ToolParts();
  readonly #errorText: (failure: UIMessageFailure) => string;
  #run: RunData;
  #block: Block | undefined;
  #blocks = 0;
  #streamedText = "";
  #isOver = false;

  constructor(ref: RunRef, errorText: (failure: UIMessageFailure) => string) {
    this.#ref = ref;
    this.#errorText = errorText;
    this.#run = { agentId: ref.agentId, runId: ref.id };
  }

  /** Whether the message has had its last chunk. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The start of a message, before anything is known of the run. */
  start(messageMetadata: unknown): UIMessageChunk[] {
    return [
      {
        type: "start",
        messageId: this.#ref.id,
        ...(messageMetadata === undefined ? {} : { messageMetadata }),
      },
      { type: "start-step" },
      // Always the first part, although its data arrives later, so that a replay has the parts in the same order.
      this.#runChunk(),
    ];
  }

  /** The chunks of an event; none for an event that a message doesn't show. */
  translate(event: RunEvent): UIMessageChunk[] {
    if (this.#isOver) return [];
    switch (event.type) {
      case "status":
        return this.#status(event.data.status);
      case "assistant":
        this.#streamedText += event.data.text;
        return [...this.#running(), ...this.#delta("text", event.data.text)];
      case "thinking":
        return [...this.#running(), ...this.#delta("reasoning", event.data.text)];
      case "tool_call":
        return [...this.#running(), ...this.#tool(event.data)];
      case "result":
        return [...this.#running(), ...this.#result(event.data)];
      default:
        // An `error` event is about the stream, and its reader may still recover; if not, the stream ends without a result.
        return [];
    }
  }

  /** Ends a message whose run can't be followed to its end. Without this, a client would take the message for complete. */
  fail(failure: UIMessageFailure): UIMessageChunk[] {
    if (this.#isOver) return [];
    this.#isOver = true;
    const errorText = this.#errorText(failure);
    return [...this.#closeBlock(), { type: "finish-step" }, { type: "error", errorText }];
  }

  /**
   * A stream opens with the status of that moment, so a replay doesn't see the same statuses as the first reading. Only
   * those that every reading sees are shown: CREATING is left out, and a terminal status comes from the result alone.
   */
  #status(status: RunEventData["status"]["status"]): UIMessageChunk[] {
    if (status === "CREATING" || isTerminalStatus(status) || status === this.#run.status) return [];
    this.#run = { ...this.#run, status };
    return [this.#runChunk()];
  }

  /** A run that produces output is RUNNING, whether or not its stream said so. */
  #running(): UIMessageChunk[] {
    return this.#run.status === undefined ? this.#status("RUNNING") : [];
  }

  #delta(type: Block["type"], delta: string): UIMessageChunk[] {
    const chunks: UIMessageChunk[] = [];
    if (this.#block?.type !== type) {
      chunks.push(...this.#closeBlock());
      this.#block = { type, id: `${type}-${this.#blocks++}` };
      chunks.push({ type: `${type}-start`, id: this.#block.id });
    }
    chunks.push({ type: `${type}-delta`, id: this.#block.id, delta });
    return chunks;
  }

  #closeBlock(): UIMessageChunk[] {
    if (!this.#block) return [];
    const { type, id } = this.#block;
    this.#block = undefined;
    return [{ type: `${type}-end`, id }];
  }

  #tool(data: RunEventData["tool_call"]): UIMessageChunk[] {
    // A new tool ends the text before it; an update of an earlier one must not split a sentence.
    const closing = this.#tools.has(data.callId) ? [] : this.#closeBlock();
    return [...closing, ...this.#tools.update(data)];
  }

  #result({ status, text, durationMs, git }: RunEventData["result"]): UIMessageChunk[] {
    const chunks: UIMessageChunk[] = [];
    const streamed = this.#streamedText.trim();
    // The type is checked here, because the client does not validate events.
    const hasMore = typeof text === "string" && !streamed.endsWith(text.trim());
    if (hasMore && streamed === "") chunks.push(...this.#closeBlock(), ...this.#delta("text", text));
    chunks.push(...this.#closeBlock(), ...this.#tools.endOpenCalls());
    this.#run = {
      ...this.#run,
      status,
      ...(durationMs === undefined ? {} : { durationMs }),
      ...(git === undefined ? {} : { git }),
      ...(hasMore && streamed !== "" ? { text } : {}),
    };
    chunks.push(this.#runChunk());
    if (status !== "FINISHED" && status !== "CANCELLED") return [...chunks, ...this.fail({ status })];
    this.#isOver = true;
    chunks.push({ type: "finish-step" }, { type: status === "FINISHED" ? "finish" : "abort" });
    return chunks;
  }

  #runChunk(): UIMessageChunk {
    return { type: "data-run", id: "run", data: { ...this.#run } };
  }
}

// ── Tool calls ───────────────────────────────────────────────────────────────────────────────────────────────────

/** Replaces a value that the server left out for its size. */
const truncated = { truncated: true };
/** As JSON, the input of a call whose arguments have not arrived yet. */
const noInput = "{}";

/** The tool calls of one message, each a part of it, in their latest state. */
class ToolParts {
  /** The input last sent for each call, as JSON; undefined once the call has its output. */
  readonly #calls = new Map<string, string | undefined>();

  has(callId: string): boolean {
    return this.#calls.has(callId);
  }

  update(data: RunEventData["tool_call"]): UIMessageChunk[] {
    const { callId, status, result } = data;
    // An output is final; what follows it is a repetition of an earlier state.
    if (this.#calls.has(callId) && this.#calls.get(callId) === undefined) return [];
    const chunks = this.#input(data);
    // Only `completed` is known to have a result; other statuses may be added to the API.
    if (status !== "completed") return chunks;
    this.#calls.set(callId, undefined);
    const error = errorOf(result);
    if (error !== undefined) chunks.push(outputError(callId, error));
    else {
      const output = result === undefined ? (data.truncated?.result ? truncated : null) : result;
      chunks.push({ type: "tool-output-available", ...remote(callId), output: parseable(output) });
    }
    return chunks;
  }

  /** Ends the calls that are still running: after the run's end their results can't arrive any more. */
  endOpenCalls(): UIMessageChunk[] {
    const chunks: UIMessageChunk[] = [];
    for (const [callId, input] of this.#calls) {
      if (input === undefined) continue;
      this.#calls.set(callId, undefined);
      chunks.push(outputError(callId, "The run ended without this tool's result."));
    }
    return chunks;
  }

  /** The input where it is new, and at a call's first appearance, since no output may come before an input. */
  #input({ callId, name, args, truncated: flags }: RunEventData["tool_call"]): UIMessageChunk[] {
    const last = this.#calls.get(callId);
    const given = args === undefined && flags?.args ? truncated : args;
    // Arguments that are left out may be unchanged, so the known ones are kept rather than replaced by `truncated`.
    if (last !== undefined && (given === undefined || (given === truncated && last !== noInput))) return [];
    const input = given === undefined ? {} : given;
    const json = JSON.stringify(input);
    if (json === last) return [];
    this.#calls.set(callId, json);
    return [
      { type: "tool-input-available", ...remote(callId), toolName: name, input: parseable(input, json) },
    ];
  }
}

/** Without these flags the client takes the tool for one of its own, and ai 5 stops at the output. */
const remote = (toolCallId: string) => ({ toolCallId, dynamic: true, providerExecuted: true }) as const;

/** Keys for which the client's JSON parser (6 of 6 releases tried) rejects a chunk, and the whole message with it. */
const rejectedKeys = /"__proto__":|"constructor":(?:null|\{)/;

/** Tools take and return any value; one that the client would reject is sent as JSON text. */
const parseable = (value: unknown, json = JSON.stringify(value)): unknown =>
  rejectedKeys.test(json) ? json : value;

const outputError = (callId: string, errorText: string): UIMessageChunk => ({
  type: "tool-output-error",
  ...remote(callId),
  errorText,
});

/** A failed tool's message: such a call is `completed` like any other, with `{ error }` as its result. */
function errorOf(result: unknown): string | undefined {
  if (typeof result !== "object" || result === null) return undefined;
  const { error, success } = result as { error?: unknown; success?: unknown };
  if (error === undefined || error === null || (success !== undefined && success !== null)) return undefined;
  const { message } = error as { message?: unknown };
  const text = typeof error === "string" ? error : typeof message === "string" ? message : undefined;
  return (text ?? JSON.stringify(error)) || "The tool failed.";
}
