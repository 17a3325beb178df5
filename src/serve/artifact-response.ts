import { isSafeTransport } from "../check.ts";
import { ApiError, type ArtifactDownload, type Cursor } from "../index.ts";
import { answer, empty, notFound } from "./answers.ts";
import { refuseAtGate } from "./gate.ts";
import {
  type AgentRef,
  checkFlag,
  checkOptions,
  commonNames,
  type ServeOptions,
  toAgentRef,
} from "./options.ts";

/** How a browser gets an artifact. */
export interface ArtifactResponseOptions extends ServeOptions<AgentRef> {
  /** Send the bytes through this server, instead of sending the browser to the storage. @default false */
  proxy?: boolean | undefined;
}

/**
 * Gives one artifact to a browser: a redirect to its presigned URL, which is good for about 15 minutes and for whoever
 * has it, or, with `proxy`, the bytes. Proxied files come as downloads in a sandbox of their own: an agent may have
 * written anything, and it must not run as your site.
 *
 * @param path As the list gives it, `artifacts/…`; anything else is 404
 * @throws ArgumentError when an option can't work, above all without `authorize`; what `authorize` throws
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
  checkOptions(cursor, options, [...commonNames, "proxy"]);
  const isProxied = checkFlag("proxy", options.proxy);
  const ref = isArtifactPath(path) ? toAgentRef(agentId) : undefined;
  const refused = await refuseAtGate({ method: "GET" }, ref, options);
  if (refused || !ref || !isArtifactPath(path)) return refused ?? notFound();
  const { signal } = options.request;
  return answer(options, async () => {
    if (isProxied) return toResponse(await cursor.artifacts.download(ref.agentId, path, { signal }));
    const { url } = await cursor.artifacts.url(ref.agentId, path, { signal });
    return empty(302, { location: checkLocation(url, ref), "referrer-policy": "no-referrer" });
  });
}

/** What a browser may be sent to: https, or this machine's own storage, where the API is an emulator. */
function checkLocation(url: string, { agentId }: AgentRef): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed && isSafeTransport(parsed) && parsed.username === "" && parsed.password === "") return url;
  const path = `/v1/agents/${agentId}/artifacts/download`;
  throw new ApiError(`GET ${path} -> 200, but the URL in it is no https address`, {
    status: 502,
    code: "invalid_response",
    method: "GET",
    path,
    agentId,
  });
}

/** As the API lists them: below `artifacts/`, without a step up, a control character or half a surrogate pair. */
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
 * A page of the site that loads it as a script or a style asks neither for a download nor for a sandbox: only a type
 * that is no such thing, with `nosniff`, keeps it from running.
 */
const harmlessType = (type = "application/octet-stream"): string =>
  /script|css/i.test(type) ? "application/octet-stream" : type;

/** The file's own name, in the form of RFC 8187. */
function encodeName(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1) || "artifact";
  return encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
