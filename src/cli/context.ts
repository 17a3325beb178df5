import { ArgumentError, type Clock, Cursor, type RunCheckpoint, TimeoutError } from "../index.ts";
import { ApiKey } from "./api-key.ts";
import { exitCodes, Interruption, MissingKeyError, type SignalName } from "./command-failure.ts";
import { formatDuration, formatShellWord } from "./format.ts";
import type { JsonLine } from "./json-line.ts";
import type { Input } from "./read-text.ts";
import { Terminal, type TerminalIo } from "./terminal.ts";

/** Everything outside of the process that the command line touches, except the files that it reads or writes. */
export interface CommandLineIo extends TerminalIo {
  readonly stdin: Input;
  readonly clock: Clock;
  readonly signals: Signals;
  /** @default the global fetch */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** @default the version of the Node that runs */
  readonly nodeVersion?: string | undefined;
  /** Source of the jitter of pauses. @default Math.random */
  readonly random?: (() => number) | undefined;
}

/** A source of signals; a `process` is one. */
export interface Signals {
  on(name: SignalName, listener: () => void): unknown;
  off(name: SignalName, listener: () => void): unknown;
}

/** The options that every command takes. */
export interface GlobalOptions {
  baseUrl?: string;
  apiKeyFile?: string;
  json?: boolean;
  color?: boolean;
  quiet?: boolean;
  verbose?: boolean;
}

/** What a command works with: its global options, the client, the terminal, and the signal that ends it. */
export class Context {
  readonly io: CommandLineIo;
  terminal: Terminal;
  globals: GlobalOptions = {};
  apiKey: ApiKey;
  exitCode: number = exitCodes.finished;
  /** Hints that were printed before the failure they belong to; `--json` repeats them in the `failure` line. */
  readonly hints: string[] = [];
  /** What a signal does. A command may put its own handler here. */
  onInterrupt: (signal: SignalName) => void;
  readonly #controller = new AbortController();
  #cursor: Promise<Cursor> | undefined;

  constructor(io: CommandLineIo) {
    this.io = io;
    this.terminal = new Terminal(io);
    this.apiKey = new ApiKey(io);
    this.onInterrupt = (signal) => this.abort(new Interruption(signal));
  }

  /** Takes the global options, once they are parsed and before the command starts. */
  configure(globals: GlobalOptions): void {
    this.globals = globals;
    const { color: colour = true, quiet = false, verbose = false } = globals;
    this.terminal = new Terminal(this.io, { colour, quiet, verbose });
    this.apiKey = new ApiKey(this.io, globals.apiKeyFile);
  }

  /** Aborted when the command must end: by a signal, a deadline or a closed stdout. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Aborts the command with a TimeoutError of the phase `deadline` if the work takes longer than this many milliseconds. */
  async withDeadline<T>(timeout: number | undefined, work: () => Promise<T>): Promise<T> {
    if (timeout === undefined) return work();
    const { clock } = this.io;
    const timer = clock.setTimeout(() => {
      const message = `--timeout: the run did not end within ${formatDuration(timeout)}`;
      this.abort(new TimeoutError(message, { phase: "deadline" }));
    }, timeout);
    try {
      return await work();
    } finally {
      clock.clearTimeout(timer);
    }
  }

  /** The base URL of the API, and where it was set. */
  get baseUrl(): { value: string; source: string } {
    if (this.globals.baseUrl !== undefined) return { value: this.globals.baseUrl, source: "--base-url" };
    const value = this.io.env["CURSOR_BASE_URL"]?.trim();
    if (value) return { value, source: "CURSOR_BASE_URL" };
    return { value: "https://api.cursor.com", source: "default" };
  }

  /**
   * The base URL for messages, without the parts that may hold a secret: user name, password, query and fragment. The client
   * rejects a URL that has them.
   */
  get printableBaseUrl(): string {
    const { value } = this.baseUrl;
    const { protocol, host, pathname } = URL.canParse(value) ? new URL(value) : ({} as Partial<URL>);
    if (protocol !== "https:" && protocol !== "http:") return "not a web address";
    return this.redact(`${protocol}//${host}${pathname}`.replace(/\/+$/, ""));
  }

  /** The client. It is created at the first call, because `emulator` and `--help` need no key. */
  cursor(): Promise<Cursor> {
    this.#cursor ??= this.createCursor();
    return this.#cursor;
  }

  async createCursor(auth?: "bearer" | "basic"): Promise<Cursor> {
    const { fetch, clock, random } = this.io;
    const apiKey = await this.apiKey.read(this.signal);
    try {
      return new Cursor({ apiKey, baseUrl: this.baseUrl.value, fetch, clock, random, auth });
    } catch (error) {
      // A key that can't be sent is a wrong key, not a wrong command line.
      if (ArgumentError.isInstance(error) && error.argument === "apiKey") {
        throw new MissingKeyError(`the API key ${error.message.replace(/^apiKey: /, "")}`);
      }
      throw error;
    }
  }

  /** A command with the global options of this one, for the user to paste. */
  command(...args: string[]): string {
    const { baseUrl, apiKeyFile } = this.globals;
    const words = ["cursor-agents", ...args];
    if (baseUrl !== undefined) words.push("--base-url", baseUrl);
    if (apiKeyFile !== undefined && !this.apiKey.isFromStdin) words.push("--api-key-file", apiKeyFile);
    return words.map(formatShellWord).join(" ");
  }

  /** The command that follows a run again from a position, with output in the same form. */
  resumeCommand({ agentId, runId, lastEventId }: RunCheckpoint): string {
    const from = lastEventId === undefined ? [] : ["--from", lastEventId];
    return this.command("watch", agentId, runId, ...from, ...(this.globals.json ? ["--json"] : []));
  }

  /** Prints an answer: as a line of JSON with `--json`, otherwise by `print`. */
  answer(line: JsonLine, print: (terminal: Terminal) => void): void {
    if (this.globals.json) this.terminal.json(line);
    else print(this.terminal);
  }

  /** Removes the API key from a text that comes from elsewhere. */
  redact(text: string): string {
    return this.apiKey.redact(text);
  }
}
