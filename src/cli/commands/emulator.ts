import { type Command, InvalidArgumentError, Option } from "commander";
import type { ExchangeRecord, RunScript } from "../../emulator/index.ts";
import { addCommand, toWholeNumber } from "../add-command.ts";
import { UsageError } from "../command-failure.ts";
import type { Context } from "../context.ts";
import { formatShellWord } from "../format.ts";
import { faint } from "../terminal.ts";

interface EmulatorFlags {
  port: number;
  host: string;
  artifactPort: number;
  key?: string;
  pace: number;
}

export function addEmulatorCommand(program: Command, context: Context): void {
  addCommand(
    program,
    "emulator",
    "Serve an emulated API on this machine, to try things without a key or a cost. Ctrl-C ends it.",
    "emulator --port 8484",
  )
    .addOption(
      new Option("--port <n>", "port of the API")
        .argParser(toWholeNumber(0, 65_535))
        .default(0, "a free one"),
    )
    .addOption(
      new Option("--artifact-port <n>", "port of the artifacts' storage")
        .argParser(toWholeNumber(0, 65_535))
        .default(0, "a free one"),
    )
    .option("--host <address>", "address to listen at; 0.0.0.0 lets other machines in", toHost, "127.0.0.1")
    .option("--key <key>", "the only key it accepts; made up, it opens nothing else (default: any)")
    .option("--pace <ms>", "pause before each event; 0 for programs", toWholeNumber(0, 10_000), 40)
    .addHelpText(
      "after",
      "\nA prompt with one of these words changes its run: cut (the connection breaks twice), slow (takes a\nminute), fail (ends in ERROR), files (leaves some artifacts).",
    )
    .action((flags: EmulatorFlags) => serve(context, flags));
}

function toHost(text: string): string {
  if (!/^[\w.:-]+$/.test(text))
    throw new InvalidArgumentError("Expected an address such as 0.0.0.0, or a host name.");
  return text;
}

async function serve(context: Context, flags: EmulatorFlags): Promise<void> {
  const { port, host, artifactPort, key, pace } = flags;
  const { terminal, io } = context;
  if (port !== 0 && port === artifactPort) throw new UsageError("--port and --artifact-port must differ");
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key)) {
    throw new UsageError("--key: expected visible ASCII without spaces");
  }
  // Imported only here, because loading it would slow down every other command.
  const { CursorEmulator } = await import("../../emulator/index.ts");
  const emulator = new CursorEmulator({
    clock: io.clock,
    pace,
    ...(key === undefined ? {} : { keys: [{ key }] }),
    onExchange: ({ request, response }: ExchangeRecord) => {
      const { pathname } = new URL(request.url);
      terminal.detail(`${request.method} ${pathname} -> ${response.status}`);
    },
  });
  emulator.script(
    () => true,
    (run) => demoScript(run, pace),
  );
  const place = { port, artifactsPort: artifactPort, hostname: host };
  const server = await emulator.listen(place).catch((error: NodeJS.ErrnoException & { port?: number }) => {
    if (error.code === "EADDRINUSE") {
      const [taken, flag] =
        error.port === artifactPort ? [artifactPort, "--artifact-port"] : [port, "--port"];
      throw new Error(`port ${taken} is taken: choose another one, or leave ${flag} out`);
    }
    if (error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND") {
      throw new UsageError(`--host: this machine has no address ${host}`);
    }
    throw error;
  });
  try {
    const { url, artifactsUrl } = server;
    context.answer({ type: "listening", url, artifactsUrl }, () => {
      terminal.note(`the emulator listens at ${url}; Ctrl-C ends it. In another terminal:`);
      terminal.line(`export CURSOR_BASE_URL=${formatShellWord(url)}`);
      terminal.line(`export CURSOR_API_KEY=${formatShellWord(key ?? "emulator")}`);
      terminal.note(faint('cursor-agents run "Add a README" --repo your-org/your-repo'));
    });
    await new Promise<void>((resolve) => {
      // A signal is the usual way to end the server, so it is not a failure.
      context.onInterrupt = () => resolve();
      context.signal.addEventListener("abort", () => resolve(), { once: true });
    });
  } finally {
    await server.close();
  }
}

/**
 * The script of each run: work that is interesting to watch, and trouble where a word of the prompt asks for it.
 * @param pace Milliseconds before each event
 */
function demoScript(run: RunScript, pace: number): RunScript {
  const wants = (word: string) => new RegExp(`\\b${word}`, "i").test(run.prompt);
  const subject = run.prompt.replace(/\s+/g, " ").trim().slice(0, 60);
  const pause = pace * (wants("slow") ? 250 : 6);
  run
    .thinking(`I'm asked: “${subject}”. First I look at what is there.`)
    .wait(pause)
    .tool("read_file", { path: "README.md" }, { content: "# your-repo\n", totalLines: 1 })
    .wait(pause)
    .text("I read the README")
    .text(" and run the tests first.\n");
  if (wants("cut")) run.cut();
  run
    .tool("run_terminal_cmd", { command: "npm test" }, { command: "npm test", stdout: "12 passed\n" })
    .wait(pause)
    .tool("grep_search", { pattern: "TODO" }, undefined, { error: { message: "no matches" } })
    .wait(pause);
  if (wants("fail")) return run.text("This doesn't work out.").fail();
  run.tool("edit_file", { path: "README.md" }, { path: "README.md", linesAdded: 42 }).wait(pause);
  const words = `I worked on “${subject}”: the README now says how to begin, and all tests pass.`.match(
    /\s*\S+/g,
  );
  for (const [index, word] of (words ?? []).entries()) {
    if (wants("cut") && index === 6) run.cut();
    run.text(word);
  }
  run.artifact("artifacts/notes.md", `# Notes\n\n${subject}\n`, "text/markdown");
  if (wants("files")) {
    for (const number of [1, 2, 3])
      run.artifact(`artifacts/logs/part-${number}.txt`, "line\n".repeat(200_000));
  }
  run.wait(pause);
  if (run.context.repoUrl === undefined) return run.finish();
  return run.finish({ branch: `cursor/work-${run.context.agentId.slice(-4)}` });
}
