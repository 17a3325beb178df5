import { mkdir } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { defaultManifest, foldName } from "./artifact-names.ts";
import { Folder } from "./folder.ts";
import { readSmall, removeLeftOvers } from "./left-overs.ts";
import { writeWhole } from "./partial-file.ts";

/** What was saved, and as which version. */
export interface ManifestEntry {
  agentId: string;
  /** As List Artifacts told. */
  updatedAt: string;
  sizeBytes: number;
  /** As the file on the disk has. */
  savedBytes: number;
}

/** Beyond this it is not one of ours: a hundred entries of the longest paths are less than a megabyte. */
const longestManifest = 64 * 1024 * 1024;

/**
 * What a folder holds: `{ "version": 1, "files": { [path]: entry } }`. A file that is missing or can't be read means that
 * nothing is known; then everything is saved again.
 */
export class Manifest {
  readonly file: string;
  readonly #folder: Folder;
  readonly #name: string;
  readonly #entries = new Map<string, ManifestEntry>();
  #writing: Promise<void> | undefined;
  #isDirty = false;
  /** Why it could not be written, the last time. */
  error: unknown;

  private constructor(folder: Folder, name: string) {
    this.#folder = folder;
    this.#name = name;
    this.file = join(folder.path, name);
  }

  /** @param place Absent: in the folder itself */
  static async open(root: Folder, place: string | undefined): Promise<Manifest> {
    const target = resolve(place ?? join(root.path, defaultManifest));
    await mkdir(dirname(target), { recursive: true });
    const manifest = new Manifest(await Folder.open(dirname(target)), basename(target));
    try {
      await manifest.#folder.target(manifest.#name, "manifest");
      await removeLeftOvers(manifest.#folder, manifest.#name);
      await manifest.#read();
    } catch (error) {
      await manifest.close();
      throw error;
    }
    return manifest;
  }

  get(path: string): ManifestEntry | undefined {
    return this.#entries.get(path);
  }

  /** Whether an artifact of these segments would be written over it. */
  isAt(root: Folder, segments: readonly string[]): boolean {
    const own = relative(root.path, this.file).split(sep).join("/");
    return foldName(own) === foldName(segments.join("/"));
  }

  /** Written at once, so that a crash forgets no finished file; what comes in the meantime is written together. */
  set(path: string, entry: ManifestEntry): void {
    this.#entries.set(path, entry);
    this.#isDirty = true;
    this.#writing ??= this.#write();
  }

  /** Resolves when all is written, or failed: see `error`. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  async close(): Promise<void> {
    await this.flush();
    await this.#folder.close();
  }

  async #write(): Promise<void> {
    while (this.#isDirty) {
      this.#isDirty = false;
      const text = JSON.stringify({ version: 1, files: Object.fromEntries(this.#entries) }, null, 2);
      this.error = await writeWhole(this.#folder, this.#name, `${text}\n`).then(
        () => undefined,
        (error: unknown) => error,
      );
    }
    this.#writing = undefined;
  }

  async #read(): Promise<void> {
    const text = await readSmall(this.#folder, this.#name, longestManifest);
    if (text === undefined) return;
    const found = parse(text);
    if (found?.version !== 1 || typeof found.files !== "object" || found.files === null) return;
    for (const [path, entry] of Object.entries(found.files))
      if (isEntry(entry)) this.#entries.set(path, entry);
  }
}

function parse(text: string): { version?: unknown; files?: unknown } | undefined {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}

const isEntry = (value: unknown): value is ManifestEntry => {
  const { agentId, updatedAt, sizeBytes, savedBytes } = (value ?? {}) as Partial<ManifestEntry>;
  return (
    typeof agentId === "string" &&
    typeof updatedAt === "string" &&
    typeof sizeBytes === "number" &&
    typeof savedBytes === "number"
  );
};
