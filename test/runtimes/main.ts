/**
 * `tsx test/runtimes/main.ts`: the package, packed and installed, on every runtime it promises to run on. One line for each;
 * fails when one of them does, or is missing. `bun deno` runs those alone.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { installPackages } from "../support/install-packages.ts";
import { installPackedPackage } from "../support/packed-package.ts";
import { preparePlace } from "./place.ts";
import { runtimes } from "./runtimes.ts";
import { prompt, text } from "./smoke.js";

const asked = process.argv.slice(2).map((name) => name.toLowerCase());
const chosen = runtimes.filter(
  ({ name }) => asked.length === 0 || asked.some((word) => name.toLowerCase().includes(word)),
);
if (chosen.length === 0) throw new Error(`no runtime is called ${asked.join(" or ")}`);

await installPackages("runtimes");
const packed = await installPackedPackage();
// The emulator, too, is the installed one.
const { CursorEmulator } = (await import(
  pathToFileURL(join(packed.project, "node_modules/cursor-cloud-agents/dist/emulator/index.js")).href
)) as typeof import("cursor-cloud-agents/emulator");
const half = Math.floor(text.length / 2);
const emulator = new CursorEmulator().script(prompt, (script) =>
  script.text(text.slice(0, half)).cut().text(text.slice(half)).artifact("artifacts/said.txt", text).finish(),
);
const server = await emulator.listen();

let failed = 0;
try {
  const place = await preparePlace(packed, { apiUrl: server.url, artifactsUrl: server.artifactsUrl });
  for (const runtime of chosen) {
    const began = performance.now();
    const before = emulator.requests.length;
    try {
      const version = await runtime.run(place);
      if (emulator.requests.length - before < 7)
        throw new Error("said that it ran, but hardly asked the emulator");
      console.log(`ok    ${runtime.name} ${version}, ${Math.round(performance.now() - began)} ms`);
    } catch (error) {
      failed++;
      console.log(`FAIL  ${runtime.name}\n${(error as Error).message}`);
    }
  }
} finally {
  await server.close();
  packed.remove();
}
console.log(`${chosen.length - failed} passed, ${failed} failed`);
if (failed > 0) process.exitCode = 1;
