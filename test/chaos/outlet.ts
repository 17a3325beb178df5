import type { Socket } from "node:net";
import type { ManualClock } from "cursor-cloud-agents/emulator";
import type { Fault } from "./fault.ts";
import { turn } from "./time.ts";

/** Dripping costs a turn of the event loop for each piece: a stretch of an answer is enough. */
const mostPieces = 60;

/** What an answer ends with. */
export type Ending = "end" | "cut" | "stall";

/** Writes an answer to a client in the pieces and with the pauses of a fault. */
export class Outlet {
  readonly #client: Socket;
  readonly #clock: ManualClock;
  readonly #fault: Fault;
  readonly #onWrite: () => void;
  readonly #onEnd: (ending: Ending) => void;
  #queue: Buffer[] = [];
  #ending: Ending | undefined;
  #pumping = false;
  #pieces = 0;
  #wake: () => void = () => {};
  #timer: unknown;
  #closed = false;

  constructor(
    client: Socket,
    clock: ManualClock,
    fault: Fault,
    on: { write: () => void; end: (ending: Ending) => void },
  ) {
    this.#client = client;
    this.#clock = clock;
    this.#fault = fault;
    this.#onWrite = on.write;
    this.#onEnd = on.end;
  }

  /** Nothing waits to be written. */
  get isIdle(): boolean {
    return !this.#pumping && this.#queue.length === 0;
  }

  push(bytes: Buffer): void {
    if (this.#ending || bytes.length === 0) return;
    this.#queue.push(bytes);
    void this.#pump();
  }

  /** Nothing more comes. */
  finish(ending: Ending): void {
    if (this.#ending) return;
    this.#ending = ending;
    void this.#pump();
  }

  close(): void {
    this.#closed = true;
    this.#clock.clearTimeout(this.#timer);
    this.#wake();
  }

  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      for (let at = 0; at < next.length; ) {
        const end = Math.min(next.length, at + this.#size());
        await this.#pause(this.#fault.pauses[this.#pieces]);
        if (this.#pieces++ > 0 && this.#fault.pieces.length > 0 && this.#pieces < mostPieces) await turn();
        if (this.#closed) return;
        this.#onWrite();
        this.#client.write(next.subarray(at, end));
        at = end;
      }
    }
    this.#pumping = false;
    if (this.#ending && !this.#closed) {
      this.close();
      this.#onEnd(this.#ending);
    }
  }

  #size(): number {
    const { pieces } = this.#fault;
    if (this.#pieces >= mostPieces) return Infinity;
    return pieces[this.#pieces % pieces.length] ?? Infinity;
  }

  #pause(ms: number | undefined): Promise<void> {
    if (ms === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
      this.#timer = this.#clock.setTimeout(resolve, ms);
    });
  }
}
