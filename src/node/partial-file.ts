import { type FileHandle, open, rename } from "node:fs/promises";
import { CursorError } from "../index.ts";
import { createExclusively, type Folder } from "./folder.ts";
import {
  claimLeftover,
  type PartialRecord,
  releaseStem,
  removeTemporary,
  type Source,
  temporaryStem,
} from "./leftovers.ts";

/** After this many bytes they are flushed to the disk, and recorded as being there. */
const checkpointBytes = 4 * 1024 * 1024;

/**
 * A file that is being downloaded: a hidden temporary file beside its target, and a record of which version of which
 * artifact it holds and how many of its bytes are safely on the disk. Only the whole file is renamed to the target.
 */
export class PartialFile {
  readonly #folder: Folder;
  readonly #stem: string;
  readonly #bytes: FileHandle;
  readonly #recordFile: FileHandle;
  #record: PartialRecord;
  #position: number;

  private constructor(
    folder: Folder,
    stem: string,
    bytes: FileHandle,
    recordFile: FileHandle,
    record: PartialRecord,
  ) {
    this.#folder = folder;
    this.#stem = stem;
    this.#bytes = bytes;
    this.#recordFile = recordFile;
    this.#record = record;
    this.#position = record.syncedBytes;
  }

  /** Takes over what a dead process left of the same artifact, or starts a new file. */
  static async open(folder: Folder, name: string, source: Source): Promise<PartialFile> {
    const stem = temporaryStem(name);
    const left = await claimLeftover(folder, name, stem, source);
    let bytes = left?.bytes;
    let recordFile: FileHandle | undefined;
    try {
      bytes ??= await open(folder.at(`${stem}.bytes`), createExclusively, 0o600);
      recordFile = await open(folder.at(`${stem}.json`), createExclusively, 0o600);
      // Without an anchor, the folder may have been replaced between the check and `open`: then nothing is written.
      await folder.verify();
      return new PartialFile(folder, stem, bytes, recordFile, left?.record ?? { ...source, syncedBytes: 0 });
    } catch (error) {
      await bytes?.close();
      await recordFile?.close();
      if (bytes) await folder.remove(`${stem}.bytes`);
      if (recordFile) await folder.remove(`${stem}.json`);
      releaseStem(stem);
      throw error;
    }
  }

  /** Where the download continues. Never after the last byte: the request for it confirms the version. */
  get resumeFrom() {
    const { etag, lastModified, sizeBytes, syncedBytes } = this.#record;
    const offset = Math.min(syncedBytes, Math.max(0, (sizeBytes ?? Number.POSITIVE_INFINITY) - 1));
    return offset > 0 ? { offset, etag, lastModified, sizeBytes } : undefined;
  }

  /** Prepares for the bytes of this version, from `offset` on. */
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
    await this.#writeRecord();
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

  /** Flushes the whole file to the disk and gives it its name. @returns the size in bytes */
  async complete(name: string, sizeBytes: number | undefined, argument: string): Promise<number> {
    const { size } = await this.#bytes.stat();
    if (size !== this.#position || (sizeBytes !== undefined && size !== sizeBytes)) {
      throw new CursorError(
        `${JSON.stringify(name)}: the file on the disk has ${size} of ${sizeBytes ?? this.#position} bytes`,
      );
    }
    // Until now only its owner could read it; a whole file has the usual rights.
    await this.#bytes.chmod(0o666 & ~process.umask());
    await this.#bytes.sync();
    await this.#close();
    await this.#folder.verify();
    // The rename would replace a link that was made meanwhile, not write through it; it is rejected all the same.
    await this.#folder.target(name, argument);
    await rename(this.#folder.at(`${this.#stem}.bytes`), this.#folder.at(name));
    await this.#folder.remove(`${this.#stem}.json`);
    await this.#folder.sync();
    releaseStem(this.#stem);
    return size;
  }

  /** Leaves the bytes to a later call if it can use them; otherwise removes them. */
  async keep(): Promise<void> {
    const { etag, lastModified } = this.#record;
    if (this.#position === 0 || !(etag ?? lastModified)) return this.discard();
    await this.#checkpoint();
    await this.#close();
    releaseStem(this.#stem);
  }

  async discard(): Promise<void> {
    await this.#close();
    await removeTemporary(this.#folder, this.#stem);
    releaseStem(this.#stem);
  }

  async #checkpoint(): Promise<void> {
    await this.#bytes.datasync();
    this.#record = { ...this.#record, syncedBytes: this.#position };
    await this.#writeRecord();
  }

  /** Overwrites the record in place: one that a crash left incomplete can't be read, and the download starts again. */
  async #writeRecord(): Promise<void> {
    const text = Buffer.from(JSON.stringify(this.#record));
    await this.#recordFile.write(text, 0, text.byteLength, 0);
    await this.#recordFile.truncate(text.byteLength);
  }

  async #close(): Promise<void> {
    await this.#bytes.close();
    await this.#recordFile.close();
  }
}

/** Writes a small file whole or not at all, and never through a link. */
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
    await folder.remove(temporary);
    throw error;
  } finally {
    releaseStem(temporary.replace(/\.json$/, ""));
  }
}
