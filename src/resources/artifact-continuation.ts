import { checkObject } from "../check.ts";
import { ArgumentError } from "../errors.ts";

/** Where a download stopped, and in which version of the file. */
export interface ArtifactPosition {
  /** Bytes that are already there. */
  offset: number;
  /** As `ArtifactDownload` gave it. */
  etag?: string | undefined;
  /** As `ArtifactDownload` gave it. */
  lastModified?: string | undefined;
  /** The whole file's length in bytes. */
  sizeBytes?: number | undefined;
}

/** Which version of a file an answer belongs to: its validators, null where it has none. */
export interface FileVersion {
  etag: string | null;
  lastModified: string | null;
}

/**
 * How far a download is.
 *
 * - `new`: nothing is known about the file
 * - `resuming`: the caller has the first bytes of this version; the storage has not confirmed that it is still the same
 * - `reading`: the storage has answered with the file
 */
export type DownloadProgress =
  | { state: "new" }
  | { state: "resuming"; loaded: number; version: FileVersion; total: number | undefined }
  | ReadingProgress;

/** The file as its first answer described it, and how much of it is here. */
export interface ReadingProgress {
  state: "reading";
  version: FileVersion;
  contentType: string | undefined;
  /** Length of the whole file in bytes. */
  total: number | undefined;
  /** The body is compressed: its bytes are not those of the file, so a broken download can't continue. */
  isEncoded: boolean;
  /** Position of the first byte that the caller receives. */
  offset: number;
  /** Bytes of the file that are here, those before `offset` included. */
  loaded: number;
  /** Bytes of the current body to pass over, since they are here already. */
  skip: number;
}

/** The state from which a download starts: the caller's position, if it is given and identifies its version of the file. */
export function checkPosition(argument: string, value: unknown): DownloadProgress {
  if (value === undefined) return { state: "new" };
  checkObject(argument, value);
  const { offset, etag, lastModified, sizeBytes: total } = value as ArtifactPosition;
  if (!Number.isSafeInteger(offset) || offset < 0) {
    throw new ArgumentError(`${argument}.offset`, "expected a whole number, 0 or more");
  }
  // An empty validator is none.
  const version = { etag: etag || null, lastModified: lastModified || null };
  if (offset === 0 || !isIdentified(version)) return { state: "new" };
  return { state: "resuming", loaded: offset, version, total };
}

/** What an answer of the storage means for a download. */
export type Continuation =
  | ReadingProgress
  /** The file has no such position any more: request the whole file. */
  | { state: "restart" }
  /** The answer can't be the file, or is of another version of it. */
  | { state: "rejected"; problem: string }
  /** The answer has an error status. */
  | { state: "failed" };

/** The next state of a download, given the status and the headers of an answer. */
export function continueDownload(progress: DownloadProgress, status: number, headers: Headers): Continuation {
  if (progress.state === "resuming" && status === 416) return { state: "restart" };
  if (status !== 200 && status !== 206) return { state: "failed" };
  // Until a byte is here, each answer is a first one, whatever version an earlier answer announced.
  if (progress.state === "new" || progress.loaded === 0) return start(status, headers);
  if (status === 206) return continuePart(progress, headers);
  // The whole file for a caller's position: it has changed since, or the storage can't continue.
  return progress.state === "resuming" ? start(status, headers) : continueWhole(progress, headers);
}

function start(status: number, headers: Headers): Continuation {
  if (status === 206) return rejected("came in part although the whole file was requested");
  return {
    state: "reading",
    version: versionOf(headers),
    contentType: headers.get("content-type") ?? undefined,
    total: bodyLength(headers),
    isEncoded: isEncoded(headers),
    offset: 0,
    loaded: 0,
    skip: 0,
  };
}

type Known = Exclude<DownloadProgress, { state: "new" }>;

