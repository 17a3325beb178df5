import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { checkOptions, checkSignal, type OptionTable } from "../check.ts";
import { ArgumentError, CursorError, type ImageMimeType, type PromptImage } from "../index.ts";
import { toCursorError } from "./folder.ts";

/** Options of {@link imageFromFile} and {@link imageFromBytes}. */
export interface ImageOptions {
  /** Pixels, 1 or more. */
  dimension?: { width: number; height: number } | undefined;
  /** Aborts the reading of a file; the call rejects with `signal.reason`. */
  signal?: AbortSignal | undefined;
}

const imageOptions = {
  dimension: checkDimension,
  signal: checkSignal,
} satisfies OptionTable<ImageOptions>;

/** 15 MB, counted as the API does: before the base64 encoding. */
const longestImage = 15 * 1024 * 1024;

/**
 * A prompt image from a file: PNG, JPEG, GIF or WebP, recognised by its content and not by its name; at most 15 MB. A
 * prompt may have five.
 *
 * @throws ArgumentError `path`: the file is missing, not a regular file, not one of these types, empty or too large
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
  const { dimension, signal } = checkOptions(imageOptions, options);
  signal?.throwIfAborted();
  return toImage("path", await readImage(path, signal), dimension);
}

/**
 * A prompt image from its bytes: PNG, JPEG, GIF or WebP, recognised by their content; at most 15 MB.
 *
 * @throws ArgumentError `bytes`: not a Uint8Array, empty, not one of these types, or too large
 * @see Create An Agent, `prompt.images`
 */
export function imageFromBytes(bytes: Uint8Array, options: ImageOptions = {}): PromptImage {
  if (!(bytes instanceof Uint8Array)) throw new ArgumentError("bytes", "expected a Uint8Array");
  return toImage("bytes", bytes, checkOptions(imageOptions, options).dimension);
}

async function readImage(path: string, signal: AbortSignal | undefined): Promise<Uint8Array> {
  try {
    // Non-blocking, since opening a pipe would block forever.
    const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const found = await handle.stat();
      if (!found.isFile()) throw new ArgumentError("path", "is not a regular file");
      checkSize("path", found.size);
      const buffer = Buffer.alloc(found.size);
      let filled = 0;
      while (filled < buffer.byteLength) {
        signal?.throwIfAborted();
        const { bytesRead } = await handle.read(buffer, filled, buffer.byteLength - filled, filled);
        if (bytesRead === 0)
          throw new CursorError(`${JSON.stringify(path)}: the file was shortened while it was read`);
        filled += bytesRead;
      }
      return buffer;
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (CursorError.isInstance(error)) throw error;
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      throw new ArgumentError("path", `there is no file ${JSON.stringify(path)}`);
    }
    throw toCursorError(error as Error, path);
  }
}

function toImage(argument: string, bytes: Uint8Array, dimension: ImageOptions["dimension"]): PromptImage {
  checkSize(argument, bytes.byteLength);
  const mimeType = typeOf(bytes);
  if (mimeType === undefined) {
    throw new ArgumentError(argument, "is not a PNG, JPEG, GIF or WebP image, by its first bytes");
  }
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  return { data, mimeType, ...(dimension === undefined ? {} : { dimension }) };
}

function checkDimension(argument: string, value: unknown): ImageOptions["dimension"] {
  if (value === undefined) return undefined;
  const isPixels = (pixels: unknown) => Number.isSafeInteger(pixels) && (pixels as number) >= 1;
  const { width, height } = (value ?? {}) as Partial<NonNullable<ImageOptions["dimension"]>>;
  if (!isPixels(width) || !isPixels(height)) {
    throw new ArgumentError(argument, "expected a width and a height in whole pixels, 1 or more");
  }
  return value as ImageOptions["dimension"];
}

function checkSize(argument: string, size: number): void {
  if (size === 0) throw new ArgumentError(argument, "is empty");
  if (size > longestImage) {
    throw new ArgumentError(argument, `is larger than 15 MB (${longestImage} bytes), the limit of the API`);
  }
}

function typeOf(bytes: Uint8Array): ImageMimeType | undefined {
  const start = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(start)) return "image/gif";
  return /^RIFF.{4}WEBP/s.test(start) ? "image/webp" : undefined;
}
