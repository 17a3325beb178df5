import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { addExamples } from "./add-command.ts";
import { cleanText } from "./clean-text.ts";
import { UsageError } from "./command-failure.ts";
import { addAccountCommands } from "./commands/account.ts";
import { addAgentCommands } from "./commands/agents.ts";
import { addArtifactCommands } from "./commands/artifacts.ts";
import { addDoctorCommand } from "./commands/doctor.ts";
import { addEmulatorCommand } from "./commands/emulator.ts";
import { addCancelCommand, addRunCommands } from "./commands/runs.ts";
import type { Context } from "./context.ts";
import { TextCommand } from "./text-command.ts";

// The path is the same from src/cli and from dist/cli.
const manifest = new URL("../../package.json", import.meta.url);

const exitCodesHelp = `
Exit codes:
  0    success; for a run: FINISHED
  1    the run ended in ERROR, or something failed
  2    the run was CANCELLED or EXPIRED
  3    --timeout ran out; the run goes on
  4    the key, its permissions or the plan don't allow it
  64   the command line is wrong; nothing was sent
  130  Ctrl-C (143: SIGTERM); a followed run goes on
  141  the reader of stdout closed it

With --json stdout has one JSON object a line, told apart by "type"; notes go to stderr. run, watch
and send write "created", the run's events, and last "outcome", "detached" or "failure"; other
commands that fail end in "failure", too. A wrong command line writes nothing to stdout.`;

/** The whole command line. Each command sets the exit code of the context. */
export function createProgram(context: Context): Command {
  const { io } = context;
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
  const program = new TextCommand("cursor-agents")
    .description("Cursor's cloud agents from the command line: start them, follow them, save what they made.")
    .version(version, "--version", "print the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help of a command")
    .option("--base-url <url>", "base URL of the API (default: CURSOR_BASE_URL, then https://api.cursor.com)")
    .option(
      "--api-key-file <path>",
      "file with the API key, - for stdin (default: the key in CURSOR_API_KEY)",
    )
    .option("--json", "print JSON, one object a line")
    .option("--no-color", "no colours (like NO_COLOR; FORCE_COLOR turns them on without a terminal)")
    .option("-q, --quiet", "print only the answer and errors")
    .option("--verbose", "also print thinking, statuses and connections")
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      getOutHelpWidth: () => io.stdout.columns ?? 100,
      getErrHelpWidth: () => io.stderr.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      // The value of an unknown flag is not repeated: it may be a secret in the wrong place.
      outputError: (text, write) =>
        write(cleanText(context.redact(text.replace(/'(--?[\w-]+)=[^']*'/g, "'$1'")))),
    })
    .showHelpAfterError("(--help shows commands and options)")
    .exitOverride()
    .hook("preAction", (_, command) => {
      context.configure(program.opts());
      rejectEmptyValues(command);
    });
  addExamples(program, 'run "Add a README" --repo https://github.com/your-org/your-repo', "ls", "doctor");
  program.addHelpText("after", exitCodesHelp);
  // In the order of the help.
  addRunCommands(program, context);
  addAgentCommands(program, context);
  addCancelCommand(program, context);
  addArtifactCommands(program, context);
  addAccountCommands(program, context);
  addEmulatorCommand(program, context);
  addDoctorCommand(program, context);
  return program;
}

/**
 * Rejects an option whose value is empty, which is what a variable that isn't set leaves. To send it as "any" would do
 * something to everything that was meant for one thing.
 */
function rejectEmptyValues(command: Command): void {
  const values = command.optsWithGlobals<Record<string, unknown>>();
  for (const { long, attributeName } of optionsOf(command)) {
    const given = [values[attributeName]].flat();
    if (given.some((value) => typeof value === "string" && value.trim() === "")) {
      throw new UsageError(`${long}: expected a value, got an empty text`);
    }
  }
}

function optionsOf(command: Command): { long: string; attributeName: string }[] {
  const own = command.options.map((option) => ({
    long: option.long ?? option.flags,
    attributeName: option.attributeName(),
  }));
  return command.parent === null ? own : [...own, ...optionsOf(command.parent)];
}