function continuePart(progress: Known, headers: Headers): Continuation {
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get("content-range") ?? "");
  if (!range || Number(range[1]) !== progress.loaded) {
    return rejected("continues at another position than requested");
  }
  // A storage that doesn't know If-Range would continue in the middle of another version.
  const version = versionOf(headers);
  if (isOther(progress.version, version)) return changed;
  const total = lengthOf(range[2] ?? null);
  if (progress.total !== undefined && total !== undefined && total !== progress.total) return changed;
  if (!isProvenSame(progress.version, version)) {
    return progress.state === "resuming" ? { state: "restart" } : unidentified;
  }
  const isFirst = progress.state === "resuming";
  return {
    state: "reading",
    version: progress.version,
    contentType: isFirst ? (headers.get("content-type") ?? undefined) : progress.contentType,
    total: progress.total ?? total,
    isEncoded: isEncoded(headers),
    offset: isFirst ? progress.loaded : progress.offset,
    loaded: progress.loaded,
    skip: 0,
  };
}

function continueWhole(progress: ReadingProgress, headers: Headers): Continuation {
  const version = versionOf(headers);
  const length = bodyLength(headers);
  const { etag, lastModified } = progress.version;
  if (etag !== version.etag || lastModified !== version.lastModified) return changed;
  if (length !== undefined && progress.total !== undefined && length !== progress.total) return changed;
  if (!isProvenSame(progress.version, version)) return unidentified;
  return {
    ...progress,
    total: progress.total ?? length,
    isEncoded: isEncoded(headers),
    skip: progress.loaded,
  };
}

const rejected = (problem: string): Continuation => ({ state: "rejected", problem });
const changed = rejected("changed while it was downloaded");
const unidentified = rejected("can't be continued: the storage doesn't say which version of it it sends");

/** The headers that request the rest of the file, as long as it is the same version. */
export function rangeHeaders(progress: DownloadProgress): Record<string, string> {
  const validator =
    progress.state !== "new" && progress.loaded > 0 ? validatorOf(progress.version) : undefined;
  if (progress.state === "new" || validator === undefined) return {};
  return { range: `bytes=${progress.loaded}-`, "if-range": validator };
}

/** Whether a download that breaks now can't continue: its bytes could not be proven to be of one file with the rest. */
export const isStuck = (progress: DownloadProgress): boolean =>
  progress.state === "reading" && progress.loaded > 0 && !isIdentified(progress.version);

// ── Versions ─────────────────────────────────────────────────────────────────────────────────────────────────────

/** What identifies the bytes of a version. A weak tag does not, and is not valid in If-Range. */
const validatorOf = ({ etag, lastModified }: FileVersion): string | undefined =>
  (etag !== null && !isWeak(etag) ? etag : lastModified) ?? undefined;

const isIdentified = (version: FileVersion): boolean => validatorOf(version) !== undefined;

/** Whether an answer has the validator that identifies the version. Length and position prove nothing. */
function isProvenSame(known: FileVersion, answer: FileVersion): boolean {
  const validator = validatorOf(known);
  return validator !== undefined && (validator === answer.etag || validator === answer.lastModified);
}

/** Whether two answers contradict each other in a validator that both have. */
function isOther(known: FileVersion, answer: FileVersion): boolean {
  const differs = (one: string | null, other: string | null) =>
    one !== null && other !== null && one !== other;
  return differs(known.etag, answer.etag) || differs(known.lastModified, answer.lastModified);
}

const isWeak = (etag: string): boolean => etag.startsWith("W/");

const versionOf = (headers: Headers): FileVersion => ({
  etag: headers.get("etag") || null,
  lastModified: headers.get("last-modified") || null,
});

function isEncoded(headers: Headers): boolean {
  const encoding = headers.get("content-encoding");
  return encoding !== null && encoding !== "" && encoding !== "identity";
}

/** The length of a whole file's answer; the length of a compressed body says nothing about the file. */
const bodyLength = (headers: Headers): number | undefined =>
  isEncoded(headers) ? undefined : lengthOf(headers.get("content-length"));

const lengthOf = (value: string | null): number | undefined =>
  value !== null && /^\d+$/.test(value) ? Number(value) : undefined;
