import type { Frame } from "../sse.ts";
import type { Run } from "../types.ts";
import {
  endOfStream,
  isStatusNews,
  isWanted,
  nameOf,
  type Outcome,
  outcomeOf,
  outcomeOfResult,
  type RunEvent,
  type RunEventData,
  type RunStreamInclude,
  textOf,
  toRunEvent,
} from "./events.ts";
import type { StreamFailures } from "./failures.ts";
import { type RunCheckpoint, StreamCursor } from "./position.ts";

/** Why a connection is of no more use. */
export interface Drop {
  reason: unknown;
  /** The run itself may know more, at once. */
  ask?: boolean;
}

interface DeliveryOptions {
  include: RunStreamInclude;
  from: string | RunCheckpoint | undefined;
  /** Called when the outcome becomes known. */
  onOutcome(): void;
  failures: StreamFailures;
}

/**
 * What a reading hands out: which frames become events, each once and in order, and what the stream's end still owes.
 * It knows frames and runs, and nothing of connections.
 */
export class Delivery {
  /** Known from the `result` event on. */
  outcome: Outcome | undefined;
  /** What of the end was handed out. */
  ended: "result" | "done" | undefined;
  /** The stream is over for good: what is left comes from Get A Run. */
  expired: boolean;
  /** Why the connection that the frames are from is of no more use; to be acted upon when they are used up. */
  drop: Drop | undefined;
  readonly #options: DeliveryOptions;
  readonly #cursor: StreamCursor;
  #frames: Frame[] = [];
  /** The next frame to look at. */
  #index = 0;
  /** The first frame that the cursor has not received: it does when someone asks where the stream stands. */
  #received = 0;
  #progressed = false;
  #synthesized: RunEvent[] = [];
  #status: string | undefined;
  #lastError: string | undefined;
  #text = "";
  /** Of the frames that are here: to add each one to the text would cost more than all else that is done with it. */
  #pieces: string[] = [];

  constructor(options: DeliveryOptions) {
    const { include, from } = options;
    this.#options = options;
    this.#cursor = new StreamCursor(include, from);
    const checkpoint = typeof from === "object" ? from : undefined;
    this.#status = checkpoint?.status;
    this.ended = checkpoint?.ended;
    this.expired = checkpoint?.expired ?? false;
  }

  /** Where the stream stands. */
  get cursor(): StreamCursor {
    this.#progressed = this.#cursor.receive(this.#frames, this.#received, this.#index) || this.#progressed;
    this.#received = this.#index;
    return this.#cursor;
  }

  /** An event with an id came that is new. */
  get progressed(): boolean {
    return this.cursor && this.#progressed;
  }

  set progressed(value: boolean) {
    this.#progressed = value;
  }

  /** The reply's pieces so far. */
  get streamedText(): string {
    if (this.#pieces.length > 0) {
      this.#text += this.#pieces.join("");
      this.#pieces = [];
    }
    return this.#text;
  }

  checkpoint(): Omit<RunCheckpoint, "agentId" | "runId"> {
    return {
      ...this.cursor.checkpoint(),
      ...(this.#status === undefined ? {} : { status: this.#status }),
      ...(this.ended === undefined ? {} : { ended: this.ended }),
      ...(this.expired ? { expired: true as const } : {}),
    };
  }

  /** The frames to hand out next. */
  load(frames: Frame[]): void {
    this.cursor.settle();
    this.#frames = frames;
    this.#index = 0;
    this.#received = 0;
  }

  /** Forgets the frames that are here, and the chunks behind what is kept of them. */
  unload(): void {
    this.load([]);
    this.#text = this.streamedText;
  }

  /** The next wanted event of what is here, if any. */
  take(): RunEvent | undefined {
    const frames = this.#frames;
    while (this.#index < frames.length && !this.drop && this.ended !== "done") {
      const frame = frames[this.#index] as Frame;
      if (this.#cursor.mayRepeat && this.cursor.isOld(frame)) {
        this.#received = ++this.#index;
        continue;
      }
      this.#index++;
      const event = this.#accept(frame);
      if (!event) continue;
      const text = textOf(event, this.#options.include);
      if (text !== undefined) this.#pieces.push(text);
      return event;
    }
    return this.#synthesized.length > 0 ? this.#takeSynthesized() : undefined;
  }

  /** The stream is gone, the outcome isn't: it is handed out as the events that the stream owes. */
  settle(run: Run): void {
    this.drop = undefined;
    this.#synthesized.push(...endOfStream(run));
    this.#settled(outcomeOf(run));
  }

  /** The `done` that did not come. */
  supplyDone(): void {
    this.drop = undefined;
    const { lastId } = this.cursor;
    // It shares the result's id; a result that was supplied has none.
    const hasId = !this.expired && lastId !== undefined;
    this.#synthesized.push({
      type: "done",
      ...(hasId ? { id: lastId } : {}),
      data: {},
      synthesized: true,
    });
  }

  #takeSynthesized(): RunEvent | undefined {
    const event = this.#synthesized.shift();
    if (event?.type === "done") this.ended = "done";
    else {
      this.ended = "result";
      this.expired = true; // told without the stream, and so is what is left of the end
    }
    return event;
  }

  #accept(frame: Frame): RunEvent | undefined {
    if (!isWanted(this.#options.include, nameOf(frame))) return undefined;
    const event = toRunEvent(frame);
    switch (event.type) {
      case "status":
        return this.#isNews(event.data.status, frame.id) ? event : undefined;
      case "result":
        if (this.ended) return undefined;
        this.ended = "result";
        this.#settled(outcomeOfResult(event.data));
        return event;
      case "done":
        if (this.ended === "result") {
          this.ended = "done";
          return event;
        }
        // Without a result it ends the stream, not the run.
        this.drop = {
          reason: this.#options.failures.disconnected("the stream ended without the run's result"),
          ask: true,
        };
        return undefined;
      case "error":
        return this.#streamFailed(event.data) ? event : undefined;
      default:
        return event;
    }
  }

  /** A status with an id is an event like any other; one without is news or isn't. */
  #isNews(status: string, id: string | undefined): boolean {
    if (id === undefined && !isStatusNews(status, this.#status)) return false;
    this.#status = status;
    return true;
  }

  /** True when the consumer should see it: "not ready yet" is between the server and us, and one fault is told once. */
  #streamFailed(data: RunEventData["error"]): boolean {
    const { code, message } = data as { code?: unknown; message?: unknown };
    const name = typeof code === "string" ? code : undefined;
    const isNotReady = name === "stream_unavailable";
    this.drop = {
      reason: this.#options.failures.disconnected(
        `the stream failed${name ? ` with ${name}` : ""}`,
        undefined,
        name,
      ),
      ask: !isNotReady,
    };
    const fault = `${String(code)} ${String(message)}`;
    const isRepeated = fault === this.#lastError && !this.progressed;
    this.#lastError = fault;
    return !isNotReady && !isRepeated;
  }

  #settled(outcome: Outcome): void {
    this.outcome = outcome;
    this.#options.onOutcome();
  }
}
