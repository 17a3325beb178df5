import { type Clock, race, systemClock } from "../async.ts";
import {
  anyValue,
  checkCallback,
  checkClock,
  checkFunction,
  checkOptions,
  checkTimeout,
  type OptionTable,
  orDefault,
} from "../check.ts";
import { ArgumentError, StreamError } from "../errors.ts";
import type { ServedFrame } from "../serve/served-frame.ts";
import { frameSchedule, leaving, onPage, type Schedule } from "./page.ts";
import { RunDraft } from "./run-draft.ts";
import type { RunConnection, RunSnapshot, RunStoreStatus } from "./run-snapshot.ts";
import type { RunSource } from "./run-source.ts";
import { RunSaver, type RunStorage } from "./run-storage.ts";

/** How a store works. */
export interface RunStoreOptions {
  /** Identifies the run in the storage and to `useRun`: the run's id. @default the source's own key */
  key?: string | undefined;
  /** Where text and position are saved, so that a reloaded page continues where it was. @default nowhere */
  storage?: RunStorage | undefined;
  /** The most characters to save; a longer run is read from its start after a reload. @default 1_000_000 */
  storageLimit?: number | undefined;
  /** Whether the first subscriber connects; otherwise `start()` does. @default true */
  autoStart?: boolean | undefined;
  /** When subscribers are called. @default at the next animation frame, by a timer where none is drawn */
  schedule?: Schedule | undefined;
  /** Where time comes from, for tests. @default the system's clock */
  clock?: Clock | undefined;
}

const storeOptions = {
  key: anyValue,
  storage: anyValue,
  storageLimit: orDefault(checkTimeout, 1_000_000),
  autoStart: anyValue,
  schedule: checkCallback,
  clock: orDefault(checkClock, systemClock),
} satisfies OptionTable<RunStoreOptions>;

/**
 * One run, for any user interface. All members are bound, so that each may be passed on by itself.
 *
 * The store connects with its first subscriber and disconnects, a tick later, after its last. That never cancels the
 * run, and the next subscriber continues where it was.
 */
export interface RunStore {
  /** Identifies the run. */
  readonly key: string | undefined;
  /** Calls back after each change, at most once a frame; returns a function that unsubscribes. */
  subscribe(listener: () => void): () => void;
  /** The run as subscribers saw it last: the same object until something changes. */
  getSnapshot(): RunSnapshot;
  /** The run before anything is known of it: for server rendering and hydration. */
  getServerSnapshot(): RunSnapshot;
  /**
   * Connects, also without subscribers, until `stop()` is called or the last of them leaves. Does nothing where the store
   * is connected, has failed, or the run is over.
   */
  start(): void;
  /** Disconnects, even with subscribers. The run continues; to end it, ask your server to cancel it. */
  stop(): void;
  /** Continues from the position after `stop()` or an error; while it waits for a reconnect, reconnects now. */
  resume(): void;
  /**
   * Replaces the source and the options with those of a later render: the same run, with a fresh token for example.
   * The next connection, write or call uses them; what is under way continues, and nothing is read anew. The key and the
   * clock stay. `useRun` does this by itself.
   * @throws ArgumentError for an option that can't work
   */
  update(source: RunSource, options?: RunStoreOptions): void;
}

/** What the store does. Whether the run is over is not part of it: that belongs to the draft. */
type StoreState =
  | { name: "idle" }
  | { name: "following"; controller: AbortController; stopPageEvents: () => void }
  /** By `stop()`; until `start()` or `resume()`, subscribers don't connect. */
  | { name: "stopped" }
  /** Until `resume()`, nothing connects. */
  | { name: "failed"; error: Error };

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

type CheckedStore = ReturnType<typeof checkStore>;

function checkStore(source: RunSource, options: RunStoreOptions) {
  checkFunction("source", source);
  const checked = checkOptions(storeOptions, options);
  const { key = source.key, storage, autoStart = true, clock, schedule = frameSchedule(clock) } = checked;
  if (key !== undefined && (typeof key !== "string" || key === "")) {
    throw new ArgumentError("key", "expected a non-empty string");
  }
  if (storage !== undefined && key === undefined) {
    throw new ArgumentError("key", "is missing: a storage needs it to tell runs apart");
  }
  return { ...checked, key, autoStart, schedule };
}

class Store implements RunStore {
  readonly key: string | undefined;
  readonly #clock: Clock;
  #source: RunSource;
  #schedule: Schedule;
  #saver: RunSaver | undefined;
  #autoStart: boolean;
  readonly #initial: RunSnapshot;
  readonly #listeners = new Set<{ call: () => void }>();
  readonly #draft = new RunDraft();
  #state: StoreState = { name: "idle" };
  #connection: RunConnection;
  #snapshot: RunSnapshot;
  #isRestored = false;
  #cancelFlush: (() => void) | undefined;
  #leaveTimer: unknown;

