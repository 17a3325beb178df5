import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { ManualClock } from "cursor-cloud-agents/emulator";
import { AnswerScanner } from "./answer-scanner.ts";
import type { Fault } from "./fault.ts";
import { type Ending, Outlet } from "./outlet.ts";
import { ownAnswer } from "./own-answer.ts";
import { type ProxyRequest, RequestParser } from "./request-parser.ts";

/** What a proxy needs of its world. */
export interface ChaosProxyOptions {
  /** Where the emulator listens, on 127.0.0.1. */
  port: number;
  clock: ManualClock;
  /** What to do with a request. */
  decide: (request: ProxyRequest) => Fault;
  /** Called at each event on a socket. */
  onActivity: () => void;
}

/** A TCP proxy on 127.0.0.1 that does to each answer what it is told to. */
export class ChaosProxy {
  /** TCP connections taken. */
  connections = 0;
  /** Connections broken by the proxy, before or in an answer. */
  cuts = 0;
  /** Answers after which the proxy fell silent. */
  stalls = 0;
  /** The last answer of a stream was passed on to its end, and without a pause. */
  wasLastStreamWhole = false;
  /** Ids of the frames passed on, so that progress can be told from replay. */
  readonly passedIds = new Set<string>();
  readonly options: ChaosProxyOptions;
  readonly #server: Server;
  readonly #lines = new Set<Line>();

  constructor(options: ChaosProxyOptions) {
    this.options = options;
    this.#server = createServer({ noDelay: true }, (client) => {
      this.connections++;
      options.onActivity();
      const line = new Line(client, this);
      this.#lines.add(line);
      client.once("close", () => this.#lines.delete(line));
    });
  }

  /** Connections on which something is still under way: an answer, or a silence that its reader should have left. */
  get busy(): number {
    return [...this.#lines].filter((line) => line.isBusy).length;
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Stops listening; what is still open is destroyed. */
  async close(): Promise<void> {
    for (const line of this.#lines) line.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** One connection of a client, and the one to the emulator behind it. */
class Line {
  readonly #client: Socket;
  readonly #proxy: ChaosProxy;
  readonly #parser = new RequestParser();
  #upstream: Socket | undefined;
  #outlet: Outlet | undefined;
  #scanner: AnswerScanner | undefined;
  #isStream = false;
  #isSilent = false;
  #onBytes: (bytes: Buffer) => void = () => {};

  constructor(client: Socket, proxy: ChaosProxy) {
    this.#client = client;
    this.#proxy = proxy;
    const { onActivity } = proxy.options;
    client.on("error", onActivity); // a reset by the client; "close" follows
    client.on("data", (bytes) => {
      onActivity();
      for (const request of this.#parser.feed(bytes)) this.#handle(request);
    });
    client.on("close", () => {
      onActivity();
      this.#outlet?.close();
      this.#upstream?.destroy();
    });
  }

  get isBusy(): boolean {
    const isOpenStream = this.#isStream && this.#scanner?.isComplete !== true;
    return this.#isSilent || isOpenStream || this.#outlet?.isIdle === false;
  }

  destroy(): void {
    this.#client.destroy();
  }

  #handle(request: ProxyRequest): void {
    const proxy = this.#proxy;
    const { clock, decide, onActivity } = proxy.options;
    const fault = decide(request);
    if (fault.deed === "drop") {
      this.#end("cut", fault);
      return;
    }
    const isStream = request.path.endsWith("/stream");
    this.#isStream = isStream;
    const breaks = fault.deed === "cut" || fault.deed === "stall";
    this.#scanner = new AnswerScanner(breaks ? fault.place : undefined, proxy.passedIds);
    this.#outlet?.close();
    this.#outlet = new Outlet(this.#client, clock, fault, {
      write: onActivity,
      end: (ending) => this.#end(ending, fault),
    });
    if (["answer", "gone", "refuse"].includes(fault.deed)) {
      this.#isStream = false;
      this.#outlet.push(ownAnswer(fault));
      return;
    }
    this.#upstream ??= this.#open();
    this.#upstream.write(request.bytes(!fault.replay));
    this.#onBytes = (bytes) => this.#advance(bytes, fault);
  }

  #open(): Socket {
    const { port, onActivity } = this.#proxy.options;
    const upstream = connect({ port, host: "127.0.0.1", noDelay: true });
    upstream.on("error", onActivity);
    upstream.on("data", (bytes) => {
      onActivity();
      this.#onBytes(bytes);
    });
    upstream.on("close", () => {
      onActivity();
      this.#outlet?.finish("end");
    });
    return upstream;
  }

  #advance(bytes: Buffer, fault: Fault): void {
    const place = this.#scanner?.feed(bytes);
    if (this.#isStream) {
      const isWhole = place === undefined && this.#scanner?.isComplete === true;
      this.#proxy.wasLastStreamWhole = isWhole && fault.pauses.length === 0;
    }
    this.#outlet?.push(place === undefined ? bytes : bytes.subarray(0, place));
    if (place === undefined) return;
    // The emulator hears nothing of it before the client leaves, as with a proxy that hangs.
    this.#onBytes = () => {};
    this.#outlet?.finish(fault.deed === "stall" ? "stall" : "cut");
  }

  #end(ending: Ending, { reset }: Fault): void {
    this.#proxy.options.onActivity();
    if (ending === "stall") {
      this.#proxy.stalls++;
      this.#isSilent = true;
      return;
    }
    if (ending === "cut") this.#proxy.cuts++;
    if (ending === "cut" && reset) this.#client.resetAndDestroy();
    else this.#client.destroySoon();
  }
}
