import { Backoff, follow } from "../async.ts";
import {
  checkCallback,
  checkCount,
  checkOptions,
  checkSignal,
  checkTimeout,
  type OptionTable,
  orDefault,
} from "../check.ts";
import { ApiError, about } from "../errors.ts";
import { discard } from "../http/response.ts";
import { isRetryable } from "../http/retry.ts";
import type { Transport } from "../http/transport.ts";
import type { RequestOptions } from "../options.ts";
import type { ArtifactUrl } from "../types.ts";
import {
  type ArtifactPosition,
  checkPosition,
  continueDownload,
  type DownloadProgress,
  isStuck,
  type ReadingProgress,
  rangeHeaders,
} from "./artifact-continuation.ts";
import { ArtifactStorage } from "./artifact-storage.ts";

/** How a download is made. */
export interface DownloadOptions extends Omit<RequestOptions, "headers"> {
  /** Called after each piece, with the bytes so far and, where it is known, the length of the whole file. */
  onProgress?: ((progress: { loaded: number; total?: number }) => void) | undefined;
  /** Bytes; a larger file ends in an ApiError `artifact_too_large`. @default no limit */
  maxBytes?: number | undefined;
  /**
   * Continues after the bytes of an earlier download, if the file is still the same. Otherwise, or without a strong
   * `etag` or a `lastModified`, the download starts from the beginning. {@link ArtifactDownload.offset} tells which.
   */
  resumeFrom?: ArtifactPosition | undefined;
}

/**
 * An artifact that is being downloaded. What is known of the file is that of the version whose bytes `body` gives: it may
 * change until the first byte is here, if the file is replaced meanwhile.
 */
export interface ArtifactDownload extends AsyncDisposable {
  /** As given. */
  readonly path: string;
  /** Bytes of the whole file, where the storage says so. */
  readonly sizeBytes?: number;
  /** Media type, where the storage names one. */
  readonly contentType?: string;
  /** Position of the first byte of `body`: 0, unless `resumeFrom` was given and the file is still the same. */
  readonly offset: number;
  /** Identifies this version of the file, where the storage says so and sends the bytes as they are stored. */
  readonly etag?: string;
  /** When the storage received it, where it says so. */
  readonly lastModified?: string;
  /** The bytes, read as they are pulled; ends only when all are here, and errors otherwise. */
  readonly body: ReadableStream<Uint8Array>;
  /** All bytes, in memory. */
  bytes(): Promise<Uint8Array>;
  /** All bytes as UTF-8 text. */
  text(): Promise<string>;
}

const downloadOptions = {
  signal: checkSignal,
  timeout: checkTimeout,
  maxRetries: checkCount,
  onProgress: checkCallback,
  maxBytes: orDefault(checkCount, Number.POSITIVE_INFINITY),
  resumeFrom: checkPosition,
} satisfies OptionTable<DownloadOptions>;

/** Requests a presigned URL from the API, with retries of its own. */
type GetUrl = (signal: AbortSignal) => PromiseLike<ArtifactUrl>;

interface Target {
  agentId: string;
  path: string;
  options: DownloadOptions;
}

export async function startDownload(
  transport: Transport,
  { agentId, path, options }: Target,
  getUrl: GetUrl,
): Promise<ArtifactDownload> {
  const download = new Download(transport, agentId, options, getUrl);
  const orFail = async <T>(step: () => Promise<T>): Promise<T> => {
    try {
      return await step();
    } catch (error) {
      download.end();
      throw about(error, { agentId });
    }
  };
  await orFail(() => download.start());
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) =>
        orFail(async () => {
          const chunk = await download.read();
          if (chunk) controller.enqueue(chunk);
          else controller.close();
        }),
      cancel: () => download.end(),
    },
    { highWaterMark: 0 },
  );
  const bytes = async () => new Uint8Array(await new Response(body as unknown as BodyInit).arrayBuffer());
  // Only the stored bytes can be continued in a later download.
  const version = () => (download.file.isEncoded ? undefined : download.file.version);
  return {
    path,
    get sizeBytes() {
      return download.file.total;
    },
    get contentType() {
      return download.file.contentType;
    },
    get offset() {
      return download.file.offset;
    },
    get etag() {
      return version()?.etag ?? undefined;
    },
    get lastModified() {
      return version()?.lastModified ?? undefined;
    },
    body,
    bytes,
    text: async () => new TextDecoder().decode(await bytes()),
    [Symbol.asyncDispose]: async () => {
      download.end();
      if (!body.locked) await body.cancel();
    },
  } as ArtifactDownload;
}

type BodyInit = ConstructorParameters<typeof Response>[0];

/** One connection to the storage, whose body is being read. */
interface Connection {
  reader: ReadableStreamDefaultReader<Uint8Array>;
  /** The download's progress, which advances with each piece. */
  file: ReadingProgress;
  close(): void;
}

/** One artifact over as many connections as needed. */
class Download {
  readonly #getUrl: GetUrl;
  readonly #storage: ArtifactStorage;
  readonly #maxBytes: number;
  readonly #maxRetries: number;
  readonly #onProgress: DownloadOptions["onProgress"];
  readonly #controller: ReturnType<typeof follow>;
  readonly #backoff: Backoff;
  #progress: DownloadProgress;
  #url: string | undefined;
  #connection: Connection | undefined;
  /** Whether the URL was renewed since the last bytes arrived. */
  #isRenewed = false;

