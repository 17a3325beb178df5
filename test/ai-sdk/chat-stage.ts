import { Cursor, type Run, type RunStreamOptions } from "cursor-cloud-agents";
import { resumeUIMessageStreamResponse, toUIMessageStreamResponse } from "cursor-cloud-agents/ai-sdk";
import type { RunScript } from "cursor-cloud-agents/emulator";
import { checkedEmulator } from "../support/checked-emulator.ts";
import type { AiVersion, Message } from "./ai-versions.ts";

export const user: Message = { id: "u1", role: "user", parts: [{ type: "text", text: "Add a README" }] };

/** A chat's server in this process: its routes behind a `fetch`, over the emulator, with a script for the runs. */
export async function chatStage(
  version: AiVersion,
  script: (run: RunScript) => RunScript,
  options: RunStreamOptions & { replayFinished?: boolean } = {},
) {
  const { replayFinished, ...streamOptions } = options;
  const emulator = checkedEmulator({ heartbeat: { first: Number.POSITIVE_INFINITY } });
  emulator.script(/./, script);
  const cursor = new Cursor({ apiKey: "test", baseUrl: emulator.baseUrl, fetch: emulator.fetch });
  const ai = await version.ai();
  const requests: string[] = [];
  const state: { run?: Run } = {};
  const startRun = async (): Promise<Run> => {
    state.run = (await cursor.agents.create({ prompt: "Add a README" })).run;
    return state.run;
  };
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    requests.push(`${request.method} ${new URL(request.url).pathname}`);
    const response =
      request.method === "POST"
        ? toUIMessageStreamResponse(cursor.runs.stream(await startRun(), streamOptions))
        : await resumeUIMessageStreamResponse(
            cursor,
            state.run,
            replayFinished === undefined ? {} : { replayFinished },
          );
    // As a socket would: an aborted request takes its answer's body along.
    const reader = response.body?.getReader();
    if (!reader) return response;
    request.signal.addEventListener("abort", () => void reader.cancel());
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const { done, value } = await reader.read();
        if (request.signal.aborted) controller.error(request.signal.reason);
        else if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => reader.cancel(),
    });
    return new Response(body, response);
  };
  const transport = new ai.DefaultChatTransport({ api: "https://app.example/api/chat", fetch });
  return { ai, emulator, cursor, requests, state, startRun, transport };
}
