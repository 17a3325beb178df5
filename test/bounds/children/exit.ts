// Does one thing with the client, leaves it in one of the states that calls are left in, and must then end by itself.
import { setTimeout as pause } from "node:timers/promises";
import { Cursor, type RunRef } from "cursor-cloud-agents";
import { ending, say, settledResources } from "./measure.ts";

type Refs = { over: RunRef; going: RunRef; expired: RunRef };
const [way, baseUrl, silentUrl, { over, going, expired }] = process.argv
  .slice(2)
  .map((text) => JSON.parse(text)) as [string, string, string, Refs];

const cursor = new Cursor({ apiKey: "key_TEST", baseUrl });
const silent = new Cursor({ apiKey: "key_TEST", baseUrl: silentUrl });
const soon = () => AbortSignal.timeout(20);
/** An abort a little after something was seen, when the client waits for the next time. */
const abortable = () => {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => void setTimeout(() => controller.abort(), 50) };
};
const { agentId } = over;
const reader = async (ref: RunRef) => {
  const stream = cursor.runs.stream(ref);
  const iterator = stream[Symbol.asyncIterator]();
  await iterator.next();
  return { stream, iterator };
};

const ways: Record<string, () => Promise<unknown>> = {
  "wait: over": () => cursor.runs.wait(over),
  "wait: over, long before its deadline": () => cursor.runs.wait(over, { timeout: 600_000 }),
  "wait: polling, aborted": () => {
    const { signal, abort } = abortable();
    return cursor.runs.wait(expired, { signal, onStatus: abort });
  },
  "wait: streaming, aborted": () => cursor.runs.wait(going, { signal: soon() }),
  "wait: deadline": () => cursor.runs.wait(going, { timeout: 20 }),
  "wait: a callback throws": () =>
    cursor.runs.wait(expired, {
      onStatus: () => {
        throw new Error("mine");
      },
    }),
  "wait: silent server": () => silent.runs.wait(going, { signal: soon() }),
  "result: over": () => cursor.runs.stream(over).result(),
  "result: asked and forgotten, then closed": async () => {
    const stream = cursor.runs.stream(going);
    void stream.result();
    await pause(20);
    stream.close();
  },
  "result: beside a reader that stands still": async () => {
    const { stream } = await reader(over);
    await stream.result();
    stream.close();
  },
  "result: no such run": () => cursor.runs.stream({ agentId, id: "run-none" }).result(),
  "stream: left by break": async () => {
    for await (const _event of cursor.runs.stream(going)) break;
  },
  "stream: left by an error": async () => {
    for await (const _event of cursor.runs.stream(going)) throw new Error("mine");
  },
  "stream: closed under a pending read": async () => {
    const { stream, iterator } = await reader(going);
    await iterator.next();
    const pending = iterator.next();
    stream.close();
    await pending;
  },
  "stream: aborted under a pending read": async () => {
    for await (const _event of cursor.runs.stream(going, { signal: soon() }));
  },
  "stream: read to its result, not to its end": async () => {
    for await (const event of cursor.runs.stream(over)) if (event.type === "result") break;
  },
  "stream: iterator dropped after the run's end": async () => void (await reader(over)),
  "stream: never read": async () => void cursor.runs.stream(going),
  "stream: text left": async () => {
    for await (const _text of cursor.runs.stream(going).text()) break;
  },
  "stream: web stream cancelled": async () => {
    const web = cursor.runs.stream(going).toReadableStream().getReader();
    await web.read();
    await web.cancel();
  },
  "stream: aborted between two tries": () => silent.runs.stream(going, { signal: soon() }).result(),
  "download: read": async () => (await cursor.artifacts.download(agentId, "artifacts/a")).text(),
  "download: disposed unread": async () => {
    await using _download = await cursor.artifacts.download(agentId, "artifacts/a");
  },
  "download: left in the middle": async () => {
    const body = (await cursor.artifacts.download(agentId, "artifacts/a")).body.getReader();
    await body.read();
    await body.cancel();
  },
  "download: stalled and aborted": async () =>
    (await cursor.artifacts.download(agentId, "artifacts/stalled", { signal: soon() })).bytes(),
  "download: stalled and late": async () =>
    (await cursor.artifacts.download(agentId, "artifacts/stalled", { timeout: 20, maxRetries: 0 })).bytes(),
  "download: no such file": () => cursor.artifacts.download(agentId, "artifacts/none"),
  "list: first page only": async () => cursor.agents.list({ limit: 1 }),
  "list: left in the middle": async () => {
    for await (const _agent of cursor.agents.list({ limit: 1 })) break;
  },
  "list: aborted": async () => silent.agents.list({}, { signal: soon() }),
  "list: late": async () => silent.agents.list({}, { timeout: 20, maxRetries: 1 }),
  "list: repositories, aborted": async () => silent.repositories.list({}, { signal: soon() }),
  "call: aborted while it waits to retry": async () => {
    const { signal, abort } = abortable();
    const busy = new Cursor({
      apiKey: "key_TEST",
      baseUrl,
      fetch: (...request) => fetch(...request).finally(abort),
    });
    return busy.runs.get({ agentId, id: "run-busy" }, { signal });
  },
  "prompt: aborted": () => cursor.prompt("going", {}, { signal: AbortSignal.timeout(200) }),
};

const end = await ending(ways[way]!());
say({ end: end["kind"] === "foreign" ? end["name"] : end["kind"], left: await settledResources() });
