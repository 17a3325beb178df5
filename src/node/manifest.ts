import { mkdir } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { parseJson } from "../text.ts";
import { defaultManifest, foldName } from "./artifact-names.ts";
import { Folder } from "./folder.ts";
import { removeLeftovers } from "./leftovers.ts";
import { writeWhole } from "./partial-file.ts";

/** A saved file, and its version. */
export interface ManifestEntry {
  agentId: string;
  /** As List Artifacts returned it. */
  updatedAt: string;
  sizeBytes: number;
  /** The size of the file on the disk. */
  savedBytes: number;
}

/** A larger file is not one of ours: a hundred entries of the longest paths are less than a megabyte. */
const longestManifest = 64 * 1024 * 1024;

/**
 * The list of the files in a folder: `{ "version": 1, "files": { [path]: entry } }`. Where it is missing or can't be read,
 * nothing is known of the files, and all of them are saved again.
 */
export class Manifest {
  readonly file: string;
  readonly #folder: Folder;
  readonly #name: string;
  readonly #entries = new Map<string, ManifestEntry>();
  #writing: Promise<void> | undefined;
  #isDirty = false;
  /** The error of the last write; undefined if it succeeded. */
  error: unknown;

  private constructor(folder: Folder, name: string) {
    this.#folder = folder;
    this.#name = name;
    this.file = join(folder.path, name);
  }

  /** @param path Undefined: in the folder itself */
  static async open(root: Folder, path: string | undefined): Promise<Manifest> {
    const target = resolve(path ?? join(root.path, defaultManifest));
    await mkdir(dirname(target), { recursive: true });
    const manifest = new Manifest(await Folder.open(dirname(target)), basename(target));
    try {
      await manifest.#folder.target(manifest.#name, "manifest");
      await removeLeftovers(manifest.#folder, manifest.#name);
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

  /** Whether an artifact of these segments would overwrite the manifest. */
  isAt(root: Folder, segments: readonly string[]): boolean {
    const own = relative(root.path, this.file).split(sep).join("/");
    return foldName(own) === foldName(segments.join("/"));
  }

  /** Writes at once, so that no finished file is forgotten in a crash; entries that arrive meanwhile are written together. */
  set(path: string, entry: ManifestEntry): void {
    this.#entries.set(path, entry);
    this.#isDirty = true;
    this.#writing ??= this.#write();
  }

  /** Resolves when everything is written, or the write failed: see `error`. */
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
    const text = await this.#folder.readText(this.#name, longestManifest);
    if (text === undefined) return;
    const found = parseJson(text) as { version?: unknown; files?: unknown } | null | undefined;
    if (found?.version !== 1 || typeof found.files !== "object" || found.files === null) return;
    for (const [path, entry] of Object.entries(found.files))
      if (isEntry(entry)) this.#entries.set(path, entry);
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
