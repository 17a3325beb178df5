/**
 * Cloud agents in a browser, on the embedded emulator: `npm run example:web [-- --port 8080]` prints the address.
 * Ctrl-C ends it.
 */
import { parseArgs } from "node:util";
import { Cursor } from "cursor-cloud-agents";
import { startWebServer } from "./server.ts";
import { emulatorKey, setStage } from "./stage.ts";

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { port: { type: "string", default: "0" } } });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error("--port: expected 0 to 65535");
  const emulator = await setStage().listen();
  const cursor = new Cursor({ apiKey: emulatorKey, baseUrl: emulator.url });
  const web = await startWebServer({ cursor, port });
  console.log(`Cloud agents, on the emulator: ${web.url}`);
  const end = async () => {
    await Promise.all([web.close(), emulator.close()]);
    // An agent may be at work, and would keep the process going.
    process.exit(0);
  };
  process.once("SIGINT", end);
  process.once("SIGTERM", end);
}

main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n\nnpm run example:web [-- --port 8080]\n`);
  process.exitCode = 1;
});
