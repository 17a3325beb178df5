import type { Frame } from "../sse.ts";
import { isTerminalStatus, type Run } from "../types.ts";
import {
  closingEvents,
  isStatusNews,
  isWanted,
  type Outcome,
  outcomeOf,
  outcomeOfResult,
  type RunEvent,
  type RunEventData,
  type RunStreamInclude,
  textOf,
  toRunEvent,
} from "./events.ts";
import type { RunCheckpoint, StreamPosition } from "./position.ts";
import type { Progress, StreamPhase } from "./watch.ts";

/** What a delivery found in its frames. */
export type Found =
  | { kind: "event"; event: RunEvent }
  /** The connection is of no more use, and all its events were delivered. */
  | Drop
  /** The frames are used up. */
  | { kind: "more" }
  /** `result` was delivered, and the frames are used up: only `done` is missing. */
  | { kind: "ending" }
  /** `done` was delivered. */
  | { kind: "over" };

/** Why the frames say that their connection is of no more use. */
export interface Drop {
  kind: "drop";
  message: string;
  /** The code of an `error` event. */
  code?: string | undefined;
  /** Get A Run may know more at once. */
  askRun: boolean;
}

const more: Found = { kind: "more" };
const ending: Found = { kind: "ending" };
const over: Found = { kind: "over" };

interface DeliveryOptions {
  include: RunStreamInclude;
  /** Where the position begins, and with it what the reader before this one delivered. */
  from: string | RunCheckpoint | undefined;
  /** Called when the outcome becomes known, or the text too long. */
  onChange(): void;
}

/** Characters of the reply's text that are kept in case that somebody asks for them later. */
const keptUnasked = 1024 * 1024;
/** Characters of the reply's text that are kept for somebody who asked for them. */
const keptAsked = 32 * 1024 * 1024;

/**
 * Turns frames into events, exactly once and in order, and adds the `result` and `done` events the server never sent.
 * It moves the position; it knows nothing of connections.
 */
