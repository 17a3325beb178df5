import { follow, sleep } from "../async.ts";
import { checkCallback, checkCount, checkNames, checkSignal, checkTimeout } from "../check.ts";
import { ApiError, ArgumentError, about } from "../errors.ts";
import { discard } from "../http/response.ts";
import { backoff, isRetryable } from "../http/retry.ts";
import type { Transport } from "../http/transport.ts";
import type { RequestOptions } from "../options.ts";
import type { ArtifactUrl } from "../types.ts";
import { ArtifactStorage } from "./artifact-storage.ts";

/** What can be said for a download. */
export interface DownloadOptions extends Omit<RequestOptions, "headers"> {
  /** Called after each piece, with the bytes so far and, where it is known, the whole length. */
  onProgress?: ((progress: { loaded: number; total?: number }) => void) | undefined;
  /** Bytes; a larger file ends in an ApiError `artifact_too_large`. @default no limit */
  maxBytes?: number | undefined;
  /**
   * Goes on after the bytes an earlier download left. Only if the file is still the same: otherwise, or without a strong
   * `etag` or a `lastModified`, it begins anew. {@link ArtifactDownload.offset} says which.
   */
  resumeFrom?: ArtifactPosition | undefined;
}

const downloadOptionNames: (keyof DownloadOptions)[] = [
  "signal",
  "timeout",
  "maxRetries",
  "onProgress",
  "maxBytes",
  "resumeFrom",
];

/** Where a download stopped, and in which version of the file. */
export interface ArtifactPosition {
  /** Bytes that are already there. */
  offset: number;
  /** As {@link ArtifactDownload} gave them. */
  etag?: string | undefined;
  /** As {@link ArtifactDownload} gave it. */
  lastModified?: string | undefined;
  /** The whole file's length in bytes. */
  sizeBytes?: number | undefined;
}

/** An artifact whose bytes are on their way. */
export interface ArtifactDownload extends AsyncDisposable {
  /** As given. */
  readonly path: string;
  /** Bytes, where the storage says so. */
  readonly sizeBytes?: number;
  /** Media type, where the storage names one. */
  readonly contentType?: string;
  /** Position of the first byte of `body`: 0, unless `resumeFrom` was asked for and could be granted. */
  readonly offset: number;
  /** What identifies this version of the file, where the storage says so and the bytes are sent as they are stored. */
  readonly etag?: string;
  /** When the storage got it, where it says so. */
  readonly lastModified?: string;
  /** The bytes, as they are pulled; ends only when all are here, and errors otherwise. */
  readonly body: ReadableStream<Uint8Array>;
  /** All bytes, in memory. */
  bytes(): Promise<Uint8Array>;
  /** All bytes as UTF-8 text. */
  text(): Promise<string>;
}

/** Asks the API for a presigned URL; its retries are its own. */
type GetUrl = (signal: AbortSignal) => PromiseLike<ArtifactUrl>;

interface Target {
  agentId: string;
  path: string;
  options: DownloadOptions;
}

const backoffBase = 500;
const backoffCap = 8_000;

export async function startDownload(
  transport: Transport,
  target: Target,
  getUrl: GetUrl,
): Promise<ArtifactDownload> {
  const download = new Download(transport, target, getUrl);
  try {
    await download.begin();
  } catch (error) {
    download.end();
    throw about(error, { agentId: target.agentId });
  }
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const chunk = await download.read();
          if (chunk) controller.enqueue(chunk);
          else controller.close();
        } catch (error) {
          download.end();
          throw about(error, { agentId: target.agentId });
        }
      },
      cancel: () => download.end(),
    },
    { highWaterMark: 0 },
  );
  const bytes = async () => new Uint8Array(await new Response(body as unknown as BodyInit).arrayBuffer());
  return {
    path: target.path,
    ...(download.total === undefined ? {} : { sizeBytes: download.total }),
    ...(download.contentType === undefined ? {} : { contentType: download.contentType }),
    offset: download.offset,
    ...download.identity(),
    body,
    bytes,
    text: async () => new TextDecoder().decode(await bytes()),
    [Symbol.asyncDispose]: async () => {
      download.end();
      if (!body.locked) await body.cancel();
    },
  };
}

type BodyInit = ConstructorParameters<typeof Response>[0];

/** One artifact over as many connections as it takes. */
class Download {
  total: number | undefined;
  contentType: string | undefined;
  offset = 0;
  readonly #transport: Transport;
  readonly #getUrl: GetUrl;
  readonly #options: DownloadOptions;
  readonly #storage: ArtifactStorage;
  readonly #maxRetries: number;
  readonly #maxBytes: number;
  readonly #controller: ReturnType<typeof follow>;
  #url: string | undefined;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #loaded = 0;
  /** Bytes to pass over because the storage began anew. */
  #skip = 0;
  #validator: { etag: string | null; lastModified: string | null } | undefined;
  #isEncoded = false;
  /** The caller's position is a wish until the storage agrees that the file is still the same. */
  #isUnconfirmed = false;
  #failures = 0;
  #isRenewed = false;
  #connection: ReturnType<typeof follow> | undefined;

