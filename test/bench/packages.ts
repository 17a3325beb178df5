// Figures of the package as it is installed, imported, bundled and type-checked.
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { type Figure, type Row, rowsOf, takeTurns } from "./figure.ts";
import { command, dist, here, programs, root, scratch } from "./processes.ts";
import type { Size } from "./timed.ts";

const KiB = 1024;

/** What a user writes to import each, for its client. */
const entries: Record<string, { from: string; name: string }> = {
  ours: { from: join(dist, "index.js"), name: "Cursor" },
  openai: { from: "openai", name: "default" },
  "@anthropic-ai/sdk": { from: "@anthropic-ai/sdk", name: "default" },
  "@cursor/sdk": { from: "@cursor/sdk", name: "Agent" },
  "@octokit/rest": { from: "@octokit/rest", name: "Octokit" },
  ky: { from: "ky", name: "default" },
  "@microsoft/fetch-event-source": { from: "@microsoft/fetch-event-source", name: "fetchEventSource" },
};
const contendersOf = (peers: string[]): string[] => [
  "ours",
  ...Object.keys(entries).filter((name) => peers.includes(name)),
];

export async function importing({ rounds, peers }: Size): Promise<Figure> {
  const count = rounds * 3; // short, so noisy
  const files = new Map([["floor", "export {};\n"]]);
  for (const contender of contendersOf(peers)) {
    const { from, name } = entries[contender]!;
    const specifier = contender === "ours" ? pathToFileURL(from).href : from;
    files.set(
      contender,
      `import { ${name} as client } from "${specifier}";\nif (!client) throw new Error("nothing");\n`,
    );
  }
  for (const [contender, text] of files) writeFileSync(importFile(contender), text);
  const results = await takeTurns([...files.keys()], count, async (contender) => {
    const begin = performance.now();
    await command(process.execPath, [importFile(contender)], programs);
    return performance.now() - begin;
  });
  const what = "time of a process that imports the client; the floor is an empty module";
  return { name: "import", what, reach: 1.2, rounds: count, ...rowsOf(results, (ms) => ms, "ms") };
}

const importFile = (contender: string): string =>
  join(programs, `import-${contender.replaceAll(/\W/g, "-")}.mjs`);

/** What is loaded at once, and what with it when it is needed; minified and gzipped. */
async function weigh(contender: string): Promise<{ initial: number; whole: number; note?: string }> {
  const { from, name } = entries[contender]!;
  const bundle = (platform: "neutral" | "browser" | "node") =>
    build({
      stdin: { contents: `export { ${name} } from ${JSON.stringify(from)};`, resolveDir: here },
      bundle: true,
      splitting: true,
      minify: true,
      format: "esm",
      outdir: programs,
      platform,
      mainFields: platform === "node" ? ["module", "main"] : ["browser", "module", "main"],
      target: "es2022",
      external: ["node:*", "bun:*"],
      loader: { ".d.ts": "empty", ".map": "empty", ".node": "empty" },
      write: false,
      metafile: true,
      logLevel: "silent",
    });
  // Where it runs at best: a client that bundles for anything needs nothing of its platform.
  const built = await firstOf(["neutral", "browser", "node"] as const, bundle);
  const { platform, outputFiles, metafile } = built;
  const gzip = (outputs: typeof outputFiles) =>
    outputs.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0) / KiB;
  const wanted = new Set<string>();
  const follow = (path: string): void => {
    if (wanted.has(path)) return;
    wanted.add(path);
    for (const { path: next, kind, external } of metafile.outputs[path]?.imports ?? []) {
      if (!external && kind === "import-statement") follow(next);
    }
  };
  const entry = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint !== undefined);
  if (!entry) throw new Error(`${contender} has no entry point`);
  follow(entry[0]);
  const isInitial = ({ path }: { path: string }) => [...wanted].some((output) => path.endsWith(output));
  return {
    initial: gzip(outputFiles.filter(isInitial)),
    whole: gzip(outputFiles),
    ...(platform === "neutral" ? {} : { note: `for ${platform}` }),
  };
}

