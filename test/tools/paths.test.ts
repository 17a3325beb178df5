import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { measuredCode, summary } from "./paths.ts";

// Small modules whose functions can be counted by hand.
const main = `
import { round } from "tiny";
import { half, type Halves } from "./half.ts";

export const start = (value: number) => begin(value);

/** Declared below what calls it, so that the order of calls differs from that of the source. */
class Base {
  field: Halves = { of: (value) => half(value) };
  #times = 0;
  get times(): number { return this.#times; }
  static never(): void {}
  async twice(value: number): Promise<number> {
    this.#times++;
    return this.field.of(this.field.of(value));
  }
}

class Derived extends Base {}

function overloaded(value: number): number;
function overloaded(value: string): number;
function overloaded(value: unknown): number { return Number(value); }

async function begin(value: number): Promise<number> {
  const { late } = await import("./late.ts");
  const derived = new Derived();
  await derived.twice(late(1)(overloaded(value)));
  return round(derived.times);
}
`;
const half = `
export interface Halves { of(value: number): number }
export const half = (value: number): number => value / 2;
`;
const late = "export const late = (a: number) => (b: number) => ({ sum: a + b }).sum;\n";

interface Main {
  start(value: number): Promise<number>;
}

let folder: string;
let code: Awaited<ReturnType<typeof measuredCode<Main>>>;

beforeAll(async () => {
  mkdirSync("node_modules/.cache", { recursive: true });
  folder = mkdtempSync(join("node_modules", ".cache", "paths-test-"));
  const files = {
    "main.ts": main,
    "half.ts": half,
    "late.ts": late,
    "node_modules/tiny/package.json": '{ "name": "tiny", "type": "module", "exports": "./index.js" }',
    "node_modules/tiny/index.js": "export function round(value) { return Math.round(value); }",
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  code = await measuredCode<Main>(join(folder, "main.ts"));
});

afterAll(() => {
  code?.close();
  rmSync(folder, { recursive: true });
});

it("lists each function that is called once, in the order of the first calls, with its place in the source", async () => {
  const passed = await code.pathOf(async ({ start }, measure) => {
    await start(1);
    await measure(() => start(2));
  });
  expect(passed.map(({ name, file, line, calls }) => [name, relative(folder, file), line, calls])).toEqual([
    ["start", "main.ts", 5, 1],
    ["begin", "main.ts", 25, 1],
    ["late", "late.ts", 1, 1],
    ["overloaded", "main.ts", 23, 1],
    ["(function) in late", "late.ts", 1, 1],
    ["Base.twice", "main.ts", 13, 1],
    ["of", "main.ts", 9, 2],
    ["half", "half.ts", 3, 2],
    ["Base.times (get)", "main.ts", 11, 1],
    ["round", "node_modules/tiny/index.js", 1, 1],
  ]);
  expect(passed.filter(({ isLibrary }) => isLibrary).map(({ name }) => name)).toEqual(["round"]);
});

it("leaves out what is called less often than asked for", async () => {
  const passed = await code.pathOf(({ start }, measure) => measure(() => start(2)), 2);
  expect(passed.map(({ name }) => name)).toEqual(["of", "half"]);
});

it("counts nothing outside the part that is measured", async () => {
  const passed = await code.pathOf(async ({ start }, measure) => {
    await start(1);
    await measure(async () => {});
    await start(1);
  });
  expect(passed).toEqual([]);
});

it("sums up own functions and files, libraries apart, and compares them with a limit", () => {
  const called = { name: "f", line: 1, calls: 1, isLibrary: false };
  const passed = [
    { ...called, file: "src/a.ts" },
    { ...called, file: "src/a.ts" },
    { ...called, file: "src/b.ts" },
    { ...called, file: "node_modules/x/index.js", isLibrary: true },
  ];
  expect(summary("get", passed, { functions: 3, files: 2 })).toBe(
    "get: 3 functions in 2 files (and 1 in libraries); limit 3 in 2: ok",
  );
  expect(summary("get", passed, { functions: 3, files: 1 })).toMatch(/limit 3 in 1: over$/);
  expect(summary("get", passed, { functions: 2, files: 2 })).toMatch(/limit 2 in 2: over$/);
});
