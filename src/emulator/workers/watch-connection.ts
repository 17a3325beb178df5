import { type BodySource, type BodyStep, toBytes } from "../body-source.ts";
import type { Clock } from "../clock.ts";
import type { QueueEvent, QueueLog } from "./queue-log.ts";

/** What one watch is opened with. @internal */
export interface WatchConnectionInit {
  log: QueueLog;
  clock: Clock;
  /** Events behind it are sent. */
  position: number;
  /** When the cursors of this chain, and with them the stream, come to their end. */
  endsAt: number;
  heartbeatMs: number;
  matches(event: QueueEvent): boolean;
  /** The cursor behind a position, as it is told at a moment. */
  cursorAt(position: number, at: number): string;
  onClose(): void;
}

const CONNECTED = toBytes(": connected\n\n");

/** One reader of the queue's log: pulled, so a slow reader holds nothing but its position. @internal */
export class WatchConnection implements BodySource {
  readonly #init: WatchConnectionInit;
  readonly #unsubscribe: () => void;
  readonly #endTimer: unknown;
  #position: number;
  #greeted = false;
  #quietSince: number;
  #counted = true;
  #closed = false;
  #cut: { clean: boolean } | undefined;
  #wake: () => void = () => {};

  constructor(init: WatchConnectionInit) {
    this.#init = init;
    this.#position = init.position;
    this.#quietSince = init.clock.now();
    this.#unsubscribe = init.log.subscribe(() => this.#wake());
    // The server ends the stream at that moment, whether or not anyone reads.
    this.#endTimer = init.clock.setTimeout(() => this.#leave(), init.endsAt - init.clock.now());
  }

  async next(): Promise<BodyStep> {
    for (;;) {
      if (this.#closed) return { kind: "end" };
      const step = this.#step();
      if (step !== undefined) {
        if (step.kind !== "bytes") this.close();
        return step;
      }
      await this.#change();
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#leave();
  }

  /** Ends the connection now, behind what was read so far. */
  cut(clean: boolean): void {
    this.#cut = { clean };
    this.#leave();
  }

  #step(): BodyStep | undefined {
    if (this.#cut !== undefined) return { kind: "cut", ...this.#cut };
    if (!this.#greeted) {
      this.#greeted = true;
      return { kind: "bytes", bytes: CONNECTED };
    }
    const { log, clock, endsAt, heartbeatMs } = this.#init;
    // What it has not read was thrown away: a new connection is told so by 410.
    if (!log.covers(this.#position)) return { kind: "end" };
    for (let event = log.after(this.#position); event !== undefined; event = log.after(this.#position)) {
      if (event.at >= endsAt) break;
      this.#position = event.sequence;
      if (this.#init.matches(event)) return this.#send(event.name, event.data, event.at);
    }
    const now = clock.now();
    if (now >= endsAt || log.closed) return { kind: "end" };
    return now >= this.#quietSince + heartbeatMs ? this.#send("heartbeat", {}, now) : undefined;
  }

  #send(name: string, data: object, at: number): BodyStep {
    this.#quietSince = this.#init.clock.now();
    const id = this.#init.cursorAt(this.#position, at);
    const text = `event: ${name}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
    return { kind: "bytes", bytes: toBytes(text), event: true };
  }

  /** Waits for an event, the next heartbeat, or the end. */
  async #change(): Promise<void> {
    const { clock, heartbeatMs } = this.#init;
    let timer: unknown;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (Number.isFinite(heartbeatMs)) {
        timer = clock.setTimeout(resolve, this.#quietSince + heartbeatMs - clock.now());
      }
    });
    clock.clearTimeout(timer);
  }

  /** It counts no longer; what was logged for it can still be read. */
  #leave(): void {
    if (this.#counted) {
      this.#counted = false;
      this.#unsubscribe();
      this.#init.clock.clearTimeout(this.#endTimer);
      this.#init.onClose();
    }
    this.#wake();
  }
}
