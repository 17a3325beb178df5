import { readdirSync, readFileSync, statSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname, join } from "node:path";
import { describe, expect, inject, it } from "vitest";

const root = join(inject("project"), "node_modules/cursor-cloud-agents");
const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((path) => statSync(join(root, path)).isFile())
  .map((path) => path.replaceAll("\\", "/"))
  .sort();
const read = (path: string) => readFileSync(join(root, path), "utf8");
const manifest = JSON.parse(read("package.json")) as {
  exports: Record<string, string | { types: string; default: string }>;
  bin?: Record<string, string>;
  scripts?: Record<string, string>;
  types: string;
};

describe("the tarball", () => {
  it("holds the build, its types and what a reader needs, and nothing else", () => {
    const known = [
      /^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/,
      /^dist\/([\w-]+\/)*[\w.-]+\.(js|js\.map|d\.ts)$/,
      /^dist\/(THIRD-PARTY-LICENSES|llms|llms-full)\.txt$/,
    ];
    expect(files.filter((path) => !known.some((pattern) => pattern.test(path)))).toEqual([]);
    expect(files).toEqual(expect.arrayContaining(["README.md", "LICENSE", "CHANGELOG.md", "dist/index.js"]));
  });

  it("has each file that its manifest names", () => {
    const named = [
      manifest.types,
      ...Object.values(manifest.exports).flatMap((to) =>
        typeof to === "string" ? to : [to.types, to.default],
      ),
      ...Object.values(manifest.bin ?? {}),
    ].map((path) => path.replace(/^\.\//, ""));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((path) => !files.includes(path))).toEqual([]);
  });

  it("says of the hook, in its first line, that it belongs to client components", () => {
    expect(read("dist/react/index.js")).toMatch(/^"use client";\n/);
  });

  it("runs nothing at its installation", () => {
    const lifecycle = ["preinstall", "install", "postinstall", "prepare"];
    expect(lifecycle.filter((name) => manifest.scripts?.[name])).toEqual([]);
    expect(files).not.toContain("binding.gyp");
  });

  it("knows nothing of the machine that made it", () => {
    const home = join(import.meta.dirname, "../..");
    const places = [home, `file://${home}`, process.env["HOME"] ?? home];
    const telling = files.filter((path) => places.some((place) => read(path).includes(`${place}/`)));
    expect(telling).toEqual([]);
  });
});

/** The sources of a script and of all that it imports at once, as the bundler names them in the build. */
function sourcesOf(script: string, seen = new Set<string>()): string[] {
  if (seen.has(script)) return [];
  seen.add(script);
  const imported = [...read(script).matchAll(/^(?:import|export)\b[^;]*?"(\.[^"]+)";/gm)];
  return [
    ...[...read(script).matchAll(/^\/\/#region (src\/\S+)/gm)].map(([, source]) => source!),
    ...imported.flatMap(([, path]) => sourcesOf(join(dirname(script), path!), seen)),
  ];
}

it("a page that imports the store does not load the client, where nothing shakes trees", () => {
  const client = /^src\/(cursor\.ts$|resources\/|http\/transport\.ts$)/;
  expect(sourcesOf("dist/index.js").filter((path) => client.test(path)).length).toBeGreaterThan(5);
  expect(sourcesOf("dist/store/index.js").length).toBeGreaterThan(5);
  expect(sourcesOf("dist/store/index.js").filter((path) => client.test(path))).toEqual([]);
});

const scripts = files.filter((path) => path.endsWith(".js"));
/** Whether a file has code of its own: one that only passes on what others have needs no map. */
const hasCode = (path: string) => /\S/.test(read(path).replace(/\b(import|export)\b[^;]*;/g, ""));

describe("source maps", () => {
  it("are there for every file with the library's own code in it", () => {
    const mapped = scripts.filter((path) => {
      const [, map] = /\n\/\/# sourceMappingURL=(\S+)\s*$/.exec(read(path)) ?? [];
      return map !== undefined && files.includes(join(dirname(path), map));
    });
    expect(mapped.length).toBeGreaterThan(2);
    // The command line is run, not imported, and the emulator is for tests: they go without, as third parties do.
    const isLibrary = (path: string) =>
      !path.startsWith("dist/cli/") && /#region src\/(?!emulator\/)/.test(read(path));
    const others = scripts.filter((path) => !mapped.includes(path) && isLibrary(path));
    expect(others.filter(hasCode)).toEqual([]);
  });

  it.each(files.filter((path) => path.endsWith(".map")))("%s carries its sources", (path) => {
    const { sources, sourcesContent } = JSON.parse(read(path)) as {
      sources: string[];
      sourcesContent?: (string | null)[];
    };
    expect(sources.length).toBeGreaterThan(0);
    expect(sources.filter((_, at) => !sourcesContent?.[at])).toEqual([]);
    expect(sources.filter((source) => source.startsWith("/") || source.includes("://"))).toEqual([]);
  });

  it("lead from a message in the build to the line that has it", () => {
    const message = "pass `apiKey` or set the environment variable CURSOR_API_KEY";
    const script = scripts.find((path) => read(path).includes(message))!;
    const lines = read(script).split("\n");
    const line = lines.findIndex((text) => text.includes(message));
    const map = JSON.parse(read(`${script}.map`)) as { sources: string[]; sourcesContent: string[] };
    const entry = new SourceMap(map as never).findEntry(line, lines[line]!.indexOf(message));
    if (!("originalLine" in entry)) throw new Error(`${script}:${line + 1} maps to nothing`);
    expect(entry.originalSource).toMatch(/\bsrc\/options\.ts$/);
    const source = map.sourcesContent[map.sources.indexOf(entry.originalSource)]!;
    expect(source.split("\n")[entry.originalLine]).toContain(message);
  });
});
