/**
 * A small app function and what its tests look like: `test/examples/testing-your-app.test.ts` is the recipe.
 * `npx tsx test/examples/testing-your-app/main.ts` calls the function once, on the emulator.
 * The tests mount the emulator as `fetch` with a clock of their own, and as handlers of msw 2.
 */
import { Cursor } from "cursor-cloud-agents";
import { CursorEmulator } from "cursor-cloud-agents/emulator";
import { requestChange } from "./app.ts";

const emulator = new CursorEmulator();
const cursor = new Cursor({ apiKey: "test", baseUrl: emulator.baseUrl, fetch: emulator.fetch });
const answer = await requestChange(cursor, "https://github.com/your-org/your-repo", "Add a README");
process.stdout.write(`${JSON.stringify(answer)}\n`);
