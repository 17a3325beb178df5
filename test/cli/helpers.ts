import { EventEmitter } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CursorEmulator } from "cursor-cloud-agents/emulator";
import { ManualClock } from "cursor-cloud-agents/emulator";
import { onTestFinished } from "vitest";
import type { SignalName } from "../../src/cli/command-failure.ts";
import { main } from "../../src/cli/main.ts";

/** The API key of all tests; no output may contain it. */
export const key = "crsr_0f9e8d7c6b5a4321";

class FakeOutput extends EventEmitter {
  text = "";
  readonly isTTY: boolean | undefined;
  readonly columns: number | undefined;
  /** What each write returns: false asks to wait for `drain`. */
  takes = true;
  onWrite: (text: string) => void = () => {};

  constructor(isTTY: boolean, columns: number | undefined) {
    super();
    this.isTTY = isTTY || undefined;
    this.columns = columns;
  }

  write(text: string): boolean {
    this.text += text;
    this.onWrite(text);
    return this.takes;
  }
}

export interface Setting {
  emulator?: CursorEmulator;
  clock?: ManualClock;
  fetch?: typeof globalThis.fetch;
  env?: Record<string, string | undefined>;
  stdin?: string | Uint8Array;
  nodeVersion?: string;
  /** All three are terminals. */
  isTerminal?: boolean;
  columns?: number;
}

/** Starts the command line with fakes for everything around it, so that a test can act while it runs. */
export function begin(argv: string[], setting: Setting = {}) {
  const { emulator, isTerminal = false, columns, stdin = "" } = setting;
  const clock = setting.clock ?? new ManualClock();
  const stdout = new FakeOutput(isTerminal, columns);
  const stderr = new FakeOutput(isTerminal, columns);
  const signals = new EventEmitter();
  /** Both outputs in the order of their writes, as on one screen. */
  let screen = "";
  for (const output of [stdout, stderr]) {
    output.onWrite = (text) => {
      screen += text;
    };
  }
  const fetch = setting.fetch ?? emulator?.fetch ?? unexpected;
  const input = (async function* () {
    yield Buffer.from(stdin);
  })();
  const code = main(argv, {
    stdout,
    stderr,
    stdin: Object.assign(input, { isTTY: isTerminal }),
    env: { CURSOR_API_KEY: key, ...setting.env },
    clock,
    signals,
    fetch,
    random: () => 0.5,
    nodeVersion: setting.nodeVersion,
  });
  return {
    clock,
    stdout,
    stderr,
    signals,
    signal: (name: SignalName) => signals.emit(name),
    /** Lets time pass until the command ends. */
    async ended() {
      const exitCode = await clock.run(code);
      return {
        code: exitCode,
        stdout: stdout.text,
        stderr: stderr.text,
        screen,
        lines: () => toLines(stdout.text),
      };
    },
  };
}

export const cli = (argv: string[], setting: Setting = {}) => begin(argv, setting).ended();

// biome-ignore lint/suspicious/noExplicitAny: tests look into lines of every type
export const toLines = (text: string): any[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

const unexpected: typeof globalThis.fetch = async (input) => {
  throw new RangeError(`unexpected request ${new Request(input).url}`);
};

/** Lets pending work continue without a timer firing. */
export async function turns(count = 30): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A folder that is removed when the test ends. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "cursor-agents-cli-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Milliseconds of the processor that a piece of work takes: other than time, they don't depend on what else the machine does. */
export function costOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
