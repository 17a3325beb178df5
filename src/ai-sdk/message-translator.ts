import { isTerminalStatus, type RunEvent, type RunEventData, type RunRef } from "../index.ts";
import { ToolParts } from "./tool-parts.ts";
import type { RunData, UIMessageChunk } from "./ui-message-chunk.ts";

/** Why a message ends in an error. */
export interface UIMessageFailure {
  /** How the run ended; absent where its stream broke off and nobody knows. */
  status?: RunEventData["result"]["status"];
  /** What the reading of the run rejected with, where it did. */
  error?: unknown;
}

type Block = { type: "text" | "reasoning"; id: string };

/**
 * Turns the events of one run into the chunks of one message. It knows neither time nor chance: the same events are the
 * same chunks, ids included, however often and wherever they are read.
 *
 * Order is the client's law: a part's start before its deltas, a tool's input before its output, all parts closed
 * before `finish-step`, and nothing behind `finish`, `abort` or `error`.
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

  /** How a message begins, before anything is known of the run. */
  start(messageMetadata: unknown): UIMessageChunk[] {
    return [
      {
        type: "start",
        messageId: this.#ref.id,
        ...(messageMetadata === undefined ? {} : { messageMetadata }),
      },
      { type: "start-step" },
      // First of all parts, whenever it is filled: a replay must not put it elsewhere.
      this.#runChunk(),
    ];
  }

  /** The chunks of an event; none for those that a message doesn't show. */
  translate(event: RunEvent): UIMessageChunk[] {
    if (this.#isOver) return [];
    switch (event.type) {
      case "status":
        return this.#status(event.data.status);
      case "assistant":
        this.#streamedText += event.data.text;
        return [...this.#begun(), ...this.#delta("text", event.data.text)];
      case "thinking":
        return [...this.#begun(), ...this.#delta("reasoning", event.data.text)];
      case "tool_call":
        return [...this.#begun(), ...this.#tool(event.data)];
      case "result":
        return [...this.#begun(), ...this.#result(event.data)];
      default:
        // An `error` is the stream's, and its reader may still get over it; if not, the stream ends without a result.
        return [];
    }
  }

  /** How a message ends whose run can't be followed to its end: a client takes one that just stops for whole. */
  fail(failure: UIMessageFailure): UIMessageChunk[] {
    if (this.#isOver) return [];
    this.#isOver = true;
    const errorText = this.#errorText(failure);
    return [...this.#closeBlock(), { type: "finish-step" }, { type: "error", errorText }];
  }

  /**
   * A stream opens with the status of that moment: a replay doesn't see the same ones as the first reading. So only
   * what all see alike is told on: being created is no status yet, and an end is the result's to tell.
   */
  #status(status: RunEventData["status"]["status"]): UIMessageChunk[] {
    if (status === "CREATING" || isTerminalStatus(status) || status === this.#run.status) return [];
    this.#run = { ...this.#run, status };
    return [this.#runChunk()];
  }

  /** A run that says something has begun, whether or not its stream told. */
  #begun(): UIMessageChunk[] {
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
    // A new part ends the text before it; news of an old one must not tear a sentence apart.
    const closing = this.#tools.has(data.callId) ? [] : this.#closeBlock();
    return [...closing, ...this.#tools.update(data)];
  }

  #result({ status, text, durationMs, git }: RunEventData["result"]): UIMessageChunk[] {
    const chunks: UIMessageChunk[] = [];
    const said = this.#streamedText.trim();
    // Its type is the server's promise, which nobody has checked.
    const hasMore = typeof text === "string" && !said.endsWith(text.trim());
    if (hasMore && said === "") chunks.push(...this.#closeBlock(), ...this.#delta("text", text));
    chunks.push(...this.#closeBlock(), ...this.#tools.settle());
    this.#run = {
      ...this.#run,
      status,
      ...(durationMs === undefined ? {} : { durationMs }),
      ...(git === undefined ? {} : { git }),
      ...(hasMore && said !== "" ? { text } : {}),
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
