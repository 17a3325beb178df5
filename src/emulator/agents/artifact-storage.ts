import { bytesSource, fingerprint, toBytes } from "../body-source.ts";
import type { Core } from "../core.ts";
import { type Answer, type HeaderEntries, headerOf, type IncomingRequest } from "../exchange.ts";
import type { ArtifactRecord } from "../store.ts";

// Not a real secret: it only makes changed URLs detectable.
const SECRET = "emulated-storage";

function encodeKey(key: string): string {
  const encode = (segment: string) =>
    encodeURIComponent(segment).replace(
      /[!'()*]/g,
      (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  return key.split("/").map(encode).join("/");
}

function sign(path: string, query: string): string {
  const digest = fingerprint(toBytes(`${SECRET}\nGET\n${path}\n${query}`));
  return digest + fingerprint(toBytes(digest + SECRET));
}

/** `20260413T183000Z` */
const amazonDate = (ms: number) => new Date(ms).toISOString().replace(/[-:]|\.\d{3}/g, "");

function fromAmazonDate(text: string): number {
  return Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}

/** A presigned URL of the storage, as Download An Artifact returns it. */
export function presign(core: Core, agentId: string, path: string, origin: string) {
  const now = core.store.now();
  const seconds = core.options.urlLifetimeSeconds;
  const date = amazonDate(now);
  const query = new URLSearchParams([
    ["X-Amz-Algorithm", "AWS4-HMAC-SHA256"],
    ["X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD"],
    ["X-Amz-Credential", `EMULATOREXAMPLE/${date.slice(0, 8)}/us-east-1/s3/aws4_request`],
    ["X-Amz-Date", date],
    ["X-Amz-Expires", String(seconds)],
    ["X-Amz-SignedHeaders", "host"],
    ["x-id", "GetObject"],
  ]).toString();
  const target = `/${agentId}/${encodeKey(path)}`;
  return {
    url: `${origin}${target}?${query}&X-Amz-Signature=${sign(target, query)}`,
    // The signature has whole seconds only.
    expiresAt: new Date(fromAmazonDate(date) + seconds * 1000).toISOString(),
  };
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function xml(status: number, code: string, message: string, more: Record<string, string> = {}): Answer {
  const fields = Object.entries({ Code: code, Message: message, ...more });
  const inner = fields.map(([name, value]) => `<${name}>${escapeXml(value)}</${name}>`).join("");
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${inner}<HostId>emulator</HostId></Error>`;
  return { status, headers: [["content-type", "application/xml"]], body: toBytes(body) };
}

/** The requested range; `undefined` to send the whole file; `unsatisfiable` for 416. */
function rangeOf(request: IncomingRequest, file: ArtifactRecord) {
  const header = headerOf(request.headers, "range");
  const condition = headerOf(request.headers, "if-range");
  if (header === undefined || (condition !== undefined && condition !== file.etag)) return undefined;
  const [, from = "", to = ""] = /^bytes=(\d*)-(\d*)$/.exec(header.trim()) ?? [];
  if (from === "" && to === "") return undefined; // Several ranges, or an invalid one, are ignored.
  const size = file.bytes.length;
  const start = from === "" ? Math.max(0, size - Number(to)) : Number(from);
  const end = from === "" || to === "" ? size : Math.min(size, Number(to) + 1);
  return start >= size || end <= start ? "unsatisfiable" : { start, end };
}

function send(request: IncomingRequest, file: ArtifactRecord): Answer {
  const size = file.bytes.length;
  const range = rangeOf(request, file);
  const headers: HeaderEntries = [
    ["accept-ranges", "bytes"],
    ["etag", file.etag],
    ["last-modified", new Date(file.updatedAt).toUTCString()],
    ["content-type", file.contentType],
  ];
  if (range === "unsatisfiable") {
    const answer = xml(416, "InvalidRange", "The requested range is not satisfiable");
    return { ...answer, headers: [...answer.headers, ["content-range", `bytes */${size}`]] };
  }
  const bytes = range === undefined ? file.bytes : file.bytes.subarray(range.start, range.end);
  headers.push(["content-length", String(bytes.length)]);
  if (range !== undefined) headers.push(["content-range", `bytes ${range.start}-${range.end - 1}/${size}`]);
  return { status: range === undefined ? 200 : 206, headers, body: bytesSource(bytes) };
}

/**
 * Answers as S3 does: rejects a second way of authentication (and repeats it in the answer), a changed URL and an expired
 * one; serves ranges.
 */
export function serveArtifact(core: Core, request: IncomingRequest): Answer {
  const authorization = headerOf(request.headers, "authorization");
  if (authorization !== undefined) {
    const message =
      "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or the Authorization header should be specified";
    return xml(400, "InvalidArgument", message, {
      ArgumentName: "Authorization",
      ArgumentValue: authorization,
    });
  }
  const [path = "", query = ""] = request.target.split("?", 2);
  const signature = /&X-Amz-Signature=([0-9a-f]+)$/.exec(query);
  if (query === "") return xml(403, "AccessDenied", "Access Denied");
  const signed = signature === null ? query : query.slice(0, signature.index);
  if (request.method !== "GET" || signature?.[1] !== sign(path, signed)) {
    const message =
      "The request signature we calculated does not match the signature you provided. Check your key and signing method.";
    return xml(403, "SignatureDoesNotMatch", message);
  }
  const parameters = new URLSearchParams(signed);
  const expires =
    fromAmazonDate(parameters.get("X-Amz-Date") ?? "") + Number(parameters.get("X-Amz-Expires")) * 1000;
  if (core.store.now() >= expires) {
    return xml(403, "AccessDenied", "Request has expired", {
      "X-Amz-Expires": parameters.get("X-Amz-Expires") ?? "",
      Expires: new Date(expires).toISOString(),
      ServerTime: new Date(core.store.now()).toISOString(),
    });
  }
  const [, agentId = "", key = ""] = /^\/([^/]+)\/(.*)$/s.exec(decodeURIComponent(path)) ?? [];
  const file = core.store.agents.get(agentId)?.artifacts.get(key);
  return file === undefined
    ? xml(404, "NoSuchKey", "The specified key does not exist.", { Key: key })
    : send(request, file);
}
