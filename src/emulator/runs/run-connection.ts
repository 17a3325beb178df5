import { type BodyStep, PulledSource, toBytes } from "../body-source.ts";
import type { Clock } from "../clock.ts";
import { frameText, type LogEntry, type RunLog } from "./run-log.ts";

/** What one connection to a run stream is opened with. */
export interface RunConnectionInit {
  log: RunLog;
  clock: Clock;
  /** Index of the first log entry to send. */
  start: number;
  /** Sent before anything else: the `status` frame without an id that tells the current status. */
  lead?: Uint8Array;
  /** Milliseconds from the end of the replay to the first heartbeat, and between later ones. */
  heartbeat: { first: number; every: number };
  onClose(): void;
}

/** How much still gets through before the connection is cut. */
interface PlannedCut {
  clean: boolean;
  bytesLeft: number;
  eventsLeft: number;
}

const HEARTBEAT = toBytes(frameText("heartbeat", {}));

/**
 * One reader of a run's log. It keeps its index in the log and at most one pending heartbeat, so nothing queues up for a
 * slow reader.
 */
export class RunConnection extends PulledSource {
  readonly #init: RunConnectionInit;
  /** Log entries before this index are replayed; id-less status frames among them are skipped. */
  readonly #liveFrom: number;
  readonly #unsubscribe: () => void;
  #index: number;
  #lead: Uint8Array | undefined;
  /** `stalled`: open, but sends nothing more. `ending`: ends after what was sent. */
  #state: "sending" | "stalled" | "ending" = "sending";
  #cut: PlannedCut | undefined;
  #heartbeatTimer: unknown;
  #heartbeatDue = false;

  constructor(init: RunConnectionInit) {
    super();
    this.#init = init;
    this.#index = init.start;
    this.#liveFrom = init.log.entries.length;
    this.#lead = init.lead;
    this.#unsubscribe = init.log.subscribe(() => this.wake());
  }

  protected step(): BodyStep | undefined {
    if (this.#state === "ending") return { kind: "end" };
    const cut = this.#cut;
    if (cut !== undefined && (cut.bytesLeft <= 0 || cut.eventsLeft <= 0)) {
      return { kind: "cut", clean: cut.clean };
    }
    if (this.#lead !== undefined) {
      const lead = this.#lead;
      this.#lead = undefined;
      return this.#send(lead);
    }
    return this.#nextFromLog() ?? this.#nextWhenQuiet();
  }

  protected released(): void {
    this.#unsubscribe();
    this.#init.clock.clearTimeout(this.#heartbeatTimer);
    this.#init.onClose();
  }

  #nextFromLog(): BodyStep | undefined {
    const { entries } = this.#init.log;
    while (this.#state === "sending") {
      const index = this.#index;
      const entry = entries[index];
      if (entry === undefined) return undefined;
      this.#index += 1;
      if (entry.kind === "frame") {
        if (!entry.liveOnly || index >= this.#liveFrom) return this.#send(entry.bytes);
      } else if (entry.kind === "raw") {
        return this.#send(entry.bytes);
      } else if (!entry.spent) {
        entry.spent = true;
        const step = this.#interrupt(entry);
        if (step !== undefined) return step;
      }
    }
    return undefined;
  }

  /** Carries out an interruption that the script planned for the first connection to get here. */
  #interrupt(entry: Extract<LogEntry, { spent: boolean }>): BodyStep | undefined {
    if (entry.kind === "stall") {
      this.#state = "stalled";
      return undefined;
    }
    if (entry.kind === "farewell") {
      this.#state = "ending";
      return this.#send(entry.bytes);
    }
    const { clean, afterBytes, afterEvents } = entry;
    if (afterBytes === undefined && afterEvents === undefined) return { kind: "cut", clean };
    const { POSITIVE_INFINITY } = Number;
    const [bytesLeft, eventsLeft] = [afterBytes ?? POSITIVE_INFINITY, afterEvents ?? POSITIVE_INFINITY];
    this.#cut = { clean, bytesLeft, eventsLeft };
    return bytesLeft <= 0 || eventsLeft <= 0 ? { kind: "cut", clean } : undefined;
  }

  #nextWhenQuiet(): BodyStep | undefined {
    if (this.#state === "stalled") return undefined;
    if (this.#init.log.closed) return { kind: "end" };
    if (this.#heartbeatDue) {
      this.#heartbeatDue = false;
      return this.#send(HEARTBEAT);
    }
    // The first quiet moment is the end of the replay. Heartbeats start here and go on, whatever else is sent.
    if (this.#heartbeatTimer === undefined) this.#scheduleHeartbeat(this.#init.heartbeat.first);
    return undefined;
  }

  #scheduleHeartbeat(ms: number): void {
    if (!Number.isFinite(ms)) return;
    this.#heartbeatTimer = this.#init.clock.setTimeout(() => {
      this.#heartbeatDue = true;
      this.#scheduleHeartbeat(this.#init.heartbeat.every);
      this.wake();
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
