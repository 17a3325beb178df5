import { expect } from "vitest";
import { type EmulatorOptions, ManualClock } from "../../src/emulator/index.ts";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { base, chunks, type Reply, speakTo } from "./helpers.ts";

export const service = "sa_TEST";
export const root = "/v0/private-workers";

export interface WatchFrame {
  event: string;
  id: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every shape
  data: any;
}

/** Takes frames apart that must have the exact framing of the watch: event, id, data, LF, blank line; nothing else. */
export function watchFrames(text: string): WatchFrame[] {
  const found: WatchFrame[] = [];
  const rest = text.replace(
    /event: ([^\n]+)\nid: ([\w-]+)\ndata: ([^\n]+)\n\n/gy,
    (_all, event, id, data) => {
      found.push({ event, id, data: JSON.parse(data) });
      return "";
    },
  );
  expect(rest).toBe("");
  return found;
}

/** An open watch, read event by event. */
export function readWatch(response: Response) {
  const body = chunks(response);
  const next = async () => {
    const chunk = await body.next();
    return chunk === undefined ? undefined : (watchFrames(chunk)[0] as WatchFrame);
  };
  return {
    /** The first bytes, which are a comment. */
    greeting: body.next,
    next,
    cancel: body.cancel,
    /** So many events. */
    take: async (count: number) => {
      const frames: (WatchFrame | undefined)[] = [];
      while (frames.length < count) frames.push(await next());
      return frames as WatchFrame[];
    },
  };
}

interface WatchOptions {
  query?: Record<string, string>;
  headers?: Record<string, string>;
  apiKey?: string;
}

/** An emulator on a manual clock, and a service account that calls the workers' endpoints. */
export function emulateWorkers(options: EmulatorOptions = {}) {
  const clock = new ManualClock();
  const emulator = checkedEmulator({ clock, busyWindowMs: 0, ...options });
  const speaker = (apiKey: string) => {
    const { call } = speakTo(emulator.fetch, base, apiKey);
    return (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
      call(method, root + path, body, headers);
  };
  const call = speaker(service);
  const list = async (query: Record<string, string> = {}) => {
    const reply = await call("GET", `/pending-requests?${new URLSearchParams(query)}`);
    expect(reply.status, reply.text).toBe(200);
    return reply.json;
  };
  const open = (cursor: string, { query = {}, headers = {}, apiKey = service }: WatchOptions = {}) =>
    emulator.fetch(`${base}${root}/pending-requests/stream?${new URLSearchParams({ cursor, ...query })}`, {
      headers: { authorization: `Bearer ${apiKey}`, accept: "text/event-stream", ...headers },
    });
  const refused = async (cursor: string, watchOptions: WatchOptions = {}) => {
    const response = await open(cursor, watchOptions);
    return { status: response.status, json: (await response.json()) as unknown };
  };
  const watch = async (cursor: string, watchOptions: WatchOptions = {}) => {
    const response = await open(cursor, watchOptions);
    expect(response.status).toBe(200);
    const watching = readWatch(response);
    expect(await watching.greeting()).toBe(": connected\n\n");
    return watching;
  };
  const claim = (id: string, workerId: string) => call("POST", "/claim", { id, workerId });
  /** Where every request stands. */
  const states = () =>
    Object.fromEntries(emulator.workers.requests.map(({ id, state }) => [id, state] as const));
  return { clock, emulator, speaker, call, list, open, refused, watch, claim, states };
}

/** The status and the error text of a reply of the workers' endpoints. */
export const textError = (reply: Reply) => [reply.status, reply.json.error] as const;

export const ids = (page: { requests: { id: string }[] }) => page.requests.map(({ id }) => id);
