import { mkdir, stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { ArgumentError, type Cursor, CursorError, type DownloadOptions, isApiError } from "../index.ts";
import { toSegments } from "./artifact-names.ts";
import { Folder } from "./folder.ts";
import { PartialFile } from "./partial-file.ts";

/** How {@link saveArtifact} saves; timeouts, retries, `maxBytes` and `onProgress` are those of the download. */
export interface SaveArtifactOptions extends Omit<DownloadOptions, "resumeFrom"> {
  /**
   * A file's path (missing folders are made, an existing file is replaced), or an existing folder: then the file gets the
   * last part of the artifact's path as its name, if that is a safe one.
   */
  to: string;
}

/** A file that is whole, and on the disk. */
export interface SavedArtifact {
  /** The artifact's path, as the server has it. */
  path: string;
  /** Where it is now: absolute. */
  file: string;
  /** Bytes on the disk. */
  sizeBytes: number;
  /** Its media type, where the storage names one. */
  contentType?: string;
  /** How many of them an earlier, broken call had left. */
  resumedFrom?: number;
}

/** A file that keeps changing is given up after so many beginnings. */
const longestRow = 3;

/**
 * Saves one artifact. The bytes go to a hidden file beside the target (`.cursor-part-…`, readable by its owner only), are
 * forced to the disk, counted, and only then get the target's name: there is the whole file under it, or what was before.
 *
 * A broken download goes on where it broke; so does a later call after a crash, an abort or a lost connection, if the
 * storage confirms that the file is still the same. After other failures the hidden file is removed.
 *
 * @param cursor A client
 * @param path As `artifacts.list()` gives it: `artifacts/…`
 * @throws ApiError `artifact_not_found`; `artifact_too_large` beyond `maxBytes`; or with the storage's status
 * @throws ArgumentError `path` when its name is not safe, `to` when a symbolic link or a folder is in the file's place
 * @throws CursorError when the disk fails; `cause` is the error of `node:fs`
 * @throws ConnectionError, TimeoutError when it can't be completed
 * @see Download An Artifact
 * @example
 * const { file, sizeBytes } = await saveArtifact(cursor, agent.id, "artifacts/report.md", { to: "out/report.md" });
 */
export async function saveArtifact(
  cursor: Pick<Cursor, "artifacts">,
  agentId: string,
  path: string,
  options: SaveArtifactOptions,
): Promise<SavedArtifact> {
  const { to, ...download } = options ?? {};
  if (typeof to !== "string" || to === "" || to.includes("\0")) {
    throw new ArgumentError("to", "expected the path of a file or of an existing folder");
  }
  if (typeof path !== "string" || path === "") throw new ArgumentError("path", "expected an artifact's path");
  options.signal?.throwIfAborted();
  const target = resolve(to);
  return wrapDiskErrors({ agentId, path, signal: options.signal }, async () => {
    const isFolder = /[/\\]$/.test(to) || (await stat(target).catch(() => undefined))?.isDirectory() === true;
    const parent = isFolder ? target : dirname(target);
    const name = isFolder ? (toSegments(path).pop() as string) : basename(target);
    await mkdir(parent, { recursive: true });
    const folder = await Folder.open(parent);
    try {
      return await saveInto(cursor, { agentId, path }, folder, name, download, "to");
    } finally {
      await folder.close();
    }
  });
}

/** Saves under a name in an open folder. `argument` is what a refusal of the target is blamed on. */
export async function saveInto(
  cursor: Pick<Cursor, "artifacts">,
  source: { agentId: string; path: string },
  folder: Folder,
  name: string,
  options: DownloadOptions,
  argument: string,
): Promise<SavedArtifact> {
  await folder.target(name, argument);
  const partial = await PartialFile.begin(folder, name, source);
  try {
    const { contentType, offset, sizeBytes } = await fill(cursor, source, partial, options);
    const size = await partial.complete(name, sizeBytes, argument);
    return {
      path: source.path,
      file: resolve(folder.path, name),
      sizeBytes: size,
      ...(contentType === undefined ? {} : { contentType }),
      ...(offset === 0 ? {} : { resumedFrom: offset }),
    };
  } catch (error) {
    const left = isPassing(error, options.signal) ? partial.keep() : partial.discard();
    await left.catch(() => {}); // the first error is the one to tell
    throw error;
  }
}

async function fill(
  cursor: Pick<Cursor, "artifacts">,
  { agentId, path }: { agentId: string; path: string },
  partial: PartialFile,
  options: DownloadOptions,
) {
  let { resumeFrom } = partial;
  for (let row = 1; ; row++) {
    try {
      const download = await cursor.artifacts.download(agentId, path, { ...options, resumeFrom });
      try {
        await partial.start(download);
        for await (const chunk of download.body) await partial.write(chunk);
      } finally {
        await download[Symbol.asyncDispose]();
      }
      return download;
    } catch (error) {
      if (row >= longestRow || !isOfAnotherVersion(error)) throw error;
      resumeFrom = undefined;
    }
  }
}

/** The file was replaced while it was downloaded: what is here belongs to no version. */
const isOfAnotherVersion = (error: unknown): boolean =>
  isApiError(error, "invalid_response") || (isApiError(error) && error.status === 416);

/** Worth going on with later: the caller stopped, or the network did, or the server asked to come back. */
function isPassing(error: unknown, signal: AbortSignal | undefined): boolean {
  if (signal?.aborted) return true;
  if (!CursorError.isInstance(error)) return false;
  if (error.kind === "connection" || error.kind === "timeout") return true;
  return isApiError(error) && (error.status === 408 || error.status === 429 || error.status >= 500);
}

/** An error of `node:fs` as one of ours; the caller's own abort and everything else as it is. */
export async function wrapDiskErrors<T>(
  about: { agentId: string; path: string; signal?: AbortSignal | undefined },
  step: () => Promise<T>,
): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (about.signal?.aborted || !isDiskError(error)) throw error;
    const { agentId, path } = about;
    throw new CursorError(`${JSON.stringify(path)}: the disk refused: ${error.message}`, {
      cause: error,
      agentId,
    });
  }
}

export const isDiskError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error &&
  !CursorError.isInstance(error) &&
  typeof (error as { syscall?: unknown }).syscall === "string";
