import { emptyTranscript, reduceTranscript } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import { emulatorKey } from "../examples/web/stage.ts";
import { openWorld, replyOf, startAgent, toolsOf, untilState } from "./support/world.ts";

describe("what the page shows", () => {
  it("is what the API said: the exact reply, each tool call once, in the order of the stream", async () => {
    const world = await openWorld({
      context: { permissions: ["clipboard-read", "clipboard-write"] },
      beat: 4,
    });
    world.expected = /ERR_/;
    const page = await world.open();
    const { agentId, runId } = await startAgent(page, "Add a README with setup instructions");
    await page.getByText("list_dir").or(page.getByText("Listed")).first().waitFor();
    world.cable.cut();
    await page.getByText("Failed:").waitFor();
    await page.reload();
    await untilState(page, "Finished");

    let upstream = emptyTranscript;
    const order: string[] = [];
    for await (const event of world.cursor.runs.stream({ agentId, id: runId })) {
      upstream = reduceTranscript(upstream, event);
      if (event.type === "assistant" && event.data.text.trim() && order.at(-1) !== "text") order.push("text");
      if (event.type === "tool_call" && !order.includes(event.data.callId)) order.push(event.data.callId);
    }
    await page.getByRole("button", { name: "Copy reply" }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(upstream.text);
    // On the page the marks of the Markdown are gone, and nothing else.
    const squeezed = (text: string) => text.replace(/[\s`*]|^- /gm, "");
    expect(squeezed(await replyOf(page))).toBe(squeezed(upstream.text));
    const tools = await toolsOf(page);
    expect(tools).toHaveLength(upstream.tools.length);
    upstream.tools.forEach(({ args }, index) => {
      const { path, command, query } = args as Record<string, string>;
      expect(tools[index]).toContain(path ?? command ?? query);
    });
    const shown = await page
      .locator(".parts > .prose, .parts > .tools > li")
      .evaluateAll((parts) => parts.map((part) => (part.className === "prose" ? "text" : "tool")));
    expect(shown).toEqual(order.map((entry) => (entry === "text" ? "text" : "tool")));
  });

  it("holds no key: not in the document, not in a storage, not in a cookie", async () => {
    const world = await openWorld();
    const page = await world.open();
    await startAgent(page, "Where is the key?");
    await untilState(page, "Finished");
    await page.getByRole("link", { name: "report.md" }).waitFor();
    const held = await page.evaluate(() =>
      JSON.stringify([
        document.documentElement.outerHTML,
        { ...localStorage },
        { ...sessionStorage },
        document.cookie,
        performance.getEntriesByType("resource").map(({ name }) => name),
      ]),
    );
    // It is the right place to look: the reply is kept there.
    expect(held).toContain("Each command in the README was run once");
    expect(held).not.toContain(emulatorKey);
    const cookies = await world.context.cookies();
    expect(cookies).toMatchObject([{ httpOnly: true, sameSite: "Strict" }]);
    // All that the page asked for came from its own server.
    const hosts = await page.evaluate(() =>
      performance.getEntriesByType("resource").map(({ name }) => new URL(name).origin),
    );
    expect([...new Set(hosts)]).toEqual([world.url]);
    expect(JSON.stringify(world.emulator.requests.map(({ headers }) => headers))).toContain(emulatorKey);
  });
});
