import { ArgumentError } from "../index.ts";

/**
 * Why a file was rejected, although nothing failed: its name, or what already has that name, is not safe to write to.
 *
 * - `absolute-path`, `drive-letter`, `backslash`: an absolute path, or one with a meaning on Windows only
 * - `dot-segment`: `.` or `..`
 * - `empty-segment`: two slashes in a row, or no name at all
 * - `folder`: the name ends in a slash, or a folder has that name
 * - `invalid-character`: a control character, NUL, half a surrogate pair; on Windows also `< > : " | ? *`
 * - `reserved-name`: a device on Windows (`CON`, `NUL`, `COM1.txt`); rejected on every system, so that folders can be moved
 * - `trailing-dot-or-space`: Windows drops them, so that two names would mean one file
 * - `name-too-long`: more than 255 bytes in one segment, or 1024 in all
 * - `own-name`: the name of the manifest or of a temporary file
 * - `name-conflict`: an earlier file's name differs only in case or Unicode form, or one is a file and the other its folder
 * - `symbolic-link`: a symbolic link has that name, or that of a folder on the way; links are never followed
 * - `not-a-file`: a device, a pipe or another special file has that name
 * - `not-a-folder`: a file has the name of a folder on the way
 */
export type RejectionReason =
  | "absolute-path"
  | "drive-letter"
  | "backslash"
  | "dot-segment"
  | "empty-segment"
  | "folder"
  | "invalid-character"
  | "reserved-name"
  | "trailing-dot-or-space"
  | "name-too-long"
  | "own-name"
  | "name-conflict"
  | "symbolic-link"
  | "not-a-file"
  | "not-a-folder";

/** A file that is not safe to write; {@link saveArtifacts} turns it into an entry of its report. */
export class RejectedFileError extends ArgumentError {
  readonly reason: RejectionReason;

  constructor(reason: RejectionReason, problem: string, argument = "path") {
    super(argument, problem);
    this.reason = reason;
  }
}

/** The prefix of the names of all temporary files. */
export const temporaryPrefix = ".cursor-part-";
/** The manifest's name, unless the caller chooses another. */
export const defaultManifest = ".cursor-artifacts.json";

/** The limit of Linux and macOS in bytes; Windows has the same limit in UTF-16 units. */
const longestSegment = 255;
/** The limit of an S3 key, in bytes. */
const longestPath = 1024;

// Windows recognises device names with any extension, and with spaces before it.
const device = /^(con|prn|aux|nul|conin\$|conout\$|clock\$|(com|lpt)[0-9\u00b9\u00b2\u00b3]) *(\.|$)/i;

/**
 * Splits a path of the server into the segments of a safe relative path; the leading `artifacts/` is dropped.
 * @throws RejectedFileError
 */
export function toSegments(path: string, platform: NodeJS.Platform = process.platform): string[] {
  const shown = JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
  const reject = (reason: RejectionReason, problem: string) =>
    new RejectedFileError(reason, `${shown} ${problem}`);
  if (path.includes("\\")) throw reject("backslash", "has a backslash");
  if (/[\p{Cc}\p{Cs}]/u.test(path))
    throw reject("invalid-character", "has a control character or half a surrogate pair");
  if (path.startsWith("/")) throw reject("absolute-path", "is absolute");
  const relative = path.replace(/^artifacts\//, "");
  // Checked again without the prefix, since "artifacts//etc" would otherwise become an absolute path.
  if (relative.startsWith("/")) throw reject("absolute-path", "is absolute");
  if (relative === "") throw reject("empty-segment", "names no file");
  if (relative.endsWith("/")) throw reject("folder", "names a folder");
  if (Buffer.byteLength(relative) > longestPath) throw reject("name-too-long", "is longer than 1024 bytes");
  const segments = relative.split("/");
  for (const segment of segments) {
    if (segment === "") throw reject("empty-segment", "has an empty segment");
    if (segment === "." || segment === "..") throw reject("dot-segment", `has the segment "${segment}"`);
    if (/^[a-z]:/i.test(segment)) throw reject("drive-letter", "has a drive letter");
    if (platform === "win32" && /[<>:"|?*]/.test(segment)) {
      throw reject("invalid-character", "has a character that is not allowed in names on Windows");
    }
    if (/[. ]$/.test(segment))
      throw reject("trailing-dot-or-space", "has a name that ends in a dot or a space");
    if (device.test(segment)) throw reject("reserved-name", "has the name of a device");
    if (Buffer.byteLength(segment) > longestSegment) {
      throw reject("name-too-long", "has a name longer than 255 bytes");
    }
    if (foldName(segment).startsWith(temporaryPrefix))
      throw reject("own-name", "is the name of a temporary file");
    // In every folder, not just at the top: a later save into a subfolder would trust it.
    if (foldName(segment) === defaultManifest) throw reject("own-name", "has the manifest's name in it");
  }
  return segments;
}

/**
 * Returns the same text for all names that some file system takes for the same file: macOS and Windows ignore case, macOS
 * also ignores the Unicode form, and its older file system ignores invisible characters.
 */
export function foldName(name: string): string {
  const visible = name.normalize("NFD").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  // Upper and lower: "ß" and "SS", "ſ" and "s" meet only in upper case, "K" (Kelvin) and "k" only in lower case.
  return visible.toUpperCase().toLowerCase().normalize("NFD");
}

/** Remembers the names of one save, and rejects the second of two that could be the same file. */
export class NameRegister {
  readonly #files = new Set<string>();
  readonly #folders = new Set<string>();

  /** @throws RejectedFileError */
  add(segments: readonly string[]): void {
    const keys = segments.map((_, index) => foldName(segments.slice(0, index + 1).join("/")));
    const file = keys.pop() as string;
    const shown = JSON.stringify(segments.join("/"));
    if (this.#files.has(file)) {
      throw new RejectedFileError(
        "name-conflict",
        `${shown} is the name of an earlier file, or differs from it only in case or Unicode form`,
      );
    }
    if (this.#folders.has(file) || keys.some((key) => this.#files.has(key))) {
      throw new RejectedFileError("name-conflict", `${shown} is both a file and a folder`);
    }
    this.#files.add(file);
    for (const key of keys) this.#folders.add(key);
  }
}
