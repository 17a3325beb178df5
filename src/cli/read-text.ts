import { createReadStream } from "node:fs";
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
 * @throws UsageError where the file can't be read, or the text is longer than 8 MiB
 * @throws The signal's reason once that is aborted
 */
export async function readText(source: string | Input, signal: AbortSignal): Promise<string> {
  if (typeof source !== "string") return decode(await readBytes(source, "stdin", signal));
  try {
    return decode(await readBytes(createReadStream(source), source, signal));
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
  const text = decode(await readBytes(stdin, "stdin", signal, hasNewline));
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

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

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

/** A file may be a pipe that nobody writes to, so reading it must not keep the command from ending. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
