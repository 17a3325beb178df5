import type { Command } from "commander";
import { toDuration } from "../values.ts";

export interface FollowFlags {
  follow: boolean;
  timeout?: number;
  cancelOnInterrupt?: boolean;
}

/** For commands that start a run. */
export function addFollowOptions(command: Command): Command {
  command
    .option("--follow", "follow the run to its end", true)
    .option("--no-follow", "start it, print `<agent> <run>`, and leave");
  return addEndOptions(command);
}

/** For all that follow one. */
export function addEndOptions(command: Command): Command {
  return command
    .option(
      "--timeout <duration>",
      "stop following after 90s, 30m, 1h30m, …; the run goes on (exit code 3)",
      toDuration,
    )
    .option("--cancel-on-interrupt", "a second Ctrl-C cancels the run (one alone never does)");
}