  constructor(transport: Transport, agentId: string, options: DownloadOptions, getUrl: GetUrl) {
    const { clock, random, timeout, maxRetries } = transport.settings;
    const checked = checkOptions<DownloadOptions, typeof downloadOptions>(downloadOptions, options);
    const path = `/v1/agents/${encodeURIComponent(agentId)}/artifacts/download`;
    this.#getUrl = getUrl;
    this.#storage = new ArtifactStorage(transport, path, checked.timeout ?? timeout ?? 60_000);
    this.#maxBytes = checked.maxBytes;
    this.#maxRetries = checked.maxRetries ?? maxRetries;
    this.#onProgress = checked.onProgress;
    this.#progress = checked.resumeFrom;
    this.#backoff = new Backoff({ clock, random, base: 500, cap: 8_000 });
    this.#controller = follow(checked.signal);
  }

  /** Connects: the storage has answered. */
  async start(): Promise<void> {
    while (!this.#connection) await this.#connect();
  }

  /** The file as the newest answer describes it: one that breaks before its first byte does not speak for the next. */
  get file(): ReadingProgress {
    return this.#progress as ReadingProgress;
  }

  /** The next bytes, or undefined when all are here. */
  async read(): Promise<Uint8Array | undefined> {
    while (true) {
      const connection = this.#connection;
      if (!connection) {
        await this.#connect();
        continue;
      }
      const piece = await this.#attempt(() => this.#pull(connection));
      if (piece === "end") {
        this.#disconnect();
        this.#controller.release();
        return undefined;
      }
      if (piece !== "failed" && piece.byteLength > 0) return piece;
    }
  }

  end(): void {
    this.#disconnect();
    this.#controller.abort();
    this.#controller.release();
  }

  async #connect(): Promise<void> {
    // Not part of the attempt: the call to the API has retries of its own, so its failure is final.
    this.#url ??= this.#storage.acceptUrl((await this.#getUrl(this.#controller.signal)).url);
    const url = this.#url;
    await this.#attempt(() => this.#open(url));
  }

  /** One step. After a failure that may pass it returns "failed", after a pause; any other failure is thrown. */
  async #attempt<T>(step: () => Promise<T>): Promise<T | "failed"> {
    const { signal } = this.#controller;
    try {
      signal.throwIfAborted();
      return await step();
    } catch (error) {
      this.#disconnect();
      signal.throwIfAborted();
      if (this.#progress.state === "reading" && this.#progress.isEncoded) throw error;
      // An expired URL is renewed at once. A second 403 without a byte in between is not about its age.
      if (ApiError.isInstance(error) && error.status === 403 && !this.#isRenewed) {
        this.#isRenewed = true;
        this.#url = undefined;
        return "failed";
      }
      if (!isRetryable(error, "safe") || this.#backoff.failures >= this.#maxRetries) throw error;
      await this.#backoff.pause(signal, ApiError.isInstance(error) ? error.retryAfterMs : undefined);
      if (isStuck(this.#progress)) {
        const problem = "broke off and can't be continued: the storage doesn't identify its version";
        throw this.#storage.invalidAnswer(200, problem, "invalid_response", error);
      }
      return "failed";
    }
  }

  #disconnect(): void {
    discard(this.#connection?.reader);
    this.#connection?.close();
    this.#connection = undefined;
  }

  async #open(url: string): Promise<void> {
    const controller = follow(this.#controller.signal);
    const close = () => {
      controller.abort();
      controller.release();
    };
    try {
      const { signal } = controller;
      const response = await this.#storage.get(url, rangeHeaders(this.#progress), signal);
      const next = continueDownload(this.#progress, response.status, response.headers);
      if (next.state === "failed") throw await this.#storage.failedResponse(response, signal);
      if (next.state === "rejected") throw this.#storage.invalidAnswer(response.status, next.problem);
      if (next.state === "restart") {
        discard(response.body);
        close();
        this.#progress = { state: "new" };
        return await this.#open(url);
      }
      this.#progress = next;
      this.#checkSize(next.total ?? 0);
      const body = response.body ?? (new Response("").body as ReadableStream<Uint8Array>);
      this.#connection = { reader: body.getReader(), file: next, close };
    } catch (error) {
      close();
      throw error;
    }
  }

  /** The next piece of the file, empty where all of it was here already; "end" after the last one. */
  async #pull({ reader, file }: Connection): Promise<Uint8Array | "end"> {
    const { signal } = this.#controller;
    const value = await this.#storage.read(reader, signal);
    const { total } = file;
    if (value === undefined) {
      if (total === undefined || file.loaded === total) return "end";
      const error = new Error(`the body ended after ${file.loaded} of ${total} bytes`);
      throw this.#storage.connectionError(error, signal);
    }
    const piece = file.skip > 0 ? value.subarray(Math.min(file.skip, value.byteLength)) : value;
    file.skip -= value.byteLength - piece.byteLength;
    file.loaded += piece.byteLength;
    if (total !== undefined && file.loaded > total) {
      throw this.#storage.invalidAnswer(200, `has more than its ${total} bytes`);
    }
    this.#checkSize(file.loaded);
    if (piece.byteLength > 0) {
      this.#backoff.reset();
      this.#isRenewed = false;
      this.#onProgress?.({ loaded: file.loaded, ...(total === undefined ? {} : { total }) });
    }
    return piece;
  }

  #checkSize(bytes: number): void {
    if (bytes <= this.#maxBytes) return;
    const problem = `is larger than maxBytes (${this.#maxBytes})`;
    throw this.#storage.invalidAnswer(200, problem, "artifact_too_large");
  }
}
