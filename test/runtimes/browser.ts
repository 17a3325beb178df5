import { readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { chromium } from "playwright-core";
import type { Place } from "./place.ts";

const storage = "/artifact-storage";

/**
 * One origin for the page and the API, as behind an app's own server: the API has no CORS. Passes on whatever comes,
 * cuts too; the address of the artifact storage is put on this origin.
 */
async function serve(place: Place) {
  const server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? "/";
    if (path === "/")
      return void outgoing.setHeader("content-type", "text/html").end("<!doctype html><title>smoke</title>");
    if (path === "/web.js") {
      return void outgoing.setHeader("content-type", "text/javascript").end(readFileSync(place.webModule));
    }
    const isStored = path.startsWith(storage);
    const target = new URL(
      isStored ? path.slice(storage.length) : path,
      isStored ? place.artifactsUrl : place.apiUrl,
    );
    const { method, headers } = incoming;
    const onward = request(
      target,
      { method: method!, headers: { ...headers, host: target.host } },
      (answer) => {
        const isUrl = path.includes("/artifacts/");
        if (!isUrl) {
          outgoing.writeHead(answer.statusCode!, answer.headers);
          answer.on("error", () => outgoing.destroy()).pipe(outgoing);
          return;
        }
        let body = "";
        answer.setEncoding("utf8").on("data", (piece) => {
          body += piece;
        });
        answer.on("end", () => {
          delete answer.headers["content-length"];
          outgoing.writeHead(answer.statusCode!, answer.headers);
          outgoing.end(body.replaceAll(place.artifactsUrl, origin + storage));
        });
      },
    );
    outgoing.on("close", () => onward.destroy());
    onward.on("error", () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { origin, close };
}

/** Runs the smoke test in a page of a real Chromium (`CHROMIUM_PATH`, or Debian's). */
export async function runInChromium(place: Place): Promise<string> {
  const { origin, close } = await serve(place);
  const browser = await chromium.launch({
    executablePath: process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
    timeout: 60_000,
  });
  try {
    const page = await browser.newPage();
    await page.goto(origin);
    await page.evaluate(`import("/web.js").then(({ smoke }) => smoke("${origin}"))`);
    return browser.version();
  } finally {
    await browser.close();
    close();
  }
}
