/** One HTTP request as it came over the socket. */
export interface ProxyRequest {
  method: string;
  path: string;
  /** The resume position that it asks for. */
  position: string | undefined;
  /** What to forward: as it came, or without its position. */
  bytes(withPosition: boolean): Buffer;
}

/** Takes requests off a socket; an openapi-fetch body is a string, so its length is always declared. */
export class RequestParser {
  #buffer: Buffer = Buffer.alloc(0);

  feed(bytes: Buffer): ProxyRequest[] {
    this.#buffer = Buffer.concat([this.#buffer, bytes]);
    const requests: ProxyRequest[] = [];
    for (let request = this.#take(); request !== undefined; request = this.#take()) requests.push(request);
    return requests;
  }

  #take(): ProxyRequest | undefined {
    const headEnd = this.#buffer.indexOf("\r\n\r\n");
    if (headEnd < 0) return undefined;
    const lines = this.#buffer.subarray(0, headEnd).toString("latin1").split("\r\n");
    if (headerOf(lines, "transfer-encoding") !== undefined) throw new Error("a request without a length");
    const end = headEnd + 4 + Number(headerOf(lines, "content-length") ?? 0);
    if (this.#buffer.length < end) return undefined;
    const body = this.#buffer.subarray(headEnd + 4, end);
    this.#buffer = this.#buffer.subarray(end);
    const [method = "", path = ""] = (lines[0] ?? "").split(" ");
    return {
      method,
      path,
      position: headerOf(lines, "last-event-id"),
      bytes: (withPosition) => {
        const kept = lines.filter((line) => withPosition || !/^last-event-id:/i.test(line));
        return Buffer.concat([Buffer.from(`${kept.join("\r\n")}\r\n\r\n`, "latin1"), body]);
      },
    };
  }
}

function headerOf(lines: string[], name: string): string | undefined {
  const found = lines.find((line) => line.toLowerCase().startsWith(`${name}:`));
  return found?.slice(name.length + 1).trim();
}
