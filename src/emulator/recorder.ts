import { type HeaderEntries, headerOf, type IncomingRequest } from "./exchange.ts";

/** One request the emulator has received. */
export interface RecordedRequest {
  /** HTTP method, in capitals. */
  readonly method: string;
  /** Path and query exactly as sent. */
  readonly path: string;
  /** The whole URL. */
  readonly url: string;
  /** Lower-case names; repeated headers are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** Each header line as it came: over HTTP with the sender's own case and order. */
  readonly headerEntries: readonly (readonly [name: string, value: string])[];
  /** The body as text; empty where there was none. */
  readonly bodyText: string;
  /** The parsed body, if it is JSON. */
  readonly json?: unknown;
  /** Operation of the contract; `getArtifactBytes` for the storage; absent for unknown paths. */
  readonly operationId?: string;
  /** When it came, in milliseconds of the emulator's clock. */
  readonly at: number;
  /** Status that was answered; absent while it is open and when no answer was given. */
  readonly status?: number;
}

/** One request and its response, for checks against a contract. */
export interface ExchangeRecord {
  /** Operation of the contract; absent for unknown paths. */
  operationId?: string;
  /** What was asked; header names are lower-case. */
  request: { method: string; url: string; headers: Record<string, string>; bodyText: string };
  /** For streams the text sent until the end. */
  response: { status: number; headers: Record<string, string>; bodyText: string };
  /** A fault had a part in it, so it need not keep the contract. */
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

/** @internal */
export type MutableRecord = { -readonly [Key in keyof RecordedRequest]: RecordedRequest[Key] };

/** @internal */
export function recordRequest(request: IncomingRequest, at: number): MutableRecord {
  const bodyText = new TextDecoder().decode(request.body);
  const record: MutableRecord = {
    method: request.method,
    path: request.target,
    url: request.url,
    headers: headerMap(request.headers),
    headerEntries: request.headers,
    bodyText,
    at,
  };
  if (headerOf(request.headers, "content-type")?.includes("json") === true) {
    try {
      record.json = JSON.parse(bodyText);
    } catch {
      // Not JSON after all: there is only the text.
    }
  }
  return record;
}
