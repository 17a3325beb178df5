import { toBytes } from "../body-source.ts";

/** One thing a connection meets on its way through a run's stream. */
export type LogEntry =
  /** A frame; `liveOnly`: for connections that were open when it came (id-less status changes are not replayed). */
  | { kind: "frame"; bytes: Uint8Array; id?: string; liveOnly: boolean }
  | { kind: "raw"; bytes: Uint8Array }
  /** Once: the first connection that gets here is cut, some frames or bytes further on. */
  | { kind: "cut"; clean: boolean; afterBytes?: number; afterEvents?: number; spent: boolean }
  /** Once: the first connection that gets here hears nothing more. */
  | { kind: "stall"; spent: boolean }
  /** Once: the first connection that gets here is told this and ended cleanly. */
  | { kind: "farewell"; bytes: Uint8Array; spent: boolean };

/** The bytes of one frame as the service writes them: id, event, data, LF, blank line. */
export function frameText(name: string, data: unknown, id?: string): string {
  const idLine = id === undefined ? "" : `id: ${id}\n`;
  return `${idLine}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Everything one run has said, in order. Connections read it by index, so one log serves any number of readers. */
export class RunLog {
  readonly entries: LogEntry[] = [];
  #closed = false;
  readonly #positions = new Map<string, number>();
  readonly #listeners = new Set<() => void>();

  /** Nothing more will come. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Connections that are told of changes. */
  get readers(): number {
    return this.#listeners.size;
  }

  append(entry: LogEntry): void {
    this.entries.push(entry);
    // Twins share an id, and resuming is exclusive per id: the position is behind the last frame that carries it.
    if (entry.kind === "frame" && entry.id !== undefined) this.#positions.set(entry.id, this.entries.length);
    this.#notify();
  }

  frame(name: string, data: unknown, id?: string, liveOnly = false): void {
    const bytes = toBytes(frameText(name, data, id));
    this.append({ kind: "frame", bytes, liveOnly, ...(id === undefined ? {} : { id }) });
  }

  close(): void {
    this.#closed = true;
    this.#notify();
  }

  /** Where a reader of this id goes on; `undefined`: this run never sent it. */
  positionAfter(id: string): number | undefined {
    return this.#positions.get(id);
  }

  /** Calls back at each change; the answer ends the subscription. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
