import type { RunRecord } from "./run-draft.ts";
import type { RunStorage } from "./run-storage.ts";

/** Raised when the form changes: what an older or newer page wrote is not read. */
const version = 1;

interface SavedRun {
  version: typeof version;
  key: string;
  record: RunRecord;
}

/** A run in a storage: its text and its position in one value, so that neither can be ahead of the other. */
export class RunSaver {
  readonly #storage: RunStorage;
  readonly #key: string;
  readonly #limit: number;
  /** Grown out of the limit: it would be again at each further write. */
  #isTooLarge = false;

  constructor(storage: RunStorage, key: string, limit: number) {
    this.#storage = storage;
    this.#key = key;
    this.#limit = limit;
  }

  /** What was kept; undefined where there is nothing, or nothing that can be trusted. */
  load(): RunRecord | undefined {
    return attempt(() => {
      const saved: unknown = JSON.parse(this.#storage.get(this.#key) ?? "null");
      return isSaved(saved, this.#key) ? saved.record : undefined;
    });
  }

  save(record: RunRecord): void {
    if (record.parts.length === 0) this.#isTooLarge = false;
    // Text without a position would come twice.
    if (this.#isTooLarge || (record.position === undefined && record.isOver !== true)) return;
    attempt(() => {
      const value = JSON.stringify({ version, key: this.#key, record } satisfies SavedRun);
      this.#isTooLarge = value.length > this.#limit;
      if (this.#isTooLarge) this.#storage.remove(this.#key);
      else this.#storage.set(this.#key, value);
    });
  }
}

/** A storage that fails is one that keeps nothing. */
function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

const isText = (value: unknown): boolean => typeof value === "string";

function isSaved(value: unknown, key: string): value is SavedRun {
  const { record, ...saved } = (value ?? {}) as Partial<SavedRun>;
  const { position, firstId, runId, runStatus, result, parts, isOver } = (record ?? {}) as Partial<RunRecord>;
  return (
    saved.version === version &&
    saved.key === key &&
    [position, firstId, runId, runStatus].every((text) => text === undefined || isText(text)) &&
    (isText(position) || isOver === true) &&
    (result === undefined || isText(result?.status)) &&
    Array.isArray(parts) &&
    parts.every(isPart)
  );
}

function isPart(part: Record<string, unknown> | null): boolean {
  if (part?.["type"] === "tool")
    return ["id", "callId", "name", "status"].every((name) => isText(part[name]));
  return (
    (part?.["type"] === "text" || part?.["type"] === "reasoning") &&
    isText(part["id"]) &&
    isText(part["text"])
  );
}
