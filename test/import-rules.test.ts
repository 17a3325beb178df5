import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join, posix } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";

// The house rules of src/: who may import whom (downward only), and what is used nowhere.

const base = ["types", "errors", "async", "text", "check", "options", "agent-id", "api-promise"];
const middle = [...base, "pagination", "http", "sse", "runs"];
const subpath = ["index"];

/** What each area of src/ may import, beside itself. An area is a folder, or a file at the top. */
const mayImport: Record<string, string[]> = {
  types: ["generated"],
  errors: ["types"],
  async: [],
  text: [],
  "agent-id": ["errors"],
  "api-promise": [],
  check: ["types", "errors", "async"],
  "web-stream": ["async"],
  options: ["errors", "async", "check", "text"],
  pagination: base,
  http: [...base, "generated"],
  sse: [...base, "http"],
  runs: [...base, "pagination", "http", "sse"],
  resources: middle,
  cursor: [...middle, "resources"],
  index: [...middle, "resources", "cursor"],
  node: [...subpath, "async", "check", "text"],
  // A watch is an event stream like that of a run: it shares the pieces that read one and judge its failures.
  workers: [...subpath, "async", "text", "check", "errors", "http", "sse", "runs"],
  // Beside the public face, what is shared: option tables, safe addresses, time, and the writing of event streams.
  serve: [...subpath, "check", "async", "web-stream"],
  "ai-sdk": [...subpath, "check", "async", "web-stream"],
  // Beside the public types, single pieces: a page must not load the whole client for an error class.
  store: [...subpath, "serve", "async", "errors", "text", "check", "options", "http", "sse", "runs"],
  react: [...subpath, "store"],
  // Beside the public face, what stands in one place: how a key is read and redacted, and which failures may pass.
  cli: [...subpath, "text", "http", "node", "emulator"],
  // An independent second reading of the contract: nothing of the client.
  emulator: ["generated"],
};

/** The packages that each area may import; the core lives on three. */
const packages: Record<string, string[]> = {
  http: ["openapi-fetch", "p-retry"],
  sse: ["eventsource-parser"],
  react: ["react"],
  cli: ["commander"],
  emulator: ["zod/mini", "msw"],
};

const hasNodeBuiltIns = (path: string) => /^(node|cli)\/|^emulator\/mounts\/node-listener\.ts$/.test(path);
const mayUse: Record<string, (path: string) => boolean> = {
  console: (path) => path.startsWith("cli/"),
  process: (path) => path === "options.ts" || /^(node|cli)\//.test(path),
  Buffer: hasNodeBuiltIns,
};

/** Every rule that a file of src/ breaks; `path` is relative to src/. */
function problemsOf(path: string, text: string): string[] {
  const area = path.split("/")[0]!.replace(/\.tsx?$/, "");
  const allowed = mayImport[area];
  if (!allowed) return [`${path}: the rules don't know the area "${area}"`];
  const problems = ts.preProcessFile(text, true, true).importedFiles.flatMap(({ fileName: target }) => {
    if (target.startsWith("node:") || builtinModules.includes(target)) {
      return hasNodeBuiltIns(path) ? [] : [`${path} imports the Node built-in ${target}`];
    }
    if (!target.startsWith(".")) {
      return packages[area]?.includes(target) ? [] : [`${path} imports the package ${target}`];
    }
    const resolved = posix.join("src", posix.dirname(path), target);
    const to = resolved.split("/")[resolved.startsWith("src/") ? 1 : 0]!.replace(/\.tsx?$/, "");
    return to === area || allowed.includes(to) ? [] : [`${path} imports ${to}`];
  });
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  const visit = (node: ts.Node): void => {
    const isAccess = ts.isPropertyAccessExpression(node.parent) || ts.isPropertyAssignment(node.parent);
    const isProperty = isAccess && node.parent.name === node;
    const isGlobal = !isProperty || node.parent.getText().startsWith("globalThis.");
    if (ts.isIdentifier(node) && isGlobal && mayUse[node.text]?.(path) === false) {
      problems.push(`${path} uses ${node.text}`);
    }
    node.forEachChild(visit);
  };
  source.forEachChild(visit);
  return problems;
}

/** The relative imports of a file, as paths relative to src/: by value or by type, dynamic ones included. */
const importsOf = (path: string, text: string): string[] =>
  ts
    .preProcessFile(text, true, true)
    .importedFiles.filter(({ fileName }) => fileName.startsWith("."))
    .map(({ fileName }) => posix.join(posix.dirname(path), fileName));

/** The circles among files: groups in which every file reaches every other through imports. */
function circlesOf(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const reachable = new Map(
    [...imports.keys()].map((start) => {
      const reached = new Set<string>();
      const waiting = [start];
      for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
        for (const next of imports.get(path) ?? []) {
          if (reached.has(next)) continue;
          reached.add(next);
          waiting.push(next);
        }
      }
      return [start, reached] as const;
    }),
  );
  const inCircle = [...imports.keys()].filter((path) => reachable.get(path)!.has(path));
  const groups = inCircle.map((path) =>
    inCircle.filter((other) => reachable.get(path)!.has(other) && reachable.get(other)!.has(path)),
  );
  return [...new Map(groups.map((group) => [group.join(), group])).values()];
}

// A pause after a failure goes through Backoff, so that it grows, has jitter and respects Retry-After. Other waits:
const maySleep: Record<string, string> = {
  "http/retry.ts": "waits for as long as Backoff says, inside p-retry's loop",
  "runs/poller.ts": "keeps to its budget of requests per minute, after no failure",
};
const mayCallRandom: Record<string, string> = {
  "async.ts": "Backoff itself",
  "store/route-source.ts": "hands the randomness of the latest options on to Backoff",
  "workers/queue-loop.ts": "spreads the moments at which clients list again, after no failure",
};

