import { execFileSync, spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readText } from "../../src/cli/read-text.ts";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { cli, key, temporaryFolder } from "./helpers.ts";

const never = new AbortController().signal;
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le");
const swapped = (bytes: Buffer) => Buffer.from(bytes).swap16();

const texts: [string, Buffer, string][] = [
  ["UTF-8", Buffer.from("Prüfe 日本 👩‍👩‍👧"), "Prüfe 日本 👩‍👩‍👧"],
  ["UTF-8 with a byte order mark", Buffer.from("\ufeffFix it"), "Fix it"],
  ["UTF-16LE with a byte order mark", utf16("Fix the login\r\n"), "Fix the login\r\n"],
  ["UTF-16BE with a byte order mark", swapped(utf16("Prüfe 👩‍👧\r\n")), "Prüfe 👩‍👧\r\n"],
  ["nothing", Buffer.of(), ""],
];

const noTexts: [string, Buffer][] = [
  ["Latin-1", Buffer.from("Prüfe", "latin1")],
  ["a PNG", Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1")],
  ["UTF-16 without a byte order mark", Buffer.from("Fix", "utf16le")],
  ["half a character of UTF-16", utf16("Fix").subarray(0, -1)],
  ["half a surrogate pair in UTF-16", utf16("\ud83d")],
  ["UTF-32", Buffer.from("fffe0000460000006900000078000000", "hex")],
  ["UTF-8 that ends inside a character", Buffer.from("Prü").subarray(0, -1)],
  ["UTF-8 of a surrogate", Buffer.from("eda080", "hex")],
  ["a NUL", Buffer.from("Fix\0it")],
];

describe("text that is read", () => {
  it.each(texts)("may be %s", async (_, bytes, text) => {
    const path = join(await temporaryFolder(), "text");
    await writeFile(path, bytes);
    expect(await readText(path, never)).toBe(text);
    const inPieces = (async function* () {
      for (const byte of bytes) yield Buffer.of(byte);
    })();
    expect(await readText(inPieces, never)).toBe(text);
  });

  it.each(noTexts)("is rejected if it is %s", async (_, bytes) => {
    const path = join(await temporaryFolder(), "text");
    await writeFile(path, bytes);
    await expect(readText(path, never)).rejects.toMatchObject({
      exitCode: 64,
      message: expect.stringMatching(/expected text encoded as UTF-8/),
    });
    const emulator = checkedEmulator();
    const argvs = [
      ["run", "--file", path],
      ["run", "x", "--env-file", path],
      ["run", "x", "--mcp-file", path],
      ["run", "x", "--subagents-file", path],
      ["me", "--api-key-file", path],
    ];
    for (const argv of argvs) {
      const { code, stderr } = await cli(argv, { emulator });
      expect([argv, code]).toEqual([argv, 64]);
      expect(stderr).toContain("UTF-8");
    }
    for (const argv of [
      ["run", "-"],
      ["me", "--api-key-file", "-"],
    ]) {
      const { code, stderr } = await cli(argv, { emulator, stdin: bytes });
      expect([argv, code]).toEqual([argv, 64]);
      expect(stderr).toMatch(/^error: stdin: expected text encoded as UTF-8/);
    }
    expect(emulator.requests).toEqual([]);
  });

  it("reaches the agent decoded", async () => {
    const emulator = checkedEmulator();
    expect((await cli(["run", "-"], { emulator, stdin: utf16("Fix the login\r\n") })).code).toBe(0);
    expect(emulator.requests[0]?.json).toMatchObject({ prompt: { text: "Fix the login" } });
    const stdin = utf16(`${key}\r\n`);
    const env = { CURSOR_API_KEY: undefined };
    expect((await cli(["me", "--api-key-file", "-"], { emulator, env, stdin })).code).toBe(0);
  });
});

describe.skipIf(process.platform === "win32")("a named pipe", () => {
  async function makePipe() {
    const path = join(await temporaryFolder(), "pipe");
    execFileSync("mkfifo", [path]);
    return path;
  }

  it("is read to its end, however late its writer comes", async () => {
    const path = await makePipe();
    const text = readText(path, never);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const writer = spawn("sh", ["-c", 'exec > "$0"; printf "Fix "; sleep 0.1; printf it', path]);
    onTestFinished(() => {
      writer.kill("SIGKILL");
    });
    expect(await text).toBe("Fix it");
  });

  it("is left when the command ends", async () => {
    const stop = new AbortController();
    const text = readText(await makePipe(), stop.signal);
    setTimeout(() => stop.abort(new Error("enough")), 20);
    await expect(text).rejects.toThrow("enough");
  });
});
