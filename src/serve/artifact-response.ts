import { checkFlag, type OptionTable, orDefault } from "../check.ts";
import { ApiError, type ArtifactDownload, type ArtifactPosition, type Cursor } from "../index.ts";
import { answer, apiJson, empty, fail, failureResponse } from "./failure.ts";
import { type AgentRef, checkRoute, type ServeOptions, serveTable, throughGate, toAgentRef } from "./gate.ts";

/**
 * Lists an agent's artifacts for a browser: `{ "items": [{ path, sizeBytes, updatedAt }, …] }`, at most 100. Each
 * `path` is one that {@link artifactResponse} accepts.
 *
 * @throws ArgumentError when an option is not valid, above all without `authorize`; whatever `authorize` throws
 * @example
 * app.get("/agents/:agentId/artifacts", (context) =>
 *   artifactsResponse(cursor, context.req.param("agentId"), { request: context.req.raw, authorize }));
 */
export async function artifactsResponse(
  cursor: Cursor,
  agentId: string,
  options: ServeOptions<AgentRef>,
): Promise<Response> {
  const checked = checkRoute(serveTable, cursor, options);
  const { signal } = checked.request;
  return throughGate("GET", toAgentRef(agentId), checked, (ref) =>
    answer(checked, async () => {
      const { items } = await cursor.artifacts.list(ref.agentId, { signal });
      return apiJson(cursor, 200, { items }, listShape);
    }),
  );
}

const listShape = { items: [{ path: true, sizeBytes: true, updatedAt: true }] } as const;

/** How a browser gets an artifact. */
export interface ArtifactResponseOptions extends ServeOptions<AgentRef> {
  /** Send the bytes through this server, instead of redirecting the browser to the storage. @default false */
  proxy?: boolean | undefined;
}

const artifactTable = {
  ...serveTable,
  proxy: orDefault(checkFlag, false),
} satisfies OptionTable<ArtifactResponseOptions>;

/**
 * Gives one artifact to a browser: a redirect to its presigned URL, which works for about 15 minutes and for everyone who
 * has it, or, with `proxy`, the bytes. Proxied files are sent as downloads in a sandbox of their own: an agent may have
 * written anything, and it must not run as your site. Range, If-Range, If-None-Match and HEAD work as HTTP has them, so that
 * a video can be sought in and a download continues; several ranges at once get the whole file.
 *
 * @param path As the list gives it, `artifacts/…`; anything else is 404
 * @throws ArgumentError when an option is not valid, above all without `authorize`; whatever `authorize` throws
 * @example
 * app.get("/agents/:agentId/artifact", (context) =>
 *   artifactResponse(cursor, context.req.param("agentId"), context.req.query("path"), { request: context.req.raw, authorize }));
 */
export async function artifactResponse(
  cursor: Cursor,
  agentId: string,
  path: string | null | undefined,
  options: ArtifactResponseOptions,
): Promise<Response> {
  const checked = checkRoute(artifactTable, cursor, options);
  const { request, proxy } = checked;
  // A path that is not valid is treated like an id that is not: without a ref the gate answers 404.
  const known = isArtifactPath(path) ? toAgentRef(agentId) : undefined;
  return throughGate("GET", known, checked, (ref) =>
    answer(checked, async () => {
      const { signal } = request;
      if (proxy) return new ProxiedFile(cursor, ref.agentId, path as string, request).respond();
      const { url } = await cursor.artifacts.url(ref.agentId, path as string, { signal });
      return empty(302, { location: checkLocation(cursor, url, ref), "referrer-policy": "no-referrer" });
    }),
  );
}

/** Where a browser may be redirected to: https and public, or a storage on this machine, where the API is an emulator. */
function checkLocation(cursor: Cursor, url: string, { agentId }: AgentRef): string {
  if (cursor.artifacts.isStorageUrl(url)) return url;
  const path = `/v1/agents/${agentId}/artifacts/download`;
  throw new ApiError(`GET ${path} -> 200, but its URL is not an https address`, {
    status: 502,
    code: "invalid_response",
    method: "GET",
    path,
    agentId,
  });
}

/** Whether a path is like those the API lists: below `artifacts/`, without `..`, control characters or lone surrogates. */
const isArtifactPath = (path: unknown): path is string =>
  typeof path === "string" &&
  path.length <= 4096 &&
  /^artifacts\/[^\0-\x1f\x7f\p{Surrogate}]+$/u.test(path) &&
  !path.split(/[/\\]/).includes("..");

interface Part {
  start: number;
  /** Before this byte the part ends. */
  end: number;
}

/** One request for the bytes of a file: for all of them, for a part, or for those that changed. */
class ProxiedFile {
  readonly #download: (resumeFrom?: ArtifactPosition) => Promise<ArtifactDownload>;
  readonly #request: Request;

  constructor(cursor: Cursor, agentId: string, path: string, request: Request) {
    const { signal } = request;
    this.#download = (resumeFrom) => cursor.artifacts.download(agentId, path, { signal, resumeFrom });
    this.#request = request;
  }