/** The names that a file imports from async.ts, and whether it calls a source of randomness. */
function pausesOf(path: string, text: string) {
  let sleeps = false;
  let callsRandom = false;
  const visit = (node: ts.Node): void => {
    if (ts.isImportSpecifier(node)) {
      const from = node.parent.parent.parent.moduleSpecifier as ts.StringLiteral;
      const isAsync = posix.join(posix.dirname(path), from.text) === "async.ts";
      if (isAsync && (node.propertyName ?? node.name).text === "sleep") sleeps = true;
    }
    if (ts.isCallExpression(node) && /(^|[.#])random$/.test(node.expression.getText())) callsRandom = true;
    node.forEachChild(visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true));
  return { sleeps, callsRandom };
}

const src = new URL("../src/", import.meta.url).pathname;
const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((path) => /\.tsx?$/.test(path));

describe("src/", () => {
  it("is all there", () => {
    expect(files.length).toBeGreaterThan(40);
  });

  it.each(files)("%s keeps the rules", (path) => {
    expect(problemsOf(path.replaceAll("\\", "/"), readFileSync(join(src, path), "utf8"))).toEqual([]);
  });
});

describe("all of src/", () => {
  const texts = new Map(
    files.map((path) => [path.replaceAll("\\", "/"), readFileSync(join(src, path), "utf8")]),
  );

  it("has no import circle, by value or by type", () => {
    expect(circlesOf(new Map([...texts].map(([path, text]) => [path, importsOf(path, text)])))).toEqual([]);
  });

  it("pauses after failures through Backoff only", () => {
    const pauses = [...texts].map(([path, text]) => ({ path, ...pausesOf(path, text) }));
    const pathsOf = (kind: "sleeps" | "callsRandom") =>
      pauses
        .filter((file) => file[kind])
        .map(({ path }) => path)
        .sort();
    expect(pathsOf("sleeps")).toEqual(Object.keys(maySleep).sort());
    expect(pathsOf("callsRandom")).toEqual(Object.keys(mayCallRandom).sort());
  });

  it("would show a circle of types and dynamic imports", () => {
    const imports = new Map([
      ["a.ts", importsOf("a.ts", 'import type { B } from "./x/b.ts";')],
      ["x/b.ts", importsOf("x/b.ts", 'const c = await import("../c.ts");')],
      ["c.ts", importsOf("c.ts", 'export * from "./a.ts";')],
      ["d.ts", importsOf("d.ts", 'import "./a.ts";')],
    ]);
    expect(circlesOf(imports)).toEqual([["a.ts", "x/b.ts", "c.ts"]]);
  });

  it.each([
    ['import { sleep as wait } from "../async.ts";', { sleeps: true, callsRandom: false }],
    ["const pause = 500 * this.#random();", { sleeps: false, callsRandom: true }],
    [
      'import { Backoff } from "../async.ts";\nnew Backoff({ random });',
      { sleeps: false, callsRandom: false },
    ],
  ])("would show a pause: %s", (text, pauses) => {
    expect(pausesOf("runs/x.ts", text)).toEqual(pauses);
  });
});

describe("a file that breaks a rule is found out", () => {
  it.each([
    ["errors.ts", 'import { Cursor } from "./cursor.ts";', "errors.ts imports cursor"],
    ["http/x.ts", 'import type { Agents } from "../resources/agents.ts";', "http/x.ts imports resources"],
    ["sse.ts", 'export { RunReader } from "./runs/reader.ts";', "sse.ts imports runs"],
    ["runs/x.ts", 'const x = await import("../resources/runs.ts");', "runs/x.ts imports resources"],
    [
      "resources/x.ts",
      'import type { paths } from "../../generated/openapi.ts";',
      "resources/x.ts imports generated",
    ],
    ["emulator/x.ts", 'import { sleep } from "../async.ts";', "emulator/x.ts imports async"],
    ["emulator/x.ts", 'export type { Run } from "../types.ts";', "emulator/x.ts imports types"],
    ["serve/x.ts", 'import { Transport } from "../http/transport.ts";', "serve/x.ts imports http"],
    ["http/x.ts", 'import { Buffer } from "node:buffer";', "http/x.ts imports the Node built-in node:buffer"],
    ["emulator/x.ts", 'import fs from "fs";', "emulator/x.ts imports the Node built-in fs"],
    ["resources/x.ts", 'import ky from "ky";', "resources/x.ts imports the package ky"],
    ["runs/x.ts", 'console.log("here");', "runs/x.ts uses console"],
    ["http/x.ts", "const key = globalThis.process.env.KEY;", "http/x.ts uses process"],
    ["newcomer/x.ts", "", 'newcomer/x.ts: the rules don\'t know the area "newcomer"'],
  ])("%s: %s", (path, text, problem) => {
    expect(problemsOf(path, text)).toContain(problem);
  });

  it.each([
    ["http/x.ts", '// console.log(process.env)\nimport pRetry from "p-retry";'],
    ["resources/x.ts", 'import { Frame } from "../sse.ts";\nimport { toQuery } from "./params.ts";'],
    ["emulator/mounts/node-listener.ts", 'import { createServer } from "node:http";'],
    ["serve/x.ts", 'import type { Cursor } from "../index.ts";\nconst options = { process: 1 }.process;'],
  ])("and one that doesn't isn't: %s", (path, text) => {
    expect(problemsOf(path, text)).toEqual([]);
  });
});
