import type { Agent, Cursor, Run } from "cursor-cloud-agents";
import ts from "typescript";
import { vi } from "vitest";
import type { Snippet } from "./snippets.ts";

/** The values behind the names that snippets may use without saying so. */
export interface SnippetGlobals {
  cursor: Cursor;
  agent: Agent;
  run: Run;
}

/** What a snippet left behind. */
export interface SnippetRun {
  /** All it printed. */
  output: string;
  exports: Record<string, unknown>;
}

type Body = (...values: unknown[]) => Promise<void>;
const AsyncFunction = (async () => {}).constructor as new (...parameters: string[]) => Body;

/**
 * Runs a snippet to its end, in this process: its imports are those of a test, so the package's name means the sources.
 * Rejects with what the snippet throws, and after five seconds.
 */
export async function runSnippet(
  { code, name, isPage }: Snippet,
  globals: SnippetGlobals,
): Promise<SnippetRun> {
  const modules = new Map<string, unknown>();
  for (const { fileName } of ts.preProcessFile(code).importedFiles) {
    modules.set(fileName, await import(/* @vite-ignore */ fileName));
  }
  if (isPage) modules.set("react/jsx-runtime", await import("react/jsx-runtime"));
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.CommonJS,
      esModuleInterop: true,
      jsx: ts.JsxEmit.ReactJSX,
    },
  });
  // A block of its own: what the snippet declares hides the names it was given.
  const names = Object.keys(globals);
  const body = new AsyncFunction("require", "exports", ...names, `{${outputText}\n}`);
  const exports = {};
  let output = "";
  const write = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    output += text;
    return true;
  });
  const log = vi.spyOn(console, "log").mockImplementation((...values: unknown[]) => {
    output += `${values.map(String).join(" ")}\n`;
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the snippet "${name}" did not end within 5 s`)), 5_000);
  });
  try {
    await Promise.race([body((id: string) => modules.get(id), exports, ...Object.values(globals)), late]);
    return { output, exports };
  } finally {
    clearTimeout(timer);
    write.mockRestore();
    log.mockRestore();
  }
}
