import { Cursor } from "cursor-cloud-agents";
import type { CursorEmulator, EmulatorServer } from "cursor-cloud-agents/emulator";
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { expect, inject, onTestFinished } from "vitest";
import { startWebServer, type WebServer } from "../../examples/web/server.ts";
import { Sessions } from "../../examples/web/sessions.ts";
import { emulatorKey, type StageOptions, setStage } from "../../examples/web/stage.ts";
import { Cable } from "./cable.ts";

/** Pages of tests reconnect sooner than others, in milliseconds. */
const retry = 300;

export interface WorldOptions extends StageOptions {
  context?: BrowserContextOptions;
}

/** Everything from the API to a browser window: emulator, example server, network, browser. It ends with the test. */
export class World {
  readonly emulator: CursorEmulator;
  readonly cursor: Cursor;
  readonly cable: Cable;
  readonly context: BrowserContext;
  readonly url: string;
  /** What went wrong in a page: exceptions, and what the browser complained about. Checked at the end. */
  readonly complaints: string[] = [];
  /** Complaints that a test means to provoke. */
  expected = /a complaint that nobody makes/;
  readonly #sessions: Sessions;
  #web: WebServer;

  constructor(parts: {
    emulator: CursorEmulator;
    cursor: Cursor;
    cable: Cable;
    context: BrowserContext;
    url: string;
    sessions: Sessions;
    web: WebServer;
  }) {
    this.emulator = parts.emulator;
    this.cursor = parts.cursor;
    this.cable = parts.cable;
    this.context = parts.context;
    this.url = parts.url;
    this.#sessions = parts.sessions;
    this.#web = parts.web;
  }

  /** A tab, at the start of the app or at a path of it. */
  async open(path = "/"): Promise<Page> {
    const page = await this.context.newPage();
    page.setDefaultTimeout(10_000);
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") this.complaints.push(message.text());
    });
    await page.goto(this.url + path);
    return page;
  }

  /** Ends the server with all that is open, and begins anew at the same port. Who owns what is kept, as in a database. */
  async restartServer(meanwhile: () => Promise<void> = async () => {}): Promise<void> {
    const { port } = this.#web;
    await this.#web.close();
    await meanwhile();
    this.#web = await startWebServer({ cursor: this.cursor, sessions: this.#sessions, retry, port });
  }

  async close(server: EmulatorServer): Promise<void> {
    await this.context.close();
    await this.cable.close();
    await this.#web.close();
    await server.close();
    this.emulator.reset();
    expect(this.complaints.filter((text) => !this.expected.test(text))).toEqual([]);
    const sent = Buffer.concat(this.cable.received).toString("latin1");
    // Whatever a test is about: the key stays on the server.
    expect(sent.length).toBeGreaterThan(1000);
    expect(sent.includes(emulatorKey), "the key went to the browser").toBe(false);
  }
}

export async function openWorld({ context, beat = 0 }: WorldOptions = {}): Promise<World> {
  const emulator = setStage({ beat });
  const server = await emulator.listen();
  const cursor = new Cursor({ apiKey: emulatorKey, baseUrl: server.url });
  const sessions = new Sessions();
  const web = await startWebServer({ cursor, sessions, retry });
  const cable = new Cable(web.port);
  const url = await cable.listen();
  const browser = await chromium.connect(inject("chromium"));
  const parts = { emulator, cursor, cable, url, sessions, web };
  const world = new World({ ...parts, context: await browser.newContext(context) });
  onTestFinished(async () => {
    await world.close(server);
    await browser.close();
  });
  return world;
}

/** Starts an agent as a person does, and waits until its run is on the page. */
export async function startAgent(page: Page, prompt: string): Promise<{ agentId: string; runId: string }> {
  await page.getByLabel("Task").fill(prompt);
  await page.getByRole("button", { name: "Start agent" }).click();
  await page.waitForURL(/\/agents\//);
  await page.getByRole("heading", { name: prompt }).waitFor();
  return placeOf(page);
}

export function placeOf(page: Page): { agentId: string; runId: string } {
  const [, agentId, runId] = /\/agents\/([^/]+)\/runs\/([^/]+)$/.exec(page.url()) ?? [];
  return { agentId: agentId!, runId: runId! };
}

/** The reply as the page shows it, of its last turn. */
export const replyOf = (page: Page): Promise<string> =>
  page
    .locator("article")
    .last()
    .locator(".prose")
    .allTextContents()
    .then((texts) => texts.join(""));

/** Each tool call the last turn shows, as `state verb subject`. */
export const toolsOf = (page: Page): Promise<string[]> =>
  page
    .locator("article")
    .last()
    .locator(".tool > summary")
    .evaluateAll((rows) =>
      rows.map((row) =>
        [...row.children]
          .map((cell) => cell.textContent)
          .filter(Boolean)
          .join(" "),
      ),
    );

/** Waits until the last turn's state is this. */
export const untilState = (page: Page, text: string | RegExp): Promise<void> =>
  page.locator("article").last().locator(".state").filter({ hasText: text }).waitFor();
