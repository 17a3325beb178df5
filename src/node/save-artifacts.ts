import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { ArgumentError, type Artifact, type Cursor, CursorError, type DownloadOptions } from "../index.ts";
import { NameRegister, Refusal, type RefusalReason, toSegments } from "./artifact-names.ts";
import { Folder } from "./folder.ts";
import { Manifest } from "./manifest.ts";
import { isDiskError, type SavedArtifact, saveInto, wrapDiskErrors } from "./save-artifact.ts";

/** How {@link saveArtifacts} saves; `maxBytes`, `timeout` (ms) and `maxRetries` hold for each file. */
export interface SaveArtifactsOptions extends Omit<DownloadOptions, "onProgress" | "resumeFrom"> {
  /** Files that are downloaded at the same time: 1 or more. @default 4 */
  concurrency?: number | undefined;
  /** Which files to save; the others are not in the report. */
  filter?: ((artifact: Artifact) => boolean) | undefined;
  /** Called after each piece of a file, and at each file's end. What it throws ends the whole save. */
  onProgress?: ((progress: SaveProgress) => void) | undefined;
  /**
   * Where is kept which files are here, so that unchanged ones are skipped: a file's path, or `false` for nowhere; then
   * nothing is skipped. @default `.cursor-artifacts.json` in the folder
   */
  manifest?: string | false | undefined;
}

/** How far a save is. */
export interface SaveProgress {
  /** The artifact's path, as the server has it. */
  path: string;
  /** `saving` after each piece; the others once, at the file's end. */
  state: "saving" | "saved" | "skipped" | "refused" | "failed";
  /** Bytes of this file. */
  loaded: number;
  /** Length of this file in bytes, where it is known. */
  total?: number;
  /** Files that are done with, in whichever way, of all. */
  files: { done: number; total: number };
}

/** A file that was not downloaded, because it is here. */
export interface SkippedArtifact {
  /** The artifact's path, as the server has it. */
  path: string;
  /** Where it is: absolute. */
  file: string;
  /** Bytes on the disk. */
  sizeBytes: number;
}

/** A file that was not saved, because its name or what is in its place is not safe. */
export interface RefusedArtifact {
  /** The artifact's path, as the server has it. */
  path: string;
  /** What is not safe. */
  reason: RefusalReason;
  /** The same for people. */
  message: string;
}

/**
 * Why a file failed.
 *
 * - `api`: the API or the storage refused; `error` is an ApiError
 * - `changed`: it was replaced again and again while it was downloaded
 * - `too-large`: it has more than `maxBytes`
 * - `connection`, `timeout`: it could not be completed; the next call goes on with it
 * - `disk`: it could not be written; `error.cause` is the error of `node:fs`
 * - `other`: anything else
 */
export type FailureReason = "api" | "changed" | "too-large" | "connection" | "timeout" | "disk" | "other";

/** A file that could not be saved, this time. */
export interface FailedArtifact {
  /** The artifact's path, as the server has it. */
  path: string;
  /** What to branch on. */
  reason: FailureReason;
  /** What was thrown. */
  error: unknown;
}

/** What became of each file, in the order of the list. */
export interface SaveReport {
  /** Whole, and on the disk since this call. */
  saved: SavedArtifact[];
  /** Here already, unchanged. */
  skipped: SkippedArtifact[];
  /** Not safe to write. */
  refused: RefusedArtifact[];
  /** To be tried again. */
  failed: FailedArtifact[];
  /** Where the manifest is; absent when it is switched off. `error`: it could not be written. */
  manifest?: { file: string; error?: unknown };
}

type Outcome =
  | { state: "saved"; value: SavedArtifact }
  | { state: "skipped"; value: SkippedArtifact }
  | { state: "refused"; value: RefusedArtifact }
  | { state: "failed"; value: FailedArtifact };

