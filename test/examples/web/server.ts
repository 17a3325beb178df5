import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { toListener } from "../serve/node-adapter.ts";
import { type AppOptions, createApp } from "./app.ts";
import { bundlePage } from "./bundle.ts";

export interface WebServerOptions extends Omit<AppOptions, "files"> {
  /** @default a free one */
  port?: number;
}

export interface WebServer {
  readonly url: string;
  readonly port: number;
  /** Stops listening, and ends what is open. */
  close(): Promise<void>;
}

/** Serves the page, and what it asks for, on 127.0.0.1. */
export async function startWebServer({ port = 0, ...options }: WebServerOptions): Promise<WebServer> {
  const app = createApp({ ...options, files: await bundlePage() });
  const server = createServer(toListener(app));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
