import type { Frame } from "../sse.ts";
import { copyText } from "../text.ts";
import type { RunStreamInclude } from "./events.ts";
import { RecentIds } from "./recent-ids.ts";

/**
 * The resume position of a stream as plain JSON: one process keeps it, another passes it as `from`.
 * Only the two ids of the run are meant to be read; the other fields belong to this library, and more may follow.
 */
export interface RunCheckpoint {
  /** The agent's id. */
  agentId: string;
  /** The run's id. */
  runId: string;
  /** The id of the last event received. */
  lastEventId?: string;
  /** The last id all of whose events were received; absent when that is `lastEventId`, or when there is none. */
  completedEventId?: string;
  /** How many events of `lastEventId` were received, where more may follow. */
  eventsOfLast?: number;
  /** The id of the run's first event, by which a replay from the start is recognised. */
  firstEventId?: string;
  /** The last status delivered. */
  status?: string;
  /** The last of the two closing events that was delivered. */
  ended?: "result" | "done";
  /** The server no longer has the stream: the rest comes from Get A Run. */
  expired?: true;
}

/**
 * The resume position of one reader: what was received, which id to resume from, and which events of a replay are old.
 *
 * Ids are opaque: they are compared for equality, never ordered. Events may share an id (twins), and a server that
 * resumes skips every event of the id it is given. So a mode that delivers both twins resumes from the last id that is
 * known to be complete, and drops what was received of the one after it.
 */
export class StreamPosition {
  /** The last id received; undefined before the first and after the server reset it. */
  #lastId: string | undefined;
  #completedId: string | undefined;
  #eventsOfLast = 0;
  #firstId: string | undefined;
  /** The ids above include some that were not copied yet. */
  #hasViews = false;
  /** Whether this reader received events with an id, and whether since the last {@link takeProgress}. */
  #progress: "none" | "known" | "new" = "none";
  #replay: Replay = { kind: "impossible" };
  readonly #recent = new RecentIds();
  readonly #rejected = new Set<string>();
  readonly #wantsTwins: boolean;
  /** Whether the first id is the run's own, and not the first one after a caller's position. */
  readonly #knowsStart: boolean;

