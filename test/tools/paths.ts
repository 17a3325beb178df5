/**
 * How long the paths through the client are: which functions, in which files, one request, one stream that opens and
 * one frame pass. `npm run paths` lists them in the order in which they are first called, and compares their number
 * with limits.
 *
 * The numbers are V8's: precise coverage counts the calls of each function. Coverage knows no order, so each path is
 * taken a second time through a copy of the code in which every function reports that it was entered.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import ts from "typescript";

/** A function that a path passes. */
interface PassedFunction {
  name: string;
  /** Relative to the working directory. */
  file: string;
  line: number;
  /** How often it was called, all measurements together. */
  calls: number;
  /** It belongs to a package in node_modules. */
  isLibrary: boolean;
}

/** Takes a path: prepares it with the module under measurement, and hands `measure` the part that counts. */
type Scenario<Module> = (
  module: Module,
  measure: (part: () => Promise<unknown>) => Promise<void>,
) => Promise<void>;

interface MeasuredCode<Module> {
  /** The functions that a path passes at least `leastCalls` times, in the order of their first call. */
  pathOf(scenario: Scenario<Module>, leastCalls?: number): Promise<PassedFunction[]>;
  /** Ends the measuring and removes the copies. */
  close(): void;
}

interface Limit {
  functions: number;
  files: number;
}

type FunctionWithBody = ts.FunctionLikeDeclaration & { body: ts.ConciseBody };

/** A file of the measured code as JavaScript. Its functions are those of the source, in the same order. */
interface Script {
  /** Of the source, relative to the working directory. */
  file: string;
  code: string;
  functions: FunctionWithBody[];
  /** The same functions in the source. */
  originals: FunctionWithBody[];
}

const cache = resolve("node_modules/.cache");

/** They erase the types and change nothing else. */
const compilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  verbatimModuleSyntax: true,
};

const reporter = "__entered";

/** Makes two copies of a module and of all that it imports: one as it is, and one whose functions report their calls. */
export async function measuredCode<Module>(entry: string): Promise<MeasuredCode<Module>> {
  const files = await importsOf(entry);
  const scripts = files.filter((file) => /\.[cm]?[jt]s$/.test(file)).map(toScript);
  // Below node_modules: there the copies find the packages, and no loader of TypeScript touches them.
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "copies-"));
  const plain = join(folder, "plain");
  const reporting = join(folder, "reporting");
  for (const script of scripts) {
    write(join(plain, outputName(script.file)), script.code);
    write(join(reporting, outputName(script.file)), withReports(script));
  }
  for (const copy of [plain, reporting]) {
    write(join(copy, "package.json"), '{ "type": "module" }');
    for (const packageFolder of new Set(files.flatMap((file) => packageOf(file) ?? []))) {
      const manifest = join(packageFolder, "package.json");
      write(join(copy, manifest), readFileSync(manifest, "utf8"));
    }
  }
  const load = (copy: string): Promise<Module> =>
    import(/* @vite-ignore */ pathToFileURL(join(copy, outputName(entry))).href);
  const byUrl = new Map(
    scripts.map((script) => [pathToFileURL(join(plain, outputName(script.file))).href, script]),
  );
  const profiler = startProfiler();

  return {
    async pathOf(scenario, leastCalls = 1) {
      const calls = await countCalls(byUrl, profiler, async (measure) =>
        scenario(await load(plain), measure),
      );
      const order = await firstCalls(async (measure) => scenario(await load(reporting), measure));
      const inOne = [...calls.keys(), ...order].find((id) => !(calls.has(id) && order.includes(id)));
      if (inOne) {
        const { name, file } = describe(inOne, scripts, 0);
        throw new Error(`the two passes took different paths: only one called ${name} of ${file}`);
      }
      return order
        .filter((id) => (calls.get(id) ?? 0) >= leastCalls)
        .map((id) => describe(id, scripts, calls.get(id) as number));
    },
    close() {
      profiler.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** The files of a module and of all that it imports, packages included. */
async function importsOf(entry: string): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    outdir: "paths",
    write: false,
    metafile: true,
  });
  return Object.keys(metafile.inputs);
}

