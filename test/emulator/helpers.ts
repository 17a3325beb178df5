import { expect } from "vitest";
import { type EmulatorOptions, ManualClock } from "../../src/emulator/index.ts";
import { checkedEmulator } from "../support/checked-emulator.ts";

export const base = "https://api.cursor.com";
export const key = "key_TEST";

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  json: any;
}

export interface Frame {
  id?: string;
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  data: any;
}

/** Speaks to an emulator as any HTTP client would: plain fetch, raw bodies. */
export function speakTo(fetch: typeof globalThis.fetch, origin = base, apiKey = key) {
  const authorization = { authorization: `Bearer ${apiKey}` };
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(origin + path, {
      method,
      headers: {
        ...authorization,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      json = undefined;
    }
    return { status: response.status, headers: response.headers, text, json } as Reply;
  };
  const create = async (prompt: string, more: object = {}) => {
    const reply = await call("POST", "/v1/agents", { prompt: { text: prompt }, ...more });
    expect(reply.status, reply.text).toBe(201);
    const path = `/v1/agents/${reply.json.agent.id}`;
    const run = `${path}/runs/${reply.json.run.id}`;
    return { agentId: reply.json.agent.id as string, runId: reply.json.run.id as string, path, run };
  };
  const open = (path: string, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch(`${origin}${path}/stream`, {
      headers: { ...authorization, accept: "text/event-stream", ...headers },
      ...(signal === undefined ? {} : { signal }),
    });
  const stream = async (path: string, headers: Record<string, string> = {}) =>
    frames(await (await open(path, headers)).text());
  return { call, create, open, stream };
}

/** An emulator on a clock that stands still, and someone who speaks to it. */
export function emulate(options: EmulatorOptions = {}) {
  const clock = new ManualClock();
  const emulator = checkedEmulator({ clock, busyWindowMs: 0, ...options });
  return { clock, emulator, ...speakTo(emulator.fetch) };
}

/** Takes a body apart that must have the exact framing of the wire: id, event, data, LF, blank line; nothing else. */
export function frames(text: string): Frame[] {
  const found: Frame[] = [];
  const rest = text.replace(
    /(?:id: ([^\n]+)\n)?event: ([^\n]+)\ndata: ([^\n]+)\n\n/gy,
    (_all, id, event, data) => {
      found.push({ event, data: JSON.parse(data), ...(id === undefined ? {} : { id }) });
      return "";
    },
  );
  expect(rest).toBe("");
  return found;
}

/** Reads a body to its end, or to the error it ends in. */
export async function drain(
  response: Response,
): Promise<{ text: string; error?: Error & { cause?: unknown } }> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
    }
  } catch (error) {
    return { text, error: error as Error };
  }
  return { text };
}

/** Reads chunk by chunk. */
export function chunks(response: Response) {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  return {
    next: async () => {
      const { value, done } = await reader.read();
      return done ? undefined : new TextDecoder().decode(value);
    },
    cancel: () => reader.cancel(),
  };
}

export const textOf = (list: Frame[]) =>
  list
    .filter((frame) => frame.event === "assistant")
    .map((frame) => frame.data.text)
    .join("");

export const names = (list: Frame[]) => list.map((frame) => frame.event);

/** The simplified events only. */
export const plain = (list: Frame[]) => list.filter((frame) => frame.event !== "interaction_update");
