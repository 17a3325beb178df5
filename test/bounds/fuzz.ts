import { readdirSync, readFileSync } from "node:fs";
import { Cursor, isCursorError, type RunEvent, type RunStreamOptions } from "cursor-cloud-agents";
import { expect } from "vitest";
import { parse } from "yaml";
import { InstantClock } from "./instant-clock.ts";
import { Chance, mutate } from "./mutations.ts";
import { isFull } from "./support.ts";

// Answers with random faults end in events or in one of our errors. A case is its seed and its number: where one fails,
// `BOUNDS_SEED=… BOUNDS_CASE=… npx vitest run test/bounds/fuzz-streams` (or `-answers`) runs it alone.

const seed = Number(process.env["BOUNDS_SEED"] ?? (isFull ? Date.now() % 1_000_000_000 : 1));
const only = process.env["BOUNDS_CASE"];

interface Answer {
  status: number;
  type: string;
  body: Uint8Array;
}
type Node = Record<string, unknown>;

const encoder = new TextEncoder();
const contract = parse(readFileSync(new URL("../../openapi.yaml", import.meta.url), "utf8")) as Node;
const resolve = (node: Node): Node => {
  const reference = node["$ref"];
  if (typeof reference !== "string") return node;
  const keys = reference.slice(2).split("/");
  return resolve(keys.reduce((from, key) => from[key.replaceAll("~1", "/")] as Node, contract));
};

/** Every example of an answer in the contract, by operation. */
const examples = new Map<string, Answer[]>();
for (const item of Object.values(contract["paths"] as Node)) {
  for (const operation of Object.values(item as Node) as Node[]) {
    if (typeof operation !== "object" || !("operationId" in operation)) continue;
    const answers: Answer[] = [];
    for (const [code, response] of Object.entries(operation["responses"] as Node)) {
      const content = (resolve(response as Node)["content"] ?? {}) as Record<string, Node>;
      for (const [type, media] of Object.entries(content)) {
        for (const example of Object.values((media["examples"] ?? {}) as Node)) {
          const { value } = resolve(example as Node);
          const body = encoder.encode(typeof value === "string" ? value : JSON.stringify(value));
          answers.push({ status: code === "5XX" ? 502 : Number(code), type, body });
        }
      }
    }
    examples.set(operation["operationId"] as string, answers);
  }
}

const folder = new URL("../../fixtures/", import.meta.url);
/** Streams by their frames: a case takes a few of one. */
const streams = readdirSync(folder)
  .filter((name) => name.endsWith(".sse"))
  .map((name) => readFileSync(new URL(name, folder), "utf8").split(/(?<=\n\n)/));

const agentId = "bc-00000000-0000-0000-0000-000000000001";
const ref = { agentId, id: "run-00000000-0000-0000-0000-000000000001" };
const storageFile = encoder.encode("0123456789".repeat(20));

/** Each call of the client that is answered with JSON. */
const calls: [operation: string, call: (cursor: Cursor) => PromiseLike<unknown>][] = [
  ["createAgent", (cursor) => cursor.agents.create({ prompt: "x" })],
  ["createAgent", (cursor) => cursor.agents.create({ prompt: "x", agentId }, { onConflict: "adopt" })],
  ["createAgent", (cursor) => cursor.prompt("x")],
  ["listAgents", (cursor) => walk(cursor.agents.list())],
  ["getAgent", (cursor) => cursor.agents.get(agentId)],
  ["deleteAgent", (cursor) => cursor.agents.delete(agentId)],
  ["archiveAgent", (cursor) => cursor.agents.archive(agentId)],
  ["unarchiveAgent", (cursor) => cursor.agents.unarchive(agentId)],
  ["createRun", (cursor) => cursor.runs.create(agentId, { prompt: "x" }, { whenBusy: "cancel" })],
  ["createRun", (cursor) => cursor.runs.create(agentId, { prompt: "x" }, { whenBusy: "wait" })],
  ["listRuns", (cursor) => walk(cursor.runs.list(agentId))],
  ["getRun", (cursor) => cursor.runs.get(ref)],
  ["cancelRun", (cursor) => cursor.runs.cancel(ref)],
  ["getAgentUsage", (cursor) => cursor.usage.get(agentId)],
  ["listArtifacts", (cursor) => walk(cursor.artifacts.list(agentId))],
  [
    "downloadArtifact",
    (cursor) => cursor.artifacts.download(agentId, "artifacts/a").then((file) => file.text()),
  ],
  ["createSubToken", (cursor) => cursor.workerTokens.create({ forUserId: 1 })],
  ["getApiKeyInfo", (cursor) => cursor.me()],
  ["listModels", (cursor) => walk(cursor.models.list())],
  ["listRepositories", (cursor) => walk(cursor.repositories.list())],
];

