/**
 * Shows a run in a page that reads it with a plain EventSource, over node:http: `npx tsx test/examples/serve/main.ts`
 * prints the address. On the emulator; with `CURSOR_API_KEY` and without `fetch` it would be the real thing.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Cursor } from "cursor-cloud-agents";
import { CursorEmulator } from "cursor-cloud-agents/emulator";
import { createHandler } from "./handler.ts";
import { toListener } from "./node-adapter.ts";

const emulator = new CursorEmulator({ pace: Number(process.argv[2] ?? 200) });
const cursor = new Cursor({ apiKey: "key_of_the_server", baseUrl: emulator.baseUrl, fetch: emulator.fetch });
const { agent, run } = await cursor.agents.create({ prompt: "Write a README" });

const page = `<!doctype html><title>A run</title><pre></pre><script>
  const out = document.querySelector("pre");
  const source = new EventSource("/agents/${agent.id}/runs/${run.id}/stream");
  source.onmessage = ({ data }) => {
    const { type, data: payload } = JSON.parse(data);
    if (type === "reset") out.textContent = "";
    if (type === "assistant") out.textContent += payload.text;
    if (type === "result") out.textContent += "\\n" + payload.status;
    if (type === "failure") out.textContent += "\\n" + payload.message;
    if (type === "end") source.close();
  };
</script>`;

// Where there are users: is this agent one of the user's whom the request's session belongs to?
const handle = createHandler(cursor, (_request, ref) => ref.agentId === agent.id);
const server = createServer(
  toListener(async (request) =>
    new URL(request.url).pathname === "/"
      ? new Response(page, { headers: { "content-type": "text/html; charset=utf-8" } })
      : handle(request),
  ),
);
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/\n`);
});
