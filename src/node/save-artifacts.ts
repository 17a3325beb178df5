import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { follow } from "../async.ts";
import {
  checkCallback,
  checkCount,
  checkOptions,
  checkSignal,
  checkTimeout,
  type OptionTable,
  orDefault,
} from "../check.ts";
import { ArgumentError, type Artifact, type Cursor, CursorError, type DownloadOptions } from "../index.ts";
import { NameRegister, RejectedFileError, toSegments } from "./artifact-names.ts";
import { Folder } from "./folder.ts";
import { Manifest } from "./manifest.ts";
import { saveInto, wrapDiskErrors } from "./save-artifact.ts";
import { failureReason, type Outcome, type SaveReport, toReport } from "./save-report.ts";

/** Options of {@link saveArtifacts}; `maxBytes`, `timeout` (ms) and `maxRetries` apply to each file. */
export interface SaveArtifactsOptions extends Omit<DownloadOptions, "onProgress" | "resumeFrom"> {
  /** The most files that are downloaded at the same time: 1 or more. @default 4 */
  concurrency?: number | undefined;
  /** Returns which files to save; the others are not in the report. */
  filter?: ((artifact: Artifact) => boolean) | undefined;
  /** Called after each piece of a file, and at each file's end. An error that it throws ends the whole save. */
  onProgress?: ((progress: SaveProgress) => void) | undefined;
  /**
   * The path of the file that lists what was saved, so that unchanged files are skipped; with `false` there is none, and
   * nothing is skipped. @default `.cursor-artifacts.json` in the folder
   */
  manifest?: string | false | undefined;
}

/** The progress of a save. */
export interface SaveProgress {
  /** The artifact's path, as the server has it. */
  path: string;
  /** `saving` after each piece; one of the others once, at the file's end. */
  state: "saving" | "saved" | "skipped" | "rejected" | "failed";
  /** Bytes of this file. */
  loaded: number;
  /** Length of this file in bytes, where it is known. */
  total?: number;
  /** Files that have ended, in any state, and the number of all files. */
  files: { done: number; total: number };
}

const saveOptions = {
  concurrency: orDefault(checkConcurrency, 4),
  filter: checkCallback,
  onProgress: checkCallback,
  manifest: checkManifest,
  signal: checkSignal,
  timeout: checkTimeout,
  maxRetries: checkCount,
  maxBytes: checkCount,
} satisfies OptionTable<SaveArtifactsOptions>;

/**
 * Saves an agent's artifacts in a folder, which is made if it is missing and there is a file to save: `artifacts/a/b.md` becomes `a/b.md` in it. Each
 * file is saved as {@link saveArtifact} does, and replaces an older one.
 *
 * Names come from the agent and are not trusted: nothing is written outside of the folder, through a symbolic link, or
 * under a name that means something else on another system. Such files are rejected one by one; neither they nor files
 * that fail stop the others. Unchanged files (`updatedAt` and size as in the last save, and still on the disk in that size)
 * are skipped.
 *
 * Run one save at a time per folder: files that two processes save at once are whole, but the later manifest wins.
 *
 * @throws the errors of `artifacts.list()`; ArgumentError; CursorError when the folder can't be made or opened
 * @throws `signal.reason` when aborted: saved files stay, and the next call continues the others
 * @see List Artifacts, Download An Artifact
 * @example
 * const report = await saveArtifacts(cursor, agent.id, "out");
 * for (const { path, reason } of [...report.rejected, ...report.failed]) console.error(path, reason);
 */
export async function saveArtifacts(
  cursor: Pick<Cursor, "artifacts">,
  agentId: string,
  folder: string,
  options: SaveArtifactsOptions = {},
): Promise<SaveReport> {
  if (typeof folder !== "string" || folder === "" || folder.includes("\0")) {
    throw new ArgumentError("folder", "expected the path of a folder");
  }
  const checked = checkOptions(saveOptions, options);
  const { filter, signal, timeout, maxRetries } = checked;
  const artifacts: Artifact[] = [];
  let listed = 0;
  for await (const artifact of cursor.artifacts.list(agentId, { signal, timeout, maxRetries })) {
    listed++;
    if (typeof artifact?.path !== "string") {
      throw new CursorError("the list of artifacts has an item without a path", { agentId });
    }
    if (filter === undefined || filter(artifact)) artifacts.push(artifact);
  }
  const mayHaveMore = listed >= longestList;
  return wrapDiskErrors({ agentId, path: folder, signal }, async () => {
    // What is made on the disk is made for a file: a folder that isn't there yet stays away as long as nothing goes in.
    const isNeeded = artifacts.some(({ path }) => isSafeName(path)) || existsSync(folder);
    if (isNeeded) await mkdir(folder, { recursive: true });
    const root = isNeeded ? await Folder.open(folder) : undefined;
    try {
      return await new Save(cursor, agentId, root, checked).run(artifacts, mayHaveMore);
    } finally {
      await root?.close();
    }
  });
}

/** The most artifacts that the API lists. */
const longestList = 100;

function isSafeName(path: string): boolean {
  try {
    return toSegments(path).length > 0;
  } catch (error) {
    if (error instanceof RejectedFileError) return false;
    throw error;
  }
}

