// Times GETs of a small JSON over loopback, one after the other or many at once.
import { Cursor } from "cursor-cloud-agents";
import { args, say } from "./say.ts";

const [name, port, total, width] = args as [string, number, number, number];
const id = "bc-00000000-0000-0000-0000-000000000001";
const origin = `http://127.0.0.1:${port}`;
const path = `/v1/agents/${id}`;
const key = "key_BENCH";

// biome-ignore lint/suspicious/noExplicitAny: peers are installed by bench:peers alone
const load = (name: string): Promise<any> => import(name);

const clients: Record<string, () => Promise<() => PromiseLike<{ id?: unknown }>>> = {
  /** The floor: what any client has to do. */
  floor: async () => async () => {
    const signal = AbortSignal.timeout(60_000);
    const response = await fetch(origin + path, { headers: { authorization: `Bearer ${key}` }, signal });
    return (await response.json()) as { id?: unknown };
  },
  ours: async () => {
    const cursor = new Cursor({ apiKey: key, baseUrl: origin });
    return () => cursor.agents.get(id);
  },
  openai: async () => {
    const { default: OpenAI } = await load("openai");
    const client = new OpenAI({ apiKey: key, baseURL: origin });
    return () => client.get(path);
  },
  "@anthropic-ai/sdk": async () => {
    const { default: Anthropic } = await load("@anthropic-ai/sdk");
    const client = new Anthropic({ apiKey: key, baseURL: origin });
    return () => client.get(path);
  },
  "@octokit/rest": async () => {
    const { Octokit } = await load("@octokit/rest");
    const client = new Octokit({ auth: key, baseUrl: origin });
    return async () => (await client.request(`GET ${path}`)).data;
  },
  ky: async () => {
    const { default: ky } = await load("ky");
    const client = ky.create({ headers: { authorization: `Bearer ${key}` }, timeout: 60_000 });
    return () => client.get(origin + path).json();
  },
  "@cursor/sdk": async () => {
    const { Agent } = await load("@cursor/sdk");
    // Its list asks for a page; the answer is an agent all the same, and is what is timed.
    return async () => {
      await Agent.get(id, { apiKey: key });
      return { id };
    };
  },
};

const get = await clients[name]!();
async function ask(count: number): Promise<void> {
  let left = count;
  const worker = async () => {
    while (left-- > 0) if ((await get()).id !== id) throw new Error(`${name} got another answer`);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
await ask(Math.max(width * 10, 500));
const cpu = process.cpuUsage();
const begin = performance.now();
await ask(total);
const ms = performance.now() - begin;
const { user, system } = process.cpuUsage(cpu);
say({ ms, cpu: (user + system) / 1000 });
process.exit(); // without waiting for sockets that are kept
