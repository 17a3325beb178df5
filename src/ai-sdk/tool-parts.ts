import type { RunEventData } from "../index.ts";
import type { UIMessageChunk } from "./ui-message-chunk.ts";

/** Stands where the server left a value out for its size. */
const truncated = { truncated: true };
/** The input of a call whose arguments are still to come, as JSON. */
const nothing = "{}";

/** The tool calls of one message, each one part of it, in their latest state. */
export class ToolParts {
  /** The input last told of each call, as JSON; undefined once it has its output. */
  readonly #calls = new Map<string, string | undefined>();

  has(callId: string): boolean {
    return this.#calls.has(callId);
  }

  update(data: RunEventData["tool_call"]): UIMessageChunk[] {
    const { callId, status, result } = data;
    // An output is final; what comes behind it is an old state told again.
    if (this.#calls.has(callId) && this.#calls.get(callId) === undefined) return [];
    const chunks = this.#input(data);
    // Whatever else it may be one day: only `completed` is known to have a result.
    if (status !== "completed") return chunks;
    this.#calls.set(callId, undefined);
    const error = errorOf(result);
    if (error !== undefined) chunks.push(outputError(callId, error));
    else {
      const output = result === undefined ? (data.truncated?.result ? truncated : null) : result;
      chunks.push({ type: "tool-output-available", ...remote(callId), output: harmless(output) });
    }
    return chunks;
  }

  /** Ends the calls that are still running: behind the run's end nothing can come of them. */
  settle(): UIMessageChunk[] {
    const chunks: UIMessageChunk[] = [];
    for (const [callId, input] of this.#calls) {
      if (input === undefined) continue;
      this.#calls.set(callId, undefined);
      chunks.push(outputError(callId, "The run ended without this tool's result."));
    }
    return chunks;
  }

  /** The input where there is a newer one, and at a call's first appearance: no output may come before. */
  #input({ callId, name, args, truncated: flags }: RunEventData["tool_call"]): UIMessageChunk[] {
    const last = this.#calls.get(callId);
    const given = args === undefined && flags?.args ? truncated : args;
    // Left out may also mean: as before. What is known of them is better than a mark that they are too large.
    if (last !== undefined && (given === undefined || (given === truncated && last !== nothing))) return [];
    const input = given === undefined ? {} : given;
    const json = JSON.stringify(input);
    if (json === last) return [];
    this.#calls.set(callId, json);
    return [
      { type: "tool-input-available", ...remote(callId), toolName: name, input: harmless(input, json) },
    ];
  }
}

/** Without these the client would take the tool for one of its own, and ai 5 stops at the output. */
const remote = (toolCallId: string) => ({ toolCallId, dynamic: true, providerExecuted: true }) as const;

/** The keys at which the client's JSON parser (6 of 6 releases tried) refuses a chunk, and the whole message with it. */
const refusedKeys = /"__proto__":|"constructor":(?:null|\{)/;

/** What an agent's tools are given and give back is anything: a value that would end the message is told as JSON text. */
const harmless = (value: unknown, json = JSON.stringify(value)): unknown =>
  refusedKeys.test(json) ? json : value;

const outputError = (callId: string, errorText: string): UIMessageChunk => ({
  type: "tool-output-error",
  ...remote(callId),
  errorText,
});

/** What a failed tool says: it is `completed` like any other, with `{ error }` as its result. */
function errorOf(result: unknown): string | undefined {
  if (typeof result !== "object" || result === null) return undefined;
  const { error, success } = result as { error?: unknown; success?: unknown };
  if (error === undefined || error === null || (success !== undefined && success !== null)) return undefined;
  const { message } = error as { message?: unknown };
  const text = typeof error === "string" ? error : typeof message === "string" ? message : undefined;
  return (text ?? JSON.stringify(error)) || "The tool failed.";
}
