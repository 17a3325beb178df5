import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** One way into the package, and the source behind it. */
export interface EntryPoint {
  /** As it is imported: `cursor-cloud-agents/node`. */
  specifier: string;
  file: string;
}

/** What can be imported from an entry point. */
export interface PublicExport {
  entry: EntryPoint;
  name: string;
  symbol: ts.Symbol;
  /** Exported as a type alone: a class of which users get instances, but don't make them. */
  isTypeOnly: boolean;
}

/** All entry points of the package with what they export, as the compiler sees them. */
export interface PublicApi {
  checker: ts.TypeChecker;
  exports: PublicExport[];
}

/** The entry points, as package.json has them. */
export function entryPoints(): EntryPoint[] {
  const { name, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    name: string;
    exports: Record<string, string | { types: string }>;
  };
  return Object.entries(exports).flatMap(([subpath, target]) =>
    typeof target === "string"
      ? []
      : [
          {
            specifier: name + subpath.slice(1),
            file: join(root, target.types.replace("./dist/", "src/").replace(/\.d\.ts$/, ".ts")),
          },
        ],
  );
}

/** Reads the sources behind `entries`; `virtual` lays texts over files, for tests of the checks themselves. */
export function readPublicApi(entries = entryPoints(), virtual: Record<string, string> = {}): PublicApi {
  const configFile = join(root, "tsconfig.json");
  const { config } = ts.readConfigFile(configFile, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, dirname(configFile), {}, configFile);
  const host = ts.createCompilerHost(options);
  const { fileExists, getSourceFile, readFile } = host;
  host.fileExists = (file) => file in virtual || fileExists.call(host, file);
  host.readFile = (file) => virtual[file] ?? readFile.call(host, file);
  host.getSourceFile = (file, languageVersion, ...rest) => {
    const text = virtual[file];
    if (text !== undefined) return ts.createSourceFile(file, text, languageVersion);
    return getSourceFile.call(host, file, languageVersion, ...rest);
  };
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    options,
    host,
  );
  const checker = program.getTypeChecker();
  const exports = entries.flatMap((entry) => {
    const source = program.getSourceFile(entry.file);
    if (!source) throw new Error(`${entry.specifier} has no source ${entry.file}`);
    const module = checker.getSymbolAtLocation(source);
    return (module ? checker.getExportsOfModule(module) : []).map((symbol) => ({
      entry,
      name: symbol.name,
      symbol: symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
      isTypeOnly: symbol.declarations?.some((each) => ts.isTypeOnlyImportOrExportDeclaration(each)) === true,
    }));
  });
  return { checker, exports };
}

/** What the comment of a symbol says, inherited comments among it; "" where there is none. */
export function commentOf(symbol: ts.Symbol, checker: ts.TypeChecker): string {
  const text = ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim();
  if (text !== "") return text;
  // `@default true` alone says enough of a flag whose name says the rest.
  const tags = symbol.getJsDocTags(checker).filter(({ text: parts }) => parts?.length);
  return tags.map((tag) => `@${tag.name} ${ts.displayPartsToString(tag.text)}`).join(" ");
}

/** The members that users can reach: not private, not marked `@internal`, and written in src/ (not by a tool or a library). */
export function publicMembers(symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol[] {
  if (!(symbol.flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface))) return [];
  const instance = checker.getDeclaredTypeOfSymbol(symbol).getProperties();
  const statics =
    symbol.flags & ts.SymbolFlags.Class && symbol.valueDeclaration
      ? checker.getTypeOfSymbolAtLocation(symbol, symbol.valueDeclaration).getProperties()
      : [];
  return [...instance, ...statics].filter((member) => isPublic(member));
}

function isPublic(member: ts.Symbol): boolean {
  const declaration = member.declarations?.[0];
  // `#private` ones, and symbols (`[Symbol.asyncIterator]`): these are the language's, and so is what they mean.
  if (!declaration || /^(__@|#)/.test(member.name) || member.name === "prototype") return false;
  if (!isWrittenHere(declaration)) return false;
  if (ts.getCombinedModifierFlags(declaration) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected))
    return false;
  return !member.getJsDocTags().some(({ name }) => name === "internal");
}

/** Where a declaration stands, from the root of the repository. */
export function placeOf(declaration: ts.Declaration): string {
  const source = declaration.getSourceFile();
  const { line } = source.getLineAndCharacterOfPosition(declaration.getStart());
  return `${relative(root, source.fileName)}:${line + 1}`;
}

const isWrittenHere = (declaration: ts.Declaration): boolean => placeOf(declaration).startsWith("src/");
