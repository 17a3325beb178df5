const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** "5 minutes ago" */
export function ago(time: number): string {
  const passed = Date.now() - time;
  for (const [unit, ms] of units) {
    if (passed >= ms) return relative.format(-Math.floor(passed / ms), unit);
  }
  return "just now";
}

/** "840 ms", "12 s", "3 min 20 s" */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** "24 KB" */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Past and present of the tools that are known; others go by their own name. */
const verbs: Record<string, [running: string, completed: string]> = {
  codebase_search: ["Searching", "Searched"],
  delete_file: ["Deleting", "Deleted"],
  edit_file: ["Editing", "Edited"],
  file_search: ["Searching", "Searched"],
  grep_search: ["Searching", "Searched"],
  list_dir: ["Listing", "Listed"],
  read_file: ["Reading", "Read"],
  run_terminal_cmd: ["Running", "Ran"],
  write_file: ["Writing", "Wrote"],
};

export const verb = (name: string, isRunning: boolean) => verbs[name]?.[isRunning ? 0 : 1] ?? name;

/** What a tool call is about: its path, its command, its query. */
export function subject(args: unknown): string {
  const { path, command, query, pattern } = (args ?? {}) as Record<string, unknown>;
  return String([path, command, query, pattern].find((value) => typeof value === "string") ?? "");
}
