import { Command } from "commander";

/** An option has no white space in it, except in a value after `=`. */
const isText = (argument: string): boolean => /^-[^=]*\s/.test(argument);

/**
 * A command that takes an argument with white space in it for a text, although it begins with a dash: `- fix the login` is a
 * prompt, and so is a file with front matter. Commander would look for an option in it.
 */
export class TextCommand extends Command {
  override createCommand(name?: string): Command {
    return new TextCommand(name);
  }

  override parseOptions(argv: string[]): ReturnType<Command["parseOptions"]> {
    const texts = new Map<string, string>();
    // Commander gets a name in place of each text. A command with subcommands passes it on unread, as an option it doesn't know,
    // to the command that takes it for an argument.
    const isLast = this.commands.length === 0;
    const end = argv.includes("--") ? argv.indexOf("--") : argv.length;
    const names = argv.map((argument, index) => {
      if (index >= end || !isText(argument) || this.#isValue(argv, index)) return argument;
      const name = `${isLast ? "" : "--"}\0${index}`;
      texts.set(name, argument);
      return name;
    });
    const { operands, unknown } = super.parseOptions(names);
    const toText = (name: string) => texts.get(name) ?? name;
    return { operands: operands.map(toText), unknown: unknown.map(toText) };
  }

  /** Whether an argument is the value of the option before it. */
  #isValue(argv: readonly string[], index: number): boolean {
    const before = argv[index - 1];
    return this.options.some(
      ({ required, short, long }) => required && before !== undefined && [short, long].includes(before),
    );
  }
}
