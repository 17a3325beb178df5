import type { BodySource } from "./body-source.ts";
import { toBytes } from "./body-source.ts";

/** Header names and values in the order they were sent or will be sent. */
export type HeaderEntries = [name: string, value: string][];

/** A request as it came in, whichever way the emulator is mounted. */
export interface IncomingRequest {
  /** The API, or the artifact storage (another origin). */
  realm: "api" | "artifacts";
  method: string;
  /** Path and query, untouched. */
  target: string;
  url: string;
  headers: HeaderEntries;
  body: Uint8Array;
  /** Origin that presigned URLs are given for. */
  artifactsOrigin: string;
  /** Aborts when the caller has left. */
  signal?: AbortSignal;
}

/** A response to be sent. */
export interface Answer {
  status: number;
  headers: HeaderEntries;
  /** `source`: read piece by piece; otherwise sent as a whole. */
  body: Uint8Array | BodySource;
}

/** What happens to a request: an answer, a connection destroyed before any answer byte, or silence. */
export type Outcome = { kind: "answer"; answer: Answer } | { kind: "dropped" } | { kind: "silence" };

/** Is the body read piece by piece? */
export function isSource(body: Answer["body"]): body is BodySource {
  return !(body instanceof Uint8Array);
}

/** The first value of a header, by its lower-case name. */
export function headerOf(headers: HeaderEntries, name: string): string | undefined {
  return headers.find(([key]) => key.toLowerCase() === name)?.[1];
}

/** A JSON answer. */
export function json(status: number, body: unknown, headers: HeaderEntries = []): Answer {
  return {
    status,
    headers: [["content-type", "application/json; charset=utf-8"], ...headers],
    body: toBytes(JSON.stringify(body)),
  };
}
