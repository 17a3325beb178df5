import type { Stats } from "node:fs";
import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, realpath, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { CursorError } from "../index.ts";
import { RejectedFileError } from "./artifact-names.ts";

/** 0 on Windows, which has no such flag. */
export const noFollow = constants.O_NOFOLLOW ?? 0;
/** The flags for a new file under a name that nothing has. */
export const createExclusively = constants.O_CREAT | constants.O_EXCL | constants.O_RDWR | noFollow;

/**
 * A folder that files are written to. Nothing in it is reached through a symbolic link.
 *
 * Node has no `openat`. On Linux the folder is held open and its files are named through `/proc/self/fd`, which is as
 * good: a link that is put in the folder's place meanwhile has no effect. On other systems {@link Folder.verify} checks
 * before each step that the path still leads to the same folder. It does so on Linux, too, so that the report names a
 * path under which the file really is.
 */
export class Folder {
  /** The absolute path without links, for messages and reports. */
  readonly path: string;
  readonly #handle: FileHandle | undefined;
  readonly #base: string;
  readonly #identity: Stats;

  private constructor(path: string, identity: Stats, handle: FileHandle | undefined, base: string) {
    this.path = path;
    this.#identity = identity;
    this.#handle = handle;
    this.#base = base;
  }

  /** Opens a folder that the caller chose. Links in its path are the caller's own, and are followed once, here. */
  static async open(path: string, anchor = true): Promise<Folder> {
    const real = await realpath(path);
    return Folder.#hold(real, real, anchor);
  }

  /** @param location The path through which the folder is reached, which may be an anchored one */
  static async #hold(path: string, location: string, anchor: boolean): Promise<Folder> {
    const seen = await lstat(location);
    checkFolder(path, seen);
    // A folder can't be opened on Windows. Only the anchor is lost.
    const flags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | noFollow;
    const handle = await open(location, flags).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ELOOP" || error.code === "ENOTDIR") checkFolder(path, undefined);
      return undefined;
    });
    if (!handle) return new Folder(path, seen, undefined, path);
    try {
      const identity = await handle.stat();
      const anchored = `/proc/self/fd/${handle.fd}`;
      const isAnchored =
        anchor &&
        process.platform === "linux" &&
        isSame(await stat(anchored).catch(() => undefined), identity);
      return new Folder(path, identity, handle, isAnchored ? anchored : path);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** The path to use for a name in this folder in calls of the file system. */
  at(name = ""): string {
    return join(this.#base, name);
  }

  get isAnchored(): boolean {
    return this.#base !== this.path;
  }

  /** Opens the folder of that name in this one, and makes it if it is missing. @throws RejectedFileError */
  async child(name: string): Promise<Folder> {
    await this.verify();
    await mkdir(this.at(name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    return Folder.#hold(join(this.path, name), this.at(name), this.isAnchored);
  }

  /** What has that name in this folder; undefined if nothing has. @throws RejectedFileError when a file must not replace it */
  async target(name: string, argument = "path"): Promise<Stats | undefined> {
    const seen = await lstat(this.at(name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    const shown = JSON.stringify(join(this.path, name));
    if (seen?.isSymbolicLink())
      throw new RejectedFileError("symbolic-link", `${shown} is a symbolic link`, argument);
    if (seen?.isDirectory()) throw new RejectedFileError("folder", `${shown} is a folder`, argument);
    if (seen && !seen.isFile())
      throw new RejectedFileError("not-a-file", `${shown} is not a regular file`, argument);
    return seen;
  }

  /** Checks that the path still leads to this folder. @throws RejectedFileError */
  async verify(): Promise<void> {
    const now = await lstat(this.path).catch(() => undefined);
    if (!isSame(now, this.#identity)) {
      throw new RejectedFileError(
        "symbolic-link",
        `${JSON.stringify(this.path)} was replaced while files were saved`,
      );
    }
  }

  /** The text of a small file, not read through a link; undefined when there is none, or it is too large. */
  async readText(name: string, limit: number): Promise<string | undefined> {
    // Non-blocking, since opening a pipe of that name would block forever.
    const flags = constants.O_RDONLY | noFollow | (constants.O_NONBLOCK ?? 0);
    const handle = await open(this.at(name), flags).catch(() => undefined);
    if (!handle) return undefined;
    try {
      const found = await handle.stat();
      return found.isFile() && found.size <= limit ? await handle.readFile("utf8") : undefined;
    } finally {
      await handle.close();
    }
  }

  /** Removes a file, if there is one. */
  async remove(name: string): Promise<void> {
    await unlink(this.at(name)).catch(() => {});
  }

  /** Makes new names durable, where the system can. */
  async sync(): Promise<void> {
    await this.#handle?.sync().catch(() => {});
  }

  async close(): Promise<void> {
    await this.#handle?.close();
  }
}

function checkFolder(path: string, seen: Stats | undefined): void {
  const shown = JSON.stringify(path);
  if (!seen || seen.isSymbolicLink())
    throw new RejectedFileError("symbolic-link", `${shown} is a symbolic link`);
  if (!seen.isDirectory()) throw new RejectedFileError("not-a-folder", `${shown} is not a folder`);
}

const isSame = (one: Stats | undefined, other: Stats): boolean =>
  one?.dev === other.dev && one.ino === other.ino;

export const isDiskError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error &&
  !CursorError.isInstance(error) &&
  typeof (error as { syscall?: unknown }).syscall === "string";

/** An error of `node:fs` as one of this library's. */
export const toCursorError = (error: Error, path: string, agentId?: string): CursorError =>
  new CursorError(`${JSON.stringify(path)}: the file system failed: ${error.message}`, {
    cause: error,
    agentId,
  });
