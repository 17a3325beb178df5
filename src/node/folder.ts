import type { Stats } from "node:fs";
import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { Refusal } from "./artifact-names.ts";

/** Absent on Windows, where no flag stands for it. */
export const noFollow = constants.O_NOFOLLOW ?? 0;

/**
 * A folder that files are written to. Nothing in it is reached through a symbolic link.
 *
 * Node has no `openat`. On Linux the folder is held open and its files are named through `/proc/self/fd`, which is as
 * good: whoever puts a link in its place meanwhile leads nobody elsewhere. On other systems, and for the report's sake on
 * Linux too, {@link Folder.verify} tells before each step whether the path still leads to the folder that was checked.
 */
export class Folder {
  /** For people, and for reports: absolute, without links. */
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

  /** Opens a folder of the caller's own choice: links in its path are theirs, and are followed once, here. */
  static async open(path: string, anchor = true): Promise<Folder> {
    const real = await realpath(path);
    return Folder.#hold(real, real, anchor);
  }

  /** `location` is where it is reached, `path` what it is called. */
  static async #hold(path: string, location: string, anchor: boolean): Promise<Folder> {
    const seen = await lstat(location);
    checkFolder(path, seen);
    // A folder can't be opened on Windows. Nothing is lost but the anchor.
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

  /** How the file system is asked for a name in this folder. */
  at(name = ""): string {
    return join(this.#base, name);
  }

  get isAnchored(): boolean {
    return this.#base !== this.path;
  }

  /** The folder of that name in it; made if need be. @throws Refusal */
  async child(name: string): Promise<Folder> {
    await this.verify();
    await mkdir(this.at(name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    return Folder.#hold(join(this.path, name), this.at(name), this.isAnchored);
  }

  /** What has that name, which may be nothing. @throws Refusal when it is nothing that a file may replace */
  async target(name: string, argument = "path"): Promise<Stats | undefined> {
    const seen = await lstat(this.at(name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    const shown = JSON.stringify(join(this.path, name));
    if (seen?.isSymbolicLink()) throw new Refusal("symbolic-link", `${shown} is a symbolic link`, argument);
    if (seen?.isDirectory()) throw new Refusal("folder", `${shown} is a folder`, argument);
    if (seen && !seen.isFile()) throw new Refusal("not-a-file", `${shown} is no regular file`, argument);
    return seen;
  }

  /** That the path still leads to the folder that was checked. @throws Refusal */
  async verify(): Promise<void> {
    const now = await lstat(this.path).catch(() => undefined);
    if (!isSame(now, this.#identity)) {
      throw new Refusal("symbolic-link", `${JSON.stringify(this.path)} was replaced meanwhile`);
    }
  }

  /** Makes names durable, where the system can. */
  async sync(): Promise<void> {
    await this.#handle?.sync().catch(() => {});
  }

  async close(): Promise<void> {
    await this.#handle?.close();
  }
}

function checkFolder(path: string, seen: Stats | undefined): void {
  const shown = JSON.stringify(path);
  if (!seen || seen.isSymbolicLink()) throw new Refusal("symbolic-link", `${shown} is a symbolic link`);
  if (!seen.isDirectory()) throw new Refusal("not-a-folder", `${shown} is no folder`);
}

const isSame = (one: Stats | undefined, other: Stats): boolean =>
  one?.dev === other.dev && one.ino === other.ino;