async function walk(list: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _item of list) if (++count === 100) break;
  return count;
}

/** The operation that a request is for, as far as the calls above lead to it. */
function operationOf(method: string, path: string): string {
  if (path.endsWith("/stream")) return "streamRun";
  if (path.endsWith("/cancel")) return "cancelRun";
  if (/\/runs\/[^/]+$/.test(path)) return "getRun";
  if (path.endsWith("/runs")) return method === "POST" ? "createRun" : "listRuns";
  if (path.endsWith("/artifacts/download")) return "downloadArtifact";
  if (/\/agents\/[^/]+$/.test(path)) return method === "DELETE" ? "deleteAgent" : "getAgent";
  return path.endsWith("/agents") && method === "POST" ? "createAgent" : "listAgents";
}

/** So many requests of one case are answered with faults; then with what ends it. */
const faulty = 5;
const fatal = 400;

/** One case: a server with faults by chance, and a client that meets it. */
function stage(chance: Chance, operation?: string) {
  const clock = new InstantClock();
  let requests = 0;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    if (++requests > fatal) throw new RangeError("requests without end");
    const request = new Request(input, init);
    const { origin, pathname } = new URL(request.url);
    if (origin !== "https://api.cursor.com") return storage(chance);
    const name =
      requests === 1 && operation !== undefined ? operation : operationOf(request.method, pathname);
    const isStream = name === "streamRun";
    const choices = examples.get(name) ?? [];
    const answer = chance.pick(chance.below(3) > 0 ? choices.filter(({ status }) => status < 300) : choices);
    if (requests > faulty) {
      const end = isStream
        ? { error: { code: "stream_expired" } }
        : { ...ref, status: "FINISHED", items: [] };
      return Response.json(end, { status: isStream ? 410 : 200 });
    }
    const fixture = chance.pick(streams);
    const from = chance.below(fixture.length);
    const bytes =
      isStream && answer.status === 200
        ? encoder.encode(fixture.slice(from, from + 1 + chance.below(8)).join(""))
        : answer.body;
    const body = chance.below(8) === 0 ? bytes : mutate(bytes, chance, chance.pick(choices).body);
    const headers = { "content-type": answer.type, ...oddHeaders(chance) };
    return new Response(bodyOf(body, chance), { status: oddStatus(answer.status, chance), headers });
  };
  const cursor = new Cursor({
    apiKey: "key_TEST",
    fetch,
    clock,
    random: () => chance.next(),
    maxRetries: chance.pick([0, 0, 0, 1, 2]),
  });
  return { clock, cursor };
}

function storage(chance: Chance): Response {
  if (chance.below(2) === 0) return new Response(storageFile);
  const range = { "content-range": `bytes ${chance.below(300)}-${chance.below(300)}/${chance.below(300)}` };
  const status = chance.pick([200, 206, 206, 301, 403, 416, 500, 503]);
  const length = { "content-length": String(chance.below(300)), etag: chance.pick(['"a"', '"b"', "W/"]) };
  const headers = { ...range, ...length, ...oddHeaders(chance) };
  return new Response(bodyOf(mutate(storageFile, chance, storageFile), chance), { status, headers });
}