function toScript(file: string): Script {
  const source = readFileSync(file, "utf8");
  const code = file.endsWith("ts")
    ? ts.transpileModule(source, {
        fileName: file,
        compilerOptions: { ...compilerOptions, rewriteRelativeImportExtensions: true },
      }).outputText
    : source;
  const functions = functionsOf(outputName(file), code);
  const originals = functionsOf(file, source);
  const isSame = functions.every(({ kind }, index) => kind === originals[index]?.kind);
  if (functions.length !== originals.length || !isSame) {
    throw new Error(`${file}: its JavaScript has other functions than its source`);
  }
  return { file, code, functions, originals };
}

function functionsOf(file: string, text: string): FunctionWithBody[] {
  const found: FunctionWithBody[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && "body" in node && node.body) found.push(node as FunctionWithBody);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true));
  return found;
}

const outputName = (file: string): string => file.replace(/ts$/, "js");

/** The folder of the package that a file belongs to. Folders such as node_modules/.cache are none. */
const packageOf = (file: string): string | undefined =>
  /^.*node_modules\/(@[^/]+\/)?[^@./][^/]*(?=\/)/.exec(file)?.[0];

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const idOf = (file: string, index: number): string => `${file}#${index}`;

/** The code of a script, with a call of the reporter at the beginning of each function. */
function withReports({ file, code, functions }: Script): string {
  const insertions = functions.flatMap(({ body }, index) => {
    const call = `${reporter}(${JSON.stringify(idOf(file, index))})`;
    if (ts.isBlock(body)) return [{ at: body.getStart() + 1, text: `${call};`, order: index }];
    return [
      { at: body.getStart(), text: `(${call}, `, order: index },
      // Of bodies that end together, the inner one began last.
      { at: body.end, text: ")", order: -index },
    ];
  });
  insertions.sort((a, b) => a.at - b.at || a.order - b.order);
  let from = 0;
  let result = "";
  for (const { at, text } of insertions) {
    result += code.slice(from, at) + text;
    from = at;
  }
  return result + code.slice(from);
}

type Pass = (measure: (part: () => Promise<unknown>) => Promise<void>) => Promise<void>;

/** How often each function of a copy was called while something was measured, by V8's count. */
async function countCalls(byUrl: Map<string, Script>, profiler: Profiler, pass: Pass) {
  const calls = new Map<string, number>();
  await pass(async (part) => {
    profiler.take(); // begins to count anew
    await part();
    for (const { url, functions } of profiler.take()) {
      const script = byUrl.get(url);
      if (!script) continue;
      for (const { functionName, ranges } of functions) {
        const { startOffset, endOffset, count } = ranges[0] as CoverageRange;
        if (count === 0 || isImplied(script.code, functionName, startOffset)) continue;
        const index = script.functions.findIndex((node) => isAt(node, startOffset, endOffset));
        if (index < 0) {
          throw new Error(`${script.file}: V8 called "${functionName}", which its copy doesn't have`);
        }
        const id = idOf(script.file, index);
        calls.set(id, (calls.get(id) ?? 0) + count);
      }
    }
  });
  return calls;
}

interface Profiler {
  /** The calls since the last time. */
  take(): ScriptCoverage[];
  stop(): void;
}

/** Must start before the code is loaded: of an async function loaded earlier, V8 counts each continuation as a call. */
function startProfiler(): Profiler {
  const session = new Session();
  session.connect();
  // In a session of one's own thread, answers come before `post` returns.
  const post = <Answer>(method: string, params?: object): Answer => {
    let answer: Answer | undefined;
    session.post(method, params, (error, result) => {
      if (error) throw error;
      answer = result as Answer;
    });
    return answer as Answer;
  };
  post("Profiler.enable");
  post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  return {
    take: () => post<{ result: ScriptCoverage[] }>("Profiler.takePreciseCoverage").result,
    stop() {
      post("Profiler.stopPreciseCoverage");
      session.disconnect();
    },
  };
}

