import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Cursor } from "cursor-cloud-agents";
import { describe, expect, it, onTestFinished } from "vitest";
import { createApp } from "./web/app.ts";
import { bundlePage } from "./web/bundle.ts";
import type { Conversation } from "./web/sessions.ts";
import { emulatorKey, setStage } from "./web/stage.ts";

const origin = "http://127.0.0.1:4000";

/** The app as a function, over the emulator, and a browser that keeps its cookie. */
async function openApp() {
  const emulator = setStage({ beat: 0 });
  const cursor = new Cursor({ apiKey: emulatorKey, baseUrl: emulator.baseUrl, fetch: emulator.fetch });
  const app = createApp({ cursor, files: await bundlePage() });
  const visitor = async () => {
    const [cookie = ""] = (await app(new Request(`${origin}/`))).headers.getSetCookie();
    return (path: string, json?: object, headers: Record<string, string> = {}) => {
      const body = JSON.stringify(json);
      const post = { "content-type": "application/json", "content-length": String(body?.length) };
      return app(
        new Request(origin + path, {
          headers: { cookie: cookie.split(";")[0]!, ...(json && post), ...headers },
          ...(json && { method: "POST", body }),
        }),
      );
    };
  };
  return { emulator, app, visitor };
}

describe("the example page", () => {
  it("is bundled without anything of Node or of the API's client in it", async () => {
    const script = (await bundlePage()).get("/page.js")!.body;
    expect(script).not.toMatch(/["'`]node:/);
    expect(script).not.toMatch(/require\(|process\.env/);
    // The page knows its own server only.
    expect(script).not.toContain("/v1/agents");
    expect(script).not.toContain("api.cursor.com");
    expect(script).not.toContain(emulatorKey);
  });

  it("comes with a strict policy and a cookie that scripts can't read, at every address of a run", async () => {
    const { app } = await openApp();
    for (const path of ["/", "/agents/bc-1/runs/run-1"]) {
      const { status, headers } = await app(new Request(origin + path));
      expect(status).toBe(200);
      expect(headers.get("content-security-policy")).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self'/,
      );
      expect(headers.get("content-security-policy")).not.toContain("unsafe");
      expect(headers.getSetCookie()).toEqual([
        expect.stringMatching(/; HttpOnly; SameSite=Strict; Path=\/$/),
      ]);
    }
    expect((await app(new Request(`${origin}/nothing`))).status).toBe(404);
  });
});

describe("the example server", () => {
  it("answers no request without a session, nor with one that it didn't begin", async () => {
    const { app, emulator } = await openApp();
    const cookies = [
      {},
      { cookie: `example_session=${"A".repeat(43)}` },
      { cookie: "example_session=__proto__" },
    ];
    for (const headers of cookies) {
      expect((await app(new Request(`${origin}/api/agents`, { headers }))).status).toBe(401);
    }
    expect(emulator.requests).toEqual([]);
  });

  it("gives a session what it started, and other sessions nothing, before the API is asked", async () => {
    const { visitor, emulator } = await openApp();
    const [owner, stranger] = [await visitor(), await visitor()];
    const started = await owner("/api/agents", { prompt: "Mine" });
    const { agentId, turns } = (await started.json()) as Conversation;
    const run = `/api/agents/${agentId}/runs/${turns[0]!.runId}`;
    expect(await (await owner("/api/agents")).json()).toMatchObject([
      { agentId, turns: [{ prompt: "Mine" }] },
    ]);
    expect(await (await owner(`${run}/stream`)).text()).toContain("end:run-");

    const before = emulator.requests.length;
    expect(await (await stranger("/api/agents")).json()).toEqual([]);
    const answers = [
      await stranger(`${run}/stream`),
      await stranger(`${run}/cancel`, {}),
      await stranger(`/api/agents/${agentId}/runs`, { prompt: "Yours" }),
      await stranger(`/api/agents/${agentId}/artifacts`),
      await stranger(`/api/agents/${agentId}/artifact?path=artifacts/report.md`),
      // A run is looked for in its own agent only.
      await owner(`/api/agents/${agentId}/runs/run-other/stream`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404]);
    expect(emulator.requests).toHaveLength(before);
  });

  it("starts nothing for other sites, for other types, or without a prompt", async () => {
    const { visitor, emulator } = await openApp();
    const ask = await visitor();
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const elsewhere = { "sec-fetch-site": "cross-site" };
    expect((await ask("/api/agents", { prompt: "x" }, form)).status).toBe(415);
    expect((await ask("/api/agents", { prompt: "x" }, elsewhere)).status).toBe(403);
    expect((await ask("/api/agents", { prompt: " " })).status).toBe(400);
    expect((await ask("/api/agents", { prompt: "x".repeat(100_001) })).status).toBe(413);
    expect((await ask("/api/agents", { prompt: "x" }, { "content-length": "unknown" })).status).toBe(413);
    expect(emulator.requests).toEqual([]);
  });

  it("never says the key, whatever the API answers", async () => {
    const { visitor, emulator } = await openApp();
    const ask = await visitor();
    const texts = [];
    for (const status of [400, 401, 403, 429, 500]) {
      const body = { error: { code: "x", message: `Bad key ${emulatorKey}` } };
      emulator.faults.status("*", status, {
        body,
        times: Number.POSITIVE_INFINITY,
        headers: { "retry-after": "61" },
      });
      texts.push(await (await ask("/api/agents", { prompt: "Say it" })).text());
      texts.push(await (await ask("/api/models")).text());
      emulator.faults.clear();
    }
    expect(texts.join("\n")).not.toContain(emulatorKey);
    expect(texts.every((text) => text.includes('"error"'))).toBe(true);
  });

  it("is started by one command, says where it is, and ends at Ctrl-C", async () => {
    const child = run();
    const url = await new Promise<string>((resolve) => {
      child.stdout.on("data", (bytes) => resolve(/http:\S+/.exec(String(bytes))?.[0] ?? ""));
    });
    expect(await (await fetch(url)).text()).toContain('<div id="page">');
    child.kill("SIGINT");
    expect(await exitOf(child)).toBe(0);
  });

  it("says what is wrong with a port", async () => {
    const child = run("--port", "x");
    const [said, code] = await Promise.all([text(child.stderr), exitOf(child)]);
    expect(said).toContain("--port: expected 0 to 65535");
    expect(code).toBe(1);
  });
});

/** The server as a process of its own; it ends with the test. */
function run(...args: string[]) {
  const main = fileURLToPath(new URL("./web/main.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", import.meta.resolve("tsx"), main, ...args]);
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

const exitOf = (child: ReturnType<typeof spawn>) => new Promise((resolve) => child.once("exit", resolve));
