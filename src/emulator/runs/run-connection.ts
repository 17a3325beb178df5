import { type BodySource, type BodyStep, toBytes } from "../body-source.ts";
import type { Clock } from "../clock.ts";
import { frameText, type RunLog } from "./run-log.ts";

/** What one connection to a run stream is opened with. */
export interface RunConnectionInit {
  log: RunLog;
  clock: Clock;
  /** Index of the first log entry to send. */
  start: number;
  /** Sent before anything else: the id-less `status` with the state of now. */
  lead?: Uint8Array;
  /** Milliseconds of the first heartbeat after the replay has ended, and between later ones. */
  heartbeat: { first: number; every: number };
  onClose(): void;
}

const HEARTBEAT = toBytes(frameText("heartbeat", {}));

/** One reader of a run's log. It keeps an index and at most one due heartbeat: nothing queues up for a slow reader. */
export class RunConnection implements BodySource {
  readonly #init: RunConnectionInit;
  readonly #liveFrom: number;
  readonly #unsubscribe: () => void;
  #index: number;
  #lead: Uint8Array | undefined;
  #closed = false;
  #silent = false;
  #ending = false;
  #cut: { clean: boolean; bytesLeft: number; eventsLeft: number } | undefined;
  #heartbeatTimer: unknown;
  #heartbeatDue = false;
  #wake: () => void = () => {};

  constructor(init: RunConnectionInit) {
    this.#init = init;
    this.#index = init.start;
    this.#liveFrom = init.log.entries.length;
    this.#lead = init.lead;
    this.#unsubscribe = init.log.subscribe(() => this.#wake());
  }

  async next(): Promise<BodyStep> {
    for (;;) {
      if (this.#closed) return { kind: "end" };
      const step = this.#step();
      if (step !== undefined) {
        if (step.kind !== "bytes") this.close();
        return step;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#unsubscribe();
    this.#init.clock.clearTimeout(this.#heartbeatTimer);
    this.#wake();
    this.#init.onClose();
  }

  #step(): BodyStep | undefined {
    if (this.#ending) return { kind: "end" };
    const cut = this.#cut;
    if (cut !== undefined && (cut.bytesLeft <= 0 || cut.eventsLeft <= 0)) {
      return { kind: "cut", clean: cut.clean };
    }
    if (this.#lead !== undefined) {
      const lead = this.#lead;
      this.#lead = undefined;
      return this.#send(lead);
    }
    return this.#fromLog() ?? this.#fromQuiet();
  }

  #fromLog(): BodyStep | undefined {
    if (this.#silent) return undefined;
    const { entries } = this.#init.log;
    for (let entry = entries[this.#index]; entry !== undefined; entry = entries[this.#index]) {
      const index = this.#index++;
      if (entry.kind === "frame") {
        if (!entry.liveOnly || index >= this.#liveFrom) return this.#send(entry.bytes);
      } else if (entry.kind === "raw") {
        return this.#send(entry.bytes);
      } else if (!entry.spent) {
        entry.spent = true;
        if (entry.kind === "farewell") {
          this.#ending = true;
          return this.#send(entry.bytes);
        }
        if (entry.kind === "stall") {
          this.#silent = true;
          return undefined;
        }
        const { afterBytes, afterEvents } = entry;
        const endless = Number.POSITIVE_INFINITY;
        this.#cut = {
          clean: entry.clean,
          bytesLeft: afterBytes ?? endless,
          eventsLeft: afterEvents ?? endless,
        };
        if (afterBytes === undefined && afterEvents === undefined) return { kind: "cut", clean: entry.clean };
        return this.#step();
      }
    }
    return undefined;
  }

  #fromQuiet(): BodyStep | undefined {
    if (this.#silent) return undefined;
    if (this.#init.log.closed) return { kind: "end" };
    if (this.#heartbeatDue) {
      this.#heartbeatDue = false;
      return this.#send(HEARTBEAT);
    }
    // The first quiet moment is the end of the replay: from here the heart beats, whatever else is sent.
    if (this.#heartbeatTimer === undefined) this.#beatIn(this.#init.heartbeat.first);
    return undefined;
  }

  #beatIn(ms: number): void {
    if (!Number.isFinite(ms)) return;
    this.#heartbeatTimer = this.#init.clock.setTimeout(() => {
      this.#heartbeatDue = true;
      this.#beatIn(this.#init.heartbeat.every);
      this.#wake();
    }, ms);
  }

  #send(bytes: Uint8Array): BodyStep {
    const cut = this.#cut;
    if (cut === undefined) return { kind: "bytes", bytes, event: true };
    const allowed = bytes.length > cut.bytesLeft ? bytes.subarray(0, cut.bytesLeft) : bytes;
    cut.bytesLeft -= allowed.length;
    cut.eventsLeft -= 1;
    return { kind: "bytes", bytes: allowed, event: true };
  }
}
