import { type Clock, systemClock } from "../async.ts";
import { checkCallback, checkNames, checkTimeout } from "../check.ts";
import { ArgumentError, unexpected } from "../errors.ts";
import type { RunSource } from "./run-source.ts";
import type { RunStorage } from "./run-storage.ts";
import { frameSchedule, type Schedule } from "./schedule.ts";

/** How a store works. */
export interface RunStoreOptions {
  /** What tells this run from others, in the storage and to `useRun`: the run's id. @default the source's own key */
  key?: string | undefined;
  /** Where text and position are kept, so that a reloaded page goes on where it was. @default nowhere */
  storage?: RunStorage | undefined;
  /** The most characters to keep; a run that is longer is read from its beginning after a reload. @default 1_000_000 */
  storageLimit?: number | undefined;
  /** Whether the first subscriber connects; else `start()` does. @default true */
  autoStart?: boolean | undefined;
  /** When changes are told. @default at the next animation frame, by a timer where none is drawn */
  schedule?: Schedule | undefined;
  /** Where time comes from, for tests. @default the system's clock */
  clock?: Clock | undefined;
}

const optionNames: (keyof RunStoreOptions)[] = [
  "key",
  "storage",
  "storageLimit",
  "autoStart",
  "schedule",
  "clock",
];

/** Checked and completed. */
export function checkStoreOptions(source: RunSource, options: RunStoreOptions) {
  checkFunction("source", source);
  checkNames(options, optionNames);
  const { key = source.key, storage, storageLimit, autoStart = true, clock = systemClock } = options;
  checkCallback("schedule", options.schedule);
  if (key !== undefined && (typeof key !== "string" || key === "")) {
    throw new ArgumentError("key", "expected a text that is not empty");
  }
  if (storage !== undefined && key === undefined) {
    throw new ArgumentError("key", "is missing: a storage needs to know this run from others");
  }
  return {
    key,
    storage,
    storageLimit: checkTimeout("storageLimit", storageLimit) ?? 1_000_000,
    autoStart,
    clock,
    schedule: options.schedule ?? frameSchedule(clock),
  };
}

export function checkFunction(argument: string, value: unknown): void {
  if (typeof value !== "function") {
    throw unexpected(argument, "a function", value);
  }
}