  constructor(include: RunStreamInclude, from?: string | RunCheckpoint) {
    this.#wantsTwins = include !== "simplified";
    const start: Partial<RunCheckpoint> = typeof from === "string" ? { lastEventId: from } : (from ?? {});
    const { lastEventId, completedEventId, eventsOfLast, firstEventId } = start;
    this.#knowsStart = lastEventId === undefined || firstEventId !== undefined;
    if (lastEventId === undefined) return;
    // A bare id says that its reader has all events of it.
    const isOpen = eventsOfLast !== undefined;
    this.#lastId = lastEventId;
    this.#completedId = isOpen ? completedEventId : lastEventId;
    this.#eventsOfLast = eventsOfLast ?? Number.POSITIVE_INFINITY;
    this.#firstId = firstEventId;
    this.#recent.hasForgotten = true; // what the reader before this one received
    this.#recent.add(lastEventId);
    if (this.#completedId !== undefined) this.#recent.add(this.#completedId);
  }

  // ── Connections ────────────────────────────────────────────────────────────────────────────────────────────────

  /** The id to resume from; undefined asks for the whole stream. */
  get resumeId(): string | undefined {
    const id = this.#wantsTwins ? this.#completedId : this.#lastId;
    return id === undefined || this.#rejected.has(id) || !canBeHeader(id) ? undefined : id;
  }

  /** Whether this reader received an id itself; until then the position is the caller's. */
  get hasOwnIds(): boolean {
    return this.#progress !== "none";
  }

  /** The server does not know this id: it is never sent again. */
  reject(id: string): void {
    this.#rejected.add(id);
  }

  /**
   * A connection was opened with `resumeId`. Its first ids show whether the server resumed or replays. They can't where
   * the start of the run was never received: there, a connection that asked for the whole stream is taken for a replay.
   */
  connected(resumeId: string | undefined): void {
    if (this.#recent.isEmpty) this.#replay = { kind: "impossible" };
    else if (resumeId === undefined && !this.#knowsStart && this.#lastId !== undefined) {
      this.#replay = startOfReplay();
    } else this.#replay = { kind: "undecided" };
  }

  // ── Events ─────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Whether events of this connection may be old; if not, {@link recognise} needn't be called. */
  get mayRepeat(): boolean {
    return this.#replay.kind !== "impossible";
  }

  /** Whether an event with a new id arrived since the last {@link takeProgress}. */
  get hasProgress(): boolean {
    return this.#progress === "new";
  }

  /** Returns {@link hasProgress} and begins to count again. */
  takeProgress(): boolean {
    const { hasProgress } = this;
    if (hasProgress) this.#progress = "known";
    return hasProgress;
  }

  /**
   * Follows a replay by its next frame, and returns whether that frame was received before on an earlier connection.
   * Takes the frames of a connection in order, each before the position moves past it.
   */
  recognise({ id, event }: Frame): "old" | "new" {
    // Frames without an id neither move the position nor say anything about a replay.
    if (id === undefined || id === "") return "new";
    // An id received before the last one is old wherever it comes again: a server that begins before a caller's
    // position is not recognised by its first id.
    if (this.#replay.kind === "resumed") {
      return id !== this.#lastId && this.#recent.has(id) ? "old" : "new";
    }
    const isKnown = id === this.#firstId || this.#recent.has(id);
    if (this.#replay.kind !== "replaying") this.#replay = isKnown ? startOfReplay() : { kind: "resumed" };
    if (this.#replay.kind === "replaying" && this.#isReplayed(this.#replay, id, event, isKnown)) return "old";
    this.#replay = { kind: "resumed" };
    return "new";
  }

  #isReplayed(replay: Replaying, id: string, event: string | undefined, isKnown: boolean): boolean {
    if (id === this.#lastId) {
      replay.ofLast++;
      replay.metRecent = true;
      return replay.ofLast <= this.#eventsOfLast;
    }
    if (isKnown) {
      replay.metRecent ||= this.#recent.has(id);
      return true;
    }
    // Between the first id and the oldest remembered one: received, and forgotten since.
    return replay.ofLast === 0 && !replay.metRecent && this.#recent.hasForgotten && event !== "result";
  }

  /**
   * Moves the position past `frames[from]` to `frames[to - 1]`. In one batch and in local variables: fields written
   * event by event would cost as much as reading the events does.
   */
  move(frames: Frame[], from: number, to: number): void {
    let lastId = this.#lastId;
    let completedId = this.#completedId;
    let eventsOfLast = this.#eventsOfLast;
    let hasId = false;
    let first: string | undefined;
    for (let index = from; index < to; index++) {
      const { id } = frames[index] as Frame;
      if (id === undefined) continue;
      if (id === "") {
        // The standard's explicit reset: from here on there is no position.
        lastId = undefined;
        completedId = undefined;
        eventsOfLast = 0;
        continue;
      }
      hasId = true;
      if (isSame(id, lastId)) {
        eventsOfLast++;
      } else {
        completedId = lastId ?? completedId;
        lastId = id;
        eventsOfLast = 1;
        first ??= id;
        this.#recent.add(id);
      }
    }
    this.#lastId = lastId;
    this.#completedId = completedId;
    this.#eventsOfLast = eventsOfLast;
    if (hasId) this.#progress = "new";
    if (first === undefined) return;
    this.#hasViews = true;
    this.#firstId ??= copyText(first);
  }

  /**
   * Copies the ids that are kept. Call it before a wait: they are views of the chunk in which they arrived, and would
   * keep all of it in memory.
   */
  copyViews(): void {
    if (!this.#hasViews) return;
    this.#hasViews = false;
    if (this.#lastId !== undefined) this.#lastId = copyText(this.#lastId);
    if (this.#completedId !== undefined) this.#completedId = copyText(this.#completedId);
  }

  checkpoint(): Omit<RunCheckpoint, "agentId" | "runId"> {
    this.copyViews();
    if (this.#lastId === undefined) return {};
    const position = {
      lastEventId: this.#lastId,
      ...(this.#knowsStart && this.#firstId !== undefined ? { firstEventId: this.#firstId } : {}),
    };
    if (!Number.isFinite(this.#eventsOfLast)) return position;
    return {
      ...position,
      ...(this.#completedId === undefined ? {} : { completedEventId: this.#completedId }),
      eventsOfLast: this.#eventsOfLast,
    };
  }
}

/** How the frames of a connection relate to what was received on earlier ones. */
type Replay =
  /** Nothing was received before. */
  | { kind: "impossible" }
  /** The first frame with an id will tell. */
  | { kind: "undecided" }
  /** The frames continue after the position. */
  | { kind: "resumed" }
  | Replaying;

/** The frames began before the position and have not passed it yet. */
interface Replaying {
  kind: "replaying";
  /** Frames of the last received id seen in this replay. */
  ofLast: number;
  /** A remembered id was seen: an unknown one after it is new. */
  metRecent: boolean;
}

const startOfReplay = (): Replaying => ({ kind: "replaying", ofLast: 0, metRecent: false });

/** Compares the last characters first: neighbours mostly differ there, and comparing two views of a chunk is costly. */
function isSame(id: string, other: string | undefined): boolean {
  if (other === undefined || id.length !== other.length) return false;
  const last = id.length - 1;
  const before = Math.max(0, last - 2);
  if (id.charCodeAt(last) !== other.charCodeAt(last)) return false;
  return id.charCodeAt(before) === other.charCodeAt(before) && id === other;
}

/** Any text may be an id, but not any text can be a header. */
const canBeHeader = (id: string): boolean => /^[\t\x20-\x7e\x80-\xff]+$/.test(id) && id === id.trim();
