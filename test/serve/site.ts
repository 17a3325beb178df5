import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Cursor, type RunRef } from "cursor-cloud-agents";
import { ManualClock, type RunScript } from "cursor-cloud-agents/emulator";
import { type Authorize, runStreamResponse, type ServedFrame } from "cursor-cloud-agents/serve";
import { onTestFinished } from "vitest";
import { createHandler } from "../examples/serve/handler.ts";
import { toListener } from "../examples/serve/node-adapter.ts";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { TestEventSource } from "./event-source.ts";

export const key = "crsr_of-the-server-0123456789";

/** A site on node:http in front of the emulator, over real sockets on both sides, on one clock that stands still. */
export async function openSite(script: (run: RunScript) => unknown = (run) => run) {
  const clock = new ManualClock();
  const emulator = checkedEmulator({ clock, keys: [{ key }] });
  emulator.script(/./, (run) => void script(run));
  const upstream = await emulator.listen();
  onTestFinished(() => upstream.close());
  const sockets = new Set<Socket>();
  let authorize: Authorize = () => true;

  /** As in a new process: nothing is shared with an earlier server. */
  const serve = (port: number): Promise<Server> => {
    const cursor = new Cursor({ apiKey: key, baseUrl: upstream.url, clock, random: () => 0.5 });
    const others = createHandler(cursor, (request, ref) => authorize(request, ref));
    const server = createServer(
      toListener(async (request) => {
        const [, agentId = "", id = ""] = request.url.match(/agents\/([^/]*)\/runs\/([^/]*)\/stream/) ?? [];
        if (id === "") return others(request);
        const options = {
          request,
          authorize: (...asked: Parameters<Authorize>) => authorize(...asked),
          clock,
        };
        return runStreamResponse(cursor, { agentId, id }, options);
      }),
    );
    server.on("connection", (socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    });
    return new Promise((resolve) => {
      server.listen(port, "127.0.0.1", () => resolve(server));
    });
  };
  const stop = async (server: Server) => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  let server = await serve(0);
  onTestFinished(() => stop(server));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const urlOf = ({ agentId, id }: RunRef) => `${url}/agents/${agentId}/runs/${id}/stream`;

  return {
    clock,
    emulator,
    url,
    urlOf,
    start: (text = "go") => emulator.addAgent({ prompt: { text } }),
    watch(ref: RunRef, onFrame: (frame: ServedFrame) => void = () => {}) {
      const source = new TestEventSource(urlOf(ref), {
        clock,
        onMessage: ({ data }) => onFrame(JSON.parse(data) as ServedFrame),
      });
      onTestFinished(() => source.close());
      return source;
    },
    letIn(who: Authorize) {
      authorize = who;
    },
    /** Breaks every connection of every browser. */
    cutBrowsers() {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    stop: () => stop(server),
    async restart() {
      server = await serve(port);
    },
    /** Advances time until a condition holds. */
    async until(holds: () => boolean): Promise<void> {
      for (let step = 0; step < 2_000; step++) {
        if (holds()) return;
        await clock.advance(20);
      }
      throw new Error("the condition never became true");
    },
  };
}

export const framesOf = ({ messages }: TestEventSource): ServedFrame[] =>
  messages.map(({ data }) => JSON.parse(data) as ServedFrame);

export const textOf = (source: TestEventSource): string =>
  framesOf(source)
    .map((frame) => (frame.type === "assistant" ? frame.data.text : ""))
    .join("");
