import { readFileSync } from "node:fs";
import { Command } from "commander";
import { cleanText } from "./clean-text.ts";
import { addAgentCommands } from "./commands/agents.ts";
import { addArtifactCommands } from "./commands/artifacts.ts";
import { addCancelCommand } from "./commands/cancel.ts";
import { addDoctorCommand } from "./commands/doctor.ts";
import { addEmulatorCommand } from "./commands/emulator.ts";
import { addListCommand } from "./commands/list.ts";
import { addLookupCommands } from "./commands/lookups.ts";
import { addRunCommand } from "./commands/run.ts";
import { addSendCommand } from "./commands/send.ts";
import { addUsageCommand } from "./commands/usage.ts";
import { addWatchCommand } from "./commands/watch.ts";
import type { Context } from "./context.ts";
import { examples } from "./examples.ts";

// The same path from the sources and from the built file.
const manifest = new URL("../../package.json", import.meta.url);

const exitCodesHelp = `
Exit codes:
  0    done; of a run: FINISHED
  1    the run ended in ERROR, or something failed
  2    the run was CANCELLED or EXPIRED
  3    --timeout ran out; the run goes on
  4    the key, its rights or the plan don't allow it
  64   the command line is wrong; nothing was sent
  130  Ctrl-C (143: SIGTERM): a run that was followed goes on
  141  nobody reads the output any more

With --json stdout has one JSON object a line, told apart by "type"; notes go to stderr. run, watch
and send write "created", the run's events, and last "outcome", "detached" or "failure"; other
commands that fail end in "failure", too. A command line that is wrong writes nothing there.`;

/** The whole command line; each command puts its exit code into the context. */
export function createProgram(context: Context): Command {
  const { io } = context;
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
  const program = new Command("cursor-agents")
    .description(
      "Cursor's cloud agents from the command line: start them, follow them, fetch what they made.",
    )
    .version(version, "--version", "print the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help of a command")
    .option("--base-url <url>", "where the API is (default: CURSOR_BASE_URL, then https://api.cursor.com)")
    .option(
      "--api-key-file <path>",
      "file with the API key, - for stdin (default: the key in CURSOR_API_KEY)",
    )
    .option("--json", "print JSON, one object a line")
    .option("--no-color", "no colours (as NO_COLOR; FORCE_COLOR wants them off a terminal, too)")
    .option("-q, --quiet", "print the answer and errors only")
    .option("--verbose", "also tell of thinking, statuses and connections")
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      getOutHelpWidth: () => io.stdout.columns ?? 100,
      getErrHelpWidth: () => io.stderr.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      // What stands behind an unknown flag's "=" may be a secret in the wrong place.
      outputError: (text, write) =>
        write(cleanText(context.redact(text.replace(/'(--?[\w-]+)=[^']*'/g, "'$1'")))),
    })
    .showHelpAfterError("(--help shows what there is)")
    .exitOverride()
    .hook("preAction", () => context.configure(program.opts()));
  examples(program, [
    'cursor-agents run "Add a README" --repo https://github.com/your-org/your-repo',
    "cursor-agents ls",
    "cursor-agents doctor",
  ]);
  program.addHelpText("after", exitCodesHelp);
  for (const add of [
    addRunCommand,
    addWatchCommand,
    addSendCommand,
    addListCommand,
    addAgentCommands,
    addCancelCommand,
    addArtifactCommands,
    addUsageCommand,
    addLookupCommands,
    addEmulatorCommand,
    addDoctorCommand,
  ]) {
    add(program, context);
  }
  return program;
}
