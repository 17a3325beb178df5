// What a stream weighs that is open and silent.
import { Cursor } from "cursor-cloud-agents";
import { args, say, settledHeap } from "./say.ts";

const [name, port, total] = args as [string, number, number];
const baseUrl = `http://127.0.0.1:${port}`;
const agentId = "bc-idle";
const kept: unknown[] = [];

// biome-ignore lint/suspicious/noExplicitAny: peers are installed by bench:peers alone
const load = (name: string): Promise<any> => import(name);

/** Opens a stream, takes its first event, and waits for the next. */
const ways: Record<string, () => Promise<(index: number) => Promise<void>>> = {
  floor: async () => async (index) => {
    const response = await fetch(`${baseUrl}/v1/agents/${agentId}/runs/run-${index}/stream`);
    const reader = response.body!.getReader();
    await reader.read();
    kept.push(reader, reader.read());
  },
  ours: async () => {
    const cursor = new Cursor({ apiKey: "key_BENCH", baseUrl });
    return async (index) => {
      const stream = cursor.runs.stream({ agentId, id: `run-${index}` });
      const iterator = stream[Symbol.asyncIterator]();
      await iterator.next();
      kept.push(stream, iterator, iterator.next());
    };
  },
  openai: async () => {
    const { default: OpenAI } = await load("openai");
    const client = new OpenAI({ apiKey: "key_BENCH", baseURL: baseUrl });
    return async (index) => {
      const stream = await client.get(`/v1/agents/${agentId}/runs/run-${index}/stream`, { stream: true });
      const iterator = stream[Symbol.asyncIterator]();
      await iterator.next();
      kept.push(stream, iterator, iterator.next());
    };
  },
  "@anthropic-ai/sdk": async () => {
    const { default: Anthropic } = await load("@anthropic-ai/sdk");
    const client = new Anthropic({ apiKey: "key_BENCH", baseURL: baseUrl });
    return async (index) => {
      const stream = await client.get(`/v1/agents/${agentId}/runs/run-${index}/stream`, { stream: true });
      const iterator = stream[Symbol.asyncIterator]();
      kept.push(stream, iterator, iterator.next()); // it knows none of our events: the first one never comes
    };
  },
};

const open = await ways[name]!();
for (let index = 0; index < 20; index++) await open(index);
const before = await settledHeap();
for (let index = 20; index < total + 20; index++) await open(index);
const heap = (await settledHeap()) - before;
say({ heap: heap / total / 1024, kept: kept.length });
process.exit();
