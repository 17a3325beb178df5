import { type Clock, race } from "../async.ts";
import { StreamError } from "../errors.ts";
import type { ServedFrame } from "../serve/served-frame.ts";
import { leaving, onPage } from "./page-events.ts";
import { RunDraft } from "./run-draft.ts";
import type { RunConnection, RunSnapshot, RunStoreStatus } from "./run-snapshot.ts";
import type { RunSource } from "./run-source.ts";
import { checkFunction, checkStoreOptions, type RunStoreOptions } from "./run-store-options.ts";
import { RunSaver } from "./saved-run.ts";
import type { Schedule } from "./schedule.ts";

/**
 * One run, for any user interface. All members are bound: they may be passed on alone.
 *
 * The store connects with its first subscriber and disconnects, a tick later, after its last. That never cancels the
 * run, and the next subscriber goes on where it was.
 */
export interface RunStore {
  /** The name of its run. */
  readonly key: string | undefined;
  /** Calls back after each change, at most once a frame; returns what ends it. */
  subscribe(listener: () => void): () => void;
  /** The run as it was told last: the same object until something changes. */
  getSnapshot(): RunSnapshot;
  /** The run before anything is known of it: for server rendering and hydration. */
  getServerSnapshot(): RunSnapshot;
  /** Connects, also without subscribers, until `stop()` or the last of them leaves. Nothing where it is connected or over. */
  start(): void;
  /** Disconnects, whoever has subscribed. The run goes on; to end it, ask your server to cancel it. */
  stop(): void;
  /** Goes on after `stop()` or an error, from the position; a reconnect that is being waited for is tried now. */
  resume(): void;
}

/** Milliseconds between two writes: each is of the whole run. */
const savePause = 1_000;

/**
 * Follows a run for a user interface: React through `useRun`, others by `subscribe` and `getSnapshot`.
 *
 * @throws ArgumentError for an option that can't work
 * @example
 * const store = createRunStore(routeSource("/api/run?id=" + runId), { storage: webStorage("session") });
 * const unsubscribe = store.subscribe(() => render(store.getSnapshot().parts));
 */
export function createRunStore(source: RunSource, options: RunStoreOptions = {}): RunStore {
  return new Store(source, options);
}

class Store implements RunStore {
  readonly key: string | undefined;
  readonly #source: RunSource;
  readonly #schedule: Schedule;
  readonly #clock: Clock;
  readonly #saver: RunSaver | undefined;
  readonly #autoStart: boolean;
  readonly #initial: RunSnapshot;
  readonly #listeners = new Set<{ call: () => void }>();
  readonly #draft = new RunDraft();
  #snapshot: RunSnapshot;
  #isRestored = false;
  #connection: RunConnection;
  #open: AbortController | undefined;
  #endPageEvents = () => {};
  #cancelFlush: (() => void) | undefined;
  #saveTimer: unknown;
  #leaveTimer: unknown;
  #error: Error | undefined;
  #isStopped = false;

