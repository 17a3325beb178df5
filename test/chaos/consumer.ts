import {
  type Cursor,
  type RunCheckpoint,
  type RunEvent,
  type RunRef,
  type RunResult,
  type RunStream,
  type RunStreamInclude,
  StreamError,
  type TerminalRun,
} from "cursor-cloud-agents";
import type { ManualClock } from "cursor-cloud-agents/emulator";
import type { Pace } from "./pace.ts";

/** What a consumer got. */
export interface Reading {
  /** Undefined where the pace doesn't see events. */
  events: RunEvent[] | undefined;
  /** The reply's pieces, where the pace sees them. */
  text: string | undefined;
  results: (RunResult | TerminalRun)[];
  /** Whether some result is of a stream that read the whole run. */
  isWhole: boolean;
  /** Times that it left and came back. */
  leaves: number;
}

export interface ConsumerOptions {
  cursor: () => Cursor;
  ref: RunRef;
  include: RunStreamInclude;
  signal: AbortSignal;
  clock: ManualClock;
  onReconnect: (info: { reason: unknown }) => void;
  /** Called with each event as it is delivered. */
  onEvent: (event: RunEvent) => void;
}

/** Reads a run to its end, at a pace. */
export class Consumer {
  readonly #options: ConsumerOptions;
  readonly #events: RunEvent[] = [];
  readonly #beside: Promise<RunResult>[] = [];
  #leaves = 0;

  constructor(options: ConsumerOptions) {
    this.#options = options;
  }

  async read(pace: Pace): Promise<Reading> {
    switch (pace.kind) {
      case "eager":
        return this.#whole(async () => {});
      case "slow":
        return this.#whole(async (count) => {
          if (count % pace.every === 0) await this.#pass(pace.ms);
        });
      case "pausing":
        return this.#whole(async (count) => {
          if (count === pace.at) await this.#pass(pace.ms);
        });
      case "inside":
        return this.#whole(async (count, stream) => {
          if (count === pace.at) await stream.result();
        });
      case "beside": {
        const stream = this.#stream();
        const [result] = await Promise.all([
          stream.result(),
          this.#iterate(stream, () => this.#pass(pace.ms)),
        ]);
        return this.#reading([result, await stream.result()], true);
      }
      case "leaving":
        return this.#leaving(pace);
      case "torn":
        return this.#torn(pace);
      case "result":
        return { ...this.#reading([await this.#stream().result()], true), events: undefined };
      case "left": {
        const stream = this.#stream();
        for await (const event of stream) if (this.#take(event) > pace.after) break;
        return { ...this.#reading([await stream.result()], true), events: undefined };
      }
      case "text": {
        const stream = this.#stream();
        let text = "";
        for await (const delta of stream.text()) text += delta;
        return { ...this.#reading([await stream.result()], true), events: undefined, text };
      }
      case "web": {
        const stream = this.#stream();
        for await (const event of stream.toReadableStream()) this.#take(event);
        return this.#reading([await stream.result()], true);
      }
      case "wait": {
        const { ref, signal, cursor } = this.#options;
        return { ...this.#reading([await cursor().runs.wait(ref, { signal })], false), events: undefined };
      }
    }
  }

  async #whole(after: (count: number, stream: RunStream) => Promise<void>): Promise<Reading> {
    const stream = this.#stream();
    await this.#iterate(stream, (count) => after(count, stream));
    return this.#reading([await stream.result()], true);
  }

  async #leaving(pace: Extract<Pace, { kind: "leaving" }>): Promise<Reading> {
    let from: RunCheckpoint | undefined;
    for (const count of pace.after) {
      const controller = new AbortController();
      const stream = this.#stream(from, controller.signal);
      if (pace.beside) this.#beside.push(stream.result());
      const full = this.#events.length + count;
      const leave = () => {
        this.#leaves++;
        if (pace.how === "close") stream.close();
        if (pace.how === "abort") controller.abort(new Error("left"));
      };
      try {
        if (count > 0) {
          for await (const event of stream) {
            if (this.#take(event) < full) continue;
            leave();
            if (pace.how === "break") break;
          }
        }
      } catch (error) {
        // Before any event: the caller's position was refused, and that is for the caller to know.
        if (!controller.signal.aborted && !isRefusedPosition(error)) throw error;
      }
      from = JSON.parse(JSON.stringify(stream.checkpoint()));
      stream.close();
    }
    return this.#rest(from);
  }

  async #torn(pace: Extract<Pace, { kind: "torn" }>): Promise<Reading> {
    const { clock } = this.#options;
    let from: RunCheckpoint | undefined;
    for (const ms of pace.after) {
      const controller = new AbortController();
      const stream = this.#stream(from, controller.signal);
      const timer = clock.setTimeout(() => controller.abort(new Error("torn away")), ms);
      try {
        for await (const event of stream) this.#take(event);
      } catch (error) {
        if (!controller.signal.aborted && !isRefusedPosition(error)) throw error;
      }
      clock.clearTimeout(timer);
      this.#leaves++;
      from = JSON.parse(JSON.stringify(stream.checkpoint()));
      stream.close();
    }
    return this.#rest(from);
  }

  /** The last process reads on to the end. */
  async #rest(from: RunCheckpoint | undefined): Promise<Reading> {
    for (let tries = 0; ; tries++) {
      const stream = this.#stream(from);
      const before = this.#events.length;
      try {
        for await (const event of stream) this.#take(event);
        return this.#reading([...(await this.#heard()), await stream.result()], false);
      } catch (error) {
        // A refusal is a passing fault of these worlds; a real caller would think again.
        if (!isRefusedPosition(error) || this.#events.length > before || tries > 20) throw error;
      }
    }
  }

  /** What was asked for beside a reading that was left: an outcome, or a failure that says so, but never silence. */
  async #heard(): Promise<RunResult[]> {
    const settled = await Promise.allSettled(this.#beside);
    return settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  }

  async #iterate(stream: RunStream, after: (count: number) => Promise<void>): Promise<void> {
    for await (const event of stream) await after(this.#take(event) - 1);
  }

  #take(event: RunEvent): number {
    this.#options.onEvent(event);
    return this.#events.push(event);
  }

  #stream(from?: RunCheckpoint, signal?: AbortSignal): RunStream {
    const { cursor, ref, include, onReconnect } = this.#options;
    return cursor().runs.stream(ref, { include, from, onReconnect, signal: signal ?? this.#options.signal });
  }

  #pass(ms: number): Promise<void> {
    return new Promise((resolve) => this.#options.clock.setTimeout(resolve, ms));
  }

  #reading(results: Reading["results"], isWhole: boolean): Reading {
    return { events: this.#events, text: undefined, results, isWhole, leaves: this.#leaves };
  }
}

const isRefusedPosition = (error: unknown): boolean =>
  StreamError.isInstance(error) && error.reason === "invalid_position";
