import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, open, readdir, rename, unlink } from "node:fs/promises";
import { hostname } from "node:os";
import { threadId } from "node:worker_threads";
import { temporaryPrefix } from "./artifact-names.ts";
import { type Folder, noFollow } from "./folder.ts";

/** Which artifact a temporary file is of. */
export interface Source {
  agentId: string;
  path: string;
}

/** What is known of a temporary file's bytes. */
export interface PartialRecord extends Source {
  etag?: string | undefined;
  lastModified?: string | undefined;
  sizeBytes?: number | undefined;
  /** What a crash of the machine can't take any more. */
  syncedBytes: number;
}

/** A file that nobody has touched for a day has no owner, whatever its name says: process ids come again. */
const abandonedAfter = 24 * 60 * 60 * 1000;
const longestRecord = 64 * 1024;

const shortHash = (text: string, length: number) =>
  createHash("sha256").update(text).digest("hex").slice(0, length);

/** What this process is writing. On globalThis, so that two copies of this module know of each other. */
function active(): Set<string> {
  const shared = globalThis as { [key: symbol]: Set<string> | undefined };
  const key = Symbol.for("cursor-cloud-agents.partial-files");
  const stems = shared[key] ?? new Set();
  shared[key] = stems;
  return stems;
}

/**
 * A new name for a temporary file: which target it is for, who writes it, and a random part. The owner is in the name so
 * that two processes never write to one file, and a later one can tell that the first is gone.
 */
export function temporaryStem(name: string): string {
  const owner = `${shortHash(hostname(), 8)}-${process.pid}-${threadId}`;
  const stem = `${temporaryPrefix}${shortHash(name, 16)}-${owner}-${randomBytes(6).toString("hex")}`;
  active().add(stem);
  return stem;
}

export function unregister(stem: string): void {
  active().delete(stem);
}

/**
 * Takes over the temporary file of a dead process, under a name of our own: a rename has one winner. What can't be used
 * any more is removed.
 */
export async function claimLeftOver(
  folder: Folder,
  name: string,
  stem: string,
  source: Source,
): Promise<{ bytes: FileHandle; record: PartialRecord } | undefined> {
  let claimed: { bytes: FileHandle; record: PartialRecord } | undefined;
  for (const old of await stemsOf(folder, name)) {
    if (old === stem || !(await isAbandoned(folder, old))) continue;
    if (claimed) {
      await remove(folder, old);
      continue;
    }
    const isWinner = await rename(folder.at(`${old}.bytes`), folder.at(`${stem}.bytes`)).then(
      () => true,
      () => false,
    );
    const record = await readRecord(folder, `${old}.json`);
    await unlink(folder.at(`${old}.json`)).catch(() => {});
    if (isWinner) claimed = await reopen(folder, `${stem}.bytes`, record, source);
  }
  return claimed;
}

/** Removes the temporary files of dead processes, where nothing in them is of use. */
export async function removeLeftOvers(folder: Folder, name: string): Promise<void> {
  for (const old of await stemsOf(folder, name)) {
    if (await isAbandoned(folder, old)) await remove(folder, old);
  }
}

/** The temporary files that are for a target, whoever writes them. */
async function stemsOf(folder: Folder, name: string): Promise<Set<string>> {
  const prefix = `${temporaryPrefix}${shortHash(name, 16)}-`;
  const names = await readdir(folder.at()).catch(() => []);
  const own = names.filter((candidate) => candidate.startsWith(prefix));
  return new Set(own.map((candidate) => candidate.replace(/\.(bytes|json)$/, "")));
}

/** Opens a claimed file, if it is what we would have made and holds what is wanted; otherwise removes it. */
async function reopen(folder: Folder, name: string, record: PartialRecord | undefined, source: Source) {
  const bytes = await open(folder.at(name), constants.O_RDWR | noFollow).catch(() => undefined);
  if (bytes) {
    const found = await bytes.stat();
    // A link of either kind, or a file of somebody else, would be a way to have us write to another place.
    const isOurs = found.isFile() && found.nlink === 1 && found.uid === (process.getuid?.() ?? found.uid);
    if (isOurs && record?.agentId === source.agentId && record.path === source.path) {
      return { bytes, record: { ...record, syncedBytes: Math.min(record.syncedBytes, found.size) } };
    }
    await bytes.close();
  }
  await unlink(folder.at(name)).catch(() => {});
  return undefined;
}

async function isAbandoned(folder: Folder, stem: string): Promise<boolean> {
  if (active().has(stem)) return false;
  const [host, pid, thread] = stem.slice(temporaryPrefix.length).split("-").slice(1);
  if (host === shortHash(hostname(), 8)) {
    // Our own process and thread, but not among what we write: an earlier process had the same id, as in containers.
    if (Number(pid) === process.pid) {
      if (Number(thread) === threadId) return true;
    } else if (!isAlive(Number(pid))) return true;
  }
  const seen =
    (await lstat(folder.at(`${stem}.bytes`)).catch(() => undefined)) ??
    (await lstat(folder.at(`${stem}.json`)).catch(() => undefined));
  return seen !== undefined && Date.now() - seen.mtimeMs > abandonedAfter;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

async function readRecord(folder: Folder, name: string): Promise<PartialRecord | undefined> {
  try {
    const text = await readSmall(folder, name, longestRecord);
    const record = JSON.parse(text ?? "null") as PartialRecord | null;
    const { syncedBytes, sizeBytes, etag, lastModified } = record ?? {};
    const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
    const isText = (value: unknown) => value === undefined || typeof value === "string";
    if (!record || !isCount(syncedBytes) || !isText(etag) || !isText(lastModified)) return undefined;
    return sizeBytes === undefined || isCount(sizeBytes) ? record : undefined;
  } catch {
    return undefined; // torn by a crash, or not ours
  }
}

/** A small file's text, read through no link; undefined when there is none, or it is none of ours. */
export async function readSmall(folder: Folder, name: string, limit: number): Promise<string | undefined> {
  // Non-blocking, since a pipe of that name would never open.
  const flags = constants.O_RDONLY | noFollow | (constants.O_NONBLOCK ?? 0);
  const handle = await open(folder.at(name), flags).catch(() => undefined);
  if (!handle) return undefined;
  try {
    const found = await handle.stat();
    return found.isFile() && found.size <= limit ? await handle.readFile("utf8") : undefined;
  } finally {
    await handle.close();
  }
}

async function remove(folder: Folder, stem: string): Promise<void> {
  await unlink(folder.at(`${stem}.bytes`)).catch(() => {});
  await unlink(folder.at(`${stem}.json`)).catch(() => {});
}
