import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { ArgumentError, CursorError, type ImageMimeType, type PromptImage } from "../index.ts";

/** What can be said of a prompt image beside its bytes. */
export interface ImageOptions {
  /** Pixels, 1 or more. */
  dimension?: { width: number; height: number } | undefined;
  /** Ends the reading of a file; the call rejects with `signal.reason`. */
  signal?: AbortSignal | undefined;
}

/** 15 MB, counted as the API does: before base64. */
const longestImage = 15 * 1024 * 1024;

/**
 * A prompt image from a file: PNG, JPEG, GIF or WebP, told by its content and not by its name; at most 15 MB. A prompt
 * takes five.
 *
 * @throws ArgumentError `path`: no such file, no regular file, of another type, empty or too large
 * @throws CursorError when the file can't be read; `cause` is the error of `node:fs`
 * @see Create An Agent, `prompt.images`
 * @example
 * const images = [await imageFromFile("mockup.png")];
 * await cursor.agents.create({ prompt: { text: "Build this", images } });
 */
export async function imageFromFile(path: string, options: ImageOptions = {}): Promise<PromptImage> {
  if (typeof path !== "string" || path === "" || path.includes("\0")) {
    throw new ArgumentError("path", "expected the path of an image file");
  }
  options.signal?.throwIfAborted();
  return toImage("path", await readImage(path, options.signal), options);
}

/**
 * A prompt image from its bytes: PNG, JPEG, GIF or WebP, told by their content; at most 15 MB.
 *
 * @throws ArgumentError `bytes`: no bytes, of another type, or too many
 * @see Create An Agent, `prompt.images`
 */
export function imageFromBytes(bytes: Uint8Array, options: ImageOptions = {}): PromptImage {
  if (!(bytes instanceof Uint8Array)) throw new ArgumentError("bytes", "expected a Uint8Array");
  return toImage("bytes", bytes, options);
}

async function readImage(path: string, signal: AbortSignal | undefined): Promise<Uint8Array> {
  try {
    // Non-blocking, since a pipe would never open.
    const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const found = await handle.stat();
      if (!found.isFile()) throw new ArgumentError("path", "is no regular file");
      checkSize("path", found.size);
      const buffer = Buffer.alloc(found.size);
      let filled = 0;
      while (filled < buffer.byteLength) {
        signal?.throwIfAborted();
        const { bytesRead } = await handle.read(buffer, filled, buffer.byteLength - filled, filled);
        if (bytesRead === 0) throw new CursorError(`${JSON.stringify(path)}: it was cut while it was read`);
        filled += bytesRead;
      }
      return buffer;
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (CursorError.isInstance(error)) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new ArgumentError("path", `there is no file ${JSON.stringify(path)}`);
    throw new CursorError(`${JSON.stringify(path)}: the disk refused: ${message}`, { cause: error });
  }
}

function toImage(argument: string, bytes: Uint8Array, { dimension }: ImageOptions): PromptImage {
  checkSize(argument, bytes.byteLength);
  const mimeType = typeOf(bytes);
  if (mimeType === undefined) {
    throw new ArgumentError(
      argument,
      "is no PNG, JPEG, GIF or WebP image: its first bytes are of none of them",
    );
  }
  const isPixels = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 1;
  if (dimension !== undefined && !(isPixels(dimension.width) && isPixels(dimension.height))) {
    throw new ArgumentError("dimension", "expected a width and a height in whole pixels, 1 or more");
  }
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  return { data, mimeType, ...(dimension === undefined ? {} : { dimension }) };
}

function checkSize(argument: string, size: number): void {
  if (size === 0) throw new ArgumentError(argument, "is empty");
  if (size > longestImage) {
    throw new ArgumentError(argument, `has more than the 15 MB (${longestImage} bytes) the API takes`);
  }
}

function typeOf(bytes: Uint8Array): ImageMimeType | undefined {
  const start = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(start)) return "image/gif";
  return /^RIFF.{4}WEBP/s.test(start) ? "image/webp" : undefined;
}