interface CoverageRange {
  startOffset: number;
  endOffset: number;
  count: number;
}

interface ScriptCoverage {
  url: string;
  functions: { functionName: string; ranges: CoverageRange[] }[];
}

/** V8 also counts what stands in no source: the module itself, the initialisers of fields, constructors left out. */
const isImplied = (code: string, name: string, start: number): boolean =>
  name.startsWith("<") || start === 0 || code.startsWith("class", start);

/** V8 lets some functions begin behind their modifiers and their name, all of them before their body. */
const isAt = (node: FunctionWithBody, start: number, end: number): boolean =>
  node.end === end && node.getStart() <= start && start < node.body.getStart();

/** The functions of the reporting copy that were called while something was measured, in the order of their first call. */
async function firstCalls(pass: Pass): Promise<string[]> {
  const called = new Set<string>();
  let isMeasuring = false;
  Object.assign(globalThis, {
    [reporter]: (id: string) => {
      if (isMeasuring) called.add(id);
    },
  });
  await pass(async (part) => {
    isMeasuring = true;
    await part();
    isMeasuring = false;
  });
  return [...called];
}

function describe(id: string, scripts: Script[], calls: number): PassedFunction {
  const [file, index] = id.split("#") as [string, string];
  const node = scripts.find((script) => script.file === file)?.originals[Number(index)] as FunctionWithBody;
  const { line } = node.getSourceFile().getLineAndCharacterOfPosition(node.getStart());
  return { name: nameOf(node), file, line: line + 1, calls, isLibrary: packageOf(file) !== undefined };
}

function nameOf(node: ts.Node): string {
  const { parent } = node;
  if (ts.isConstructorDeclaration(node)) return `new ${nameOf(parent)}`;
  if (ts.isGetAccessor(node)) return `${nameOf(parent)}.${node.name.getText()} (get)`;
  if (ts.isSetAccessor(node)) return `${nameOf(parent)}.${node.name.getText()} (set)`;
  if (ts.isMethodDeclaration(node)) {
    const name = node.name.getText();
    return `${nameOf(parent)}${name.startsWith("[") ? "" : "."}${name}`;
  }
  const { name } = node as { name?: ts.Node };
  if (name) return name.getText();
  if (ts.isPropertyDeclaration(parent)) return `${nameOf(parent.parent)}.${parent.name.getText()}`;
  if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) return parent.name.getText();
  const outer = ts.findAncestor(parent, ts.isFunctionLike);
  const kind = ts.isObjectLiteralExpression(node) ? "object" : ts.isClassLike(node) ? "class" : "function";
  return `(${kind}) in ${outer ? nameOf(outer) : "the module"}`;
}

/** "55 functions in 15 files (and 8 in libraries)", and whether that is within the limit. */
export function summary(name: string, passed: PassedFunction[], limit: Limit): string {
  const own = passed.filter(({ isLibrary }) => !isLibrary);
  const files = new Set(own.map(({ file }) => file)).size;
  const verdict = own.length <= limit.functions && files <= limit.files ? "ok" : "over";
  return `${name}: ${own.length} functions in ${files} files (and ${passed.length - own.length} in libraries); limit ${limit.functions} in ${limit.files}: ${verdict}`;
}

function print(name: string, passed: PassedFunction[], limit: Limit): void {
  const width = Math.max(...passed.map((called) => called.name.length));
  for (const [index, { name, file, line, isLibrary }] of passed.entries()) {
    const place = `${isLibrary ? file.replace(/^.*node_modules\//, "library ") : file}:${line}`;
    console.log(`${String(index + 1).padStart(4)}  ${name.padEnd(width)}  ${place}`);
  }
  console.log(`${summary(name, passed, limit)}\n`);
}

