import { refusal } from "./answers.ts";
import { fail } from "./failure.ts";

/** A form of another site can't send this type, so what has it was sent by a script that was allowed to. */
export function refuseUnlessJson({ headers }: Request): Response | undefined {
  const isJson = /^application\/json\s*(;|$)/i.test(headers.get("content-type") ?? "");
  return isJson ? undefined : refusal(fail(415, "unsupported_media_type"));
}

/** A request's JSON, read up to a limit, whatever its length was said to be; or the answer that says why not. */
export async function readJson(request: Request, maxBytes: number): Promise<{ value: unknown } | Response> {
  const bytes = await readBytes(request, maxBytes);
  if (bytes === undefined) return refusal(fail(413, "body_too_large"));
  try {
    return { value: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) };
  } catch {
    return refusal(fail(400, "invalid_request", { message: "The request is not valid JSON." }));
  }
}

async function readBytes({ headers, body }: Request, maxBytes: number): Promise<Uint8Array | undefined> {
  if (Number(headers.get("content-length")) > maxBytes) return undefined;
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = body?.getReader();
  try {
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
      length += next.value.length;
      if (length > maxBytes) {
        await reader?.cancel();
        return undefined;
      }
      chunks.push(next.value);
    }
  } finally {
    reader?.releaseLock();
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}
