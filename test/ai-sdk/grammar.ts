import type { UIMessageChunk } from "cursor-cloud-agents/ai-sdk";

/** The fields that ai 5.0.0 knows: its schemas are strict, and one field more kills the message. */
const fields: Record<UIMessageChunk["type"], string[]> = {
  start: ["messageId", "messageMetadata"],
  "start-step": [],
  "data-run": ["id", "data"],
  "text-start": ["id"],
  "text-delta": ["id", "delta"],
  "text-end": ["id"],
  "reasoning-start": ["id"],
  "reasoning-delta": ["id", "delta"],
  "reasoning-end": ["id"],
  "tool-input-available": ["toolCallId", "toolName", "input", "dynamic", "providerExecuted"],
  "tool-output-available": ["toolCallId", "output", "dynamic", "providerExecuted"],
  "tool-output-error": ["toolCallId", "errorText", "dynamic", "providerExecuted"],
  "finish-step": [],
  finish: [],
  abort: [],
  error: ["errorText"],
};

/** Every rule of a UI message stream that a sequence of chunks breaks. */
export function problemsOf(chunks: UIMessageChunk[]): string[] {
  const problems: string[] = [];
  const must = (holds: boolean, rule: string) => {
    if (!holds) problems.push(rule);
  };
  const types = chunks.map(({ type }) => type);
  must(types.slice(0, 3).join() === "start,start-step,data-run", "starts with start, start-step, data-run");
  must(types.at(-2) === "finish-step", "closes its step at the end");
  must(/^(finish|abort|error)$/.test(types.at(-1) ?? ""), "ends in finish, abort or error");
  const once = ["start", "start-step", "finish-step", "finish", "abort", "error"];
  for (const type of once) must(types.filter((other) => other === type).length <= 1, `${type} comes once`);
  const seen = new Set<string>();
  let open: string | undefined;
  const calls = new Map<string, "input" | "output">();
  for (const chunk of chunks) {
    const { type } = chunk;
    const unknown = Object.keys(chunk).filter((key) => key !== "type" && !fields[type]?.includes(key));
    must(unknown.length === 0, `${type} has no ${unknown.join()}`);
    must(JSON.stringify(JSON.parse(JSON.stringify(chunk))) === JSON.stringify(chunk), `${type} is JSON`);
    switch (type) {
      case "text-start":
      case "reasoning-start":
        must(open === undefined, "one block is open at a time");
        must(!seen.has(chunk.id), `block ${chunk.id} starts once`);
        seen.add(chunk.id);
        open = chunk.id;
        break;
      case "text-delta":
      case "reasoning-delta":
        must(open === chunk.id, "a delta has its open block");
        break;
      case "text-end":
      case "reasoning-end":
        must(open === chunk.id, "a block that ends is open");
        open = undefined;
        break;
      case "tool-input-available":
        must(open === undefined || calls.has(chunk.toolCallId), "a new tool closes the block before it");
        must(calls.get(chunk.toolCallId) !== "output", "no input comes after an output");
        calls.set(chunk.toolCallId, "input");
        break;
      case "tool-output-available":
      case "tool-output-error":
        must(calls.get(chunk.toolCallId) === "input", "an output has its input, and is one");
        calls.set(chunk.toolCallId, "output");
        break;
      case "finish-step":
        must(open === undefined, "blocks are closed before the step");
        break;
      case "finish":
      case "abort":
        must(![...calls.values()].includes("input"), "no tool is left waiting");
        break;
    }
    if (type.startsWith("tool-")) {
      const { dynamic, providerExecuted } = chunk as { dynamic?: unknown; providerExecuted?: unknown };
      must(dynamic === true && providerExecuted === true, "tools are dynamic, and run elsewhere");
    }
  }
  return problems;
}
