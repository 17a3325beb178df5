// Everything that is timed at turning a response into events. A decoder reads to the end and says how many events it saw.
import { Cursor, type RunStreamInclude } from "cursor-cloud-agents";
import { createParser } from "eventsource-parser";

export const ref = {
  agentId: "bc-00000000-0000-0000-0000-000000000001",
  id: "run-00000000-0000-0000-0000-000000000001",
};

export interface Decoder {
  /** The event names that it reads; the wire's own by default. */
  rename?: (event: string) => string;
  decode(respond: () => Response): Promise<number>;
}

/** The floor: the same reader, the same parser, JSON.parse of every payload, and nothing else. */
async function parseAndCount(respond: () => Response): Promise<number> {
  const reader = respond().body!.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const decoder = new TextDecoder();
  let count = 0;
  const parser = createParser({
    onEvent: ({ event, id, data }) => consume({ type: event, id, data: JSON.parse(data) }),
  });
  const consume = (event: { type: string | undefined; id: string | undefined; data: unknown }) => {
    if (event.data !== null) count++;
  };
  while (true) {
    const { done, value } = await reader.read();
    if (done) return count;
    parser.feed(decoder.decode(value, { stream: true }));
  }
}

const ours = (include: RunStreamInclude) => async (respond: () => Response) => {
  const fetch = (async () => respond()) as typeof globalThis.fetch;
  const cursor = new Cursor({ apiKey: "key_BENCH", fetch });
  let count = 0;
  for await (const event of cursor.runs.stream(ref, { include })) {
    if (event.type !== "invalid" && event.data !== null) count++;
  }
  return count;
};

// biome-ignore lint/suspicious/noExplicitAny: peers are installed by bench:peers alone
const load = (name: string): Promise<any> => import(name);

async function countAll(events: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of events) count++;
  return count;
}

export const decoders: Record<string, () => Promise<Decoder>> = {
  floor: async () => ({ decode: parseAndCount }),
  "ours:all": async () => ({ decode: ours("all") }),
  "ours:simplified": async () => ({ decode: ours("simplified") }),
  openai: async () => {
    const { Stream } = await load("openai/streaming");
    return {
      // It takes an `error` for its own; `thread.` and the like have a shape of theirs.
      rename: (event) => (event === "error" ? "failure" : event),
      decode: async (respond) => countAll(Stream.fromSSEResponse(respond(), new AbortController())),
    };
  },
  "@anthropic-ai/sdk": async () => {
    const { Stream } = await load("@anthropic-ai/sdk/streaming");
    return {
      // It drops every name but its own.
      rename: () => "content_block_delta",
      decode: async (respond) => countAll(Stream.fromSSEResponse(respond(), new AbortController())),
    };
  },
  "@microsoft/fetch-event-source": async () => {
    // It is made for browsers, and looks for their visibility even where it is told not to care.
    const document = { hidden: false, addEventListener() {}, removeEventListener() {} };
    Object.assign(globalThis, { document, window: globalThis });
    const { fetchEventSource } = await load("@microsoft/fetch-event-source");
    return {
      decode: async (respond) => {
        let count = 0;
        await fetchEventSource("http://127.0.0.1/", {
          fetch: async () => respond(),
          openWhenHidden: true,
          onmessage: ({ data }: { data: string }) => {
            if (JSON.parse(data) !== null) count++;
          },
          onerror: (error: unknown) => {
            throw error;
          },
        });
        return count;
      },
    };
  },
};
