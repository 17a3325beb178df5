import type { ManualClock } from "cursor-cloud-agents/emulator";

/** One message as a page's listener gets it. */
export interface Message {
  /** The event's name; `message` where it has none. */
  type: string;
  data: string;
  /** The position after it. */
  lastEventId: string;
}

/** The parsing half of an EventSource, line by line as the HTML standard says it (9.2.6). */
export class MessageParser {
  readonly messages: Message[] = [];
  readonly comments: string[] = [];
  /** As of the last message that was complete. */
  lastEventId: string;
  retry: number | undefined;
  readonly #decoder = new TextDecoder();
  #rest = "";
  #event = "";
  #data: string[] = [];
  #id: string;

  constructor(lastEventId = "") {
    this.lastEventId = lastEventId;
    this.#id = lastEventId;
  }

  feed(bytes: Uint8Array): void {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line.replace(/\r$/, ""));
  }

  #line(line: string): void {
    if (line === "") {
      this.#dispatch();
      return;
    }
    if (line.startsWith(":")) {
      this.comments.push(line.slice(1));
      return;
    }
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#event = value;
    else if (field === "data") this.#data.push(value);
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    else if (field === "retry" && /^\d+$/.test(value)) this.retry = Number(value);
    else throw new Error(`a line that says nothing: ${line}`);
  }

  #dispatch(): void {
    this.lastEventId = this.#id;
    if (this.#data.length > 0) {
      this.messages.push({
        type: this.#event || "message",
        data: this.#data.join("\n"),
        lastEventId: this.lastEventId,
      });
    }
    this.#event = "";
    this.#data = [];
  }
}

export interface TestEventSourceOptions {
  clock: ManualClock;
  headers?: Record<string, string>;
  onMessage?: (message: Message) => void;
}

/**
 * A browser's EventSource, strictly: it comes back after the end of a response and after a broken connection, with its
 * position in a header, and stops for good at any other status than 200 (204 included) and any other content type.
 */
export class TestEventSource {
  readonly messages: Message[] = [];
  /** Each connection's status; 0: none was made. */
  readonly statuses: number[] = [];
  readonly comments: string[] = [];
  /** Has stopped for good. */
  isClosed = false;
  /** Resolves when it has stopped for good. */
  readonly closed: Promise<void>;
  #lastEventId = "";
  #retry = 3_000;
  #controller = new AbortController();
  readonly #url: string;
  readonly #options: TestEventSourceOptions;

  constructor(url: string, options: TestEventSourceOptions) {
    this.#url = url;
    this.#options = options;
    this.closed = this.#run();
  }

  close(): void {
    this.isClosed = true;
    this.#controller.abort();
  }

  async #run(): Promise<void> {
    while (!this.isClosed) {
      await this.#connect().catch(() => {
        // A broken connection, before or in the answer: what an EventSource is for.
      });
      if (this.isClosed) return;
      const { clock } = this.#options;
      await new Promise<void>((resolve) => {
        clock.setTimeout(resolve, this.#retry);
        this.#controller.signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
  }

  async #connect(): Promise<void> {
    const { signal } = this.#controller;
    const position = this.#lastEventId === "" ? {} : { "last-event-id": this.#lastEventId };
    const headers = { accept: "text/event-stream", ...position, ...this.#options.headers };
    const response = await fetch(this.#url, { headers, signal }).catch((error: unknown) => {
      this.statuses.push(0);
      throw error;
    });
    this.statuses.push(response.status);
    const type = response.headers.get("content-type") ?? "";
    if (response.status !== 200 || !/^text\/event-stream(;|$)/.test(type)) {
      this.isClosed = true;
      await response.body?.cancel();
      return;
    }
    const parser = new MessageParser(this.#lastEventId);
    for await (const bytes of response.body ?? []) {
      const before = parser.messages.length;
      parser.feed(bytes);
      this.#lastEventId = parser.lastEventId;
      this.#retry = parser.retry ?? this.#retry;
      this.comments.push(...parser.comments.splice(0));
      for (const message of parser.messages.slice(before)) {
        this.messages.push(message);
        this.#options.onMessage?.(message);
      }
    }
  }
}
