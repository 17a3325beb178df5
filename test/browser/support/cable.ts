import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/**
 * The network between browser and server, as one TCP proxy on 127.0.0.1: it can be cut and pulled out, and it keeps
 * every byte that the server ever sent.
 */
export class Cable {
  /** All that went to the browser, headers included. */
  readonly received: Buffer[] = [];
  /** Request lines that went to the server, oldest first: `GET /path`. */
  readonly requests: string[] = [];
  readonly #port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isPulledOut = false;

  constructor(port: number) {
    this.#port = port;
    this.#server = createServer({ noDelay: true }, (client) => this.#join(client));
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Connections that are open now. */
  get open(): number {
    return this.#sockets.size;
  }

  /** Breaks all connections; new ones are fine. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Breaks all connections, and takes no new ones until it is put back in. */
  pullOut(): void {
    this.#isPulledOut = true;
    this.cut();
  }

  putBack(): void {
    this.#isPulledOut = false;
  }

  /** How often a path was asked for. */
  count(pattern: RegExp): number {
    return this.requests.filter((line) => pattern.test(line)).length;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #join(client: Socket): void {
    if (this.#isPulledOut) {
      client.resetAndDestroy();
      return;
    }
    const server = connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
    this.#sockets.add(client);
    // A reset is what this is for: an error on either side ends the other.
    client.on("error", () => {});
    server.on("error", () => {});
    client.on("close", () => {
      this.#sockets.delete(client);
      server.destroy();
    });
    server.on("close", (hadError) => (hadError ? client.destroy() : client.end()));
    client.on("data", (bytes) => {
      const line = /^(GET|POST|HEAD) (\S+) HTTP/.exec(bytes.toString("latin1"));
      if (line) this.requests.push(`${line[1]} ${line[2]}`);
      server.write(bytes);
    });
    server.on("data", (bytes) => {
      this.received.push(bytes);
      client.write(bytes);
    });
  }
}
