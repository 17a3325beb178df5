import type { JsonValue } from "./run-script.ts";

type JsonObject = { [key: string]: JsonValue };

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// These tools come with their arguments at once; all others are first announced without (July 2026 captures).
const unannounced = new Set(["run_terminal_cmd", "task"]);

/** Whether the first frame of a call has no arguments yet. */
export function isAnnounced(name: string): boolean {
  return !unannounced.has(name);
}

/** Arguments that are sent before the whole ones: of an edit the path, while its content is still being written. */
export function partialArguments(name: string, args: JsonValue | undefined): readonly JsonValue[] {
  if (name !== "edit_file" || !isObject(args) || !("streamContent" in args)) return [];
  return args["path"] === undefined ? [] : [{ path: args["path"] }];
}

/** Arguments of a `tool_call` frame: those of the script, with the fields that the service adds. */
export function completeArguments(
  name: string,
  args: JsonValue | undefined,
  ids: { callId: string; agentId: string },
): JsonValue | undefined {
  if (!isObject(args)) return args;
  if (name === "delete_file") return { ...args, toolCallId: args["toolCallId"] ?? ids.callId };
  const { command } = args;
  if (name !== "run_terminal_cmd" || typeof command !== "string") return args;
  const [program = "", ...words] = command.trim().split(/\s+/);
  const parsed = { name: program, args: words.map((value) => ({ type: "word", value })), fullText: command };
  const added: JsonObject = {
    command,
    timeout: 600_000,
    toolCallId: ids.callId,
    simpleCommands: [program],
    parsingResult: { executableCommands: [parsed] },
    fileOutputThresholdBytes: "40000",
    timeoutBehavior: "TIMEOUT_BEHAVIOR_BACKGROUND",
    hardTimeout: 86_400_000,
    description: `Run ${program}`,
    conversationId: ids.agentId,
  };
  return { ...added, ...args };
}

/** Result of a `tool_call` frame, with the fields that the service adds. */
export function completeResult(
  name: string,
  args: JsonValue | undefined,
  result: JsonValue | undefined,
): JsonObject {
  const success = result ?? {};
  if (name === "delete_file" && isObject(success)) {
    const path = isObject(args) ? args["path"] : undefined;
    const { fileSize } = success;
    return {
      success: {
        ...(path === undefined ? {} : { path, deletedFile: path }),
        ...success,
        ...(fileSize === undefined ? {} : { fileSize: String(fileSize) }),
      },
    };
  }
  if (name !== "run_terminal_cmd") return { success };
  if (!isObject(success)) return { success, isBackground: false };
  const command = isObject(args) ? args["command"] : undefined;
  const { stdout = "", stderr = "" } = success;
  const added: JsonObject = {
    ...(command === undefined ? {} : { command }),
    executionTime: 380,
    interleavedOutput: `${String(stdout)}${String(stderr)}`,
    localExecutionTimeMs: 310,
  };
  const { isBackground = false, ...fields } = { ...added, ...success };
  // The service leaves an empty output out.
  if (fields["stdout"] === "") delete fields["stdout"];
  return { success: fields, isBackground };
}

// `interaction_update` frames name tools differently from `tool_call` frames.
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

// They also have fewer fields: only these keys.
const keptArguments: Readonly<Record<string, readonly string[]>> = {
  delete: ["path"],
  edit: ["path"],
  read: ["path"],
  shell: ["command", "workingDirectory", "timeout"],
};

const keptResults: Readonly<Record<string, readonly string[]>> = {
  edit: ["linesAdded", "linesRemoved", "diffString"],
  read: ["content", "totalLines", "fileSize"],
};

function pick(value: JsonValue | undefined, keys: readonly string[] | undefined): JsonValue | undefined {
  if (keys === undefined || !isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => keys.includes(key)));
}

function interactionArguments(type: string, args: JsonValue | undefined): JsonValue {
  if (type !== "grep" || !isObject(args)) return pick(args, keptArguments[type]) ?? {};
  const { pattern = "", offset = 0 } = args;
  return { pattern, offset };
}

/** A search's result by path; of its matches only the files are left. */
function grepResult(args: JsonValue | undefined, result: JsonObject): JsonObject {
  if ("workspaceResults" in result) return result;
  const path = isObject(args) && typeof args["path"] === "string" ? args["path"] : "/workspace";
  const { files, counts, matches } = result;
  if (Array.isArray(files)) return byPath(path, "files", { files, count: files.length });
  if (Array.isArray(counts)) return byPath(path, "count", { counts, total: counts.length });
  const found = Array.isArray(matches) ? matches : [];
  const names = found.map((match) => (isObject(match) ? (match["file"] ?? match["path"] ?? "") : match));
  const output = { matches: [...new Set(names)].map((file) => ({ file })), totalMatches: 0 };
  return byPath(path, "content", output);
}

function byPath(path: string, type: string, output: JsonObject): JsonObject {
  return { workspaceResults: { [path]: { type, output } } };
}

function interactionResult(type: string, args: JsonValue | undefined, result: JsonValue): JsonValue {
  if (!isObject(result)) return result;
  switch (type) {
    case "shell": {
      const { exitCode = 0, signal = "", stdout = "", stderr = "", executionTime = 0 } = result;
      return { exitCode, signal, stdout, stderr, executionTime };
    }
    case "delete":
      return result["fileSize"] === undefined ? {} : { fileSize: Number(result["fileSize"]) };
    case "grep":
      return grepResult(args, result);
    default:
      return pick(result, keptResults[type]) ?? null;
  }
}

/** `toolCall` of an `interaction_update` frame: the same call under the names of that kind of frame. */
export function toInteractionToolCall(
  name: string,
  args: JsonValue | undefined,
  outcome?: { success: JsonValue } | { error: JsonValue },
): Record<string, unknown> {
  const type = interactionTypes[name] ?? name;
  const call = { type, args: interactionArguments(type, args) };
  if (outcome === undefined) return call;
  const result =
    "error" in outcome
      ? { status: "error", error: outcome.error }
      : { status: "success", value: interactionResult(type, args, outcome.success) };
  return { ...call, result };
}
