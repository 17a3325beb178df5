import { ArgumentError, Cursor } from "../index.ts";
import { exitCodes } from "./exit-codes.ts";
import { explainError } from "./explain-error.ts";
import { BrokenPipe, Interruption, MissingKeyError, UsageError } from "./failures.ts";
import { shellWord } from "./format.ts";
import type { CommandLineIo, SignalName } from "./io.ts";
import type { JsonLine } from "./json-lines.ts";
import { readInput, readTextFile } from "./read-input.ts";
import { redactKey } from "./redact-key.ts";
import { Terminal } from "./terminal.ts";

/** The options that every command takes. */
export interface GlobalOptions {
  baseUrl?: string;
  apiKeyFile?: string;
  json?: boolean;
  color?: boolean;
  quiet?: boolean;
  verbose?: boolean;
}

/** What an error was about, where that can be taken up again. */
export interface Followed {
  agentId: string;
  runId: string;
  lastEventId?: string | undefined;
}

/** One invocation: what its command works with. */
export class Context {
  readonly io: CommandLineIo;
  terminal: Terminal;
  globals: GlobalOptions = {};
  exitCode: number = exitCodes.finished;
  /** What was said already of what a failure left behind: `--json` says it with the failure. */
  readonly hints: string[] = [];
  /** What a signal does; a command that knows better puts its own in. */
  onInterrupt: (signal: SignalName) => void;
  readonly #controller = new AbortController();
  #cursor: Promise<Cursor> | undefined;
  #key: string | undefined;
  #keyFile: Promise<string> | undefined;
  #told: { error: unknown; exitCode: number } | undefined;

  constructor(io: CommandLineIo) {
    this.io = io;
    this.terminal = new Terminal(io);
    this.#key = io.env["CURSOR_API_KEY"];
    this.onInterrupt = (signal) => this.abort(new Interruption(signal));
  }

  configure(globals: GlobalOptions): void {
    this.globals = globals;
    const { color: colour = true, quiet = false, verbose = false } = globals;
    // A program reads the lines on stdout; whoever looks at stderr still wants to know.
    this.terminal = new Terminal(this.io, { colour, quiet, verbose });
  }

  /** Ends what the command waits for. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Where the API is, and who says so. */
  get baseUrl(): { value: string; source: string } {
    if (this.globals.baseUrl !== undefined) return { value: this.globals.baseUrl, source: "--base-url" };
    const value = this.io.env["CURSOR_BASE_URL"]?.trim();
    if (value) return { value, source: "CURSOR_BASE_URL" };
    return { value: "https://api.cursor.com", source: "default" };
  }

  /** The client, made when it is first needed: `emulator` and `--help` need no key. */
  cursor(): Promise<Cursor> {
    this.#cursor ??= this.createCursor();
    return this.#cursor;
  }

  async createCursor(auth?: "bearer" | "basic"): Promise<Cursor> {
    const { fetch, clock, random } = this.io;
    try {
      return new Cursor({
        apiKey: await this.#readKey(),
        baseUrl: this.baseUrl.value,
        fetch,
        clock,
        random,
        auth,
      });
    } catch (error) {
      // A key that can't be sent is a wrong key, not a wrong command line.
      if (ArgumentError.isInstance(error) && error.argument === "apiKey") {
        throw new MissingKeyError(`the API key ${error.message.replace(/^apiKey: /, "")}`);
      }
      throw error;
    }
  }

  /** Where the key comes from, for people. */
  get keySource(): string {
    const { apiKeyFile } = this.globals;
    if (apiKeyFile === undefined) return "CURSOR_API_KEY";
    return apiKeyFile === "-" ? "stdin" : apiKeyFile;
  }

  async #readKey(): Promise<string> {
    const { apiKeyFile } = this.globals;
    if (apiKeyFile !== undefined) {
      this.#keyFile ??=
        apiKeyFile === "-" ? readInput(this.io.stdin, this.signal) : readTextFile(apiKeyFile, this.signal);
      this.#key = await this.#keyFile;
    }
    if (this.#key === undefined || this.#key.trim() === "") {
      throw new MissingKeyError(
        apiKeyFile === undefined ? "there is no API key" : `there is no API key in ${this.keySource}`,
      );
    }
    return this.#key;
  }

  /** The whole of a command that a person can paste to go on in the same way. */
  command(...args: string[]): string {
    const { baseUrl, apiKeyFile } = this.globals;
    const words = ["cursor-agents", ...args];
    if (baseUrl !== undefined) words.push("--base-url", baseUrl);
    if (apiKeyFile !== undefined && apiKeyFile !== "-") words.push("--api-key-file", apiKeyFile);
    return words.map(shellWord).join(" ");
  }

  /** The command that takes up a run, and tells it in the same form. */
  resumeCommand({ agentId, runId, lastEventId }: Followed): string {
    const from = lastEventId === undefined ? [] : ["--from", lastEventId];
    return this.command("watch", agentId, runId, ...from, ...(this.globals.json ? ["--json"] : []));
  }

  json(line: JsonLine): unknown {
    return this.terminal.json(line);
  }

  /** The answer of a command: as a line of JSON where that was asked for, else as `print` tells it. */
  answer(line: JsonLine, print: (terminal: Terminal) => void): void {
    if (this.globals.json) this.json(line);
    else print(this.terminal);
  }

  /** Tells of an error in one line, with what to do about it; of the same one once. Returns the exit code. */
  fail(error: unknown, followed?: Followed): number {
    if (error instanceof BrokenPipe) return exitCodes.brokenPipe;
    if (this.#told && this.#told.error === error) return this.#told.exitCode;
    const { message, hints, exitCode, fields } = explainError(error, this, followed);
    this.#told = { error, exitCode };
    const clean = (text: string) => redactKey(text, this.#key);
    if (this.globals.json && !(error instanceof UsageError)) {
      const safe = Object.fromEntries(
        Object.entries(fields).map(([name, value]) => [
          name,
          typeof value === "string" ? clean(value) : value,
        ]),
      );
      this.json({ type: "failure", error: safe, hints: [...hints, ...this.hints].map(clean), exitCode });
    }
    // Whoever ended it knows.
    if (error instanceof Interruption) return exitCode;
    this.terminal.alert({ text: "error:", style: "red" }, ` ${clean(message)}`);
    for (const hint of hints) this.terminal.alert(`  ${clean(hint)}`);
    return exitCode;
  }

  /** Takes our key out of what others wrote. */
  redact(text: string): string {
    return redactKey(text, this.#key);
  }

  /** Notes that all has been told of an error, in whatever way. */
  told(error: unknown): number {
    const { exitCode } = explainError(error, this);
    this.#told = { error, exitCode };
    return exitCode;
  }

  /** Waits until stdout has taken what was written: a slow reader must not fill the memory. */
  async drained(wasTaken: unknown): Promise<void> {
    const { stdout } = this.io;
    if (wasTaken !== false || !stdout.on || !stdout.off || this.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        stdout.off?.("drain", done);
        this.signal.removeEventListener("abort", done);
        resolve();
      };
      stdout.on?.("drain", done);
      this.signal.addEventListener("abort", done, { once: true });
    });
    this.signal.throwIfAborted();
  }
}
