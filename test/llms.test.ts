import { readFileSync } from "node:fs";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { compileSnippets } from "./readme/compile.ts";
import { extractSnippets } from "./readme/snippets.ts";
import { renderGuide } from "./tools/llms.ts";
import { type PublicApi, readPublicApi } from "./tools/public-api.ts";

// Reading the sources takes a moment: the compiler's time, not a wait.
const timeout = 60_000;

/** Words of code that are no names of this package. */
const language = [
  "await",
  "for",
  "signal",
  "reason",
  "instanceof",
  "string",
  "undefined",
  "Promise",
  "Response",
  "ReadableStream",
  "Metadata",
  "useChat",
  "Retry",
  "After",
  "CURSOR_AGENT_WORKER_ID",
];

/** Every name a user can meet: exports, their members and parameters, and what the contract says. */
function knownNames({ checker, exports }: PublicApi): Set<string> {
  const names = new Set<string>(language);
  for (const { entry, name, symbol } of exports) {
    names.add(name);
    for (const part of entry.specifier.split(/\W+/)) names.add(part);
    const { valueDeclaration: value, declarations: [declaration] = [] } = symbol;
    const types = [checker.getDeclaredTypeOfSymbol(symbol)];
    if (value) types.push(checker.getTypeOfSymbol(symbol));
    for (const type of types) {
      for (const member of type.getProperties()) {
        names.add(member.name);
        for (const call of checker.getTypeOfSymbol(member).getCallSignatures())
          for (const parameter of call.parameters) names.add(parameter.name);
      }
      for (const call of type.getCallSignatures())
        for (const parameter of call.parameters) names.add(parameter.name);
    }
    // Values of options, such as `"adopt"`.
    const visit = (node: ts.Node): void => {
      if (ts.isStringLiteral(node)) names.add(node.text);
      if (ts.isPropertySignature(node)) names.add(node.name.getText());
      node.forEachChild(visit);
    };
    if (declaration) visit(declaration);
  }
  addWords(parse(readFileSync(new URL("../openapi.yaml", import.meta.url), "utf8")), names);
  return names;
}

/** The contract's keys, and its values of one word: fields, codes, statuses, operations. */
function addWords(node: unknown, names: Set<string>): void {
  if (typeof node === "string" && /^\w+$/.test(node)) names.add(node);
  if (typeof node !== "object" || node === null) return;
  for (const [key, value] of Object.entries(node)) {
    names.add(key);
    addWords(value, names);
  }
}

/** Words between backticks, but those of code blocks: the compiler looks at these. */
function mentioned(guide: string): string[] {
  const prose = guide.replace(/^```[\s\S]*?^```/gm, "");
  const spans = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);
  return spans.flatMap((code) => code.match(/[A-Za-z]\w+/g) ?? []);
}

describe("llms.txt", () => {
  const api = readPublicApi();
  const guide = renderGuide(api);

  it("mentions only names that exist", { timeout }, () => {
    const known = knownNames(api);
    expect(mentioned(guide).length).toBeGreaterThan(300);
    expect([...new Set(mentioned(guide))].filter((name) => !known.has(name))).toEqual([]);
    const wrong = mentioned(`${guide}\n\`cursor.agents.erase(agentId)\` and \`onConflikt\``);
    expect(wrong.filter((name) => !known.has(name))).toEqual(["erase", "onConflikt"]);
  });

  it("calls methods only where they are", () => {
    const sections = new Map(
      [...guide.matchAll(/^On `cursor\.?([\w.]*)`:\n((?:- .+\n?)*)/gm)].map(([, path = "", list = ""]) => [
        path,
        list,
      ]),
    );
    const misplaced = (text: string) =>
      [...text.matchAll(/`(?:cursor\.)?([\w.]+)\.(\w+)(?:\(.*?\))?`/g)].flatMap(
        ([code, path = "", method]) => {
          const list = sections.get(path);
          return list === undefined || list.includes(`- \`${method}(`) ? [] : [code];
        },
      );
    expect([...guide.matchAll(/`(?:runs|agents)\.\w+`/g)].length).toBeGreaterThan(5);
    expect(misplaced(guide.replace(/^On .*$/gm, ""))).toEqual([]);
    expect(misplaced("`agents.wait` and `cursor.runs.archive(ref)`, but `runs.wait`")).toHaveLength(2);
  });

  it("has snippets that compile", { timeout }, () => {
    const snippets = extractSnippets(guide);
    expect(snippets).toHaveLength(2);
    expect(compileSnippets(snippets, "llms.txt")).toEqual([]);
  });

  it("begins with the README's own first example", () => {
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    expect(extractSnippets(guide)[0]?.code).toBe(extractSnippets(readme)[0]?.code);
  });

  it("has each method of a Cursor on a line of its own, with what it does", () => {
    const list = guide.slice(guide.indexOf("On `cursor`:"), guide.indexOf("## Also exported"));
    const lines = list.trim().split("\n");
    expect(lines.length).toBeGreaterThan(60);
    for (const line of lines) expect(line).toMatch(/^(On `cursor[\w.]*`:|- `\w+\(.*\): [^`]+` [A-Z].+\.)$/);
    expect(list).toMatch(
      /^On `cursor\.runs`:\n- `create\(agentId, params, options\?\): ApiPromise<Run>` Sends a/m,
    );
    expect(list).toMatch(/^On `cursor\.workers\.claims`:\n(- .+\n)*- `release\(id\): ApiPromise<Claim>` /m);
  });

  it("shows a function with several signatures by its first, and what a route can't do without", () => {
    expect(guide).toContain("- `useRun(storeOrOptions): UseRunResult` ");
    expect(guide).toContain("must have `request` and `authorize: ");
  });

  it("is 12 KB at most, with nothing left to fill in", () => {
    expect(Buffer.byteLength(guide)).toBeLessThanOrEqual(12 * 1024);
    expect(guide).not.toContain("{{");
  });
});
