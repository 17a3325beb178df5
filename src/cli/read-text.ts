import { close, constants, createReadStream, fstatSync, open } from "node:fs";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { isatty, ReadStream as TerminalStream } from "node:tty";
import { promisify } from "node:util";
import { UsageError } from "./command-failure.ts";

/** Where input comes from: a process's stdin, a file, or a test's. */
export interface Input extends AsyncIterable<string | Uint8Array> {
  readonly isTTY?: boolean | undefined;
}

/** More than a prompt or a configuration file needs. Without a limit, a device such as /dev/zero would fill the memory. */
const longestInput = 8 * 1024 * 1024;

/**
 * Reads a text to its end. All text that the command line takes in comes through here.
 * @param source The path of a file, or stdin
 * @throws UsageError where the file can't be read, is not text, or is longer than 8 MiB
 * @throws The signal's reason once that is aborted
 */
export async function readText(source: string | Input, signal: AbortSignal): Promise<string> {
  if (typeof source !== "string") return decode(await readBytes(source, "stdin", signal), "stdin");
  try {
    return decode(await readFile(source, signal), source);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    signal.throwIfAborted();
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(
      code === "ENOENT"
        ? `there is no file ${source}`
        : `${source} can't be read (${code ?? "unknown error"})`,
    );
  }
}

/** Reads one line of stdin: the answer to a question. */
export async function readLine(stdin: Input, signal: AbortSignal): Promise<string> {
  const hasNewline = (chunk: Buffer) => chunk.includes("\n");
  const text = decode(await readBytes(stdin, "stdin", signal, hasNewline), "stdin");
  return text.split("\n", 1)[0] as string;
}

/** Reads a file of JSON. The error doesn't quote the file, which may hold secrets. */
export async function readJson(path: string, signal: AbortSignal): Promise<unknown> {
  const text = await readText(path, signal);
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`${path}: not valid JSON`);
  }
}

/**
 * Decodes UTF-8, and UTF-16 where the text begins with its byte order mark, as an older PowerShell's `>` writes it. Other
 * bytes are rejected: decoded with replacement characters, they would become a prompt that nobody wrote.
 */
function decode(bytes: Uint8Array, name: string): string {
  const [first, second] = bytes;
  const isLittleEndian = first === 0xff && second === 0xfe;
  const isBigEndian = first === 0xfe && second === 0xff;
  const encoding = isLittleEndian ? "utf-16le" : isBigEndian ? "utf-16be" : "utf-8";
  let text: string;
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw notText(name, `the bytes are not valid ${encoding.toUpperCase()}`);
  }
  if (text.includes("\0")) throw notText(name, "it has a NUL character");
  return text;
}

const notText = (name: string, problem: string): UsageError =>
  new UsageError(
    `${name}: expected text encoded as UTF-8, or as UTF-16 with a byte order mark; ${problem}`,
    "save it as UTF-8; in PowerShell: … | Out-File -Encoding utf8 <path>",
  );

async function readFile(path: string, signal: AbortSignal): Promise<Uint8Array> {
  const stream = await openFile(path);
  try {
    return await readBytes(stream, path, signal);
  } finally {
    stream.destroy();
  }
}

/**
 * Opens a file for reading so that nothing blocks a thread. A process that ends waits for its threads, and opening or reading
 * a named pipe that nobody writes to, or a terminal, would block one for as long as nothing comes.
 */
async function openFile(path: string): Promise<Readable> {
  const fd = await promisify(open)(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if (isatty(fd)) return new TerminalStream(fd);
    if (fstatSync(fd).isFIFO()) return new Socket({ fd, readable: true, writable: false });
    return createReadStream(path, { fd });
  } catch (error) {
    close(fd);
    throw error;
  }
}

/** Reads until the end, until a chunk for which `isLast` holds, or until the signal is aborted. */
async function readBytes(
  chunks: AsyncIterable<string | Uint8Array>,
  name: string,
  signal: AbortSignal,
  isLast: (chunk: Buffer) => boolean = () => false,
): Promise<Uint8Array> {
  const read = async () => {
    const all: Buffer[] = [];
    let length = 0;
    for await (const chunk of chunks) {
      const bytes = Buffer.from(chunk as Uint8Array);
      all.push(bytes);
      length += bytes.length;
      if (length > longestInput) throw new UsageError(`${name}: more than 8 MiB`);
      if (isLast(bytes)) break;
    }
    return Buffer.concat(all);
  };
  return unlessAborted(read(), signal);
}

/** Input may never come, so waiting for it must not keep the command from ending. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