const oddStatus = (status: number, chance: Chance): number =>
  chance.below(8) > 0 ? status : chance.pick([200, 202, 301, 400, 404, 408, 409, 410, 418, 429, 500, 503]);

const oddHeaders = (chance: Chance): Record<string, string> =>
  chance.below(4) > 0
    ? {}
    : { "retry-after": chance.pick(["0", "1", "-1", "1e9", "soon", "Thu, 01 Jan 2099 00:00:00 GMT", ""]) };

/** In pieces, and then an end, a break, or silence. */
function bodyOf(bytes: Uint8Array, chance: Chance): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream(
    {
      pull(controller) {
        if (at < bytes.length) {
          const to = at + 1 + chance.below(chance.below(16) === 0 ? 8 : bytes.length);
          controller.enqueue(bytes.slice(at, to));
          at = to;
          return;
        }
        const end = chance.below(20);
        if (end > 1) return controller.close();
        if (end === 1) return controller.error(new TypeError("terminated"));
        return new Promise(() => {});
      },
    },
    { highWaterMark: 0 },
  );
}

const types = [
  "status assistant thinking tool_call interaction_update heartbeat result error done unknown invalid",
].flatMap((line) => line.split(" "));

async function readStream(cursor: Cursor, chance: Chance): Promise<void> {
  const options: RunStreamOptions = {
    include: chance.pick(["simplified", "interaction", "all"] as const),
    maxReconnects: 2,
    maxEventBytes: chance.pick([200, 100_000]),
  };
  const stream = cursor.runs.stream(ref, options);
  const events: RunEvent[] = [];
  for await (const event of stream) {
    events.push(event);
    if (!types.includes(event.type)) throw new RangeError(`an event of the type ${event.type}`);
    if (events.length > 2_000) throw new RangeError("events without end");
    JSON.parse(JSON.stringify(stream.checkpoint()));
  }
  // A stream that ends by itself has told the outcome.
  if (events.at(-1)?.type !== "done") throw new RangeError(`it ends with ${events.at(-1)?.type}`);
  if (typeof (await stream.result()).status !== "string") throw new RangeError("a result without a status");
}

/** What went wrong with a case, if anything did. */
async function problemOf(number: number, kind: "streams" | "answers"): Promise<string | undefined> {
  const chance = new Chance(seed * 7_919 + number);
  const [operation, call] = chance.pick(calls);
  const { cursor } = stage(chance, kind === "answers" ? operation : undefined);
  const work = kind === "streams" ? chooseStream(cursor, chance) : Promise.resolve(call(cursor));
  const isHung = Symbol("hung");
  let timer: NodeJS.Timeout | undefined;
  // Real time, for what neither ends nor waits for the clock.
  const patience = new Promise<typeof isHung>((settle) => {
    timer = setTimeout(() => settle(isHung), 10_000);
  });
  try {
    if ((await Promise.race([work, patience])) === isHung) return "it hangs";
    return undefined;
  } catch (error) {
    if (!isCursorError(error)) return String((error as Error)?.stack ?? error);
    const cause = (error as Error).cause;
    return cause instanceof RangeError ? String(cause.stack) : undefined;
  } finally {
    clearTimeout(timer);
  }
}

const chooseStream = (cursor: Cursor, chance: Chance): Promise<unknown> =>
  chance.below(4) > 0 ? readStream(cursor, chance) : cursor.runs.wait(ref);

export async function fuzz(kind: "streams" | "answers", count: number): Promise<void> {
  if (only !== undefined) return expect(await problemOf(Number(only), kind)).toBeUndefined();
  console.log(`${kind}: BOUNDS_SEED=${seed}, ${count} cases`);
  const failed: string[] = [];
  const worker = async (first: number) => {
    for (let number = first; number < count && failed.length < 5; number += 20) {
      const problem = await problemOf(number, kind);
      if (problem !== undefined) failed.push(`BOUNDS_SEED=${seed} BOUNDS_CASE=${number}: ${problem}`);
    }
  };
  await Promise.all(Array.from({ length: 20 }, (_, first) => worker(first)));
  expect(failed).toEqual([]);
}