  constructor(transport: Transport, { agentId, options }: Target, getUrl: GetUrl) {
    const { settings } = transport;
    checkNames(options, downloadOptionNames);
    checkCallback("onProgress", options.onProgress);
    this.#transport = transport;
    this.#getUrl = getUrl;
    this.#options = options;
    const path = `/v1/agents/${encodeURIComponent(agentId)}/artifacts/download`;
    const idleMs = checkTimeout("timeout", options.timeout) ?? settings.timeout ?? 60_000;
    this.#storage = new ArtifactStorage(transport, path, idleMs);
    this.#maxRetries = checkCount("maxRetries", options.maxRetries) ?? settings.maxRetries;
    this.#maxBytes = checkCount("maxBytes", options.maxBytes) ?? Number.POSITIVE_INFINITY;
    this.#takePosition(options.resumeFrom);
    this.#controller = follow(checkSignal("signal", options.signal));
  }

  /** Only whole, unencoded bytes can be taken up again elsewhere. */
  identity(): { etag?: string; lastModified?: string } {
    const { etag, lastModified } = (!this.#isEncoded && this.#validator) || {};
    return { ...(etag ? { etag } : {}), ...(lastModified ? { lastModified } : {}) };
  }

  async begin(): Promise<void> {
    while (!this.#reader) await this.#open();
  }

  /** The next bytes, or undefined when all are here. */
  async read(): Promise<Uint8Array | undefined> {
    while (true) {
      if (!this.#reader) {
        await this.#open();
        continue;
      }
      let chunk: Uint8Array | undefined;
      let isDone = false;
      await this.#attempt(async () => {
        chunk = await this.#pull();
        isDone = chunk === undefined;
      });
      if (isDone) {
        this.#disconnect();
        this.#controller.release();
        return undefined;
      }
      if (chunk && chunk.byteLength > 0) return chunk;
    }
  }

  end(): void {
    this.#disconnect();
    this.#controller.abort();
    this.#controller.release();
  }

