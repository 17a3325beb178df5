import { describe, expect, it } from "vitest";
import {
  checkPosition,
  continueDownload,
  type DownloadProgress,
  type FileVersion,
  type ReadingProgress,
  rangeHeaders,
} from "../../src/resources/artifact-continuation.ts";

const v1 = { etag: '"v1"', lastModified: null };
const date = "Thu, 01 Jan 2026 00:00:00 GMT";

const later = "Fri, 02 Jan 2026 00:00:00 GMT";
const dated = { etag: null, lastModified: date };
const weak = { etag: 'W/"1"', lastModified: null };
const unknown = { etag: null, lastModified: null };
const anew = { state: "restart" };

const fresh: DownloadProgress = { state: "new" };
const resuming = (more: object = {}): DownloadProgress => ({
  state: "resuming",
  loaded: 3,
  version: v1,
  total: 10,
  ...more,
});
const reading = (more: Partial<ReadingProgress> = {}): ReadingProgress => ({
  state: "reading",
  version: v1,
  contentType: "text/plain",
  total: 10,
  isEncoded: false,
  offset: 0,
  loaded: 3,
  skip: 0,
  ...more,
});

const whole = { etag: '"v1"', "content-length": "10", "content-type": "text/plain" };
const rest = { etag: '"v1"', "content-range": "bytes 3-9/10", "content-type": "text/plain" };
const rejected = (problem: string) => ({ state: "rejected", problem });
const unasked = rejected("came in part although the whole file was requested");
const elsewhere = rejected("continues at another position than requested");
const changed = rejected("changed while it was downloaded");
const unidentified = rejected("can't be continued: the storage doesn't say which version of it it sends");

/** An empty entry stands for a header that is absent. */
function next(before: DownloadProgress, status: number, headers: object) {
  const present = Object.entries(headers).filter(([, value]) => value !== "");
  return continueDownload(before, status, new Headers(present));
}

type Row = [title: string, before: DownloadProgress, status: number, headers: object, after: object];

describe("a new download", () => {
  it.each<Row>([
    ["takes version, type and length from its first answer", fresh, 200, whole, reading({ loaded: 0 })],
    [
      "does without any of them",
      fresh,
      200,
      {},
      reading({
        version: { etag: null, lastModified: null },
        contentType: undefined,
        total: undefined,
        loaded: 0,
      }),
    ],
    [
      "ignores a length that is not a number",
      fresh,
      200,
      { ...whole, "content-length": "ten" },
      reading({ total: undefined, loaded: 0 }),
    ],
    [
      "ignores the length of a compressed body",
      fresh,
      200,
      { ...whole, "content-encoding": "gzip" },
      reading({ total: undefined, isEncoded: true, loaded: 0 }),
    ],
    [
      "takes identity for no encoding",
      fresh,
      200,
      { ...whole, "content-encoding": "identity" },
      reading({ loaded: 0 }),
    ],
    ["rejects a part that it did not request", fresh, 206, rest, unasked],
    ["fails with an error status", fresh, 404, {}, { state: "failed" }],
    ["fails with 416, as it requested no range", fresh, 416, {}, { state: "failed" }],
    ["fails with a redirect", fresh, 302, {}, { state: "failed" }],
    ["fails with a success that has no body", fresh, 204, {}, { state: "failed" }],
  ])("%s", (_, before, status, headers, after) => {
    expect(next(before, status, headers)).toEqual(after);
  });
});

