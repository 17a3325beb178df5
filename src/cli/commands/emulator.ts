import { type Command, Option } from "commander";
import type { ExchangeRecord } from "../../emulator/index.ts";
import type { Context } from "../context.ts";
import { livelyScript } from "../emulator-scripts.ts";
import { examples } from "../examples.ts";
import { UsageError } from "../failures.ts";
import { shellWord } from "../format.ts";
import { faint } from "../terminal.ts";
import { toWholeNumber } from "../values.ts";

interface EmulatorFlags {
  port: number;
  key?: string;
  pace: number;
}

export function addEmulatorCommand(program: Command, context: Context): void {
  const command = program
    .command("emulator")
    .description(
      "Serve the API, emulated, on this machine: to try things without a key or a cost. Ctrl-C ends it.",
    )
    .addOption(
      new Option("--port <n>", "port on 127.0.0.1")
        .argParser(toWholeNumber(0, 65_535))
        .default(0, "a free one"),
    )
    .option("--key <key>", "the only key it accepts; made up, it opens nothing else (default: any)")
    .option("--pace <ms>", "pause before each event; 0 for programs", toWholeNumber(0, 10_000), 40)
    .action((flags: EmulatorFlags) => serve(context, flags));
  examples(command, ["cursor-agents emulator --port 8484"]);
  command.addHelpText(
    "after",
    "\nA prompt with one of these words has its run do that: cut (the connection breaks twice),\nslow (a minute), fail (ends in ERROR), files (leaves some artifacts).",
  );
}

async function serve(context: Context, { port, key, pace }: EmulatorFlags): Promise<void> {
  const { terminal, io } = context;
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key)) {
    throw new UsageError("--key: expected visible ASCII without spaces");
  }
  // Loaded here alone: no other command should take the time.
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
    (run) => livelyScript(run, pace),
  );
  const server = await emulator.listen({ port }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EADDRINUSE") throw error;
    throw new Error(`port ${port} is taken: choose another one, or leave --port out`);
  });
  try {
    const { url, artifactsUrl } = server;
    context.answer({ type: "listening", url, artifactsUrl }, () => {
      terminal.note(`the emulator listens at ${url}; Ctrl-C ends it. In another terminal:`);
      terminal.line(`export CURSOR_BASE_URL=${shellWord(url)}`);
      terminal.line(`export CURSOR_API_KEY=${shellWord(key ?? "emulator")}`);
      terminal.note(faint('cursor-agents run "Add a README" --repo your-org/your-repo'));
    });
    await new Promise<void>((resolve) => {
      // Its end is how it is meant to end: no failure.
      context.onInterrupt = () => resolve();
      context.signal.addEventListener("abort", () => resolve(), { once: true });
    });
  } finally {
    await server.close();
  }
}
