/**
 * A nightly mirror of all agents' artifacts: resumes after a crash, copies nothing twice, leaves no half file.
 * `npx tsx test/examples/artifact-mirror/main.ts [FOLDER]` plays it on the emulator, in a folder for the moment.
 * With CURSOR_API_KEY set it mirrors your own agents into FOLDER; it only reads.
 */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cursor } from "cursor-cloud-agents";
import { CursorEmulator } from "cursor-cloud-agents/emulator";
import { mirror } from "./mirror.ts";

const folder = process.argv[2] ?? (await mkdtemp(join(tmpdir(), "artifact-mirror-")));
const cursor = process.env["CURSOR_API_KEY"] === undefined ? await onEmulator() : new Cursor();

const { saved, unchanged, problems } = await mirror({ cursor, folder });
process.stdout.write(`${folder}: ${saved} saved, ${unchanged} unchanged, ${problems.length} problems\n`);
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;

async function onEmulator(): Promise<Cursor> {
  const emulator = new CursorEmulator();
  for (const text of ["Add a README", "Add tests", "Fix the login"]) emulator.addAgent({ prompt: { text } });
  return new Cursor({ apiKey: "test", baseUrl: emulator.baseUrl, fetch: emulator.fetch });
}
