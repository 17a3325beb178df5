import type { ApiPromise } from "../api-promise.ts";
import { isStorageUrl, segment } from "../check.ts";
import { ArgumentError, unexpected } from "../errors.ts";
import type { RequestOptions } from "../options.ts";
import type { PagePromise } from "../pagination.ts";
import type { Artifact, ArtifactUrl } from "../types.ts";
import type { ArtifactDownload, DownloadOptions } from "./artifact-download.ts";
import { byId, onePage, Resource } from "./resource.ts";

/** Files that agents leave for their users; an agent keeps them across all its runs. */
export class Artifacts extends Resource {
  /**
   * An agent's artifacts, at most 100, in one page. Files are uploaded as a run ends: right after it the list may
   * still be short.
   * @see List Artifacts
   */
  list(agentId: string, options?: RequestOptions): PagePromise<Artifact> {
    return this.pages(
      "/v1/agents/{id}/artifacts",
      { names: onePage, input: byId("agentId", agentId), agentId },
      options,
    );
  }

  /**
   * A presigned URL of an artifact: valid for about 15 minutes, and for anyone who has it.
   * @param path As {@link Artifacts.list} gives it: `artifacts/…`
   * @throws ApiError `artifact_not_found`; `validation_error` outside `artifacts/`
   * @see Download An Artifact
   */
  url(agentId: string, path: string, options?: RequestOptions): ApiPromise<ArtifactUrl> {
    return this.call(
      "GET",
      "/v1/agents/{id}/artifacts/download",
      () => ({ ...byId("agentId", agentId)(), query: { path: checkPath(path) } }),
      { agentId, isSecret: true },
      options,
    );
  }

  /** @internal Whether a browser may be sent to this address, which the API gave for a file. */
  isStorageUrl(url: string): boolean {
    return isStorageUrl(url, this.transport().settings.origin);
  }

  /**
   * Downloads an artifact. Resolves when the storage has answered; a broken download continues where it broke, an expired
   * URL is renewed, and a body that ends early is an error, never a short file. The key is not sent to the storage.
   *
   * Read it with `bytes()`, `text()` or from `body`, or dispose of it.
   *
   * @throws ApiError `artifact_not_found`, or with the storage's status; ConnectionError when it can't be completed
   * @example
   * await using download = await cursor.artifacts.download(agent.id, "artifacts/report.md");
   * console.log(await download.text());
   */
  async download(agentId: string, path: string, options: DownloadOptions = {}): Promise<ArtifactDownload> {
    segment("agentId", agentId);
    checkPath(path);
    const { timeout, maxRetries } = options ?? {};
    // Most clients download nothing: bundlers that split load this part with the first download.
    const { startDownload } = await import("./artifact-download.ts");
    return startDownload(this.transport(), { agentId, path, options: options ?? {} }, (signal) =>
      this.url(agentId, path, { signal, timeout, maxRetries }),
    );
  }
}

function checkPath(path: unknown): string {
  if (typeof path !== "string") throw unexpected("path", "a string", path);
  if (path === "") throw new ArgumentError("path", "must not be empty");
  return path;
}
