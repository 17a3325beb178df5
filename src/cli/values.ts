import { InvalidArgumentError } from "commander";

const units: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `90`, `90s`, `30m`, `1h30m`, `500ms` as milliseconds; a bare number is seconds. */
export function toDuration(text: string): number {
  const parts = /^\d+(\.\d+)?$/.test(text) ? [`${text}s`] : (text.match(/\d+(\.\d+)?(ms|s|m|h)/g) ?? []);
  const ms = parts.reduce((sum, part) => {
    const [, number, unit] = /^([\d.]+)(\D+)$/.exec(part) as unknown as [string, string, string];
    return sum + Number(number) * (units[unit] as number);
  }, 0);
  if (parts.join("") !== text.replace(/^[\d.]+$/, "$&s") || !(ms > 0)) {
    throw new InvalidArgumentError("Give a time such as 90s, 30m or 1h30m.");
  }
  return ms;
}

export const toWholeNumber =
  (from: number, to: number) =>
  (text: string): number => {
    const number = Number(text);
    if (!/^\d+$/.test(text) || number < from || number > to) {
      throw new InvalidArgumentError(`Give a whole number from ${from} to ${to}.`);
    }
    return number;
  };

/** For options that may be given more than once. */
export const collect = (value: string, earlier: string[] = []): string[] => [...earlier, value];

/** An agent by its id, or by the address of its page. */
export function toAgentId(text: string): string {
  const id = /^https?:\/\/[^/]+\/agents\/([^/?#]+)/.exec(text)?.[1] ?? text;
  // No request for what can't be one; the server's own form may grow, so no more than that is asked.
  if (!/^[\w.-]+$/.test(id) || /^\.+$/.test(id) || id.startsWith("run-")) {
    throw new InvalidArgumentError("An agent has an id such as bc-00000000-0000-0000-0000-000000000001.");
  }
  return id;
}

export function toRunId(text: string): string {
  if (!/^[\w.-]+$/.test(text) || /^\.+$/.test(text) || text.startsWith("bc-")) {
    throw new InvalidArgumentError("A run has an id such as run-00000000-0000-0000-0000-000000000001.");
  }
  return text;
}
