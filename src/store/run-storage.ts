import type { Clock } from "../async.ts";
import { attempt } from "../text.ts";
import type { RunDraft, RunRecord } from "./run-draft.ts";

/** Stores texts by key. It may fail, or lose texts: the run is then read from its start. */
export interface RunStorage {
  /** The text that was set last; null or undefined where there is none. */
  get(key: string): string | null | undefined;
  /** Stores a text, in place of an earlier one. */
  set(key: string, value: string): void;
  /** Removes a text; does nothing if there is none. */
  remove(key: string): void;
}

/** A storage that lasts as long as the process: for tests, and for stores that come and go. */
export function memoryStorage(): RunStorage {
  const values = new Map<string, string>();
  return {
    get: (key) => values.get(key),
    set: (key, value) => void values.set(key, value),
    remove: (key) => void values.delete(key),
  };
}

interface WebStorage {
  readonly length: number;
  key(index: number): string | null;
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

const prefix = "cursor-run:";

/**
 * The browser's own storage: `session` lasts as long as the tab, `local` longer and is shared by all tabs. Where there
 * is none (a server, a page that may not use it) nothing is stored. When it is full, the other runs in it are removed.
 *
 * @example
 * const store = createRunStore(routeSource("/api/run"), { storage: webStorage("session") });
 */
export function webStorage(area: "session" | "local"): RunStorage {
  // Looked up at each use, not once: only reading the property throws where cookies are blocked.
  const open = () => (globalThis as Record<string, unknown>)[`${area}Storage`] as WebStorage | undefined;
  return {
    get: (key) => open()?.getItem(prefix + key),
    set: (key, value) => {
      const storage = open();
      try {
        storage?.setItem(prefix + key, value);
      } catch {
        const names = Array.from({ length: storage!.length }, (_, index) => storage!.key(index));
        for (const name of names) {
          if (name?.startsWith(prefix) && name !== prefix + key) storage!.removeItem(name);
        }
        storage!.setItem(prefix + key, value);
      }
    },
    remove: (key) => open()?.removeItem(prefix + key),
  };
}

/** Raised when the format changes: what an older or newer page wrote is not read. */
const version = 1;

/** Milliseconds between two writes: each write is of the whole run. */
const savePause = 1_000;

interface SavedRun {
  version: typeof version;
  key: string;
  record: RunRecord;
}

/**
 * Saves one run in a storage. Its text and its position are one value, so that neither can be ahead of the other.
 * A storage that fails counts as one that stores nothing.
 */
export class RunSaver {
  readonly #key: string;
  readonly #clock: Clock;
  #storage: RunStorage;
  #limit: number;
  #timer: unknown;
  /** The run is longer than the limit. It only grows, so nothing more is written until it is cleared. */
  #isTooLarge = false;

  constructor(storage: RunStorage, key: string, limit: number, clock: Clock) {
    this.#storage = storage;
    this.#key = key;
    this.#limit = limit;
    this.#clock = clock;
  }

  /** Takes another storage or limit for the next write; a write that waits is not lost. */
  update(storage: RunStorage, limit: number): void {
    if (limit !== this.#limit) this.#isTooLarge = false;
    this.#storage = storage;
    this.#limit = limit;
  }

  /** The saved run; undefined where there is none, or none of the expected form. */
  load(): RunRecord | undefined {
    return attempt(() => {
      const saved: unknown = JSON.parse(this.#storage.get(this.#key) ?? "null");
      return isSaved(saved, this.#key) ? saved.record : undefined;
    });
  }

  /** Saves the run within a second, together with what arrives until then. */
  saveSoon(draft: RunDraft): void {
    this.#timer ??= this.#clock.setTimeout(() => this.save(draft), savePause);
  }

  /** Saves the run now. */
  save(draft: RunDraft): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    const record = draft.record();
    if (record.parts.length === 0) this.#isTooLarge = false;
    // Text without a position would be received a second time.
    if (this.#isTooLarge || (record.position === undefined && record.isOver !== true)) return;
    attempt(() => {
      const value = JSON.stringify({ version, key: this.#key, record } satisfies SavedRun);
      this.#isTooLarge = value.length > this.#limit;
      if (this.#isTooLarge) this.#storage.remove(this.#key);
      else this.#storage.set(this.#key, value);
    });
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
