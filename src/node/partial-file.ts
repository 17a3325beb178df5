import { constants } from "node:fs";
import { type FileHandle, open, rename, unlink } from "node:fs/promises";
import { CursorError } from "../index.ts";
import { type Folder, noFollow } from "./folder.ts";
import { claimLeftOver, type PartialRecord, type Source, temporaryStem, unregister } from "./left-overs.ts";

/** So often bytes are forced to the disk, and recorded as being there. */
const checkpointBytes = 4 * 1024 * 1024;
const createExclusively = constants.O_CREAT | constants.O_EXCL | constants.O_RDWR | noFollow;

/**
 * A file on its way: a hidden temporary file beside its target, and a record of which version of which artifact it holds
 * and how many of its bytes are known to be on the disk. The target appears by a rename, whole, or not at all.
 */
export class PartialFile {
  readonly #folder: Folder;
  readonly #stem: string;
  readonly #bytes: FileHandle;
  readonly #notes: FileHandle;
  #record: PartialRecord;
  #position: number;

  private constructor(
    folder: Folder,
    stem: string,
    bytes: FileHandle,
    notes: FileHandle,
    record: PartialRecord,
  ) {
    this.#folder = folder;
    this.#stem = stem;
    this.#bytes = bytes;
    this.#notes = notes;
    this.#record = record;
    this.#position = record.syncedBytes;
  }

  /** Takes over what a dead process left of the same artifact, or begins. */
  static async begin(folder: Folder, name: string, source: Source): Promise<PartialFile> {
    const stem = temporaryStem(name);
    const left = await claimLeftOver(folder, name, stem, source);
    let bytes = left?.bytes;
    let notes: FileHandle | undefined;
    try {
      bytes ??= await open(folder.at(`${stem}.bytes`), createExclusively, 0o600);
      notes = await open(folder.at(`${stem}.json`), createExclusively, 0o600);
      // Without an anchor a folder may have been put elsewhere between check and open: nothing is written then.
      await folder.verify();
      return new PartialFile(folder, stem, bytes, notes, left?.record ?? { ...source, syncedBytes: 0 });
    } catch (error) {
      await bytes?.close();
      await notes?.close();
      if (bytes) await unlink(folder.at(`${stem}.bytes`)).catch(() => {});
      if (notes) await unlink(folder.at(`${stem}.json`)).catch(() => {});
      unregister(stem);
      throw error;
    }
  }

  /** Where to go on, for `resumeFrom`. Never after the last byte: asking for that one is how the version is confirmed. */
  get resumeFrom() {
    const { etag, lastModified, sizeBytes, syncedBytes } = this.#record;
    const offset = Math.min(syncedBytes, Math.max(0, (sizeBytes ?? Number.POSITIVE_INFINITY) - 1));
    return offset > 0 ? { offset, etag, lastModified, sizeBytes } : undefined;
  }

  /** Bytes begin to come: from `offset` on, of this version. */
  async start(version: {
    offset: number;
    etag?: string;
    lastModified?: string;
    sizeBytes?: number;
  }): Promise<void> {
    const { agentId, path } = this.#record;
    const { offset, etag, lastModified, sizeBytes } = version;
    this.#position = offset;
    await this.#bytes.truncate(offset);
    this.#record = { agentId, path, etag, lastModified, sizeBytes, syncedBytes: offset };
    await this.#note();
  }

  async write(chunk: Uint8Array): Promise<void> {
    for (let written = 0; written < chunk.byteLength; ) {
      const rest = chunk.byteLength - written;
      const { bytesWritten } = await this.#bytes.write(chunk, written, rest, this.#position);
      written += bytesWritten;
      this.#position += bytesWritten;
    }
    if (this.#position - this.#record.syncedBytes >= checkpointBytes) await this.#checkpoint();
  }

  /** All bytes are here: forces them to the disk and gives them their name. @returns the size in bytes */
  async complete(name: string, sizeBytes: number | undefined, argument: string): Promise<number> {
    const { size } = await this.#bytes.stat();
    if (size !== this.#position || (sizeBytes !== undefined && size !== sizeBytes)) {
      throw new CursorError(
        `${JSON.stringify(name)}: the file on the disk has ${size} of ${sizeBytes ?? this.#position} bytes`,
      );
    }
    // Until now nobody else could read it; from now on it is a file like any other.
    await this.#bytes.chmod(0o666 & ~process.umask());
    await this.#bytes.sync();
    await this.#close();
    await this.#folder.verify();
    // A link that came meanwhile would be replaced by the rename, not written through; it is refused all the same.
    await this.#folder.target(name, argument);
    await rename(this.#folder.at(`${this.#stem}.bytes`), this.#folder.at(name));
    await unlink(this.#folder.at(`${this.#stem}.json`)).catch(() => {});
    await this.#folder.sync();
    unregister(this.#stem);
    return size;
  }

  /** Leaves what is here to a later call, if that could use it. */
  async keep(): Promise<void> {
    const { etag, lastModified } = this.#record;
    if (this.#position === 0 || !(etag ?? lastModified)) return this.discard();
    await this.#checkpoint();
    await this.#close();
    unregister(this.#stem);
  }

  async discard(): Promise<void> {
    await this.#close();
    await unlink(this.#folder.at(`${this.#stem}.bytes`)).catch(() => {});
    await unlink(this.#folder.at(`${this.#stem}.json`)).catch(() => {});
    unregister(this.#stem);
  }

  async #checkpoint(): Promise<void> {
    await this.#bytes.datasync();
    this.#record = { ...this.#record, syncedBytes: this.#position };
    await this.#note();
  }

  /** In place: a record torn by a crash can't be read, and its file is begun anew. */
  async #note(): Promise<void> {
    const text = Buffer.from(JSON.stringify(this.#record));
    await this.#notes.write(text, 0, text.byteLength, 0);
    await this.#notes.truncate(text.byteLength);
  }

  async #close(): Promise<void> {
    await this.#bytes.close();
    await this.#notes.close();
  }
}

/** Writes a small file whole or not at all, through no link. */
export async function writeWhole(folder: Folder, name: string, text: string): Promise<void> {
  const temporary = `${temporaryStem(name)}.json`;
  const handle = await open(folder.at(temporary), createExclusively, 0o666);
  try {
    try {
      await folder.verify();
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(folder.at(temporary), folder.at(name));
  } catch (error) {
    await unlink(folder.at(temporary)).catch(() => {});
    throw error;
  } finally {
    unregister(temporary.replace(/\.json$/, ""));
  }
}