async function firstOf<Platform, Built extends object>(
  platforms: readonly Platform[],
  bundle: (platform: Platform) => Promise<Built>,
): Promise<Built & { platform: Platform }> {
  let failure: unknown;
  for (const platform of platforms) {
    try {
      return { ...(await bundle(platform)), platform };
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

export async function bundling({ peers }: Size): Promise<Figure> {
  const rows: Row[] = [];
  for (const contender of contendersOf(peers)) {
    const weight = await weigh(contender).catch(() => undefined);
    if (!weight) {
      rows.push({ contender, value: Number.NaN, unit: "KiB", note: "does not bundle" });
      continue;
    }
    const { initial, whole, note } = weight;
    const split = `initial chunk; whole ${whole.toFixed(1)} KiB${note ? `; ${note}` : ""}`;
    rows.push({ contender, value: initial, unit: "KiB", note: split });
  }
  const what = "the client and its dependencies in a user's bundle, minified, gzip";
  return { name: "bundle", what, reach: 12, rounds: 1, rows };
}

/** Installs in an empty folder; counts packages and what they take on disk. */
async function install(contender: string): Promise<{ packages: number; megabytes: number }> {
  const folder = join(scratch, `install-${contender.replaceAll(/\W/g, "-")}`);
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const flags = ["--omit=dev", "--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"];
  await command("npm", ["install", ...flags, await installable(contender)], folder);
  let bytes = 0;
  let packages = 0;
  const walk = (path: string): void => {
    const entry = lstatSync(path);
    bytes += entry.blocks * 512;
    if (!entry.isDirectory()) return;
    if (/node_modules\/(@[^/]+\/)?[^/@.][^/]*$/.test(path) && existsSync(join(path, "package.json")))
      packages++;
    for (const name of readdirSync(path)) walk(join(path, name));
  };
  walk(join(folder, "node_modules"));
  return { packages, megabytes: bytes / 1e6 };
}

async function installable(contender: string): Promise<string> {
  if (contender !== "ours") {
    const manifest = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
    return `${contender}@${manifest.dependencies[contender]}`;
  }
  const output = await command(
    "npm",
    ["pack", "--json", "--ignore-scripts", "--pack-destination", scratch],
    root,
  );
  return join(scratch, /"filename": "([^"]+)"/.exec(output)![1]!);
}

/** Two figures, of one installation each. */
export async function installing({ peers }: Size): Promise<Figure[]> {
  const packages: Row[] = [];
  const disk: Row[] = [];
  for (const contender of contendersOf(peers)) {
    const installed = await install(contender);
    packages.push({ contender, value: installed.packages, unit: "packages" });
    disk.push({ contender, value: installed.megabytes, unit: "MB" });
  }
  return [
    {
      name: "install.packages",
      what: "what an installation brings, itself included",
      reach: 6,
      rounds: 1,
      rows: packages,
    },
    { name: "install.disk", what: "what it takes on disk", reach: 1.5, rounds: 1, rows: disk },
  ];
}

/** What the compiler does for a file that uses every method, beside what it does for an empty one. */
export async function typing(): Promise<Figure> {
  const check = async (name: string, text: string): Promise<{ instantiations: number; seconds: number }> => {
    const folder = join(programs, `types-${name}`);
    const installed = join(folder, "node_modules/cursor-cloud-agents");
    mkdirSync(installed, { recursive: true });
    cpSync(join(root, "package.json"), join(installed, "package.json"));
    cpSync(dist, join(installed, "dist"), {
      recursive: true,
      filter: (path) => !/\.(js|map|txt)$/.test(path),
    });
    writeFileSync(join(folder, "file.ts"), text);
    const compilerOptions = {
      strict: true,
      noEmit: true,
      module: "NodeNext",
      target: "ES2022",
      types: [],
      skipLibCheck: true,
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["file.ts"] }));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const output = await command(process.execPath, [tsc, "-p", folder, "--extendedDiagnostics"], folder);
    const read = (label: string) => Number(new RegExp(`${label}:\\s+([\\d.]+)`).exec(output)![1]);
    return { instantiations: read("Instantiations"), seconds: read("Check time") };
  };
  const empty = await check("empty", "export {};\n");
  const ours = await check("ours", readFileSync(join(here, "children/every-method.ts"), "utf8"));
  const note = `check time ${ours.seconds} s, of an empty file ${empty.seconds} s (${empty.instantiations} instantiations)`;
  return {
    name: "types",
    what: "the compiler's work on a file that uses every method",
    reach: 50_000,
    rounds: 1,
    rows: [{ contender: "ours", value: ours.instantiations, unit: "instantiations", note }],
  };
}