  constructor(source: RunSource, options: RunStoreOptions) {
    const { key, storage, storageLimit, autoStart, clock, schedule } = checkStoreOptions(source, options);
    this.key = key;
    this.#source = source;
    this.#autoStart = autoStart;
    this.#clock = clock;
    this.#schedule = schedule;
    this.#saver = storage && key !== undefined ? new RunSaver(storage, key, storageLimit) : undefined;
    this.#connection = autoStart ? "connecting" : "closed";
    this.#snapshot = this.#initial = {
      status: autoStart ? "submitted" : "ready",
      connection: this.#connection,
      runId: undefined,
      text: "",
      parts: this.#draft.parts,
      runStatus: undefined,
      result: undefined,
      error: undefined,
    };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    checkFunction("listener", listener);
    const entry = { call: listener };
    this.#listeners.add(entry);
    this.#cancelLeaving();
    if (this.#autoStart) this.#connect();
    return () => {
      if (!this.#listeners.delete(entry) || this.#listeners.size > 0) return;
      // A tick later: who subscribes anew at once (React's strict mode, a page that is swapped) keeps the connection.
      this.#leaveTimer = this.#clock.setTimeout(() => {
        this.#leaveTimer = undefined;
        this.#disconnect();
      }, 0);
    };
  };

  readonly getSnapshot = (): RunSnapshot => {
    this.#restore();
    return this.#snapshot;
  };

  readonly getServerSnapshot = (): RunSnapshot => this.#initial;

  readonly start = (): void => {
    this.#isStopped = false;
    this.#connect();
  };

  readonly stop = (): void => {
    this.#isStopped = true;
    this.#disconnect();
  };

  readonly resume = (): void => {
    this.#error = undefined;
    if (this.#connection === "reconnecting") this.#disconnect();
    this.start();
  };

  /** What was kept is read when first asked for, not in the constructor: that may run on a server. */
  #restore(): void {
    if (this.#isRestored) return;
    this.#isRestored = true;
    const record = this.#saver?.load();
    if (!record) return;
    this.#draft.restore(record);
    if (this.#draft.isOver) this.#connection = "closed";
    this.#snapshot = this.#next();
  }

  #connect(): void {
    this.#restore();
    if (this.#open || this.#isStopped || this.#error || this.#draft.isOver) return;
    this.#open = new AbortController();
    this.#endPageEvents = onPage(leaving, () => this.#save());
    this.#connection = "connecting";
    void this.#follow(this.#open.signal);
    this.#flush();
  }

  /** Ends the connection. What was received is told and kept. */
  #disconnect(): void {
    this.#cancelLeaving();
    this.#open?.abort();
    this.#open = undefined;
    this.#endPageEvents();
    this.#connection = "closed";
    this.#flush();
    this.#save();
  }

  #cancelLeaving(): void {
    if (this.#leaveTimer !== undefined) this.#clock.clearTimeout(this.#leaveTimer);
    this.#leaveTimer = undefined;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    let frames: AsyncIterator<ServedFrame> | undefined;
    try {
      // Without a position the run comes from its beginning.
      if (this.#draft.position === undefined) this.#draft.clear();
      const source = this.#source;
      const report = (connection: RunConnection) => {
        if (!signal.aborted) this.#report(connection);
      };
      frames = source(this.#draft.position, signal, report)[Symbol.asyncIterator]();
      while (true) {
        // Raced: not every source listens to its signal, and what it says later is not for us.
        const next = await race(frames.next(), { signal });
        if (signal.aborted) return;
        if (next.done) break;
        this.#take(next.value);
        if (signal.aborted) return;
      }
      throw new StreamError("the run's source ended before the run did", {
        reason: "disconnected",
        runId: this.#draft.runId,
        lastEventId: this.#draft.position,
      });
    } catch (error) {
      if (!signal.aborted) this.#fail(error);
    } finally {
      void frames?.return?.().catch(() => {});
    }
  }

  #take(frame: ServedFrame): void {
    this.#report("open");
    if (frame.type === "reset") this.#draft.clear();
    else if (frame.type === "end") this.#draft.isOver = true;
    else if (frame.type !== "failure") this.#draft.add(frame);
    else if (frame.data.final) {
      const { message, code } = frame.data;
      this.#fail(new StreamError(message, { reason: "disconnected", code, runId: this.#draft.runId }));
    }
    if (this.#draft.isOver) this.#disconnect();
    else this.#changed();
  }

  #report(connection: RunConnection): void {
    if (this.#connection === connection) return;
    this.#connection = connection;
    this.#changed();
  }

  #fail(error: unknown): void {
    this.#error = error instanceof Error ? error : new Error(String(error));
    this.#disconnect();
  }

  #changed(): void {
    if (!this.#open) return;
    this.#cancelFlush ??= this.#schedule(() => this.#flush());
    if (!this.#saver) return;
    this.#saveTimer ??= this.#clock.setTimeout(() => this.#save(), savePause);
  }

  /** Tells what changed, if anything did. */
  #flush(): void {
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    const next = this.#next();
    const names = Object.keys(next) as (keyof RunSnapshot)[];
    if (names.every((name) => next[name] === this.#snapshot[name])) return;
    this.#snapshot = next;
    for (const { call } of this.#listeners) {
      try {
        call();
      } catch (error) {
        // A listener's failure is its own: it must reach neither the others nor the reading.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  #next(): RunSnapshot {
    const { runId, text, parts, runStatus, result } = this.#draft;
    const error = this.#error;
    const connection = this.#connection;
    return { status: this.#status(), connection, runId, text, parts, runStatus, result, error };
  }

  #status(): RunStoreStatus {
    if (this.#error) return "error";
    if (this.#draft.isOver || this.#isStopped || !(this.#autoStart || this.#open)) return "ready";
    return this.#draft.parts.length === 0 ? "submitted" : "streaming";
  }

  #save(): void {
    if (this.#saveTimer !== undefined) this.#clock.clearTimeout(this.#saveTimer);
    this.#saveTimer = undefined;
    if (this.#isRestored) this.#saver?.save(this.#draft.record());
  }
}
