import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll } from "vitest";

// The bounds run in a small size with every test run. `BOUNDS=full npx vitest run test/bounds` runs the size that they
// are stated for (some minutes). Nothing here depends on the machine's speed: counts, bytes and ratios only.

export const isFull = process.env["BOUNDS"] === "full";

/** One of two sizes. */
export const sized = (light: number, full: number): number => (isFull ? full : light);

export const MiB = 1024 * 1024;

/** Waits for what sockets and other processes do in their own time; gives up loudly. */
export async function until(condition: () => boolean, what: string, patience = 15_000): Promise<void> {
  const end = Date.now() + patience;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`never came true: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Waits until a number stays as it is. */
export async function steady(read: () => number): Promise<number> {
  const end = Date.now() + 15_000;
  let last = read();
  for (let quiet = 0; quiet < 15; ) {
    if (Date.now() > end) throw new Error(`never came to rest: at ${last}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
    quiet = read() === last ? quiet + 1 : 0;
    last = read();
  }
  return last;
}

const root = fileURLToPath(new URL("../../", import.meta.url));

let folder: string | undefined;
afterAll(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

/** A program for processes of its own, client and emulator inside: bundled, since a child must start at once. */
export async function program(url: URL): Promise<string> {
  folder ??= mkdtempSync(join(tmpdir(), "cursor-bounds-"));
  const source = fileURLToPath(url);
  const outfile = join(folder, `${basename(source, ".ts")}.mjs`);
  await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    external: ["msw"],
    alias: {
      "cursor-cloud-agents": join(root, "src/index.ts"),
      "cursor-cloud-agents/emulator": join(root, "src/emulator/index.ts"),
    },
    logLevel: "error",
  });
  return outfile;
}

/** A running program that speaks JSON, a line at a time. */
export interface Child {
  process: ChildProcess;
  /** What it has said so far. */
  // biome-ignore lint/suspicious/noExplicitAny: each program has words of its own
  lines: any[];
  /** What it has complained of: warnings, unhandled rejections, the reason of its death. */
  stderr(): string;
  /** How it ended by itself; rejects when it doesn't. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

export function start(
  file: string,
  args: unknown[],
  { flags = [], patience = 60_000 }: { flags?: string[]; patience?: number } = {},
): Child {
  const child = spawn(process.execPath, [...flags, file, ...args.map((value) => JSON.stringify(value))], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { PATH: process.env["PATH"] },
  });
  running.add(child);
  const lines: unknown[] = [];
  let stderr = "";
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(JSON.parse(line)));
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-8_000);
  });
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`the process did not end by itself: ${JSON.stringify(args)} ${stderr}`));
    }, patience);
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      running.delete(child);
      resolve({ code, signal });
    });
  });
  ended.catch(() => {}); // whoever waits hears of it
  return { process: child, lines, stderr: () => stderr, ended };
}

/** Runs a program to its end; what it says is the answer. */
// biome-ignore lint/suspicious/noExplicitAny: each program has words of its own
export async function run(file: string, args: unknown[], options?: { flags?: string[] }): Promise<any[]> {
  const child = start(file, args, options);
  const end = await child.ended;
  if (end.code !== 0 || child.stderr() !== "") {
    throw new Error(`ended with ${JSON.stringify(end)}: ${child.stderr()}`);
  }
  return child.lines;
}

/** What is sent on a socket after its request came: a beginning, then a piece again and again, never faster than it is read. */
export interface Flood {
  head: string | Buffer;
  piece?: string | Buffer;
  /** So many bytes in all. @default without end */
  limit?: number;
}

/** A server below HTTP, for answers that no HTTP library would send. */
export async function floodServer(answer: (target: string, origin: string) => Flood) {
  /** By the first segment of the path: what was sent, and what is still open. */
  const places = new Map<string, { connections: number; accepted: number; open: Set<Socket> }>();
  const place = (name: string) => {
    const found = places.get(name) ?? { connections: 0, accepted: 0, open: new Set<Socket>() };
    places.set(name, found);
    return found;
  };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {}); // resets are what this is about
    socket.once("data", (request) => {
      const target = /^\S+ (\S+)/.exec(request.toString("latin1"))?.[1] ?? "/";
      const here = place(target.split("/")[1] ?? "");
      const { head, piece, limit = Number.POSITIVE_INFINITY } = answer(target, origin);
      here.connections++;
      here.open.add(socket);
      socket.on("close", () => here.open.delete(socket));
      socket.write(head);
      if (piece === undefined) return;
      const bytes = Buffer.from(piece as string);
      const block = Buffer.concat(Array(Math.max(1, Math.ceil(65_536 / bytes.length))).fill(bytes));
      let sent = 0;
      const next = (): void => {
        if (socket.destroyed) return;
        if (sent >= limit) return void socket.end();
        sent += block.length;
        // The callback comes when the kernel has taken it: that is what a slow reader holds back.
        socket.write(block, (error) => {
          if (error) return;
          here.accepted += block.length;
          next();
        });
      };
      next();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { origin, place, close };
}

export const head = (status: string, headers: Record<string, string> = {}): string =>
  `HTTP/1.1 ${status}\r\nconnection: close\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`;
