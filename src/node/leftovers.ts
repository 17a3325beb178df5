import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, open, readdir, rename } from "node:fs/promises";
import { hostname } from "node:os";
import { threadId } from "node:worker_threads";
import { temporaryPrefix } from "./artifact-names.ts";
import { type Folder, noFollow } from "./folder.ts";

/** The artifact that a temporary file belongs to. */
export interface Source {
  agentId: string;
  path: string;
}

/** What is recorded about a temporary file's bytes. */
export interface PartialRecord extends Source {
  etag?: string | undefined;
  lastModified?: string | undefined;
  sizeBytes?: number | undefined;
  /** Bytes that are safely on the disk, even if the machine crashes. */
  syncedBytes: number;
}

/** After a day without a write a file counts as abandoned, even if a process has its owner's id: ids are used again. */
const abandonedAfter = 24 * 60 * 60 * 1000;
const longestRecord = 64 * 1024;

const shortHash = (text: string, length: number) =>
  createHash("sha256").update(text).digest("hex").slice(0, length);

/** The files that this process is writing. On globalThis, so that all copies of this module share it. */
function activeStems(): Set<string> {
  const shared = globalThis as { [key: symbol]: Set<string> | undefined };
  const key = Symbol.for("cursor-cloud-agents.partial-files");
  const stems = shared[key] ?? new Set();
  shared[key] = stems;
  return stems;
}

/**
 * A new name for a temporary file, from its target, its owner (machine, process, thread) and a random part. Two processes
 * never write to one file, and a later process can tell from the name that the owner no longer exists.
 */
export function temporaryStem(name: string): string {
  const owner = `${shortHash(hostname(), 8)}-${process.pid}-${threadId}`;
  const stem = `${temporaryPrefix}${shortHash(name, 16)}-${owner}-${randomBytes(6).toString("hex")}`;
  activeStems().add(stem);
  return stem;
}

/** Gives up the ownership of a temporary file. */
export function releaseStem(stem: string): void {
  activeStems().delete(stem);
}

/**
 * Takes over the temporary file of a dead process, under a new name: of several processes that try, only one can rename
 * it. Files that are of no use any more are removed.
 */
export async function claimLeftover(
  folder: Folder,
  name: string,
  stem: string,
  source: Source,
): Promise<{ bytes: FileHandle; record: PartialRecord } | undefined> {
  let claimed: { bytes: FileHandle; record: PartialRecord } | undefined;
  for (const old of await stemsOf(folder, name)) {
    if (old === stem || !(await isAbandoned(folder, old))) continue;
    if (claimed) {
      await removeTemporary(folder, old);
      continue;
    }
    const isWinner = await rename(folder.at(`${old}.bytes`), folder.at(`${stem}.bytes`)).then(
      () => true,
      () => false,
    );
    const record = await readRecord(folder, `${old}.json`);
    await folder.remove(`${old}.json`);
    if (isWinner) claimed = await reopen(folder, `${stem}.bytes`, record, source);
  }
  return claimed;
}

/** Removes the temporary files of dead processes for a target whose files are never continued. */
export async function removeLeftovers(folder: Folder, name: string): Promise<void> {
  for (const old of await stemsOf(folder, name)) {
    if (await isAbandoned(folder, old)) await removeTemporary(folder, old);
  }
}

/** The temporary files for a target, of all processes. */
async function stemsOf(folder: Folder, name: string): Promise<Set<string>> {
  const prefix = `${temporaryPrefix}${shortHash(name, 16)}-`;
  const names = await readdir(folder.at()).catch(() => []);
  const own = names.filter((candidate) => candidate.startsWith(prefix));
  return new Set(own.map((candidate) => candidate.replace(/\.(bytes|json)$/, "")));
}

/** Opens a claimed file if this package made it and it belongs to the artifact; otherwise removes it. */
async function reopen(folder: Folder, name: string, record: PartialRecord | undefined, source: Source) {
  const bytes = await open(folder.at(name), constants.O_RDWR | noFollow).catch(() => undefined);
  if (bytes) {
    const found = await bytes.stat();
    // A symbolic or hard link, or another user's file, could make us write to a file elsewhere.
    const isOurs = found.isFile() && found.nlink === 1 && found.uid === (process.getuid?.() ?? found.uid);
    if (isOurs && record?.agentId === source.agentId && record.path === source.path) {
      return { bytes, record: { ...record, syncedBytes: Math.min(record.syncedBytes, found.size) } };
    }
    await bytes.close();
  }
  await folder.remove(name);
  return undefined;
}

async function isAbandoned(folder: Folder, stem: string): Promise<boolean> {
  if (activeStems().has(stem)) return false;
  const [host, pid, thread] = stem.slice(temporaryPrefix.length).split("-").slice(1);
  if (host === shortHash(hostname(), 8)) {
    // Our own process and thread, but not one of our files: an earlier process had the same id, as in containers.
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
    const text = await folder.readText(name, longestRecord);
    const record = JSON.parse(text ?? "null") as PartialRecord | null;
    const { syncedBytes, sizeBytes, etag, lastModified } = record ?? {};
    const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
    const isText = (value: unknown) => value === undefined || typeof value === "string";
    if (!record || !isCount(syncedBytes) || !isText(etag) || !isText(lastModified)) return undefined;
    return sizeBytes === undefined || isCount(sizeBytes) ? record : undefined;
  } catch {
    return undefined; // incomplete after a crash, or not ours
  }
}

/** Removes a temporary file and its record. */
export async function removeTemporary(folder: Folder, stem: string): Promise<void> {
  await folder.remove(`${stem}.bytes`);
  await folder.remove(`${stem}.json`);
}
