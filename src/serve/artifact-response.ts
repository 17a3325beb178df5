import { checkFlag, isSafeTransport, type OptionTable, orDefault } from "../check.ts";
import { ApiError, type ArtifactDownload, type Cursor } from "../index.ts";
import { answer, empty, json } from "./failure.ts";
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
      return json(200, { items });
    }),
  );
}

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
 * written anything, and it must not run as your site.
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
      if (proxy) return toResponse(await cursor.artifacts.download(ref.agentId, path as string, { signal }));
      const { url } = await cursor.artifacts.url(ref.agentId, path as string, { signal });
      return empty(302, { location: checkLocation(url, ref), "referrer-policy": "no-referrer" });
    }),
  );
}

/** Returns the URL if a browser may be redirected to it: https, or the storage of an emulator on this machine. */
function checkLocation(url: string, { agentId }: AgentRef): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed && isSafeTransport(parsed) && parsed.username === "" && parsed.password === "") return url;
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

function toResponse({ path, body, contentType, sizeBytes }: ArtifactDownload): Response {
  return new Response(body, {
    headers: {
      "content-type": harmlessType(contentType),
      ...(sizeBytes === undefined ? {} : { "content-length": String(sizeBytes) }),
      "content-disposition": `attachment; filename*=UTF-8''${encodeName(path)}`,
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
      "cache-control": "private, no-store",
    },
  });
}

/**
 * A page of the site that loads the file as a script or a style ignores both the download and the sandbox headers. Only
 * another type, together with `nosniff`, keeps it from running.
 */
const harmlessType = (type = "application/octet-stream"): string =>
  /script|css/i.test(type) ? "application/octet-stream" : type;

/** The file's own name, in the encoding of RFC 8187. */
function encodeName(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1) || "artifact";
  return encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
