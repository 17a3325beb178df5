import type { Frame } from "../sse.ts";
import { copyText } from "../text.ts";
import type { RunStreamInclude } from "./events.ts";
import { RecentIds } from "./recent-ids.ts";

/**
 * Where a stream stands, as plain JSON: kept by one process, given as `from` to another.
 * All but the two ids of the run is this library's own business and may grow.
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
  /** The id of the run's first event: by it a server that begins from the start again is recognised. */
  firstEventId?: string;
  /** The last status delivered. */
  status?: string;
  /** What of the end was delivered. */
  ended?: "result" | "done";
  /** The stream is over for good: what is left comes from Get A Run. */
  expired?: true;
}

/**
 * The resume position of one reading of a stream: what was received, what to ask for, and what of a replay is old.
 *
 * Ids are opaque: compared for equality, never ordered. Events may share an id (twins), and a resume skips every event
 * of the id it names. So a mode that wants both twins resumes from the last id known to be complete, and drops
 * what it already has of the one after.
 */
export class StreamCursor {
  /** The last id received; undefined before the first and after the server reset it. */
  lastId: string | undefined;
  #completedId: string | undefined;
  #eventsOfLast = 0;
  #recent = new RecentIds();
  #firstId: string | undefined;
  /** The first id is the run's own, not the first behind a caller's position. */
  #knowsStart = true;
  #ownIds = false;
  /** An id is kept that was not copied yet. */
  #hasViews = false;
  #refused = new Set<string>();
  #replay: Replay = { kind: "none" };
  /** Something was received before this connection. */
  mayRepeat = false;
  readonly #wantsTwins: boolean;

