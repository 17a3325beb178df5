import { mkdir, stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import {
  checkCallback,
  checkCount,
  checkOptions,
  checkSignal,
  checkTimeout,
  type OptionTable,
} from "../check.ts";
import { ArgumentError, type Cursor, CursorError, type DownloadOptions, isApiError } from "../index.ts";
import { toSegments } from "./artifact-names.ts";
import { Folder, isDiskError, toCursorError } from "./folder.ts";
import { PartialFile } from "./partial-file.ts";

/** Options of {@link saveArtifact}; `signal`, `timeout`, `maxRetries`, `maxBytes` and `onProgress` are the download's. */
export interface SaveArtifactOptions extends Omit<DownloadOptions, "resumeFrom"> {
  /**
   * A file's path (missing folders are made, an existing file is replaced), or an existing folder: then the file's name is
   * the last part of the artifact's path, if that is safe.
   */
  to: string;
}

/** A file that is whole and on the disk. */
export interface SavedArtifact {
  /** The artifact's path, as the server has it. */
  path: string;
  /** Its absolute path. */
  file: string;
  /** Bytes on the disk. */
  sizeBytes: number;
  /** Its media type, where the storage names one. */
  contentType?: string;
  /** How many of these bytes an earlier, interrupted call had left. */
  resumedFrom?: number;
}

const saveOptions = {
  to: checkTarget,
  signal: checkSignal,
  timeout: checkTimeout,
  maxRetries: checkCount,
  onProgress: checkCallback,
  maxBytes: checkCount,
} satisfies OptionTable<SaveArtifactOptions>;

/** Attempts at a file that changes during each of them. */
const maxAttempts = 3;

/**
 * Saves one artifact. The bytes go to a hidden file beside the target (`.cursor-part-…`, readable by its owner only), are
 * flushed to the disk and counted; only then is the file renamed. So the target is always the whole file, or what it was.
 *
 * A broken download continues where it broke off; so does a later call after a crash, an abort or a lost connection, if
 * the storage confirms that the file is still the same. After other failures the hidden file is removed.
 *
 * @param cursor A client
 * @param path As `artifacts.list()` gives it: `artifacts/…`
 * @throws ApiError `artifact_not_found`; `artifact_too_large` beyond `maxBytes`; or with the storage's status
 * @throws ArgumentError `path` when its name is not safe, `to` when a symbolic link or a folder has the file's name
 * @throws CursorError when the file system fails; `cause` is the error of `node:fs`
 * @throws ConnectionError, TimeoutError when the download can't be completed
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
  const { to, ...download } = checkOptions(saveOptions, options);
  if (typeof path !== "string" || path === "") throw new ArgumentError("path", "expected an artifact's path");
  const { signal } = download;
  signal?.throwIfAborted();
  const target = resolve(to);
  return wrapDiskErrors({ agentId, path, signal }, async () => {
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

function checkTarget(argument: string, value: unknown): string {
  if (typeof value !== "string" || value === "" || value.includes("\0")) {
    throw new ArgumentError(argument, "expected the path of a file or of an existing folder");
  }
  return value;
}

/**
 * Saves an artifact under a name in an open folder.
 * @param argument The argument that the error names where the target is rejected
 */
export async function saveInto(
  cursor: Pick<Cursor, "artifacts">,
  source: { agentId: string; path: string },
  folder: Folder,
  name: string,
  options: DownloadOptions,
  argument: string,
): Promise<SavedArtifact> {
  await folder.target(name, argument);
  const partial = await PartialFile.open(folder, name, source);
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
    const left = isTemporary(error, options.signal) ? partial.keep() : partial.discard();
    await left.catch(() => {}); // the first error is the one to report
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
  for (let attempt = 1; ; attempt++) {
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
      if (attempt >= maxAttempts || !hasChanged(error)) throw error;
      resumeFrom = undefined;
    }
  }
}

/** The file was replaced during the download: the bytes on the disk belong to no version. */
const hasChanged = (error: unknown): boolean =>
  isApiError(error, "invalid_response") || (isApiError(error) && error.status === 416);

/** Whether a later call may continue: the caller aborted, the network failed, or the server asked for a later attempt. */
function isTemporary(error: unknown, signal: AbortSignal | undefined): boolean {
  if (signal?.aborted) return true;
  if (!CursorError.isInstance(error)) return false;
  if (error.kind === "connection" || error.kind === "timeout") return true;
  return isApiError(error) && (error.status === 408 || error.status === 429 || error.status >= 500);
}

/** Turns errors of `node:fs` into a CursorError; the reason of an abort and all other errors stay as they are. */
export async function wrapDiskErrors<T>(
  about: { agentId: string; path: string; signal?: AbortSignal | undefined },
  step: () => Promise<T>,
): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (about.signal?.aborted || !isDiskError(error)) throw error;
    throw toCursorError(error, about.path, about.agentId);
  }
}
