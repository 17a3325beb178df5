import { DefaultChatTransport, type UIMessage } from "ai-7-newest";
import { Chat } from "ai-react-7-newest";
import { Cursor } from "cursor-cloud-agents";
import type { RunDataTypes } from "cursor-cloud-agents/ai-sdk";
import { ManualClock } from "cursor-cloud-agents/emulator";
import { expect, it } from "vitest";
import { type ChatServer, handleChat } from "../examples/ai-sdk/routes.ts";
import { checkedEmulator } from "../support/checked-emulator.ts";

type Message = UIMessage<unknown, RunDataTypes>;

function stage() {
  const clock = new ManualClock();
  const emulator = checkedEmulator({ clock });
  const server: ChatServer = {
    cursor: new Cursor({
      apiKey: "test",
      baseUrl: emulator.baseUrl,
      fetch: emulator.fetch,
      clock,
      maxRetries: 0,
    }),
    userOf: (request) => request.headers.get("x-user") ?? undefined,
    runs: new Map(),
    repoUrl: "https://github.com/your-org/your-repo",
  };
  const ask = (method: string, path: string, user?: string) =>
    handleChat(
      new Request(`https://app.example${path}`, {
        method,
        headers: {
          "content-type": "application/json",
          ...(user === undefined ? {} : { "x-user": user }),
        },
      }),
      server,
    );
  const chatOf = (user: string | undefined, messages: Message[] = []) =>
    new Chat<Message>({
      id: "chat-1",
      messages,
      transport: new DefaultChatTransport<Message>({
        api: "https://app.example/api/chat",
        headers: user === undefined ? {} : { "x-user": user },
        fetch: (input, init) => handleChat(new Request(input, init), server),
      }),
    });
  return { clock, emulator, server, ask, chatOf };
}

const textOf = (message: Message | undefined) =>
  message?.parts.map((part) => (part.type === "text" ? part.text : "")).join("");

it("the chat is one agent, and each message a run of it", async () => {
  const { clock, emulator, chatOf } = stage();
  emulator.script("README", (run) => run.text("Done.").finish());
  emulator.script("tests", (run) => run.text("Tested.").finish());
  const chat = chatOf("ann");
  await clock.run(chat.sendMessage({ text: "Add a README" }));
  await clock.run(chat.sendMessage({ text: "Also add tests" }));
  expect(chat.messages.map(textOf)).toEqual(["Add a README", "Done.", "Also add tests", "Tested."]);
  expect(emulator.agents).toHaveLength(1);
  const runs = emulator.runs(emulator.agents[0]!.id);
  expect([chat.messages[1]!.id, chat.messages[3]!.id]).toEqual(runs.map(({ id }) => id));
  expect(chat.status).toBe("ready");
});

it("a page that was closed finds its own run again, and no other user's", async () => {
  const { clock, emulator, server, ask, chatOf } = stage();
  emulator.script("README", (run) => run.text("Hel").hold("rest").text("lo").finish());
  const chat = chatOf("ann");
  const sent = chat.sendMessage({ text: "Add a README" });
  await clock.advance(1);
  expect(textOf(chat.messages[1])).toBe("Hel");
  await chat.stop();
  await clock.run(sent);
  const back = chatOf("ann", chat.messages.slice(0, 1));
  const resumed = back.resumeStream();
  await clock.advance(1);
  expect(textOf(back.messages[1])).toBe("Hel");
  const other = chatOf("bob");
  await clock.run(other.resumeStream());
  expect(other.messages).toEqual([]);
  expect((await ask("POST", "/api/chat/chat-1/cancel", "bob")).status).toBe(404);
  emulator.release("rest");
  await clock.run(resumed);
  expect(textOf(back.messages[1])).toBe("Hello");
  expect(back.messages).toHaveLength(2);
  expect((await clock.run(ask("GET", "/api/chat/chat-1/stream", "ann"))).status).toBe(204);
  expect(server.runs.size).toBe(1);
});

it("a run is cancelled by its own route, even when it is already over", async () => {
  const { clock, emulator, ask, chatOf } = stage();
  emulator.script("README", (run) => run.text("Hel").hold("never").finish());
  const chat = chatOf("ann");
  const sent = chat.sendMessage({ text: "Add a README" });
  await clock.advance(1);
  expect((await clock.run(ask("POST", "/api/chat/chat-1/cancel", "ann"))).status).toBe(204);
  await clock.run(sent);
  const part = chat.messages[1]!.parts.find(({ type }) => type === "data-run");
  expect(part).toMatchObject({ data: { status: "CANCELLED" } });
  expect((await clock.run(ask("POST", "/api/chat/chat-1/cancel", "ann"))).status).toBe(204);
});

it("failures are shown in the server's own words", async () => {
  const { clock, emulator, ask, chatOf } = stage();
  expect((await ask("GET", "/api/chat/chat-1/stream")).status).toBe(401);
  expect((await ask("GET", "/api/chat", "ann")).status).toBe(404);
  const empty = chatOf("ann");
  await clock.run(empty.sendMessage({ text: " " }));
  expect(empty.error?.message).toBe("Please write something.");
  emulator.faults.status("createAgent", 403, {
    body: { error: { code: "plan_required", message: "upstream" } },
  });
  const chat = chatOf("ann");
  await clock.run(chat.sendMessage({ text: "Add a README" }));
  expect(chat.error?.message).toBe("The agent can't be reached at the moment.");
});

it.each(["/api/chat", "/api/chat/chat-1/cancel"])(
  "a page of another site starts and cancels nothing: POST %s",
  async (path) => {
    const { emulator, server } = stage();
    const headers = { "x-user": "ann", "content-type": "text/plain", "sec-fetch-site": "cross-site" };
    const body = JSON.stringify({ id: "chat-1", messages: [{ parts: [{ type: "text", text: "Go" }] }] });
    const request = new Request(`https://app.example${path}`, { method: "POST", headers, body });
    expect((await handleChat(request, server)).status).toBe(403);
    expect(emulator.agents).toEqual([]);
  },
);
