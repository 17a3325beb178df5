import { getEventListeners } from "node:events";
import type { ServedFrame } from "cursor-cloud-agents/serve";
import { type RunStreamResponseOptions, runStreamResponse } from "cursor-cloud-agents/serve";
import { brief } from "../support/frames.ts";
import { ref } from "../support/sample-run.ts";
import type { StreamServer } from "../support/stream-server.ts";
import { type Message, MessageParser } from "./event-source.ts";

export const path = `https://app.example/runs/${ref.agentId}/${ref.id}`;

export interface Asked extends Partial<RunStreamResponseOptions> {
  /** The position, as a browser's EventSource sends it. */
  lastEventId?: string | undefined;
  query?: string;
  init?: RequestInit;
}

/** Requests the run as a browser does, from a server that accepts everyone, on the fake API's clock. */
export function ask(server: StreamServer, { lastEventId, query = "", init, ...options }: Asked = {}) {
  const headers = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
  const request = new Request(path + query, { headers, ...init });
  const { clock } = server;
  return runStreamResponse(server.cursor(), ref, { request, authorize: () => true, clock, ...options });
}

/** A whole response, read to its end. */
export interface Served {
  response: Response;
  text: string;
  frames: ServedFrame[];
  messages: Message[];
  comments: string[];
  retry: number | undefined;
  /** The browser's position afterwards. */
  lastEventId: string;
}

export async function readResponse(response: Response, lastEventId = ""): Promise<Served> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const parser = new MessageParser(lastEventId);
  if (response.status === 200) parser.feed(bytes);
  return {
    response,
    text: new TextDecoder().decode(bytes),
    frames: parser.messages.map(({ data }) => JSON.parse(data) as ServedFrame),
    messages: parser.messages,
    comments: parser.comments,
    retry: parser.retry,
    lastEventId: parser.lastEventId,
  };
}

/** Requests the run and reads it to its end, while the fake time passes. */
export const served = (server: StreamServer, asked: Asked = {}): Promise<Served> =>
  server.run(ask(server, asked).then((response) => readResponse(response, asked.lastEventId)));

/** `assistant#1 Hello`, `end`, …: whole runs at a glance. */
export const briefly = (frames: readonly ServedFrame[]): string[] =>
  frames.map((frame) => {
    if (frame.type === "failure") return `failure ${frame.data.code}${frame.data.final ? " (final)" : ""}`;
    return frame.type === "reset" || frame.type === "end" ? frame.type : brief(frame);
  });

/** The run's own events, without those that each connection repeats. */
export const lasting = (frames: readonly ServedFrame[]): ServedFrame[] =>
  frames.filter(({ type }) => type !== "status" && type !== "heartbeat");

/** Reads a response piece by piece. */
export function piecewise(response: Response) {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  return {
    reader,
    async next(): Promise<string | undefined> {
      const { value, done } = await reader.read();
      return done ? undefined : decoder.decode(value, { stream: true });
    },
    cancel: () => reader.cancel(),
  };
}

/** An AbortSignal with a count of its listeners. */
export function countingSignal() {
  const controller = new AbortController();
  const { signal } = controller;
  return { controller, signal, listeners: () => getEventListeners(signal, "abort").length };
}
