/** Keeps texts by key. It may fail, or lose what it was given: the run is then read from its beginning. */
export interface RunStorage {
  get(key: string): string | null | undefined;
  set(key: string, value: string): void;
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
 * is none (a server, a page that may not use it) nothing is kept. When it is full, what it holds of other runs goes.
 *
 * @example
 * const store = createRunStore(routeSource("/api/run"), { storage: webStorage("session") });
 */
export function webStorage(area: "session" | "local"): RunStorage {
  // Looked up late, and with care: to read the property alone throws where cookies are blocked.
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