  constructor(include: RunStreamInclude, from?: string | RunCheckpoint) {
    this.#wantsTwins = include !== "simplified";
    const start = typeof from === "string" ? { lastEventId: from } : from;
    if (start?.lastEventId === undefined) return;
    this.lastId = start.lastEventId;
    this.#firstId = "firstEventId" in start ? start.firstEventId : undefined;
    this.#knowsStart = this.#firstId !== undefined;
    this.#recent.hasForgotten = true; // what the reading before received
    // A bare id says that its reader is done with it, whatever shares it.
    const isOpen = "eventsOfLast" in start && start.eventsOfLast !== undefined;
    this.#eventsOfLast = isOpen ? (start.eventsOfLast as number) : Number.POSITIVE_INFINITY;
    this.#completedId = isOpen ? start.completedEventId : start.lastEventId;
    this.#recent.add(start.lastEventId);
    if (this.#completedId !== undefined) this.#recent.add(this.#completedId);
  }

  /** The id to resume from: undefined asks for the whole stream. */
  get resumeId(): string | undefined {
    const id = this.#wantsTwins ? this.#completedId : this.lastId;
    if (id === undefined || this.#refused.has(id) || !canBeHeader(id)) return undefined;
    return id;
  }

  /** Whether an id was received in this reading; until then the position is the caller's. */
  get hasOwnIds(): boolean {
    return this.#ownIds;
  }

  /** The server refused this id: it is never sent again. */
  refuse(id: string): void {
    this.#refused.add(id);
  }

  /**
   * A connection was made: what it brings first tells whether the server resumed or replays. Where it can't, since the
   * start was never seen, a connection that asked for the whole stream is known to replay it.
   */
  connected(sent: string | undefined): void {
    this.mayRepeat = !this.#recent.isEmpty;
    if (!this.mayRepeat) this.#replay = { kind: "none" };
    else if (sent === undefined && !this.#knowsStart && this.lastId !== undefined) this.#replay = replaying();
    else this.#replay = { kind: "undecided" };
  }

  /**
   * Whether a frame was received before, on an earlier connection. To be asked of each frame in turn, before the next is
   * received, and needless unless {@link StreamCursor.mayRepeat}.
   */
  isOld({ id, event }: Frame): boolean {
    // Frames without an id neither move the position nor say anything about a replay.
    return id !== undefined && id !== "" && this.#isOld(id, event);
  }

  /**
   * Moves the position behind some frames, in one go: stored event by event, it would cost as much as reading them.
   * @returns whether one of them had an id
   */
  receive(frames: Frame[], from: number, to: number): boolean {
    let lastId = this.lastId;
    let completedId = this.#completedId;
    let eventsOfLast = this.#eventsOfLast;
    let hasId = false;
    let first: string | undefined;
    for (let index = from; index < to; index++) {
      const { id } = frames[index] as Frame;
      if (id === undefined) continue;
      hasId ||= id !== "";
      if (id === "") {
        // The standard's explicit reset: from here on there is no position.
        lastId = undefined;
        completedId = undefined;
        eventsOfLast = 0;
      } else if (isSame(id, lastId)) {
        eventsOfLast++;
      } else {
        completedId = lastId ?? completedId;
        lastId = id;
        eventsOfLast = 1;
        first ??= id;
        this.#recent.add(id);
      }
    }
    this.lastId = lastId;
    this.#completedId = completedId;
    this.#eventsOfLast = eventsOfLast;
    this.#ownIds ||= hasId;
    if (first !== undefined) {
      this.#hasViews = true;
      this.#firstId ??= copyText(first);
    }
    return hasId;
  }

  /**
   * Copies what is kept of the ids. To be called before a wait: they are views of the chunk that they came in, and would
   * keep all of it.
   */
  settle(): void {
    if (!this.#hasViews) return;
    this.#hasViews = false;
    if (this.lastId !== undefined) this.lastId = copyText(this.lastId);
    if (this.#completedId !== undefined) this.#completedId = copyText(this.#completedId);
  }

  checkpoint(): Omit<RunCheckpoint, "agentId" | "runId"> {
    this.settle();
    if (this.lastId === undefined) return {};
    const position = {
      lastEventId: this.lastId,
      ...(this.#knowsStart && this.#firstId !== undefined ? { firstEventId: this.#firstId } : {}),
    };
    if (!Number.isFinite(this.#eventsOfLast)) return position;
    return {
      ...position,
      ...(this.#completedId === undefined ? {} : { completedEventId: this.#completedId }),
      eventsOfLast: this.#eventsOfLast,
    };
  }

  #isOld(id: string, event: string | undefined): boolean {
    // What came after a later id is old wherever it comes again: a server that began before a caller's own position
    // is not recognised by its first id.
    if (this.#replay.kind === "none") return id !== this.lastId && this.#recent.has(id);
    const isKnown = id === this.#firstId || this.#recent.has(id);
    if (this.#replay.kind === "undecided") {
      this.#replay = isKnown ? replaying() : { kind: "none" };
      if (!isKnown) return false;
    }
    const replay = this.#replay as Extract<Replay, { kind: "replaying" }>;
    if (id === this.lastId) {
      replay.ofLast++;
      replay.metRecent = true;
      if (replay.ofLast <= this.#eventsOfLast) return true;
    } else if (isKnown) {
      replay.metRecent ||= this.#recent.has(id);
      return true;
    } else if (replay.ofLast === 0 && !replay.metRecent && this.#recent.hasForgotten && event !== "result") {
      // Between the first id and the oldest remembered one: received long ago.
      return true;
    }
    this.#replay = { kind: "none" };
    return false;
  }
}

/** How the frames of a connection relate to what was received on earlier ones. */
type Replay =
  | { kind: "none" }
  | { kind: "undecided" }
  | {
      kind: "replaying";
      /** Frames of the last received id seen in this replay. */
      ofLast: number;
      /** An id within memory was seen: from there on an unknown one is new. */
      metRecent: boolean;
    };

const replaying = (): Replay => ({ kind: "replaying", ofLast: 0, metRecent: false });

/** Neighbours mostly differ near their end: looked at first, it spares what a comparison of two views of a chunk costs. */
function isSame(id: string, other: string | undefined): boolean {
  if (other === undefined || id.length !== other.length) return false;
  const last = id.length - 1;
  const before = Math.max(0, last - 2);
  if (id.charCodeAt(last) !== other.charCodeAt(last)) return false;
  return id.charCodeAt(before) === other.charCodeAt(before) && id === other;
}

/** Any text may be an id, but not any text can be a header. */
const canBeHeader = (id: string): boolean => /^[\t\x20-\x7e\x80-\xff]+$/.test(id) && id === id.trim();
