// Runs the smoke test in workerd. Of its own process, as miniflare needs a newer Node than the tests do.
import { readFileSync } from "node:fs";
import { Miniflare } from "miniflare";

const [webModule, baseUrl] = process.argv.slice(2);
const worker = new Miniflare({
  compatibilityDate: "2026-07-01",
  modules: [
    {
      type: "ESModule",
      path: "worker.js",
      contents: `import { smoke } from "./web.js";
        export default {
          async fetch() {
            return smoke(${JSON.stringify(baseUrl)}).then(
              (seen) => Response.json(seen),
              (error) => new Response(error.stack, { status: 500 }),
            );
          },
        };`,
    },
    { type: "ESModule", path: "web.js", contents: readFileSync(webModule, "utf8") },
  ],
});
try {
  const answer = await worker.dispatchFetch("http://worker.example/");
  if (answer.status !== 200) throw new Error(await answer.text());
} finally {
  await worker.dispose();
}