describe("a download from the caller's position", () => {
  it.each<Row>([
    ["continues there when the storage sends the rest", resuming(), 206, rest, reading({ offset: 3 })],
    ["learns the length from the range", resuming({ total: undefined }), 206, rest, reading({ offset: 3 })],
    [
      "keeps a length that the range does not repeat",
      resuming(),
      206,
      { ...rest, "content-range": "bytes 3-9/*" },
      reading({ offset: 3 }),
    ],
    [
      "continues by the date alone",
      resuming({ version: dated }),
      206,
      { ...rest, etag: "", "last-modified": date },
      reading({ version: dated, offset: 3 }),
    ],
    ["requests the whole file when the rest names no version", resuming(), 206, { ...rest, etag: "" }, anew],
    [
      "requests the whole file when the rest names no date",
      resuming({ version: dated }),
      206,
      { ...rest, etag: "" },
      anew,
    ],
    [
      "requests the whole file when the rest has a tag in place of the date",
      resuming({ version: dated }),
      206,
      rest,
      anew,
    ],
    [
      "rejects the rest of a file of another date",
      resuming({ version: dated }),
      206,
      { ...rest, "last-modified": later },
      changed,
    ],
    ["starts over when the storage sends the whole file", resuming(), 200, whole, reading({ loaded: 0 })],
    [
      "starts over when the whole file is of another version",
      resuming(),
      200,
      { ...whole, etag: '"v2"', "content-length": "12" },
      reading({ version: { etag: '"v2"', lastModified: null }, total: 12, loaded: 0 }),
    ],
    ["requests the whole file when there is no such position", resuming(), 416, {}, { state: "restart" }],
    ["rejects the rest of another version", resuming(), 206, { ...rest, etag: '"v2"' }, changed],
    ["rejects the rest of a file of another length", resuming({ total: 12 }), 206, rest, changed],
    ["rejects another position", resuming({ loaded: 4 }), 206, rest, elsewhere],
    ["stays as it is after an error status", resuming(), 403, {}, { state: "failed" }],
  ])("%s", (_, before, status, headers, after) => {
    expect(next(before, status, headers)).toEqual(after);
  });
});

describe("a download that was interrupted", () => {
  it.each<Row>([
    ["continues where it broke", reading(), 206, rest, reading()],
    ["keeps the caller's offset", reading({ offset: 2 }), 206, rest, reading({ offset: 2 })],
    ["keeps the type of the first answer", reading(), 206, { ...rest, "content-type": "x/y" }, reading()],
    ["forgets what was left to pass over", reading({ skip: 2 }), 206, rest, reading()],
    ["learns the length from the range", reading({ total: undefined }), 206, rest, reading()],
    ["passes over what it has when the storage starts over", reading(), 200, whole, reading({ skip: 3 })],
    [
      "learns the length from the whole file",
      reading({ total: undefined }),
      200,
      whole,
      reading({ skip: 3 }),
    ],
    [
      "notices that the body is compressed now",
      reading(),
      200,
      { ...whole, "content-encoding": "gzip" },
      reading({ isEncoded: true, skip: 3 }),
    ],
    [
      "accepts any version while no byte is here",
      reading({ loaded: 0 }),
      200,
      { ...whole, etag: '"v2"', "content-length": "12", "content-type": "x/y" },
      reading({ loaded: 0, version: { etag: '"v2"', lastModified: null }, total: 12, contentType: "x/y" }),
    ],
    ["rejects a part while no byte is here", reading({ loaded: 0 }), 206, rest, unasked],
    ...[
      ["no version", unknown, {}, unidentified],
      ["a weak tag alone", weak, { etag: weak.etag }, unidentified],
      ["a tag that appears", unknown, { etag: '"v1"' }, unidentified],
      ["a date that appears", unknown, { "last-modified": date }, unidentified],
      [
        "a date that appears beside a weak tag",
        weak,
        { etag: weak.etag, "last-modified": date },
        unidentified,
      ],
      ["a tag that vanishes", v1, {}, unidentified],
      ["a tag that turns weak", v1, { etag: 'W/"v1"' }, changed],
      ["a date that vanishes", dated, {}, unidentified],
      [
        "another date beside the same tag",
        { ...v1, lastModified: date },
        { etag: '"v1"', "last-modified": later },
        changed,
      ],
    ].map(
      ([what, version, answer, after]) =>
        [
          `doesn't continue with ${what}`,
          reading({ version: version as FileVersion }),
          206,
          { "content-range": "bytes 3-9/10", ...(answer as object) },
          after,
        ] as Row,
    ),
    [
      "doesn't pass over bytes of a file without a version",
      reading({ version: unknown }),
      200,
      { ...whole, etag: "" },
      unidentified,
    ],
    [
      "doesn't pass over bytes of a file with a weak tag",
      reading({ version: weak }),
      200,
      { ...whole, etag: weak.etag },
      unidentified,
    ],
    ["rejects the whole file of another version", reading(), 200, { ...whole, etag: '"v2"' }, changed],
    ["rejects a whole file that names no version any more", reading(), 200, { ...whole, etag: "" }, changed],
    ["rejects the whole file of another date", reading(), 200, { ...whole, "last-modified": date }, changed],
    ["rejects a whole file of another length", reading(), 200, { ...whole, "content-length": "11" }, changed],
    ["rejects the rest of another version", reading(), 206, { ...rest, etag: '"v2"' }, changed],
    [
      "rejects the rest of a file of another length",
      reading(),
      206,
      { ...rest, "content-range": "bytes 3-9/11" },
      changed,
    ],
    ["rejects another position", reading(), 206, { ...rest, "content-range": "bytes 4-9/10" }, elsewhere],
    ["rejects a range without its position", reading(), 206, { ...rest, "content-range": "" }, elsewhere],
    ["fails with 416", reading(), 416, {}, { state: "failed" }],
    ["fails with an error status", reading(), 503, {}, { state: "failed" }],
  ])("%s", (_, before, status, headers, after) => {
    expect(next(before, status, headers)).toEqual(after);
  });
});

