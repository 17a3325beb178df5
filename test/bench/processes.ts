// Each measure runs in a process of its own: bundled beforehand, since a loader of TypeScript would be measured too.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

export const here = fileURLToPath(new URL("./", import.meta.url));
export const root = fileURLToPath(new URL("../../", import.meta.url));
export const dist = join(root, "dist");
/** Where the programs are made: inside this folder, so that they find the peers installed in it. */
export const programs = join(here, ".programs");

/** For files that a figure needs for a while; gone with this process. */
export const scratch = mkdtempSync(join(tmpdir(), "cursor-bench-"));

const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(scratch, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

/** Makes the programs of children/ from the package as built. */
export async function makePrograms(names: string[]): Promise<void> {
  rmSync(programs, { recursive: true, force: true });
  mkdirSync(programs);
  await build({
    entryPoints: names.map((name) => join(here, "children", `${name}.ts`)),
    outdir: programs,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    alias: {
      "cursor-cloud-agents": join(dist, "index.js"),
      "cursor-cloud-agents/node": join(dist, "node/index.js"),
    },
    external: [join(dist, "*")],
    // Else its paths, which mean the sources, would win over the names above.
    tsconfigRaw: {},
    logLevel: "error",
  });
}

export interface Program {
  process: ChildProcess;
  /** The first thing it says. */
  // biome-ignore lint/suspicious/noExplicitAny: each program has words of its own
  said: Promise<any>;
  closed: Promise<void>;
}

export function start(name: string, args: unknown[], flags: string[] = [], environment = {}): Program {
  const file = join(programs, `${name}.mjs`);
  const child = spawn(process.execPath, [...flags, file, ...args.map((value) => JSON.stringify(value))], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { PATH: process.env["PATH"], HOME: scratch, ...environment },
  });
  running.add(child);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-2_000);
  });
  const said = new Promise((resolve, reject) => {
    const lines = createInterface({ input: child.stdout });
    lines.on("line", (line) => {
      if (!line.startsWith("{")) return; // peers may talk, too
      clearTimeout(patience); // a server goes on
      resolve(JSON.parse(line));
    });
    const patience = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`${name} ${JSON.stringify(args)} did not end within three minutes`));
    }, 180_000);
    patience.unref();
    child.once("close", (code) => {
      clearTimeout(patience);
      running.delete(child);
      reject(new Error(`${name} ${JSON.stringify(args)} ended with ${code} and no answer: ${stderr}`));
    });
  });
  said.catch(() => {}); // whoever waits hears of it
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  return { process: child, said, closed };
}

/** Runs a program to its end; what it says is the answer. */
export async function run(
  name: string,
  args: unknown[],
  flags?: string[],
  environment?: object,
  // biome-ignore lint/suspicious/noExplicitAny: each program has words of its own
): Promise<any> {
  const program = start(name, args, flags, environment);
  const said = await program.said;
  await program.closed;
  return said;
}

/** A loopback server, for as long as `use` lasts. */
export async function withServer<T>(
  { streamBytes = 0, artifactBytes = 0 },
  use: (port: number) => Promise<T>,
): Promise<T> {
  const server = start("server", [streamBytes, artifactBytes]);
  try {
    return await use((await server.said).port);
  } finally {
    server.process.stdin?.end();
    await server.closed;
  }
}

/** Runs a command to its end; what it prints is the answer. */
export function command(file: string, args: string[], folder: string, quiet = true): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd: folder, stdio: ["ignore", "pipe", quiet ? "pipe" : "inherit"] });
    running.add(child);
    let output = "";
    const collect = (text: string) => {
      output += text;
    };
    child.stdout?.setEncoding("utf8").on("data", collect);
    child.stderr?.setEncoding("utf8").on("data", collect);
    child.once("error", reject);
    child.once("close", (code) => {
      running.delete(child);
      if (code === 0) resolve(output);
      else reject(new Error(`${file} ${args.join(" ")} ended with ${code}:\n${output.slice(-2_000)}`));
    });
  });
}
