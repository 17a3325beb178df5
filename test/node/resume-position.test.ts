import { Cursor, type DownloadOptions } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import { failure } from "../support/waiting.ts";

type Storage = (headers: Headers) => Response;

/** A download from a storage that answers as told; and what it was asked. */
function download(storage: Storage, options: DownloadOptions) {
  const asked: Headers[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    if (!String(input).startsWith("https://storage.test/"))
      return Response.json({ url: "https://storage.test/x?s=1", expiresAt: "" });
    const headers = new Headers(init?.headers);
    asked.push(headers);
    return storage(headers);
  };
  const cursor = new Cursor({ apiKey: "test", fetch, random: () => 0 });
  return { asked, result: cursor.artifacts.download("bc-1", "artifacts/x", options) };
}

const whole = new TextEncoder().encode("0123456789");
const answer = (status: number, bytes: Uint8Array | null, headers: Record<string, string> = {}) =>
  new Response(bytes as never, { status, headers });
const rest = (etag: string) => ({ etag, "content-range": "bytes 4-9/10" });
const position = { offset: 4, etag: '"1"', sizeBytes: 10 };

describe("resumeFrom", () => {
  it("asks for the rest, and gives the rest", async () => {
    const { asked, result } = download(() => answer(206, whole.subarray(4), rest('"1"')), {
      resumeFrom: position,
    });
    const { offset, sizeBytes, etag, text } = await result;
    expect([offset, sizeBytes, etag, await text()]).toEqual([4, 10, '"1"', "456789"]);
    expect(Object.fromEntries(asked[0] ?? [])).toEqual({ range: "bytes=4-", "if-range": '"1"' });
  });

  it("starts again when the storage sends another version, or has too few bytes for the range", async () => {
    const newer: Storage = () => answer(200, whole, { etag: '"2"', "content-length": "10" });
    const shorter: Storage = (headers) => (headers.has("range") ? answer(416, null) : newer(headers));
    for (const storage of [newer, shorter]) {
      const { offset, etag, text } = await download(storage, { resumeFrom: position }).result;
      expect([offset, etag, await text()]).toEqual([0, '"2"', "0123456789"]);
    }
  });

  it.each([
    ["nothing to compare", { offset: 4 }],
    ["a weak tag only", { offset: 4, etag: 'W/"1"' }],
    ["no bytes", { offset: 0, etag: '"1"' }],
  ])("is of no use with %s", async (_name, resumeFrom) => {
    const { asked, result } = download(() => answer(200, whole), { resumeFrom });
    expect(await (await result).text()).toBe("0123456789");
    expect(asked[0]?.has("range")).toBe(false);
  });

  it.each([
    ["of another version", rest('"2"')],
    ["of another place", { etag: '"1"', "content-range": "bytes 3-9/10" }],
    ["of another size", { etag: '"1"', "content-range": "bytes 4-10/11" }],
  ])("takes no range %s", async (_name, headers) => {
    const { result } = download(() => answer(206, whole.subarray(4), headers), { resumeFrom: position });
    expect(await failure(result)).toMatchObject({ kind: "api", code: "invalid_response" });
  });

  it.each([-1, 0.5, Number.NaN, "4"])("refuses the offset %j", async (offset) => {
    const { asked, result } = download(() => answer(200, whole), {
      resumeFrom: { offset: offset as number },
    });
    expect(await failure(result)).toMatchObject({ argument: "resumeFrom.offset" });
    expect(asked).toEqual([]);
  });
});

describe("maxBytes", () => {
  it("fails before the body where the length is known, and inside it where it isn't", async () => {
    const told = download(() => answer(200, whole, { "content-length": "10" }), { maxBytes: 9 });
    expect(await failure(told.result)).toMatchObject({ code: "artifact_too_large" });
    const untold = await download(() => answer(200, whole), { maxBytes: 9 }).result;
    expect(await failure(untold.bytes())).toMatchObject({ code: "artifact_too_large" });
    const exact = await download(() => answer(200, whole), { maxBytes: 10 }).result;
    expect(await exact.text()).toBe("0123456789");
  });
});
