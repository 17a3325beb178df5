import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { MessageParser } from "../serve/event-source.ts";

const main = fileURLToPath(new URL("./serve/main.ts", import.meta.url));
const tsx = fileURLToPath(import.meta.resolve("tsx"));

it("the server shows a run to a page, and its key to nobody", async () => {
  const child: ChildProcess = spawn(process.execPath, ["--import", tsx, main, "0"], {
    env: { PATH: process.env["PATH"] ?? "" },
  });
  onTestFinished(async () => {
    const exit = once(child, "exit");
    child.kill();
    await exit;
  });
  const [line] = await once(child.stdout!, "data");
  const url = String(line).trim();
  const page = await (await fetch(url)).text();
  const [, path = ""] = page.match(/EventSource\("(.*?)"\)/) ?? [];
  const response = await fetch(new URL(path, url));
  const text = await response.text();
  const parser = new MessageParser();
  parser.feed(new TextEncoder().encode(text));
  const types = parser.messages.map(({ data }) => JSON.parse(data).type);
  expect(types).toContain("assistant");
  expect(types.slice(-3)).toEqual(["result", "done", "end"]);
  const headers = { "last-event-id": parser.lastEventId };
  expect((await fetch(new URL(path, url), { headers })).status).toBe(204);
  expect(
    (
      await fetch(
        new URL(
          path.replace(/bc-./, (start) => (start === "bc-f" ? "bc-0" : "bc-f")),
          url,
        ),
      )
    ).status,
  ).toBe(404);
  expect(page + text + JSON.stringify([...response.headers])).not.toContain("key_of_the_server");
});