  async respond(): Promise<Response> {
    const file = await this.#download();
    const { etag, sizeBytes } = file;
    const headers = headersOf(file);
    if (etag !== undefined && matches(this.#request.headers.get("if-none-match"), etag)) {
      await file.body.cancel();
      return new Response(null, { status: 304, headers: withoutContent(headers) });
    }
    const part = sizeBytes === undefined ? "all" : this.#requestedPart(file, sizeBytes);
    if (part === "all" || sizeBytes === undefined) return new Response(file.body, { headers });
    if (part === "none") {
      await file.body.cancel();
      return failureResponse(fail(416, "range_not_satisfiable"), { "content-range": `bytes */${sizeBytes}` });
    }
    const { start, end } = part;
    const range = {
      "content-range": `bytes ${start}-${end - 1}/${sizeBytes}`,
      "content-length": String(end - start),
    };
    const source = await this.#continueAt(file, start);
    // The file was replaced between two requests to the storage: the new one, from its start, is a whole answer.
    const isSame =
      source.etag === etag && source.lastModified === file.lastModified && source.sizeBytes === sizeBytes;
    if (!isSame) return new Response(source.body, { headers: headersOf(source) });
    const body = cutBytes(source.body, { start: start - source.offset, end: end - source.offset });
    return new Response(body, { status: 206, headers: { ...headers, ...range } });
  }

  /** HEAD is about the whole file. */
  #requestedPart({ etag, lastModified }: ArtifactDownload, size: number): Part | "all" | "none" {
    const { method, headers } = this.#request;
    const range = headers.get("range");
    const condition = headers.get("if-range");
    const isSame =
      condition === null || (condition === etag && !etag.startsWith("W/")) || condition === lastModified;
    return method === "HEAD" || range === null || !isSame ? "all" : partOf(range, size);
  }

  /** The file from this byte on, where the storage can continue there; otherwise from its start. */
  async #continueAt(file: ArtifactDownload, offset: number): Promise<ArtifactDownload> {
    const { etag, lastModified, sizeBytes } = file;
    if (offset === 0 || ((etag === undefined || etag.startsWith("W/")) && lastModified === undefined))
      return file;
    await file.body.cancel();
    return this.#download({ offset, etag, lastModified, sizeBytes });
  }
}

function headersOf({
  path,
  contentType,
  sizeBytes,
  etag,
  lastModified,
}: ArtifactDownload): Record<string, string> {
  return {
    "content-type": harmlessType(contentType),
    ...(sizeBytes === undefined ? {} : { "content-length": String(sizeBytes), "accept-ranges": "bytes" }),
    ...(etag === undefined ? {} : { etag }),
    ...(lastModified === undefined ? {} : { "last-modified": lastModified }),
    "content-disposition": dispositionOf(path),
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "cache-control": "private, no-store",
  };
}

const withoutContent = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith("content-")));

/** As If-None-Match compares: a weak tag equals the strong one. */
function matches(condition: string | null, etag: string): boolean {
  if (condition === null) return false;
  const strong = (tag: string) => tag.trim().replace(/^W\//, "");
  return (
    condition.trim() === "*" ||
    (condition.match(/(W\/)?"[^"]*"/g) ?? []).some((tag) => strong(tag) === strong(etag))
  );
}

/** One range of bytes; several of them, or other units, are answered with the whole file, as HTTP allows. */
function partOf(range: string, size: number): Part | "all" | "none" {
  const [, first, last] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(range) ?? [];
  if (first === undefined || last === undefined || (first === "" && last === "")) return "all";
  if (first === "")
    return Number(last) === 0 || size === 0 ? "none" : { start: Math.max(0, size - Number(last)), end: size };
  const start = Number(first);
  if (last !== "" && Number(last) < start) return "all";
  if (start >= size) return "none";
  return { start, end: last === "" ? size : Math.min(size, Number(last) + 1) };
}

/** A part of a body, read as it is pulled; what follows the part is not read. */
function cutBytes(body: ReadableStream<Uint8Array>, { start, end }: Part): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        while (true) {
          const { done, value } = await reader.read();
          if (done) return controller.close();
          const piece = value.subarray(Math.max(0, start - at), Math.max(0, end - at));
          at += value.length;
          if (piece.length > 0) controller.enqueue(piece);
          if (at >= end) {
            controller.close();
            return reader.cancel();
          }
          if (piece.length > 0) return;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/**
 * A page of the site that loads the file as a script or a style ignores both the download and the sandbox headers. Only
 * another type, together with `nosniff`, keeps it from running.
 */
const harmlessType = (type = "application/octet-stream"): string =>
  /script|css/i.test(type) ? "application/octet-stream" : type;

/** The file's own name: in ASCII for clients that know nothing else, then in full, in the encoding of RFC 8187. */
function dispositionOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1) || "artifact";
  const ascii = name.replace(/[^\x20-\x7e]/gu, "_").replace(/["\\]/g, "\\$&");
  const full = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${full}`;
}