  constructor(source: RunSource, options: RunStoreOptions) {
    const checked = checkStore(source, options);
    this.key = checked.key;
    this.#source = source;
    this.#autoStart = checked.autoStart;
    this.#clock = checked.clock;
    this.#schedule = checked.schedule;
    this.#saver = this.#toSaver(checked);
    this.#connection = this.#autoStart ? "connecting" : "closed";
    this.#snapshot = this.#initial = this.#nextSnapshot();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    checkFunction("listener", listener);
    const entry = { call: listener };
    this.#listeners.add(entry);
    this.#cancelLeaving();
    if (this.#autoStart) this.#connect();
    return () => {
      if (!this.#listeners.delete(entry) || this.#listeners.size > 0) return;
      // A tick later, so that a subscriber that is replaced at once (React's strict mode) keeps the connection.
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
    if (this.#state.name === "stopped") this.#state = { name: "idle" };
    this.#connect();
  };

  readonly stop = (): void => {
    this.#disconnect(this.#state.name === "failed" ? this.#state : { name: "stopped" });
  };

  readonly resume = (): void => {
    if (this.#state.name === "failed") this.#state = { name: "idle" };
    if (this.#connection === "reconnecting") this.#disconnect();
    this.start();
  };

  readonly update = (source: RunSource, options: RunStoreOptions = {}): void => {
    const checked = checkStore(source, { ...options, key: this.key, clock: this.#clock });
    this.#source = source;
    this.#schedule = checked.schedule;
    this.#saver = this.#toSaver(checked);
    const startsNow = checked.autoStart && !this.#autoStart && this.#listeners.size > 0;
    this.#autoStart = checked.autoStart;
    if (startsNow) this.#connect();
  };

  /** The saver that stands, with the storage it gets now, since a storage made anew in each render is still the same one. */
  #toSaver({ storage, storageLimit, clock }: CheckedStore): RunSaver | undefined {
    if (!storage || this.key === undefined) return undefined;
    this.#saver?.update(storage, storageLimit);
    return this.#saver ?? new RunSaver(storage, this.key, storageLimit, clock);
  }

  /** Reads the storage at the first use of the store, not in the constructor, which may run on a server. */
  #restore(): void {
    if (this.#isRestored) return;
    this.#isRestored = true;
    const record = this.#saver?.load();
    if (!record) return;
    this.#draft.restore(record);
    if (this.#draft.isOver) this.#connection = "closed";
    this.#snapshot = this.#nextSnapshot();
  }

  #connect(): void {
    this.#restore();
    if (this.#state.name !== "idle" || this.#draft.isOver) return;
    const controller = new AbortController();
    const stopPageEvents = onPage(leaving, () => this.#saver?.save(this.#draft));
    this.#state = { name: "following", controller, stopPageEvents };
    this.#connection = "connecting";
    void this.#follow(controller.signal);
    this.#flush();
  }

  /** Ends the connection, if there is one. What was received is published and saved. */
  #disconnect(next?: StoreState): void {
    this.#cancelLeaving();
    const before = this.#state;
    this.#state = next ?? (before.name === "following" ? { name: "idle" } : before);
    if (before.name === "following") {
      before.controller.abort();
      before.stopPageEvents();
    }
    this.#connection = "closed";
    this.#flush();
    this.#saver?.save(this.#draft);
  }

  #cancelLeaving(): void {
    if (this.#leaveTimer !== undefined) this.#clock.clearTimeout(this.#leaveTimer);
    this.#leaveTimer = undefined;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    let frames: AsyncIterator<ServedFrame> | undefined;
    try {
      // Without a position the source sends the run from its start.
      if (this.#draft.position === undefined) this.#draft.clear();
      const source = this.#source;
      const report = (connection: RunConnection) => {
        if (!signal.aborted) this.#report(connection);
      };
      const latest = () => this.#source;
      frames = source(this.#draft.position, signal, report, latest)[Symbol.asyncIterator]();
      while (true) {
        // Raced, since not every source listens to its signal; what it sends later is dropped.
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
    this.#disconnect({ name: "failed", error: error instanceof Error ? error : new Error(String(error)) });
  }

  #changed(): void {
    if (this.#state.name !== "following") return;
    this.#cancelFlush ??= this.#schedule(() => this.#flush());
    this.#saver?.saveSoon(this.#draft);
  }

  /** Publishes a new snapshot, if anything changed. */
  #flush(): void {
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    const next = this.#nextSnapshot();
    const names = Object.keys(next) as (keyof RunSnapshot)[];
    if (names.every((name) => next[name] === this.#snapshot[name])) return;
    this.#snapshot = next;
    // A copy, since a listener may subscribe anew in its own call; one that is unsubscribed meanwhile is not called.
    for (const entry of [...this.#listeners]) {
      if (!this.#listeners.has(entry)) continue;
      const { call } = entry;
      try {
        call();
      } catch (error) {
        // A listener that throws must stop neither the other listeners nor the reading.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  #nextSnapshot(): RunSnapshot {
    const { runId, text, parts, runStatus, result } = this.#draft;
    const error = this.#state.name === "failed" ? this.#state.error : undefined;
    const connection = this.#connection;
    return { status: this.#status(), connection, runId, text, parts, runStatus, result, error };
  }

  #status(): RunStoreStatus {
    const { name } = this.#state;
    if (name === "failed") return "error";
    const isWaiting = name === "idle" && !this.#autoStart;
    if (this.#draft.isOver || name === "stopped" || isWaiting) return "ready";
    return this.#draft.parts.length === 0 ? "submitted" : "streaming";
  }
}
