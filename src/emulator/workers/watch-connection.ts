import { type BodyStep, PulledSource, toBytes } from "../body-source.ts";
import type { Clock } from "../clock.ts";
import type { QueueEvent, QueueLog } from "./queue-log.ts";

/** What one watch stream is opened with. @internal */
export interface WatchConnectionInit {
  log: QueueLog;
  clock: Clock;
  /** Events after this position are sent. */
  position: number;
  /** When the cursors of this watch expire, and the stream ends with them. */
  endsAt: number;
  heartbeatMs: number;
  matches(event: QueueEvent): boolean;
  /** The cursor for a position, as it is sent at this time. */
  cursorAt(position: number, at: number): string;
  onClose(): void;
}

const CONNECTED = toBytes(": connected\n\n");

/** One reader of the queue's log. It is pulled, so a slow reader costs nothing but its position. @internal */
export class WatchConnection extends PulledSource {
  readonly #init: WatchConnectionInit;
  readonly #unsubscribe: () => void;
  readonly #endTimer: unknown;
  #position: number;
  #greeted = false;
  #quietSince: number;
  #counted = true;
  #cut: { clean: boolean } | undefined;

  constructor(init: WatchConnectionInit) {
    super();
    this.#init = init;
    this.#position = init.position;
    this.#quietSince = init.clock.now();
    this.#unsubscribe = init.log.subscribe(() => this.wake());
    // The server ends the stream at that time even if nobody is reading.
    this.#endTimer = init.clock.setTimeout(() => this.#stopCounting(), init.endsAt - init.clock.now());
  }

  /** Ends the connection now, after what has been read so far. */
  cut(clean: boolean): void {
    this.#cut = { clean };
    this.#stopCounting();
  }

  protected step(): BodyStep | undefined {
    if (this.#cut !== undefined) return { kind: "cut", ...this.#cut };
    if (!this.#greeted) {
      this.#greeted = true;
      return { kind: "bytes", bytes: CONNECTED };
    }
    const { log, clock, endsAt, heartbeatMs } = this.#init;
    // Unread events are no longer retained. The stream ends, and a new connection gets 410.
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

  protected released(): void {
    this.#stopCounting();
  }

  /** Waits for an event, the next heartbeat, or the end. */
  protected override async woken(): Promise<void> {
    const { clock, heartbeatMs } = this.#init;
    const timer = Number.isFinite(heartbeatMs)
      ? clock.setTimeout(() => this.wake(), this.#quietSince + heartbeatMs - clock.now())
      : undefined;
    await super.woken();
    clock.clearTimeout(timer);
  }

  #send(name: string, data: object, at: number): BodyStep {
    this.#quietSince = this.#init.clock.now();
    const id = this.#init.cursorAt(this.#position, at);
    const text = `event: ${name}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
    return { kind: "bytes", bytes: toBytes(text), event: true };
  }

  /** The stream no longer counts as open, but events that were logged before can still be read. */
  #stopCounting(): void {
    if (this.#counted) {
      this.#counted = false;
      this.#unsubscribe();
      this.#init.clock.clearTimeout(this.#endTimer);
      this.#init.onClose();
    }
    this.wake();
  }
}
