import { createReadStream } from "node:fs";
import { UsageError } from "./failures.ts";
import type { Input } from "./io.ts";

/** Nobody means to send more as a prompt; a device would never end. */
const longestInput = 8 * 1024 * 1024;

/** All of stdin as text. */
export async function readInput(stdin: Input, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  const read = async () => {
    for await (const chunk of stdin) {
      chunks.push(Buffer.from(chunk as Uint8Array));
      length += chunk.length;
      if (length > longestInput) throw new UsageError("stdin: more than 8 MiB");
    }
  };
  await unlessAborted(read(), signal);
  return toText(Buffer.concat(chunks));
}

/** One line of stdin, for an answer to a question. */
export async function readLine(stdin: Input, signal: AbortSignal): Promise<string> {
  let line = "";
  const read = async () => {
    for await (const chunk of stdin) {
      line += Buffer.from(chunk as Uint8Array).toString();
      if (line.includes("\n")) break;
    }
  };
  await unlessAborted(read(), signal);
  return line.split("\n", 1)[0] as string;
}

/** A text file that the command line names. */
export async function readTextFile(path: string, signal: AbortSignal): Promise<string> {
  try {
    // It may be a pipe, which opens when someone writes to it, or a device without an end.
    return toText(await unlessAborted(readBytes(path), signal));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    signal.throwIfAborted();
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(
      code === "ENOENT" ? `there is no file ${path}` : `${path} can't be read (${code ?? "unknown"})`,
    );
  }
}

async function readBytes(path: string): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of createReadStream(path)) {
    chunks.push(chunk as Buffer);
    length += chunk.length;
    if (length > longestInput) throw new UsageError(`${path}: more than 8 MiB`);
  }
  return Buffer.concat(chunks);
}

/** JSON of a file that the command line names. What it says is not quoted: it may hold secrets. */
export async function readJsonFile(path: string, signal: AbortSignal): Promise<unknown> {
  const text = await readTextFile(path, signal);
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`${path} is no JSON`);
  }
}

/** The prompt, from exactly one of its three places. */
export async function readPrompt(
  {
    prompt,
    file,
    keyFromStdin,
  }: { prompt?: string | undefined; file?: string | undefined; keyFromStdin: boolean },
  stdin: Input,
  signal: AbortSignal,
): Promise<string> {
  if (prompt !== undefined && file !== undefined) {
    throw new UsageError("there are two prompts: the argument and --file", "leave one of them out");
  }
  if (prompt === undefined && file === undefined) {
    throw new UsageError(
      "there is no prompt",
      'give it as an argument ("Fix the login"), as - to read stdin, or with --file <path>',
    );
  }
  if (prompt === "-" && keyFromStdin) throw new UsageError("stdin can't hold both the prompt and the key");
  const text =
    file !== undefined
      ? await readTextFile(file, signal)
      : prompt === "-"
        ? await readInput(stdin, signal)
        : (prompt as string);
  if (text.trim() === "") throw new UsageError("the prompt is empty");
  return prompt === "-" || file !== undefined ? text.trimEnd() : text;
}

const toText = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