  async #open(): Promise<void> {
    // Outside of the attempt: what the API refuses is final here, and what may pass was retried by its own call.
    this.#url ??= this.#storage.checkUrl((await this.#getUrl(this.#controller.signal)).url);
    await this.#attempt(() => this.#connect());
  }

  /** One step; a failure that may pass is followed by a pause, any other is thrown. */
  async #attempt(step: () => Promise<void>): Promise<void> {
    const { signal } = this.#controller;
    try {
      signal.throwIfAborted();
      await step();
    } catch (error) {
      this.#disconnect();
      signal.throwIfAborted();
      if (this.#isEncoded) throw error; // its bytes can't be counted, so it can't be taken up again
      // An expired URL is renewed at once, and once: a second refusal in a row is meant.
      if (ApiError.isInstance(error) && error.status === 403 && !this.#isRenewed) {
        this.#isRenewed = true;
        this.#url = undefined;
        return;
      }
      if (!isRetryable(error, "safe") || this.#failures >= this.#maxRetries) throw error;
      const asked = ApiError.isInstance(error) ? error.retryAfterMs : undefined;
      const { clock, random } = this.#transport.settings;
      const delay = backoff(this.#failures++, backoffBase, backoffCap, random);
      await sleep(clock, asked ?? delay, signal);
    }
  }

  #disconnect(): void {
    discard(this.#reader);
    this.#reader = undefined;
    this.#connection?.abort();
    this.#connection?.release();
    this.#connection = undefined;
  }

  async #connect(): Promise<void> {
    this.#connection = follow(this.#controller.signal);
    const { signal } = this.#connection;
    const response = await this.#storage.get(this.#url as string, this.#rangeHeaders(), signal);
    const { status, headers } = response;
    if (status === 416 && this.#isUnconfirmed) {
      discard(response.body);
      this.#disconnect();
      this.#beginAnew();
      return this.#connect();
    }
    if (status !== 200 && status !== 206) throw await this.#storage.refusal(response, signal);
    if (this.#isUnconfirmed && status === 200) this.#beginAnew();
    this.#checkContinuation(status, headers);
    this.#checkSize(this.total ?? 0);
    const body = response.body ?? (new Response("").body as ReadableStream<Uint8Array>);
    this.#reader = body.getReader();
  }

  async #pull(): Promise<Uint8Array | undefined> {
    const reader = this.#reader;
    if (!reader) return new Uint8Array();
    const { signal } = this.#controller;
    const value = await this.#storage.read(reader, signal);
    if (value === undefined) {
      if (this.total === undefined || this.#loaded === this.total) return undefined;
      const short = new Error(`it ended after ${this.#loaded} of ${this.total} bytes`);
      throw this.#storage.connectionError(short, signal);
    }
    const chunk = this.#skip > 0 ? value.subarray(Math.min(this.#skip, value.byteLength)) : value;
    this.#skip -= value.byteLength - chunk.byteLength;
    this.#loaded += chunk.byteLength;
    if (this.total !== undefined && this.#loaded > this.total) {
      throw this.#storage.invalid(200, `has more than its ${this.total} bytes`);
    }
    this.#checkSize(this.#loaded);
    if (chunk.byteLength > 0) {
      this.#failures = 0;
      this.#isRenewed = false;
      this.#options.onProgress?.({
        loaded: this.#loaded,
        ...(this.total === undefined ? {} : { total: this.total }),
      });
    }
    return chunk;
  }

  #rangeHeaders(): Record<string, string> {
    if (this.#loaded === 0) return {};
    const { etag, lastModified } = this.#validator ?? { etag: null, lastModified: null };
    // A weak tag names no bytes, and is no valid If-Range.
    const validator = etag && !etag.startsWith("W/") ? etag : lastModified;
    return { range: `bytes=${this.#loaded}-`, ...(validator ? { "if-range": validator } : {}) };
  }

  #takePosition(position: ArtifactPosition | undefined): void {
    if (position === undefined) return;
    const { offset, etag = null, lastModified = null, sizeBytes } = position;
    if (!Number.isSafeInteger(offset) || offset < 0) {
      throw new ArgumentError("resumeFrom.offset", "expected a whole number, 0 or more");
    }
    if (offset === 0 || ((etag === null || etag.startsWith("W/")) && lastModified === null)) return;
    this.offset = offset;
    this.#loaded = offset;
    this.#validator = { etag, lastModified };
    this.total = sizeBytes;
    this.#isUnconfirmed = true;
  }

  #beginAnew(): void {
    this.offset = 0;
    this.#loaded = 0;
    this.#validator = undefined;
    this.total = undefined;
    this.#isUnconfirmed = false;
  }

  #checkSize(bytes: number): void {
    if (bytes <= this.#maxBytes) return;
    throw this.#storage.invalid(200, `is larger than maxBytes (${this.#maxBytes})`, "artifact_too_large");
  }

  /** Takes the length and identity of the file from the first answer; later ones must be of the same file. */
  #checkContinuation(status: number, headers: Headers): void {
    const validator = { etag: headers.get("etag"), lastModified: headers.get("last-modified") };
    const encoding = headers.get("content-encoding");
    this.#isEncoded = encoding !== null && encoding !== "" && encoding !== "identity";
    const length = status === 200 && !this.#isEncoded ? lengthOf(headers.get("content-length")) : undefined;
    if (this.#validator === undefined) {
      if (status === 206) throw this.#storage.invalid(status, "came in part, unasked");
      this.#validator = validator;
      this.contentType = headers.get("content-type") ?? undefined;
      this.total = length;
      return;
    }
    if (this.#isUnconfirmed) this.contentType = headers.get("content-type") ?? undefined;
    this.#isUnconfirmed = false;
    const isSame =
      validator.etag === this.#validator.etag && validator.lastModified === this.#validator.lastModified;
    if (status === 206) {
      const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get("content-range") ?? "");
      if (!range || Number(range[1]) !== this.#loaded)
        throw this.#storage.invalid(status, "continues at another place than asked");
      // A storage that doesn't know If-Range would go on in the middle of another file.
      if (
        validator.etag !== null &&
        this.#validator.etag !== null &&
        validator.etag !== this.#validator.etag
      ) {
        throw this.#storage.invalid(status, "changed while it was downloaded");
      }
      const total = lengthOf(range[2] ?? null);
      if (this.total !== undefined && total !== undefined && total !== this.total) {
        throw this.#storage.invalid(status, "changed while it was downloaded");
      }
      this.total ??= total;
      this.#skip = 0;
      return;
    }
    if (
      this.#loaded > 0 &&
      (!isSame || (length !== undefined && this.total !== undefined && length !== this.total))
    ) {
      throw this.#storage.invalid(status, "changed while it was downloaded");
    }
    this.total ??= length;
    this.#skip = this.#loaded;
  }
}

const lengthOf = (value: string | null): number | undefined =>
  value !== null && /^\d+$/.test(value) ? Number(value) : undefined;
