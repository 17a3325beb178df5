import { ArgumentError } from "../index.ts";

/**
 * Why a file was not saved although nothing failed: its name, or what is in its place, is not safe to write to.
 *
 * - `absolute-path`, `drive-letter`, `backslash`: a path of another system, or one that leaves the folder
 * - `dot-segment`: `.` or `..`
 * - `empty-segment`: two slashes in a row, or no name at all
 * - `folder`: the name ends in a slash, or a folder has that name
 * - `invalid-character`: a control character, NUL, half a surrogate pair; on Windows also `< > : " | ? *`
 * - `reserved-name`: a device on Windows (`CON`, `NUL`, `COM1.txt`); refused everywhere, so that folders can be moved
 * - `trailing-dot-or-space`: Windows drops them, and so two names would mean one file
 * - `name-too-long`: more than 255 bytes in one segment, or 1024 in all
 * - `own-name`: the manifest's name, or one that temporary files have
 * - `name-conflict`: an earlier file has the same name but for case or Unicode form, or is where a folder should be
 * - `symbolic-link`: a link stands in the way; it is never followed
 * - `not-a-file`: a device, a pipe or the like has that name
 * - `not-a-folder`: a file stands where a folder should be
 */
export type RefusalReason =
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

/** An {@link ArgumentError} that knows its reason; in a report it becomes data. */
export class Refusal extends ArgumentError {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, problem: string, argument = "path") {
    super(argument, problem);
    this.reason = reason;
  }
}

/** What the names of all temporary files begin with. */
export const temporaryPrefix = ".cursor-part-";
/** The manifest's name, unless the caller has another. */
export const defaultManifest = ".cursor-artifacts.json";

/** Of Linux, macOS and (counted in UTF-16 units) Windows. */
const longestSegment = 255;
/** Of an S3 key. */
const longestPath = 1024;

// Windows takes them with any extension, and with spaces before it.
const device = /^(con|prn|aux|nul|conin\$|conout\$|clock\$|(com|lpt)[0-9\u00b9\u00b2\u00b3]) *(\.|$)/i;

/** A path of the server, as the segments of a safe relative path; the leading `artifacts/` is dropped. */
export function toSegments(path: string, platform: NodeJS.Platform = process.platform): string[] {
  const shown = JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
  const refuse = (reason: RefusalReason, problem: string) => new Refusal(reason, `${shown} ${problem}`);
  if (path.includes("\\")) throw refuse("backslash", "has a backslash");
  if (/[\p{Cc}\p{Cs}]/u.test(path)) throw refuse("invalid-character", "has a control or a broken character");
  if (path.startsWith("/")) throw refuse("absolute-path", "is absolute");
  const relative = path.replace(/^artifacts\//, "");
  // After the prefix is gone: "artifacts//etc" and "artifacts/C:x" must not turn into what was refused above.
  if (relative.startsWith("/")) throw refuse("absolute-path", "is absolute");
  if (relative === "") throw refuse("empty-segment", "names no file");
  if (relative.endsWith("/")) throw refuse("folder", "names a folder");
  if (Buffer.byteLength(relative) > longestPath) throw refuse("name-too-long", "is longer than 1024 bytes");
  const segments = relative.split("/");
  for (const segment of segments) {
    if (segment === "") throw refuse("empty-segment", "has an empty segment");
    if (segment === "." || segment === "..") throw refuse("dot-segment", `has the segment "${segment}"`);
    if (/^[a-z]:/i.test(segment)) throw refuse("drive-letter", "has a drive letter");
    if (platform === "win32" && /[<>:"|?*]/.test(segment)) {
      throw refuse("invalid-character", "has a character that Windows has another use for");
    }
    if (/[. ]$/.test(segment))
      throw refuse("trailing-dot-or-space", "has a name that ends in a dot or a space");
    if (device.test(segment)) throw refuse("reserved-name", "has the name of a device");
    if (Buffer.byteLength(segment) > longestSegment) {
      throw refuse("name-too-long", "has a name longer than 255 bytes");
    }
    if (foldName(segment).startsWith(temporaryPrefix))
      throw refuse("own-name", "is a name of temporary files");
  }
  if (foldName(relative) === defaultManifest) throw refuse("own-name", "is the manifest's name");
  return segments;
}

/**
 * Equal for names that some file system takes for one: macOS and Windows ignore case, macOS the Unicode form too, and
 * its older file system characters that can't be seen.
 */
export function foldName(name: string): string {
  const visible = name.normalize("NFD").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  // Both ways: "ß" and "SS", "ſ" and "s" meet only in upper case, "K" (Kelvin) and "k" only in lower case.
  return visible.toUpperCase().toLowerCase().normalize("NFD");
}

/** Remembers the names of one save, and refuses the second of two that could be the same file. */
export class NameRegister {
  readonly #files = new Set<string>();
  readonly #folders = new Set<string>();

  add(segments: readonly string[]): void {
    const keys = segments.map((_, index) => foldName(segments.slice(0, index + 1).join("/")));
    const file = keys.pop() as string;
    const shown = JSON.stringify(segments.join("/"));
    if (this.#files.has(file)) {
      throw new Refusal(
        "name-conflict",
        `${shown} differs from an earlier file at most by case or Unicode form`,
      );
    }
    if (this.#folders.has(file) || keys.some((key) => this.#files.has(key))) {
      throw new Refusal("name-conflict", `${shown} is both a file and a folder`);
    }
    this.#files.add(file);
    for (const key of keys) this.#folders.add(key);
  }
}
