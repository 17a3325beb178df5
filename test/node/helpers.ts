import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { Cursor, type CursorOptions } from "cursor-cloud-agents";
import type { CursorEmulator } from "cursor-cloud-agents/emulator";
import { onTestFinished } from "vitest";
import { checkedEmulator } from "../support/checked-emulator.ts";

/** A folder of the test's own, gone when it ends. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "cursor-node-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Every name below a folder, hidden ones too, links not followed; folders end in a slash. */
export function tree(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/");
      return entry.isDirectory() ? `${path}/` : path;
    })
    .sort();
}

export const text = (...path: string[]): string => readFileSync(join(...path), "utf8");

/** Bytes that differ from place to place, so that a shifted or repeated piece shows. */
export function patterned(size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  const words = new Uint32Array(bytes.buffer, 0, size >> 2);
  for (let index = 0; index < words.length; index++) words[index] = Math.imul(index, 2_654_435_761);
  return bytes;
}

/** An agent with these files, and a client of it whose retries don't wait. */
export function stage(
  files: Record<string, string | Uint8Array> = {},
  { emulator = checkedEmulator(), ...options }: CursorOptions & { emulator?: CursorEmulator } = {},
) {
  emulator.script(/./, (run) => run.finish()); // no files of its own
  const agentId = emulator.addAgent({ prompt: { text: "x" } }).agent.id;
  for (const [path, bytes] of Object.entries(files)) emulator.addArtifact(agentId, path, bytes);
  const cursor = new Cursor({ apiKey: "test", fetch: emulator.fetch, random: () => 0, ...options });
  const downloads = () => emulator.requests.filter(({ operationId }) => operationId === "getArtifactBytes");
  return { emulator, agentId, cursor, downloads, folder: temporaryFolder() };
}

/** The same over sockets. */
export async function servedStage(files: Record<string, string | Uint8Array>, emulator: CursorEmulator) {
  const server = await emulator.listen();
  onTestFinished(() => server.close());
  const fetch = globalThis.fetch;
  return { ...stage(files, { emulator, baseUrl: server.url, fetch }), server };
}
