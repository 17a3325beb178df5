import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CursorEmulator, type ScriptBuilder } from "cursor-cloud-agents/emulator";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { attempt } from "../../src/text.ts";
import { key, toLines } from "./helpers.ts";

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "cursor-agents-program-"));
/** The same path as in the package; bundled, because loading single files would slow down each start. */
const bin = join(folder, "dist/cli/main.js");

beforeAll(async () => {
  copyFileSync(file("../../package.json"), join(folder, "package.json"));
  await build({
    entryPoints: [file("../../src/cli/bin.ts")],
    outfile: bin,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    external: ["msw"],
    // Commander is CommonJS and asks for Node's own modules.
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: "error",
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The program, as a shell starts it. */
function start(argv: string[], env: Record<string, string> = {}, stdin = "") {
  const child: ChildProcess = spawn(process.execPath, [bin, ...argv], {
    env: { PATH: process.env["PATH"] ?? "", CURSOR_API_KEY: key, ...env },
    stdio: "pipe",
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const said = { stdout: "", stderr: "" };
  const waiting = new Set<() => void>();
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (text: string) => {
      said[name] += text;
      for (const look of waiting) look();
    });
  }
  // A program that has ended doesn't read it.
  child.stdin?.on("error", () => {});
  child.stdin?.end(stdin);
  const ended = new Promise<{ code: number | null; signal: string | null } & typeof said>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal, ...said }));
  });
  /** Resolves once the output matches the pattern. */
  const says = (name: "stdout" | "stderr", pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(said[name]);
        if (!found) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
      ended.then((end) => reject(new Error(`it ended: ${JSON.stringify(end)}`)));
    });
  return { child, ended, says };
}

async function stage(script: ScriptBuilder) {
  const emulator = new CursorEmulator({ keys: [{ key }] });
  emulator.script(() => true, script);
  const server = await emulator.listen();
  onTestFinished(() => server.close());
  return { emulator, env: { CURSOR_BASE_URL: server.url } };
}

