import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import {
  commentOf,
  entryPoints,
  type PublicApi,
  placeOf,
  publicMembers,
  readPublicApi,
} from "./tools/public-api.ts";

// Reading the sources takes a moment: the compiler's time, not a wait.
const timeout = 60_000;

/** What has no comment: each export, and each public member of exported classes and interfaces. */
function undocumented({ checker, exports }: PublicApi): string[] {
  const problems = new Set<string>();
  for (const { entry, name, symbol } of exports) {
    const here = (declaration = symbol.declarations?.[0]) =>
      declaration ? placeOf(declaration) : entry.file;
    if (commentOf(symbol, checker) === "") problems.add(`${here()} ${name}`);
    for (const member of publicMembers(symbol, checker)) {
      if (commentOf(member, checker) === "")
        problems.add(`${here(member.declarations?.[0])} ${name}.${member.name}`);
    }
  }
  return [...problems].sort();
}

it("the API reference is made of the same entry points", () => {
  const root = fileURLToPath(new URL("../", import.meta.url));
  const { typedocOptions } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
  expect(typedocOptions.entryPoints.map((path: string) => root + path)).toEqual(
    entryPoints().map(({ file }) => file),
  );
});

describe("every public name has a comment", () => {
  it("of every entry point in package.json", { timeout }, () => {
    const api = readPublicApi();
    expect(entryPoints().length).toBeGreaterThanOrEqual(7);
    expect(api.exports.length).toBeGreaterThan(150);
    expect(undocumented(api)).toEqual([]);
  });

  it("and one that has none is found out", { timeout }, () => {
    const file = fileURLToPath(new URL("../src/an-entry-point.ts", import.meta.url));
    const text = `
export const bare = 1;
/** Said. */
export class Thing {
  #secret = 1;
  private hidden = 2;
  /** Said. */
  told = 3;
  untold = 4;
  /** @internal */
  inner = 5;
  /** @default 6 */
  flag = 6;
  static silent(): void {}
  get mute() { return this.#secret + this.hidden; }
}
/** Said. */
export class Heir extends Thing {
  override told = 4;
  /** Said. */
  override untold = 5;
}
/** Said. */
export interface Shape { side: number }
export type Alias = Shape;
`;
    const api = readPublicApi([{ specifier: "test", file }], { [file]: text });
    expect(
      undocumented(api)
        .map((line) => line.split(" ")[1])
        .sort(),
    ).toEqual([
      "Alias",
      "Heir.mute",
      "Heir.silent",
      "Shape.side",
      "Thing.mute",
      "Thing.silent",
      "Thing.untold",
      "bare",
    ]);
  });
});