describe("the headers of the next request", () => {
  it.each<[string, DownloadProgress, object]>([
    ["ask for the whole file at first", fresh, {}],
    ["ask for the whole file while no byte is here", reading({ loaded: 0 }), {}],
    ["ask for the rest of the same tag", reading(), { range: "bytes=3-", "if-range": '"v1"' }],
    ["ask for the rest from the caller's position", resuming(), { range: "bytes=3-", "if-range": '"v1"' }],
    [
      "name the date in place of a weak tag",
      reading({ version: { etag: 'W/"1"', lastModified: date } }),
      { range: "bytes=3-", "if-range": date },
    ],
    [
      "ask for the whole file where there is only a weak tag",
      reading({ version: { etag: 'W/"1"', lastModified: null } }),
      {},
    ],
    ["ask for the whole file of an unknown version", reading({ version: unknown }), {}],
  ])("%s", (_, progress, headers) => {
    expect(rangeHeaders(progress)).toEqual(headers);
  });
});

describe("the caller's position", () => {
  it.each<[string, unknown, object]>([
    ["is the beginning where it is left out", undefined, fresh],
    ["is the beginning at offset 0", { offset: 0, etag: '"v1"' }, fresh],
    ["is the beginning without a version", { offset: 3, sizeBytes: 10 }, fresh],
    ["is the beginning with a weak tag alone", { offset: 3, etag: 'W/"1"' }, fresh],
    ["is the beginning with empty validators", { offset: 3, etag: "", lastModified: "" }, fresh],
    ["is resumed with a strong tag", { offset: 3, etag: '"v1"', sizeBytes: 10 }, resuming()],
    [
      "is resumed with a date",
      { offset: 3, lastModified: date },
      resuming({ version: { etag: null, lastModified: date }, total: undefined }),
    ],
  ])("%s", (_, position, progress) => {
    expect(checkPosition("resumeFrom", position)).toEqual(progress);
  });

  it.each([-1, 1.5, "3", undefined, Number.MAX_SAFE_INTEGER + 1])("rejects the offset %j", (offset) => {
    const argument = "resumeFrom.offset";
    expect(() => checkPosition("resumeFrom", { offset })).toThrow(expect.objectContaining({ argument }));
  });
});
