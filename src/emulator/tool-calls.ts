import type { JsonValue } from "./run-script.ts";

// The two families name tools differently (July 2026 captures).
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

// And the SDK family tells less: these are the keys it keeps.
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

/** `toolCall` of an interaction update: the same call in the words of the SDK's family. */
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
