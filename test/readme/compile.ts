import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import type { Snippet } from "./snippets.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const configFile = join(root, "tsconfig.json");

/** What snippets may use without saying so: the README introduces these three in its first one. */
const prelude = `
import type { Agent, Cursor, Run } from "cursor-cloud-agents";
declare global {
  const cursor: Cursor;
  const agent: Agent;
  const run: Run;
}
`;

/** Compiles all snippets in one program, each as a module of its own, under the project's tsconfig. Returns what is wrong. */
export function compileSnippets(snippets: readonly Snippet[], readme = "README.md"): string[] {
  const { config } = ts.readConfigFile(configFile, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, dirname(configFile), {}, configFile);
  // Nothing of these is on disk: they are where the imports of a test would be resolved from.
  const place = (name: string) => join(root, "test/readme", name);
  const virtual = new Map([[place("prelude.ts"), prelude]]);
  const byFile = new Map<string, Snippet>();
  snippets.forEach((snippet, index) => {
    const file = place(`snippet-${index}.${snippet.isPage ? "tsx" : "ts"}`);
    virtual.set(file, `${snippet.code}\nexport {};\n`);
    byFile.set(file, snippet);
  });

  const host = ts.createCompilerHost(options);
  const { fileExists, getSourceFile, readFile } = host;
  host.fileExists = (file) => virtual.has(file) || fileExists.call(host, file);
  host.readFile = (file) => virtual.get(file) ?? readFile.call(host, file);
  host.getSourceFile = (file, languageVersion, ...rest) => {
    const text = virtual.get(file);
    if (text !== undefined) return ts.createSourceFile(file, text, languageVersion);
    return getSourceFile.call(host, file, languageVersion, ...rest);
  };
  const program = ts.createProgram([...virtual.keys()], options, host);
  return [...virtual.keys()].flatMap((file) => {
    const source = program.getSourceFile(file);
    const diagnostics = [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source),
    ];
    return diagnostics.map((diagnostic) => {
      const message = ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n");
      const { line } = ts.getLineAndCharacterOfPosition(source as ts.SourceFile, diagnostic.start ?? 0);
      const snippet = byFile.get(file);
      const where = snippet ? `${readme}:${snippet.line + line} (${snippet.name})` : "the prelude";
      return `${where}: TS${diagnostic.code} ${message}`;
    });
  });
}
