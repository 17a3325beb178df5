import { toBytes } from "../body-source.ts";

/** One entry of a run's log: a frame, raw bytes, or an interruption for the first connection to reach it. */
export type LogEntry =
  /** A frame. `liveOnly` frames are sent only to connections that were open at the time: they are not replayed. */
  | { kind: "frame"; bytes: Uint8Array; id?: string; liveOnly: boolean }
  | { kind: "raw"; bytes: Uint8Array }
  /** Once: the first connection to get here is cut, at once or after some frames or bytes. */
  | { kind: "cut"; clean: boolean; afterBytes?: number; afterEvents?: number; spent: boolean }
  /** Once: the first connection to get here receives nothing more. */
  | { kind: "stall"; spent: boolean }
  /** Once: the first connection to get here receives these bytes and ends cleanly. */
  | { kind: "farewell"; bytes: Uint8Array; spent: boolean };

/** The text of one frame as the service writes it: id, event, data, LF, blank line. */
export function frameText(name: string, data: unknown, id?: string): string {
  const idLine = id === undefined ? "" : `id: ${id}\n`;
  return `${idLine}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Everything one run has written, in order. Connections read it by index, so one log serves any number of readers. */
export class RunLog {
  readonly entries: LogEntry[] = [];
  #closed = false;
  readonly #positions = new Map<string, number>();
  readonly #listeners = new Set<() => void>();

  /** Whether the log is complete. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Number of connections that are subscribed. */
  get readers(): number {
    return this.#listeners.size;
  }

  append(entry: LogEntry): void {
    this.entries.push(entry);
    // Twins share an id, and a resumed stream starts after the id: the position is after the last frame that has it.
    if (entry.kind === "frame" && entry.id !== undefined) this.#positions.set(entry.id, this.entries.length);
    this.#notify();
  }

  frame(name: string, data: unknown, id?: string, liveOnly = false): void {
    const bytes = toBytes(frameText(name, data, id));
    this.append({ kind: "frame", bytes, liveOnly, ...(id === undefined ? {} : { id }) });
  }

  /** Forgets what was written. */
  clear(): void {
    this.entries.length = 0;
    this.#positions.clear();
  }

  close(): void {
    this.#closed = true;
    this.#notify();
  }

  /** The index at which a reader with this last id continues; `undefined` if this run never sent the id. */
  positionAfter(id: string): number | undefined {
    return this.#positions.get(id);
  }

  /** Calls back at each change. Returns a function that ends the subscription. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
