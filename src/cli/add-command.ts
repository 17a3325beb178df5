import { type Command, InvalidArgumentError } from "commander";

/** An agent's id for examples. */
export const exampleAgent = "bc-00000000-0000-0000-0000-000000000001";

/** Adds a command with its help; its arguments, options and action follow in the usual way of commander. */
export function addCommand(
  parent: Command,
  name: string,
  description: string,
  ...examples: [string, ...string[]]
): Command {
  return addExamples(parent.command(name).description(description), ...examples);
}

export function addExamples(command: Command, ...examples: [string, ...string[]]): Command {
  const title = examples.length === 1 ? "Example" : "Examples";
  const lines = examples.map((example) => `  $ cursor-agents ${example}`);
  return command.addHelpText("after", `\n${title}:\n${lines.join("\n")}`);
}

export const addAgentArgument = (command: Command): Command =>
  command.argument("<agent>", "the agent's id, or the address of its page", toAgentId);

export const addRunArgument = (
  command: Command,
  description = "the run's id (default: the latest one)",
): Command => command.argument("[run]", description, toRunId);

/** Accepts an agent's id, or an address of its page: Cursor's own addresses have the id in the path or in the query. */
export function toAgentId(text: string): string {
  const trimmed = text.trim();
  const id = /[/?]/.test(trimmed) ? idInAddress(trimmed) : trimmed;
  // Only what can't be an id at all is rejected here, because the server may change the form of its ids.
  if (id === undefined || !isPathSegment(id) || id.startsWith("run-")) {
    throw new InvalidArgumentError(
      `Expected an agent's id such as ${exampleAgent}, or the address of its page.`,
    );
  }
  return id;
}

/** The one id in an address, which may lack its scheme. What is only a path is not an address. */
function idInAddress(text: string): string | undefined {
  const address = /^[a-z][a-z+.-]*:\/\//i.test(text) ? text : `https://${text}`;
  const isAddress = URL.canParse(address) && new URL(address).host.includes(".");
  const found = new Set(address.split(/[/?#&=]|%2F|%3D/i).filter((part) => /^bc-[\w.-]+$/.test(part)));
  const [id, another] = found;
  return isAddress && another === undefined && !new URL(address).host.startsWith("bc-") ? id : undefined;
}

export function toRunId(text: string): string {
  if (!isPathSegment(text) || text.startsWith("bc-")) {
    throw new InvalidArgumentError("Expected a run's id such as run-00000000-0000-0000-0000-000000000001.");
  }
  return text;
}

const isPathSegment = (text: string): boolean => /^[\w.-]+$/.test(text) && !/^\.+$/.test(text);

const units: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds of `90`, `90s`, `30m`, `1h30m` or `500ms`; a number without a unit is seconds. */
export function toDuration(text: string): number {
  const withUnits = /^\d+(\.\d+)?$/.test(text) ? `${text}s` : text;
  const parts = [...withUnits.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  const ms = parts.reduce(
    (sum, [, number, unit]) => sum + Number(number) * (units[unit as string] as number),
    0,
  );
  const hasOnlyParts = parts.map(([part]) => part).join("") === withUnits;
  if (!hasOnlyParts || ms === 0) {
    throw new InvalidArgumentError("Expected a duration such as 90s, 30m or 1h30m.");
  }
  return ms;
}

/** Accepts whole numbers in a range, both ends included. */
export const toWholeNumber =
  (from: number, to: number) =>
  (text: string): number => {
    const number = Number(text);
    if (!/^\d+$/.test(text) || number < from || number > to) {
      throw new InvalidArgumentError(`Expected a whole number from ${from} to ${to}.`);
    }
    return number;
  };

/** For options that may be given more than once. */
export const collect = (value: string, earlier: string[] = []): string[] => [...earlier, value];
