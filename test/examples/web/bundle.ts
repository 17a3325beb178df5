import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** A file of the page, ready to be sent. */
export interface PageFile {
  type: string;
  body: string;
}

const fileUrl = (path: string) => new URL(path, import.meta.url);
const sources = fileURLToPath(fileUrl("../../../src/"));

let bundled: Promise<ReadonlyMap<string, PageFile>> | undefined;

/** The page, bundled in memory, once a process. Throws when the bundle would need anything of Node. */
export function bundlePage(): Promise<ReadonlyMap<string, PageFile>> {
  bundled ??= makeBundle();
  return bundled;
}

async function makeBundle(): Promise<ReadonlyMap<string, PageFile>> {
  const [script, style, document] = await Promise.all([
    bundle("page/main.tsx"),
    bundle("page/style.css"),
    readFile(fileUrl("page/index.html"), "utf8"),
  ]);
  return new Map([
    ["/", { type: "text/html; charset=utf-8", body: document }],
    ["/page.js", { type: "text/javascript; charset=utf-8", body: script }],
    ["/style.css", { type: "text/css; charset=utf-8", body: style }],
    ["/icon.svg", { type: "image/svg+xml", body: icon }],
  ]);
}

async function bundle(path: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(fileUrl(path))],
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    platform: "browser",
    target: ["es2022", "chrome123", "firefox120", "safari17.5"],
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
    // In this repository the package's name means its sources.
    alias: {
      "cursor-cloud-agents/store": `${sources}store/index.ts`,
      "cursor-cloud-agents/react": `${sources}react/index.ts`,
    },
    logLevel: "silent",
  });
  return outputFiles[0]!.text;
}

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="#1f6f63"/><path d="M5 8.2 7.2 10.4 11 6" fill="none" stroke="#fff" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round"/></svg>`;