function checkConcurrency(argument: string, value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (!((value as number) >= 1)) throw new ArgumentError(argument, "expected a number, 1 or more");
  return value as number;
}

function checkManifest(argument: string, value: unknown): string | false | undefined {
  if (value === undefined || value === false || typeof value === "string") return value;
  throw new ArgumentError(argument, "expected the path of a file, or false");
}

type Checked = SaveArtifactsOptions & { concurrency: number };

/** One call of {@link saveArtifacts}. */
class Save {
  readonly #cursor: Pick<Cursor, "artifacts">;
  readonly #agentId: string;
  /** Undefined where there is no folder, since no file can be saved. */
  readonly #root: Folder | undefined;
  readonly #options: Checked;
  /** Aborted by the caller's signal, or by an error that `onProgress` throws. */
  readonly #controller: ReturnType<typeof follow>;
  readonly #names = new NameRegister();
  #manifest: Manifest | undefined;
  #files = { done: 0, total: 0 };

  constructor(
    cursor: Pick<Cursor, "artifacts">,
    agentId: string,
    root: Folder | undefined,
    options: Checked,
  ) {
    this.#cursor = cursor;
    this.#agentId = agentId;
    this.#root = root;
    this.#options = options;
    this.#controller = follow(options.signal);
  }

  async run(artifacts: readonly Artifact[], mayHaveMore: boolean): Promise<SaveReport> {
    const { manifest } = this.#options;
    try {
      if (manifest !== false && this.#root) this.#manifest = await Manifest.open(this.#root, manifest);
      this.#files.total = artifacts.length;
      const outcomes = await this.#saveAll(artifacts);
      await this.#manifest?.flush();
      this.#controller.signal.throwIfAborted();
      return toReport(outcomes, this.#manifest, mayHaveMore);
    } finally {
      this.#controller.release();
      await this.#manifest?.close();
    }
  }

  async #saveAll(artifacts: readonly Artifact[]): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    // All names are checked first, in the order of the list, so that of two conflicting ones always the same is saved.
    const targets = artifacts.map(({ path }) => this.#toTarget(path));
    let next = 0;
    const work = async () => {
      while (next < artifacts.length && !this.#controller.signal.aborted) {
        const index = next++;
        const artifact = artifacts[index] as Artifact;
        const outcome = await this.#save(artifact, targets[index] as string[] | RejectedFileError);
        if (!outcome) return;
        outcomes[index] = outcome;
        this.#files.done++;
        const loaded = "sizeBytes" in outcome.value ? outcome.value.sizeBytes : 0;
        this.#progress({ path: artifact.path, state: outcome.state, loaded, total: artifact.sizeBytes });
      }
    };
    const workers = Math.min(this.#options.concurrency, artifacts.length);
    await Promise.all(Array.from({ length: workers }, work));
    return outcomes;
  }

  /** The segments of the file's path in the folder, or why it is rejected. */
  #toTarget(path: string): string[] | RejectedFileError {
    try {
      const segments = toSegments(path);
      if (this.#root && this.#manifest?.isAt(this.#root, segments)) {
        throw new RejectedFileError("own-name", `${JSON.stringify(path)} is the manifest's name`);
      }
      this.#names.add(segments);
      return segments;
    } catch (error) {
      if (error instanceof RejectedFileError) return error;
      throw error;
    }
  }

  /** Undefined after an abort. */
  async #save(artifact: Artifact, target: string[] | RejectedFileError): Promise<Outcome | undefined> {
    const { path } = artifact;
    try {
      if (target instanceof RejectedFileError) throw target;
      return await this.#inFolder(target, (folder, name) => this.#saveOrSkip(artifact, folder, name));
    } catch (error) {
      if (error instanceof RejectedFileError) {
        return { state: "rejected", value: { path, reason: error.reason, message: error.message } };
      }
      if (this.#controller.signal.aborted) return undefined;
      return { state: "failed", value: { path, reason: failureReason(error), error } };
    }
  }

  async #inFolder<T>(
    segments: readonly string[],
    step: (folder: Folder, name: string) => Promise<T>,
  ): Promise<T> {
    const name = segments.at(-1) as string;
    const root = this.#root as Folder;
    let folder = root;
    try {
      for (const segment of segments.slice(0, -1)) {
        const child = await folder.child(segment);
        if (folder !== root) await folder.close();
        folder = child;
      }
      return await step(folder, name);
    } finally {
      if (folder !== root) await folder.close();
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
    const { timeout, maxRetries, maxBytes } = this.#options;
    const { signal } = this.#controller;
    const saved = await wrapDiskErrors({ agentId, path, signal }, () =>
      saveInto(
        this.#cursor,
        { agentId, path },
        folder,
        name,
        {
          signal,
          timeout,
          maxRetries,
          maxBytes,
          onProgress: ({ loaded, total = sizeBytes }) =>
            this.#progress({ path, state: "saving", loaded, total }),
        },
        "path",
      ),
    );
    this.#manifest?.set(path, { agentId, updatedAt, sizeBytes, savedBytes: saved.sizeBytes });
    return { state: "saved", value: saved };
  }

  #progress(progress: Omit<SaveProgress, "files">): void {
    try {
      this.#options.onProgress?.({ ...progress, files: { ...this.#files } });
    } catch (error) {
      this.#controller.abort(error);
    }
  }
}
