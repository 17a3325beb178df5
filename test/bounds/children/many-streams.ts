// Very many readings of three runs on one client, ended in every way there is; says what is left of them.
import { getEventListeners, once } from "node:events";
import { Session } from "node:inspector";
import { Cursor, type RunRef } from "cursor-cloud-agents";
import { memory, resources, say, settledResources } from "./measure.ts";

/** A run that is over, one that goes on for ever, and one whose stream is gone while it goes on. */
type Refs = { over: RunRef[]; going: RunRef; expired: RunRef };
const [baseUrl, { over: overs, going, expired }, atOnce, inARow] = process.argv
  .slice(2)
  .map((text) => JSON.parse(text)) as [string, Refs, number, number];

/** The system's clock, with a count of what it still owes. */
const pending = new Set<NodeJS.Timeout>();
let later = 0;
const clock = {
  now: () => Date.now() + later,
  setTimeout: (callback: () => void, ms: number) => {
    const timer = setTimeout(() => {
      pending.delete(timer);
      callback();
    }, ms);
    pending.add(timer);
    return timer;
  },
  clearTimeout: (handle: unknown) => {
    pending.delete(handle as NodeJS.Timeout);
    clearTimeout(handle as NodeJS.Timeout);
  },
};

const cursor = new Cursor({ apiKey: "key_TEST", baseUrl, clock, random: () => 0 });
/** Lives as long as the process, as an application's own would. */
const shared = new AbortController();
const { signal } = shared;

let taken = 0;
/** A wait ends with a look at its run, and each run may be looked at so often a minute only: hence many runs. */
const nextOver = () => overs[taken++ % overs.length]!;
const over = nextOver();
const turn = () => new Promise(setImmediate);
const ends = (promise: Promise<unknown>) =>
  promise.then(
    () => "fine",
    (error) => error?.reason ?? error?.kind ?? error?.name,
  );
const first = async (ref: RunRef, options: object) => {
  const stream = cursor.runs.stream(ref, options);
  const iterator = stream[Symbol.asyncIterator]();
  await iterator.next();
  return { stream, iterator };
};

/** Each ends by itself, with a word of how. */
const ways: (() => Promise<unknown>)[] = [
  async () => {
    let count = 0;
    for await (const _event of cursor.runs.stream(over, { signal, include: "all" })) count++;
    return count > 5 ? "fine" : "short";
  },
  async () => {
    for await (const _event of cursor.runs.stream(going, { signal })) break;
    return "fine";
  },
  () => ends(cursor.runs.stream(over, { signal }).result()),
  async () => {
    const own = new AbortController();
    const { iterator } = await first(going, { signal: own.signal });
    const next = iterator.next();
    own.abort();
    // What had arrived may still be handed out; what follows is the abort, each time.
    let word = await ends(next);
    for (let more = 0; more < 5 && word === "fine"; more++) word = await ends(iterator.next());
    const again = await ends(iterator.next());
    const listeners = getEventListeners(own.signal, "abort").length;
    return word === "AbortError" && again === word && listeners === 0 ? "fine" : "not aborted";
  },
  async () => {
    const { stream, iterator } = await first(going, { signal });
    const next = iterator.next();
    await turn();
    stream.close();
    return (await next).done || (await iterator.next()).done ? "fine" : "goes on";
  },
  async () => {
    const { stream, iterator } = await first(going, { signal });
    const result = ends(stream.result());
    await turn();
    await iterator.return?.();
    stream.close();
    return (await result) === "closed" ? "fine" : "settled";
  },
  () => ends(cursor.runs.wait(nextOver(), { signal })),
  async () => ((await ends(cursor.runs.wait(going, { signal, timeout: 5 }))) === "timeout" ? "fine" : "late"),
  async () =>
    (await ends(cursor.runs.wait(expired, { signal, timeout: 5 }))) === "timeout" ? "fine" : "late",
  async () => {
    for await (const _text of cursor.runs.stream(over, { signal }).text()) break;
    return "fine";
  },
  async () => {
    const reader = cursor.runs.stream(going, { signal }).toReadableStream().getReader();
    await reader.read();
    await reader.cancel();
    return "fine";
  },
  async () => {
    // Aborted before it opens; and one that is closed unread.
    const reason = new DOMException("no", "AbortError");
    const word = await ends(cursor.runs.stream(going, { signal: AbortSignal.abort(reason) }).result());
    cursor.runs.stream(going, { signal }).close();
    return word === "AbortError" ? "fine" : word;
  },
];

/** The sizes of the poller's maps, which nobody outside can see: the debugger can. */
function pollerSizes(): Record<string, string> {
  const session = new Session();
  session.connect();
  const post = (method: string, parameters: object) => {
    // biome-ignore lint/suspicious/noExplicitAny: the debugger's protocol
    let answer: any;
    // Within one process the answer is there before post returns.
    session.post(method, parameters, (error, result) => {
      if (error) throw error;
      answer = result;
    });
    return answer;
  };
  interface Private {
    name: string;
    value: { objectId: string; className: string; description: string };
  }
  const privatesOf = (objectId: string): Private[] =>
    post("Runtime.getProperties", { objectId, ownProperties: true }).privateProperties;
  /** The maps of an object, with those of the shared work that it holds. */
  const mapsOf = (objectId: string): [name: string, size: string][] =>
    privatesOf(objectId).flatMap(({ name, value }): [string, string][] => {
      if (value.className === "Map") return [[name, value.description]];
      if (value.className !== "SharedWork") return [];
      return mapsOf(value.objectId).map(([inner, size]) => [`${name}.${inner}`, size]);
    });
  (globalThis as Record<string, unknown>)["subject"] = cursor.runs;
  const { objectId } = post("Runtime.evaluate", { expression: "subject" }).result;
  const poller = privatesOf(objectId).find(({ name }) => name === "#poller");
  const sizes = mapsOf(poller!.value.objectId);
  session.disconnect();
  return Object.fromEntries(sizes);
}

const words: Record<string, number> = {};
const note = (word: unknown) => {
  words[String(word)] = (words[String(word)] ?? 0) + 1;
};
const batch = async (count: number) => {
  for (const word of await Promise.all(Array.from({ length: count }, (_, at) => ways[at % ways.length]!())))
    note(word);
};
const row = async (count: number) => {
  for (let at = 0; at < count; at++) note(await ways[at % ways.length]!());
};
const left = async () => ({
  resources: await settledResources(),
  listeners: getEventListeners(signal, "abort").length,
  timers: pending.size,
});

// What is made once, code and connections among them, is there before anything is measured.
await batch(atOnce);
await row(ways.length * 4);
const before = await memory();
await batch(atOnce);
const afterBatch = await left();
await row(inARow);
const afterRow = await left();
const grown = (await memory()) - before;
// What was asked a minute ago is forgotten with the next question.
later = 61_000;
const own = new AbortController();
await ends(cursor.runs.wait(expired, { signal: own.signal, onStatus: () => own.abort() }));
const sizes = pollerSizes();
say({ words, afterBatch, afterRow, grown, sizes });
await once(process.stdin, "data");
process.stdin.destroy();
// Closes once every answer is through: a body that was left behind would hold it.
const agent = (globalThis as Record<symbol, unknown>)[Symbol.for("undici.globalDispatcher.1")];
await (agent as { close(): Promise<void> }).close();
say({ resources: resources() });