// ── The client's paths ───────────────────────────────────────────────────────────────────────────────────────────

type Client = typeof import("../../src/index.ts");

const ref = {
  agentId: "bc-00000000-0000-0000-0000-000000000001",
  id: "run-00000000-0000-0000-0000-000000000001",
};

function clientOf({ Cursor }: Client, answer: () => Response) {
  return new Cursor({ apiKey: "key_for_measuring_paths", fetch: async () => answer() });
}

async function getAgent(client: Client, measure: Parameters<Scenario<Client>>[1]): Promise<void> {
  const cursor = clientOf(client, () => Response.json({ id: ref.agentId, name: "An agent" }));
  for (let index = 0; index < 10; index++) await cursor.agents.get(ref.agentId);
  await measure(() => cursor.agents.get(ref.agentId));
}

/** Pieces of a reply without end, sent when they are asked for, in chunks of this many frames. */
function endlessStream(framesInChunk: number): Response {
  const encoder = new TextEncoder();
  let sent = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        let chunk = "";
        for (let count = 0; count < framesInChunk; count++) {
          chunk += `id: 1713033000000-${sent++}\nevent: assistant\ndata: {"text":"word ${sent} "}\n\n`;
        }
        controller.enqueue(encoder.encode(chunk));
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

async function openStream(client: Client, measure: Parameters<Scenario<Client>>[1]): Promise<void> {
  const cursor = clientOf(client, () => endlessStream(1));
  const open = async () => {
    const events = cursor.runs.stream(ref)[Symbol.asyncIterator]();
    await events.next();
    return events;
  };
  await (await open()).return?.();
  let events: Awaited<ReturnType<typeof open>> | undefined;
  await measure(async () => {
    events = await open();
  });
  await events?.return?.();
}

const frames = 100;

const readFrames =
  (framesInChunk: number): Scenario<Client> =>
  async (client, measure) => {
    const cursor = clientOf(client, () => endlessStream(framesInChunk));
    const events = cursor.runs.stream(ref)[Symbol.asyncIterator]();
    const read = async () => {
      for (let index = 0; index < frames; index++) await events.next();
    };
    await read();
    await measure(read);
    await events.return?.();
  };

async function main(): Promise<void> {
  const code = await measuredCode<Client>("src/index.ts");
  try {
    const agent = await code.pathOf(getAgent);
    print("agents.get", agent, { functions: 40, files: 8 });
    const opening = await code.pathOf(openStream);
    print("open a stream", opening, { functions: 75, files: 14 });
    // "About once per frame": what is called now and then, such as once per full buffer, doesn't count.
    const frame = await code.pathOf(readFrames(20), frames * 0.9);
    print("one frame", frame, { functions: 16, files: 5 });
    // The same with the work for each chunk, which frames that arrive together share.
    const chunk = await code.pathOf(readFrames(1), frames * 0.9);
    print("one frame in a chunk of its own", chunk, { functions: 38, files: 10 });
  } finally {
    code.close();
  }
}

/** Runs this file again in plain Node: tsx also rewrites JavaScript that has an `import()`, and V8 would count that. */
function runWithoutLoader(file: string): void {
  mkdirSync(cache, { recursive: true });
  const copy = join(mkdtempSync(join(cache, "paths-")), "paths.js");
  try {
    writeFileSync(copy, ts.transpileModule(readFileSync(file, "utf8"), { compilerOptions }).outputText);
    const { status } = spawnSync(process.execPath, [copy], { stdio: "inherit", timeout: 60_000 });
    process.exitCode = status ?? 1;
  } finally {
    rmSync(dirname(copy), { recursive: true });
  }
}

if (import.meta.filename === process.argv[1]) {
  if (import.meta.filename.endsWith(".ts")) runWithoutLoader(import.meta.filename);
  else await main();
}