/**
 * Saves an agent's artifacts under a folder, which is made if need be: `artifacts/a/b.md` becomes `a/b.md` in it. Each file
 * is saved as {@link saveArtifact} does, and replaces an older one.
 *
 * Names come from the agent and are not trusted: nothing is written outside of the folder, through a symbolic link, or
 * under a name that means something else on another system. Such files are refused one by one; neither they nor files
 * that fail stop the others. Unchanged files (same `updatedAt` and size as last time, still here in their size) are skipped.
 *
 * One save at a time into a folder: what two processes save there is whole, but the later manifest wins.
 *
 * @throws what `artifacts.list()` throws; ArgumentError; CursorError when the folder can't be made or opened
 * @throws `signal.reason` when aborted: what is saved stays, what was on its way goes on in the next call
 * @see List Artifacts, Download An Artifact
 * @example
 * const report = await saveArtifacts(cursor, agent.id, "out");
 * for (const { path, reason } of [...report.refused, ...report.failed]) console.error(path, reason);
 */
export async function saveArtifacts(
  cursor: Pick<Cursor, "artifacts">,
  agentId: string,
  folder: string,
  options: SaveArtifactsOptions = {},
): Promise<SaveReport> {
  const { concurrency = 4, filter, onProgress: _, manifest: __, ...request } = options;
  if (typeof folder !== "string" || folder === "" || folder.includes("\0")) {
    throw new ArgumentError("folder", "expected the path of a folder");
  }
  if (!(concurrency >= 1)) throw new ArgumentError("concurrency", "expected a number, 1 or more");
  const artifacts: Artifact[] = [];
  const { signal, timeout, maxRetries } = request;
  for await (const artifact of cursor.artifacts.list(agentId, { signal, timeout, maxRetries })) {
    if (typeof artifact?.path !== "string") {
      throw new CursorError("the list of artifacts has an item without a path", { agentId });
    }
    if (filter === undefined || filter(artifact)) artifacts.push(artifact);
  }
  return wrapDiskErrors({ agentId, path: folder, signal }, async () => {
    await mkdir(folder, { recursive: true });
    const root = await Folder.open(folder);
    try {
      return await new Save(cursor, agentId, root, options).run(artifacts, concurrency);
    } finally {
      await root.close();
    }
  });
}

class Save {
  readonly #cursor: Pick<Cursor, "artifacts">;
  readonly #agentId: string;
  readonly #root: Folder;
  readonly #options: SaveArtifactsOptions;
  /** The caller's signal, and what a callback threw. */
  readonly #stop = new AbortController();
  readonly #names = new NameRegister();
  #manifest: Manifest | undefined;
  #files = { done: 0, total: 0 };

  constructor(
    cursor: Pick<Cursor, "artifacts">,
    agentId: string,
    root: Folder,
    options: SaveArtifactsOptions,
  ) {
    this.#cursor = cursor;
    this.#agentId = agentId;
    this.#root = root;
    this.#options = options;
  }

