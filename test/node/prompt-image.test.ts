import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ArgumentError } from "cursor-cloud-agents";
import { imageFromBytes, imageFromFile } from "cursor-cloud-agents/node";
import { describe, expect, it } from "vitest";
import { failure } from "../support/waiting.ts";
import { stage, temporaryFolder } from "./helpers.ts";

const heads = {
  "image/png": Buffer.from("\x89PNG\r\n\x1a\n rest", "latin1"),
  "image/jpeg": Buffer.from("\xff\xd8\xff\xe0 rest", "latin1"),
  "image/gif": Buffer.from("GIF89a rest", "latin1"),
  "image/webp": Buffer.from("RIFF\x0a\x00\x0d\x00WEBPVP8 ", "latin1"),
};
const png = heads["image/png"];
const limit = 15 * 1024 * 1024;

describe("imageFromFile", () => {
  it.each(Object.entries(heads))(
    "tells %s by its content, whatever the name says",
    async (mimeType, bytes) => {
      const file = join(temporaryFolder(), "image.txt");
      writeFileSync(file, bytes);
      expect(await imageFromFile(file)).toEqual({ data: bytes.toString("base64"), mimeType });
    },
  );

  it("gives what a prompt takes", async () => {
    const { cursor, emulator, folder } = stage();
    writeFileSync(join(folder, "mockup.png"), png);
    const image = await imageFromFile(join(folder, "mockup.png"), { dimension: { width: 2, height: 3 } });
    await cursor.agents.create({ prompt: { text: "Build this", images: [image] } });
    const body = JSON.parse(emulator.requests.at(-1)?.bodyText ?? "");
    expect(body.prompt.images).toEqual([
      { data: png.toString("base64"), mimeType: "image/png", dimension: { width: 2, height: 3 } },
    ]);
  });

  it("takes 15 MB and no byte more", async () => {
    const file = join(temporaryFolder(), "large.png");
    writeFileSync(file, png);
    truncateSync(file, limit);
    expect((await imageFromFile(file)).data).toHaveLength(Math.ceil(limit / 3) * 4);
    truncateSync(file, limit + 1);
    expect(await failure(imageFromFile(file))).toMatchObject({
      argument: "path",
      message: expect.stringContaining("15 MB"),
    });
  });

  it("names the argument that can't work", async () => {
    const folder = temporaryFolder();
    const write = (name: string, content: string) => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    mkdirSync(join(folder, "folder"));
    const paths = [
      "",
      "a\0b",
      7,
      join(folder, "none.png"),
      join(folder, "folder"),
      write("empty.png", ""),
      write("x.png", "<svg/>"),
    ];
    for (const path of paths) {
      const error = await failure(imageFromFile(path as string));
      expect([path, error.kind, error.argument]).toEqual([path, "argument", "path"]);
    }
  });

  it("rejects with the caller's reason when aborted, and with the disk's error as cause", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "image.png");
    writeFileSync(file, png);
    expect(await failure(imageFromFile(file, { signal: AbortSignal.abort("no") }))).toBe("no");
    const error = await failure(imageFromFile(join(file, "x")));
    expect(error).toMatchObject({ kind: "error", cause: { code: "ENOTDIR" } });
  });
});

describe("imageFromBytes", () => {
  it("takes a view into a larger buffer for what it shows", () => {
    const large = Buffer.concat([Buffer.alloc(5), png, Buffer.alloc(5)]);
    const view = new Uint8Array(large.buffer, large.byteOffset + 5, png.byteLength);
    expect(imageFromBytes(view)).toEqual({ data: png.toString("base64"), mimeType: "image/png" });
  });

  it.each([
    [new Uint8Array()],
    [Buffer.from("BM bitmap")],
    ["text"],
    [Buffer.from("RIFF1234WAVE")],
    [Buffer.from("GIF88a")],
  ])("names its argument: %j", (bytes) => {
    expect(() => imageFromBytes(bytes as Uint8Array)).toThrow(ArgumentError);
    expect(() => imageFromBytes(bytes as Uint8Array)).toThrow(/^bytes: /);
  });

  it("rejects dimensions that are not whole pixels", () => {
    for (const width of [0, 1.5, -1]) {
      expect(() => imageFromBytes(png, { dimension: { width, height: 1 } })).toThrow(/^dimension: /);
    }
  });
});
