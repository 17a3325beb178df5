/**
 * Writes dist/llms.txt, the guide for coding agents: the template beside this file, with its lists of methods and
 * functions read from the sources, so that they can't go stale. Part of `npm run build`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import ts from "typescript";
import { commentOf, type PublicApi, publicMembers, readPublicApi } from "./public-api.ts";

const template = new URL("./llms.template.md", import.meta.url);
const manifest = new URL("../../package.json", import.meta.url);

/** The whole guide. */
export function renderGuide(api: PublicApi = readPublicApi()): string {
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
  const values: Record<string, string> = {
    version,
    methods: methodsOf(find(api, "Cursor"), "cursor", api).join("\n"),
    functions: functionsOf(api).join("\n"),
    steps: namesOf(find(api, "RunScript"), api),
    faults: namesOf(find(api, "Faults"), api),
  };
  return readFileSync(template, "utf8").replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`llms.template.md: nothing is known of {{${name}}}`);
    return value;
  });
}

function find({ exports }: PublicApi, name: string): ts.Symbol {
  const found = exports.find((candidate) => candidate.name === name);
  if (!found) throw new Error(`${name} is not exported`);
  return found.symbol;
}

/** A line that says where, then one for each method: its own first, then those of its resources. */
function methodsOf(symbol: ts.Symbol, path: string, api: PublicApi): string[] {
  const { checker } = api;
  const members = publicMembers(symbol, checker);
  const own = members
    .filter((member) => member.flags & ts.SymbolFlags.Method)
    .map((member) => `- \`${signatureOf(member, checker)}\` ${sentenceOf(member, checker)}`);
  const nested = members
    .filter((member) => member.flags & ts.SymbolFlags.Property)
    .flatMap((member) => {
      const resource = checker.getTypeOfSymbol(member).getSymbol();
      const isResource = resource && resource.flags & ts.SymbolFlags.Class;
      return isResource ? methodsOf(resource, `${path}.${member.name}`, api) : [];
    });
  return [...(own.length === 0 ? [] : [`On \`${path}\`:`]), ...own, ...nested];
}

/** Functions and classes of each entry point, but for those that the text or the list of methods is about. */
function functionsOf({ checker, exports }: PublicApi): string[] {
  const lines: string[] = [];
  let last = "";
  for (const { entry, name, symbol, isTypeOnly } of exports) {
    if (isTypeOnly || !(symbol.flags & ts.SymbolFlags.Value) || /^Cursor$|Promise$|Error$/.test(name))
      continue;
    if (last !== entry.specifier) lines.push(`From \`${entry.specifier}\`:`);
    last = entry.specifier;
    const isFunction = symbol.flags & ts.SymbolFlags.Function;
    lines.push(`- \`${isFunction ? signatureOf(symbol, checker) : name}\` ${sentenceOf(symbol, checker)}`);
  }
  return lines;
}

/** The names of all methods. */
function namesOf(symbol: ts.Symbol, { checker }: PublicApi): string {
  const methods = publicMembers(symbol, checker).filter(({ flags }) => flags & ts.SymbolFlags.Method);
  return methods.map(({ name }) => `\`${name}\``).join(", ");
}

function signatureOf(symbol: ts.Symbol, checker: ts.TypeChecker): string {
  const declaration = symbol.valueDeclaration as ts.SignatureDeclaration;
  const signature = checker.getSignaturesOfType(checker.getTypeOfSymbol(symbol), ts.SignatureKind.Call).at(0);
  if (!signature) throw new Error(`${symbol.name} can't be called`);
  const parameters = signature.parameters.flatMap((parameter) => {
    const node = parameter.valueDeclaration as ts.ParameterDeclaration;
    // Every call takes these last, and the guide says so once.
    const isLast = node.type?.getText() === "RequestOptions";
    const isOptional = node.questionToken !== undefined || node.initializer !== undefined;
    return isLast ? [] : [`${parameter.name}${isOptional ? "?" : ""}`];
  });
  // What a page has beside its items would fill the line.
  const result =
    declaration.type
      ?.getText()
      .replace(/\s+/g, " ")
      .replace(/, \{.*\}>$/, ">") ?? "";
  return `${symbol.name}(${parameters.join(", ")})${result === "" ? "" : `: ${result}`}`;
}

/** The first sentence of a comment, up to a semicolon or colon, and where that is long up to a comma. */
function sentenceOf(symbol: ts.Symbol, checker: ts.TypeChecker): string {
  const text = commentOf(symbol, checker)
    .replace(/\{@link ([^}]+?) *\}/g, "$1")
    .replace(/\s+/g, " ");
  // What stands in code is passed over as a whole.
  const upTo = (end: string) =>
    new RegExp(`^(?:\`[^\`]*\`|[^\`])*?(?=[${end}](?: |$))`).exec(text)?.[0] ?? text;
  const sentence = upTo(".:;");
  return `${sentence.length > 70 ? upTo(".:;,") : sentence}.`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  writeFileSync(new URL("../../dist/llms.txt", import.meta.url), renderGuide());
}
