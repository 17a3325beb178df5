import {
  type HeaderEntries,
  headerMap,
  headerOf,
  type IncomingRequest,
  type RecordedRequest,
} from "./exchange.ts";

/** Limits of the list of requests that an emulator keeps. */
export interface EmulatorJournalOptions {
  /** Requests that are kept; 0 for none. @default 10000 */
  requests?: number;
  /** Bytes of text that are kept, in bodies, URLs and headers. The newest request is kept whatever its size. @default 67108864 */
  bytes?: number;
}

/** A recorded request while the emulator still works on it. @internal */
export type MutableRecord = { -readonly [Key in keyof RecordedRequest]: RecordedRequest[Key] };

/** Records a request that came in at this time. */
function toRecord(request: IncomingRequest, at: number, operationId: string | undefined): MutableRecord {
  const bodyText = new TextDecoder().decode(request.body);
  const record: MutableRecord = {
    method: request.method,
    path: request.target,
    url: request.url,
    headers: headerMap(request.headers),
    headerEntries: request.headers,
    bodyText,
    at,
    ...(operationId === undefined ? {} : { operationId }),
  };
  if (headerOf(request.headers, "content-type")?.includes("json") === true && isJson(bodyText)) {
    // Parsed when it is read: the parsed body would take as much memory again as the text.
    Object.defineProperty(record, "json", { get: () => JSON.parse(bodyText), enumerable: true });
  }
  return record;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // The content type promises JSON, but the body is not. The record has the text only.
  }
}

function sizeOf({ bodyText, url, headerEntries }: RecordedRequest): number {
  const sum = (entries: Readonly<HeaderEntries>) =>
    entries.reduce((size, [name, value]) => size + name.length + value.length, 0);
  return bodyText.length + url.length + sum(headerEntries as HeaderEntries);
}

/** The requests that an emulator has received, as many as its limits allow. @internal */
export class Journal {
  /** Oldest first. */
  readonly requests: MutableRecord[] = [];
  readonly #limits: Required<EmulatorJournalOptions>;
  #bytes = 0;

  constructor(limits: Required<EmulatorJournalOptions>) {
    this.#limits = limits;
  }

  /** Records a request, and forgets the oldest ones beyond the limits. */
  record(request: IncomingRequest, at: number, operationId: string | undefined): MutableRecord {
    const record = toRecord(request, at, operationId);
    this.requests.push(record);
    this.#bytes += sizeOf(record);
    let surplus = Math.max(0, this.requests.length - this.#limits.requests);
    let bytes = this.#bytes;
    for (const [index, old] of this.requests.entries()) {
      const isBeyond = index < surplus || (bytes > this.#limits.bytes && old !== record);
      if (!isBeyond) break;
      bytes -= sizeOf(old);
      surplus = Math.max(surplus, index + 1);
    }
    this.requests.splice(0, surplus);
    this.#bytes = bytes;
    return record;
  }

  clear(): void {
    this.requests.length = 0;
    this.#bytes = 0;
  }
}