export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #position: StreamPosition;
  /** The fields of a checkpoint beside the position. */
  readonly #delivered: Pick<RunCheckpoint, "status" | "ended" | "expired"> = {};
  #outcome: Outcome | undefined;
  #frames: Frame[] = [];
  /** Index of the next frame. */
  #next = 0;
  /** Index of the first frame that the position has not moved past: see {@link #movePosition}. */
  #unmoved = 0;
  /** What {@link take} returns before it looks at a further frame. */
  readonly #pending: Found[] = [];
  #lastFault: string | undefined;
  #phase: StreamPhase = "active";
  /** No frame of this connection was looked at. */
  #isAtOpening = true;
  /** A frame received before was skipped since the last {@link takeProgress}. */
  #hasSkipped = false;
  #text = "";
  /** Characters of the text; infinite once they were too many. */
  #textLength = 0;
  #isTextAsked = false;
  /** The pieces of text that {@link streamedText} has not joined yet. */
  #pieces: string[] = [];

  constructor(position: StreamPosition, options: DeliveryOptions) {
    this.#position = position;
    this.#options = options;
    if (typeof options.from !== "object") return;
    const { status, ended, expired } = options.from;
    if (status !== undefined) this.#delivered.status = status;
    if (ended !== undefined) this.#delivered.ended = ended;
    if (expired !== undefined) this.#delivered.expired = expired;
  }

  /** Known from the `result` event on. */
  get outcome(): Outcome | undefined {
    return this.#outcome;
  }

  /** Whether the server no longer has the stream, so that only Get A Run can tell the rest. */
  get isExpired(): boolean {
    return this.#delivered.expired === true;
  }

  /** What the stream says about the run, as far as it was delivered. */
  get phase(): StreamPhase {
    return this.#phase;
  }

  /** Returns what arrived since the last call and begins to count again. Call it after {@link unload}. */
  takeProgress(): Progress {
    const hasSkipped = this.#hasSkipped;
    this.#hasSkipped = false;
    if (!this.#position.takeProgress()) return hasSkipped ? "replayed" : "none";
    this.#lastFault = undefined;
    return "new";
  }

  checkpoint(): Omit<RunCheckpoint, "agentId" | "runId"> {
    this.#movePosition();
    return { ...this.#position.checkpoint(), ...this.#delivered };
  }

  /** The text will be asked for: from now on much more of it is kept. */
  askForText(): void {
    this.#isTextAsked = true;
  }

  /** Whether the text became longer than what is kept of it; then nothing of it is. */
  get isTextTooLong(): boolean {
    return this.#textLength === Number.POSITIVE_INFINITY;
  }

  #keepText(text: string): void {
    if (this.isTextTooLong) return;
    this.#textLength += text.length;
    this.#pieces.push(text);
    if (this.#textLength <= (this.#isTextAsked ? keptAsked : keptUnasked)) return;
    this.#textLength = Number.POSITIVE_INFINITY;
    this.#text = "";
    this.#pieces = [];
    this.#options.onChange();
  }

  /** All pieces of the reply so far, joined lazily: concatenating per event dominated the profile. */
  streamedText(): string {
    if (this.#pieces.length > 0) {
      this.#text += this.#pieces.join("");
      this.#pieces = [];
    }
    return this.#text;
  }

  // ── Frames ─────────────────────────────────────────────────────────────────────────────────────────────────────

  /** The frames that follow are those of another connection. */
  connected(): void {
    this.#isAtOpening = true;
    this.#phase = "active";
  }

  /** Takes the next frames, after {@link unload}. */
  load(frames: Frame[]): void {
    this.#frames = frames;
    this.#next = 0;
    this.#unmoved = 0;
  }

  /**
   * Forgets the frames, those not delivered included; from then on the position is up to date. Call it before each wait:
   * ids and pieces of text are views of the chunk in which they arrived, and would keep all of it in memory.
   */
  unload(): void {
    this.#movePosition();
    this.#position.copyViews();
    this.streamedText();
    this.load([]);
  }

  /**
   * Moves the position past the frames delivered since the last call. Once per batch, or when somebody asks for the
   * position: event by event it would cost as much as reading them.
   */
  #movePosition(): void {
    if (this.#unmoved === this.#next) return;
    this.#position.move(this.#frames, this.#unmoved, this.#next);
    this.#unmoved = this.#next;
  }

  /** Delivers the next wanted event, or returns why there is none. */
  take(): Found {
    while (this.#pending.length === 0 && this.#next < this.#frames.length) {
      if (this.#delivered.ended === "done") return over;
      const frame = this.#frames[this.#next] as Frame;
      if (this.#position.mayRepeat && this.#skipOld(frame)) continue;
      this.#next++;
      const event = this.#accept(frame);
      if (event === undefined) continue;
      const text = textOf(event, this.#options.include);
      if (text !== undefined) this.#keepText(text);
      return { kind: "event", event };
    }
    if (this.#pending.length > 0) return this.#takePending();
    if (this.#delivered.ended === undefined) return more;
    return this.#delivered.ended === "done" ? over : ending;
  }

  /** Skips a frame received before, on an earlier connection: the position doesn't move past it again. */
  #skipOld(frame: Frame): boolean {
    this.#movePosition();
    if (this.#position.recognise(frame) === "new") return false;
    this.#unmoved = ++this.#next;
    this.#hasSkipped = true;
    this.#isAtOpening = false;
    return true;
  }

  #takePending(): Found {
    const found = this.#pending.shift() as Found;
    if (found.kind !== "event") return found;
    // A synthesized event: `result`, from Get A Run, or `done`.
    if (found.event.type === "done") this.#delivered.ended = "done";
    else Object.assign(this.#delivered, { ended: "result", expired: true });
    return found;
  }

  /** The event of a frame, if the consumer should see it. */
  #accept(frame: Frame): RunEvent | undefined {
    const isAtOpening = this.#isAtOpening;
    this.#isAtOpening = false;
    if (!isWanted(this.#options.include, frame.event)) return undefined;
    const event = toRunEvent(frame);
    switch (event.type) {
      case "status":
        if (!isTerminalStatus(event.data.status)) this.#phase = "active";
        else this.#phase = isAtOpening ? "over" : "ending";
        return this.#isNews(event.data.status, frame.id) ? event : undefined;
      case "result":
        if (this.#delivered.ended) return undefined;
        this.#delivered.ended = "result";
        this.#settle(outcomeOfResult(event.data));
        return event;
      case "done":
        if (this.#delivered.ended === "result") {
          this.#delivered.ended = "done";
          return event;
        }
        // Without a result it ends the stream, not the run.
        this.#drop("the stream ended without the run's result", true);
        return undefined;
      case "error":
        return this.#streamFailed(event.data) ? event : undefined;
      default:
        return event;
    }
  }

  /** A status with an id is an event like any other; one without an id opens each connection, and may be old. */
  #isNews(status: string, id: string | undefined): boolean {
    if (id === undefined && !isStatusNews(status, this.#delivered.status)) return false;
    this.#delivered.status = status;
    return true;
  }

  /** Returns whether the consumer should see the error: `stream_unavailable` only means "retry", and none comes twice. */
  #streamFailed(data: RunEventData["error"]): boolean {
    const { code, message } = data as { code?: unknown; message?: unknown };
    const name = typeof code === "string" ? code : undefined;
    const isUnavailable = name === "stream_unavailable";
    this.#drop(`the stream failed${name ? ` with ${name}` : ""}`, !isUnavailable, name);
    this.#movePosition();
    const fault = `${String(code)} ${String(message)}`;
    const isRepeated = fault === this.#lastFault && !this.#position.hasProgress;
    this.#lastFault = fault;
    return !isUnavailable && !isRepeated;
  }

  #drop(message: string, askRun: boolean, code?: string): void {
    // After the result nothing that matters is lost with the connection.
    if (this.#delivered.ended === "result") this.supplyDone();
    else this.#pending.push({ kind: "drop", message, askRun, code });
  }

  // ── The end of the stream ──────────────────────────────────────────────────────────────────────────────────────

  /** The server answered that it no longer has the stream. */
  expire(): void {
    this.#delivered.expired = true;
  }

  /** Delivers the outcome of a run whose stream will not tell it, as the two events that close a stream. */
  supplyOutcome(run: Run): void {
    for (const event of closingEvents(run)) this.#pending.push({ kind: "event", event });
    this.#settle(outcomeOf(run));
  }

  /** Delivers the `done` that did not come. */
  supplyDone(): void {
    this.#movePosition();
    // It shares the id of the result; a synthesized result has none.
    const id = this.isExpired ? undefined : this.#position.checkpoint().lastEventId;
    const event: RunEvent = {
      type: "done",
      ...(id === undefined ? {} : { id }),
      data: {},
      synthesized: true,
    };
    this.#pending.push({ kind: "event", event });
  }

  #settle(outcome: Outcome): void {
    this.#outcome = outcome;
    this.#options.onChange();
  }
}
