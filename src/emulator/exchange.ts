import { type BodySource, observedSource, toBytes } from "./body-source.ts";

/** Header names and values in the order in which they are sent. */
export type HeaderEntries = [name: string, value: string][];

/** A request in the one form that all mounts (fetch, server, msw) turn theirs into. */
export interface IncomingRequest {
  /** The API, or the artifact storage (another origin). */
  realm: "api" | "artifacts";
  method: string;
  /** Path and query, untouched. */
  target: string;
  url: string;
  headers: HeaderEntries;
  body: Uint8Array;
  /** Origin of the presigned URLs in the answer. */
  artifactsOrigin: string;
  /** Aborts when the client closes the connection. */
  signal?: AbortSignal;
}

/** A response to be sent. */
export interface Answer {
  status: number;
  headers: HeaderEntries;
  /** A source is read piece by piece; bytes are sent as a whole. */
  body: Uint8Array | BodySource;
}

/** How the emulator reacts to a request: an answer, a connection destroyed before any byte of it, or no answer at all. */
export type Outcome = { kind: "answer"; answer: Answer } | { kind: "dropped" } | { kind: "silence" };

/** Whether the body is read piece by piece. In jsdom bytes are not always an `instanceof` the global Uint8Array. */
export function isSource(body: Answer["body"]): body is BodySource {
  return !ArrayBuffer.isView(body);
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

/** One request the emulator has received. */
export interface RecordedRequest {
  /** HTTP method, in capitals. */
  readonly method: string;
  /** Path and query, exactly as sent. */
  readonly path: string;
  /** The whole URL. */
  readonly url: string;
  /** Lower-case names; repeated headers are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** Each header line as received: over HTTP with the case and the order of the sender. */
  readonly headerEntries: readonly (readonly [name: string, value: string])[];
  /** The body as text; empty where there was none. */
  readonly bodyText: string;
  /** The parsed body, if it is JSON; parsed anew each time. */
  readonly json?: unknown;
  /** Operation of the contract; `getArtifactBytes` for the storage; absent for unknown paths. */
  readonly operationId?: string;
  /** When it was received, in milliseconds of the emulator's clock. */
  readonly at: number;
  /** Status of the answer; absent while the request is open, and if there was no answer. */
  readonly status?: number;
}

/** One request and its response, for checks against a contract. */
export interface ExchangeRecord {
  /** Operation of the contract; absent for unknown paths. */
  operationId?: string;
  /** The request; header names are lower-case. */
  request: { method: string; url: string; headers: Record<string, string>; bodyText: string };
  /** The response; for streams, `bodyText` is all that was sent until the end. */
  response: { status: number; headers: Record<string, string>; bodyText: string };
  /** Whether a fault took part, so that the exchange need not keep the contract. */
  fault: boolean;
}

/** Header lines as a map of lower-case names. */
export function headerMap(entries: HeaderEntries): Record<string, string> {
  const map: Record<string, string> = {};
  for (const [name, value] of entries) {
    const key = name.toLowerCase();
    map[key] = map[key] === undefined ? value : `${map[key]}, ${value}`;
  }
  return map;
}

/** Calls `onExchange` with the request and its response as soon as the whole body has been sent. @internal */
export function observeExchange(
  record: RecordedRequest,
  answer: Answer,
  fault: boolean,
  onExchange: (exchange: ExchangeRecord) => void,
): Answer {
  const report = (bytes: Uint8Array, cut: boolean) => {
    const { method, url, headers, bodyText, operationId } = record;
    onExchange({
      ...(operationId === undefined ? {} : { operationId }),
      request: { method, url, headers, bodyText },
      response: {
        status: answer.status,
        headers: headerMap(answer.headers),
        bodyText: new TextDecoder().decode(bytes),
      },
      fault: fault || cut,
    });
  };
  if (isSource(answer.body)) return { ...answer, body: observedSource(answer.body, report) };
  report(answer.body, false);
  return answer;
}
