import type { Command } from "commander";

/** Shows how a command is used, below its help. */
export function examples(command: Command, lines: readonly string[]): Command {
  const [first] = lines.length === 1 ? ["Example"] : ["Examples"];
  return command.addHelpText("after", `\n${first}:\n${lines.map((line) => `  $ ${line}`).join("\n")}`);
}
