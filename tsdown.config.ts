import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { defineConfig } from "tsdown";

/** What the emulator brings along, so that it adds nothing to anybody's installation. */
const bundled = ["zod"];

export default defineConfig({
  entry: {
    index: "src/index.ts",
    "node/index": "src/node/index.ts",
    "serve/index": "src/serve/index.ts",
    "ai-sdk/index": "src/ai-sdk/index.ts",
    "store/index": "src/store/index.ts",
    "react/index": "src/react/index.ts",
    "emulator/index": "src/emulator/index.ts",
  },
  format: "esm",
  platform: "neutral",
  target: "es2022",
  dts: { compilerOptions: { stripInternal: true } },
  // `AsyncDisposable` is in the types: a project whose own lib is older must find it.
  banner: { dts: '/// <reference lib="esnext.disposable" />' },
  sourcemap: true,
  clean: true,
  // The documentation is in the declarations.
  outputOptions: { comments: { legal: true, annotation: true, jsdoc: false } },
  deps: { neverBundle: [/^node:/, "react"], onlyBundle: bundled },
  hooks: {
    "build:done": () => {
      writeFileSync("dist/THIRD-PARTY-LICENSES.txt", bundled.map(licenceOf).join("\n"));
      dropMap("dist/emulator/index.js");
    },
  },
});

/** A third of the package, for a file that is used in tests and is half third-party code. */
function dropMap(path: string): void {
  rmSync(`${path}.map`);
  const code = readFileSync(path, "utf8").replace(/\n\/\/# sourceMappingURL=\S+\s*$/, "\n");
  writeFileSync(path, code);
}

/** Bundled code keeps its licence. */
function licenceOf(name: string): string {
  const root = packageRoot(name);
  const { version, license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Record<
    string,
    string
  >;
  const file = ["LICENSE", "LICENSE.md", "LICENSE.txt"].find((candidate) => exists(join(root, candidate)));
  if (!file) throw new Error(`${name} has no licence file`);
  return `${name} ${version} (${license}), parts of which are in dist/emulator\n\n${readFileSync(join(root, file), "utf8")}`;
}

function packageRoot(name: string): string {
  let folder = dirname(createRequire(import.meta.url).resolve(name));
  while (
    !exists(join(folder, "package.json")) ||
    !readFileSync(join(folder, "package.json"), "utf8").includes(`"name": "${name}"`)
  ) {
    folder = dirname(folder);
  }
  return folder;
}

function exists(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}