describe("the program", () => {
  it("serves the emulator in one process, and runs an agent on it in another", async () => {
    const emulator = start(["emulator", "--key", "my-key", "--pace", "0"]);
    const [, url] = await emulator.says(
      "stdout",
      /^export CURSOR_BASE_URL=(\S+)\nexport CURSOR_API_KEY=my-key\n/,
    );
    const env = { CURSOR_BASE_URL: url as string, CURSOR_API_KEY: "my-key" };
    const argv = ["run", "-", "--repo", "your-org/your-repo", "--json"];
    const run = await start(argv, env, "Add a README, cut the connection").ended;
    expect(run.code).toBe(0);
    const lines = toLines(run.stdout);
    expect(lines.at(-1)).toMatchObject({ type: "outcome", status: "FINISHED", exitCode: 0 });
    expect(lines.at(-1).text).toContain("Add a README");
    expect(run.stderr.match(/connection lost/g)).toHaveLength(2);
    // The file that the README downloads.
    const files = await start(["artifacts", "ls", lines[0].agent.id], env).ended;
    expect(files.stdout).toContain("artifacts/notes.md");
    const [failed, rejected, taken] = await Promise.all([
      start(["run", "fail", "-q"], env).ended,
      start(["me"], { ...env, CURSOR_API_KEY: "another" }).ended,
      start(["emulator", "--port", new URL(url as string).port]).ended,
    ]);
    expect(failed).toMatchObject({ code: 1, stderr: "" });
    expect(rejected).toMatchObject({ code: 4, stdout: "" });
    expect(taken).toMatchObject({ code: 1, stderr: expect.stringMatching(/^error: port \d+ is taken/) });
    emulator.child.kill("SIGINT");
    expect(await emulator.ended).toMatchObject({ code: 0, signal: null });
  });

  it("serves the emulator at the address and the ports that it is given", async () => {
    const emulator = start(["emulator", "--host", "0.0.0.0", "--json"]);
    const [line] = await emulator.says("stdout", /.+\n/);
    const { port } = new URL(JSON.parse(line).url);
    const me = await fetch(`http://127.0.0.1:${port}/v1/me`, { headers: { authorization: "Bearer any" } });
    expect(me.status).toBe(200);
    const taken = start(["emulator", "--host", "0.0.0.0", "--port", port]);
    expect(await taken.ended).toMatchObject({ code: 1, stderr: expect.stringContaining("leave --port out") });
    const elsewhere = start(["emulator", "--host", "192.0.2.1"]);
    expect(await elsewhere.ended).toMatchObject({ code: 64, stderr: expect.stringContaining("--host") });
    const twice = start(["emulator", "--port", "8484", "--artifact-port", "8484"]);
    expect(await twice.ended).toMatchObject({ code: 64, stderr: expect.stringContaining("must differ") });
  });

  it("leaves the run alone on Ctrl-C, and the printed command continues there", async () => {
    const { emulator, env } = await stage((run) => run.text("one ").hold("rest").text("two").finish());
    const first = start(["run", "x"], env);
    await first.says("stdout", /one /);
    first.child.kill("SIGINT");
    const { code, signal, stderr } = await first.ended;
    expect([code, signal]).toEqual([130, null]);
    const command = /follow it again: cursor-agents (.*)/.exec(stderr)?.[1] as string;
    emulator.release("rest");
    expect(await start(command.split(" "), env).ended).toMatchObject({ code: 0, stdout: "two\n" });
  });

  it("cancels the run on the second Ctrl-C with --cancel-on-interrupt", async () => {
    const { emulator, env } = await stage((run) => run.text("one").hold("never"));
    const { child, ended, says } = start(["run", "x", "--cancel-on-interrupt"], env);
    await says("stdout", /one/);
    child.kill("SIGINT");
    await says("stderr", /Ctrl-C again/);
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 2, signal: null });
    expect(emulator.runs(emulator.agents[0]?.id as string)[0]?.status).toBe("CANCELLED");
  });

  it("leaves the run alone on SIGTERM", async () => {
    const { env } = await stage((run) => run.text("one").hold("never"));
    const { child, ended, says } = start(["run", "x"], env);
    await says("stdout", /one/);
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 143, stderr: expect.stringContaining("detached") });
  });

  it("ends without a message when its reader closes stdout, as with `| head`", async () => {
    const { emulator, env } = await stage((run) => run.text("one").hold("rest").text("two").finish());
    const { child, ended, says } = start(["run", "x", "-q"], env);
    await says("stdout", /one/);
    child.stdout?.destroy();
    emulator.release("rest");
    expect(await ended).toMatchObject({ code: 141, signal: null, stderr: "" });
  });

  it("ends without a message when stdout is closed during a short command", async () => {
    const { env } = await stage((run) => run.finish());
    const { child, ended } = start(["me"], env);
    child.stdout?.destroy();
    expect(await ended).toMatchObject({ code: 141, signal: null, stderr: "" });
  });

  it("ends on SIGTERM though its reader has stopped reading", async () => {
    const { env } = await stage((run) => run.text("x".repeat(2_000_000)).hold("never"));
    const { child, says } = start(["run", "x"], env);
    const exited = new Promise((resolve) => child.once("exit", (...ending) => resolve(ending)));
    await says("stdout", /x/);
    child.stdout?.pause();
    child.kill("SIGTERM");
    expect(await exited).toEqual([143, null]);
  });

  it("ends at --timeout though its reader has stopped reading", async () => {
    const { env } = await stage((run) => run.text("x".repeat(2_000_000)).hold("never"));
    const { child, says } = start(["run", "x", "--timeout", "2s"], env);
    const exited = new Promise((resolve) => child.once("exit", (...ending) => resolve(ending)));
    await says("stdout", /x/);
    child.stdout?.pause();
    expect(await exited).toEqual([3, null]);
  });

  describe.skipIf(process.platform !== "linux")("doesn't stay for what may never come", () => {
    const pipe = join(folder, "pipe");
    beforeAll(() => {
      execFileSync("mkfifo", [pipe]);
    });

    /** Resolves once the process has the pipe open. */
    async function opensPipe({ pid }: ChildProcess) {
      const links = () =>
        readdirSync(`/proc/${pid}/fd`).map((fd) => attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`)));
      while (!links().includes(pipe)) await new Promise((resolve) => setTimeout(resolve, 20));
    }

    it.each([
      [["run", "--file", pipe], "SIGINT", 130],
      [["run", "x", "--mcp-file", pipe], "SIGTERM", 143],
      [["me", "--api-key-file", pipe], "SIGINT", 130],
    ] as const)("a pipe that nobody writes to: %s, %s", async (argv, signal, code) => {
      const { child, ended } = start([...argv]);
      await opensPipe(child);
      // The file is open before the command waits for it.
      await new Promise((resolve) => setTimeout(resolve, 100));
      const pressed = performance.now();
      child.kill(signal);
      expect(await ended).toMatchObject({ code, signal: null });
      expect(performance.now() - pressed).toBeLessThan(1_000);
    });

    it.each([
      [["run", "--file", pipe]],
      [["run", "x", "--subagents-file", pipe]],
      [["watch", "bc-1", "--api-key-file", pipe]],
    ])("a pipe that nobody writes to: %s, with --timeout", async (argv) => {
      const { code, signal } = await start([...argv, "--timeout", "100ms"]).ended;
      expect([code, signal]).toEqual([3, null]);
    });

    it("a thread that something holds, as a name look-up that hangs does", async () => {
      const holder = join(folder, "hold.mjs");
      writeFileSync(holder, `import { open } from "node:fs"; open(${JSON.stringify(pipe)}, "r", () => {});`);
      const { env } = await stage((run) => run.text("one").hold("never"));
      const { child, ended, says } = start(["run", "x"], { ...env, NODE_OPTIONS: `--import=${holder}` });
      await says("stdout", /one/);
      const pressed = performance.now();
      child.kill("SIGINT");
      expect(await ended).toMatchObject({ signal: "SIGINT", stderr: expect.stringContaining("detached") });
      expect(performance.now() - pressed).toBeLessThan(1_000);
    });
  });

  it("ends on SIGTERM while its emulator plays a run", async () => {
    const { child, ended, says } = start(["emulator"]);
    const [, url] = await says("stdout", /^export CURSOR_BASE_URL=(\S+)\n/);
    const env = { CURSOR_BASE_URL: url as string };
    expect(await start(["run", "slow", "--no-follow"], env).ended).toMatchObject({ code: 0 });
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 0, signal: null });
  });

  it("stops reading a file at the limit for prompts", async () => {
    const { code, stderr } = await start(["run", "--file", "/dev/zero"]).ended;
    expect([code, stderr]).toEqual([64, "error: /dev/zero: more than 8 MiB\n"]);
  });

  it("ends while it waits for stdin", async () => {
    const child = spawn(process.execPath, [bin, "run", "-"], {
      env: { CURSOR_API_KEY: key },
    });
    onTestFinished(() => {
      child.kill("SIGKILL");
    });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    const ended = new Promise((resolve) => child.once("close", (code, signal) => resolve([code, signal])));
    // The write completes only once the program reads.
    await new Promise<void>((resolve) => child.stdin.write("x".repeat(300_000), () => resolve()));
    child.kill("SIGINT");
    expect(await ended).toEqual([130, null]);
    expect(said).toBe("ended before the prompt was read: nothing was sent\n");
  });

  it("finds the version of its package", async () => {
    const { stdout } = await start(["--version"]).ended;
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it("reports a wrong command line without needing a key", async () => {
    const { code, stdout, stderr } = await start(["run", "--rpeo"], { CURSOR_API_KEY: "" }).ended;
    expect([code, stdout]).toEqual([64, ""]);
    expect(stderr).toMatch(/^error: unknown option '--rpeo'\n\(Did you mean --repo\?\)/);
  });
});
