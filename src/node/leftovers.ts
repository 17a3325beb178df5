import { createHash, randomBytes } from "node:crypto";
import { constants, readFileSync, readlinkSync, type Stats } from "node:fs";
import { type FileHandle, lstat, open, readdir, rename } from "node:fs/promises";
import { hostname, networkInterfaces } from "node:os";
import { threadId } from "node:worker_threads";
import { attempt } from "../text.ts";
import { temporaryPrefix } from "./artifact-names.ts";
import { createExclusively, type Folder, noFollow } from "./folder.ts";

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

/** After a day without a write a file counts as abandoned, even if its owner can't be seen from here, or seems alive. */
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

let knownScope: string | undefined;

/**
 * Where a process id means the same process: one start of one machine, and on Linux one pid namespace. Two containers may
 * share their host's name. Where this can't be read, this process knows no other one. Asked for when the first file is
 * saved, since a runtime with permissions may refuse it.
 */
function processScope(): string {
  if (knownScope === undefined) {
    const isLinux = process.platform === "linux";
    const parts = attempt(() => [hostname(), ...(isLinux ? linuxScope() : networkAddresses())]);
    knownScope = shortHash((parts ?? [randomBytes(16).toString("hex")]).join("\n"), 8);
  }
  return knownScope;
}

const linuxScope = (): string[] => [
  readFileSync("/proc/sys/kernel/random/boot_id", "utf8"),
  readlinkSync("/proc/self/ns/pid"),
];

function networkAddresses(): string[] {
  const all = attempt(() => Object.values(networkInterfaces()).flat()) ?? [];
  return [...new Set(all.map((address) => address?.mac ?? ""))].sort();
}

/** When a process started, in ticks since the machine did; 0 where that can't be known. */
const startOf = (pid: number): number =>
  attempt(() => {
    // The name, in brackets, may hold spaces and brackets itself.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return Number(fields[19]) || 0;
  }) ?? 0;

/**
 * A new name for a temporary file, from its target, its owner (where and when it runs, process, thread) and a random part.
 * Two processes never write to one file, and a later process can tell from the name that the owner no longer exists.
 */
export function temporaryStem(name: string): string {
  const owner = `${processScope()}-${startOf(process.pid)}-${process.pid}-${threadId}`;
  const stem = `${temporaryPrefix}${shortHash(name, 16)}-${owner}-${randomBytes(6).toString("hex")}`;
  activeStems().add(stem);
  return stem;
}

/** Gives up the ownership of a temporary file. */
export function releaseStem(stem: string): void {
  activeStems().delete(stem);
}

/**
 * Takes over an abandoned temporary file, under a new name. That of a dead process is renamed: of several processes that
 * try, only one can do it. An owner that may still have the file open keeps it: its bytes are copied, and it loses only
 * the name. Files that are of no use any more are removed.
 */
export async function claimLeftover(
  folder: Folder,
  name: string,
  stem: string,
  source: Source,
): Promise<{ bytes: FileHandle; record: PartialRecord } | undefined> {
  let claimed: { bytes: FileHandle; record: PartialRecord } | undefined;
  for (const old of await stemsOf(folder, name)) {
    const state = await stateOf(folder, old);
    if (old === stem || state === "active") continue;
    if (!claimed) {
      const record = await readRecord(folder, `${old}.json`);
      const isClaimed =
        state === "dead" ? await takeName(folder, old, stem) : await copyBytes(folder, old, stem);
      // Its owner went on writing meanwhile: the copy may be a mixture.
      if (state === "untouched" && (await stateOf(folder, old)) !== state) {
        if (isClaimed) await folder.remove(`${stem}.bytes`);
        continue;
      }
      if (isClaimed) claimed = await reopen(folder, `${stem}.bytes`, record, source);
    }
    await removeTemporary(folder, old);
  }
  return claimed;
}

const takeName = (folder: Folder, old: string, stem: string): Promise<boolean> =>
  rename(folder.at(`${old}.bytes`), folder.at(`${stem}.bytes`)).then(
    () => true,
    () => false,
  );

async function copyBytes(folder: Folder, old: string, stem: string): Promise<boolean> {
  const from = await open(folder.at(`${old}.bytes`), constants.O_RDONLY | noFollow).catch(() => undefined);
  if (!from) return false;
  try {
    if (!isOurs(await from.stat())) return false;
    const to = await open(folder.at(`${stem}.bytes`), createExclusively, 0o600);
    try {
      const piece = Buffer.alloc(1024 * 1024);
      while (true) {
        const { bytesRead } = await from.read(piece, 0, piece.byteLength, null);
        if (bytesRead === 0) break;
        await to.writeFile(piece.subarray(0, bytesRead));
      }
      await to.datasync();
    } finally {
      await to.close();
    }
    return true;
  } finally {
    await from.close();
  }
}

/** Removes the temporary files of dead processes for a target whose files are never continued. */
export async function removeLeftovers(folder: Folder, name: string): Promise<void> {
  for (const old of await stemsOf(folder, name)) {
    if ((await stateOf(folder, old)) !== "active") await removeTemporary(folder, old);
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
    if (isOurs(found) && record?.agentId === source.agentId && record.path === source.path) {
      return { bytes, record: { ...record, syncedBytes: Math.min(record.syncedBytes, found.size) } };
    }
    await bytes.close();
  }
  await folder.remove(name);
  return undefined;
}

/** A symbolic or hard link, or another user's file, could make us write to a file elsewhere. */
const isOurs = (found: Stats): boolean =>
  found.isFile() && found.nlink === 1 && found.uid === (process.getuid?.() ?? found.uid);

/**
 * Whether the owner of a temporary file has it open: `dead`: certainly not; `untouched`: it may, but has not written for a
 * day; `active`: it may be writing.
 */
async function stateOf(folder: Folder, stem: string): Promise<"active" | "dead" | "untouched"> {
  if (activeStems().has(stem)) return "active";
  const [scope, start, pid, thread] = stem.slice(temporaryPrefix.length).split("-").slice(1);
  if (scope === processScope() && isDead(Number(pid), Number(start), Number(thread))) return "dead";
  const seen =
    (await lstat(folder.at(`${stem}.bytes`)).catch(() => undefined)) ??
    (await lstat(folder.at(`${stem}.json`)).catch(() => undefined));
  return seen !== undefined && Date.now() - seen.mtimeMs > abandonedAfter ? "untouched" : "active";
}

function isDead(pid: number, start: number, thread: number): boolean {
  // Process ids are used again: the process that has this one now may have started after the owner.
  if (!isAlive(pid) || (start > 0 && startOf(pid) > start)) return true;
  // Our own process and thread, but none of our files.
  return pid === process.pid && thread === threadId;
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