  async run(artifacts: readonly Artifact[], concurrency: number): Promise<SaveReport> {
    const { signal, manifest: place } = this.#options;
    const onAbort = () => this.#stop.abort(signal?.reason);
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      if (place !== false) this.#manifest = await Manifest.open(this.#root, place);
      this.#files.total = artifacts.length;
      const outcomes = await this.#all(artifacts, concurrency);
      await this.#manifest?.flush();
      this.#stop.signal.throwIfAborted();
      return this.#report(outcomes);
    } finally {
      signal?.removeEventListener("abort", onAbort);
      await this.#manifest?.close();
    }
  }

  async #all(artifacts: readonly Artifact[], concurrency: number): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    // Names are judged in the order of the list, so that the same one of two twins wins each time.
    const plans = artifacts.map(({ path }) => this.#plan(path));
    let next = 0;
    const work = async () => {
      while (next < artifacts.length && !this.#stop.signal.aborted) {
        const index = next++;
        const artifact = artifacts[index] as Artifact;
        const outcome = await this.#save(artifact, plans[index] as string[] | Refusal);
        if (!outcome) return;
        outcomes[index] = outcome;
        this.#files.done++;
        const loaded = "sizeBytes" in outcome.value ? outcome.value.sizeBytes : 0;
        this.#tell({ path: artifact.path, state: outcome.state, loaded, total: artifact.sizeBytes });
      }
    };
    await Promise.all(Array.from({ length: Math.min(concurrency, artifacts.length) }, work));
    return outcomes;
  }

  #plan(path: string): string[] | Refusal {
    try {
      const segments = toSegments(path);
      if (this.#manifest?.isAt(this.#root, segments)) {
        throw new Refusal("own-name", `${JSON.stringify(path)} is the manifest's name`);
      }
      this.#names.add(segments);
      return segments;
    } catch (error) {
      if (error instanceof Refusal) return error;
      throw error;
    }
  }

  /** Undefined: stopped. */
  async #save(artifact: Artifact, plan: string[] | Refusal): Promise<Outcome | undefined> {
    const { path } = artifact;
    try {
      if (plan instanceof Refusal) throw plan;
      return await this.#inFolder(plan, (folder, name) => this.#saveOrSkip(artifact, folder, name));
    } catch (error) {
      if (error instanceof Refusal) {
        return { state: "refused", value: { path, reason: error.reason, message: error.message } };
      }
      if (this.#stop.signal.aborted) return undefined;
      return { state: "failed", value: { path, reason: reasonOf(error), error } };
    }
  }

  async #inFolder<T>(
    segments: readonly string[],
    step: (folder: Folder, name: string) => Promise<T>,
  ): Promise<T> {
    const name = segments.at(-1) as string;
    let folder = this.#root;
    try {
      for (const segment of segments.slice(0, -1)) {
        const child = await folder.child(segment);
        if (folder !== this.#root) await folder.close();
        folder = child;
      }
      return await step(folder, name);
    } finally {
      if (folder !== this.#root) await folder.close();
    }
  }

  async #saveOrSkip(artifact: Artifact, folder: Folder, name: string): Promise<Outcome> {
    const { path, updatedAt, sizeBytes } = artifact;
    const agentId = this.#agentId;
    const known = this.#manifest?.get(path);
    const present = await folder.target(name);
    const isSame =
      known?.agentId === agentId && known.updatedAt === updatedAt && known.sizeBytes === sizeBytes;
    if (isSame && present?.size === known.savedBytes) {
      return { state: "skipped", value: { path, file: join(folder.path, name), sizeBytes: present.size } };
    }
    const { concurrency: _, filter: __, manifest: ___, ...options } = this.#options;
    const signal = this.#stop.signal;
    const saved = await wrapDiskErrors({ agentId, path, signal }, () =>
      saveInto(
        this.#cursor,
        { agentId, path },
        folder,
        name,
        {
          ...options,
          signal,
          onProgress: ({ loaded, total = sizeBytes }) => this.#tell({ path, state: "saving", loaded, total }),
        },
        "path",
      ),
    );
    this.#manifest?.set(path, { agentId, updatedAt, sizeBytes, savedBytes: saved.sizeBytes });
    return { state: "saved", value: saved };
  }

  #tell(progress: Omit<SaveProgress, "files">): void {
    try {
      this.#options.onProgress?.({ ...progress, files: { ...this.#files } });
    } catch (error) {
      this.#stop.abort(error);
    }
  }

  #report(outcomes: readonly Outcome[]): SaveReport {
    const report: SaveReport = { saved: [], skipped: [], refused: [], failed: [] };
    for (const { state, value } of outcomes) (report[state] as unknown[]).push(value);
    const { file, error } = this.#manifest ?? {};
    if (file !== undefined) report.manifest = { file, ...(error === undefined ? {} : { error }) };
    return report;
  }
}

function reasonOf(error: unknown): FailureReason {
  if (isDiskError(error)) return "disk";
  if (!CursorError.isInstance(error)) return "other";
  if (isDiskError(error.cause) && error.kind === "error") return "disk";
  const { code } = error as { code?: string };
  if (code === "artifact_too_large") return "too-large";
  if (code === "invalid_response") return "changed";
  return error.kind === "api" || error.kind === "connection" || error.kind === "timeout"
    ? error.kind
    : "other";
}
