/**
 * A span for each request to the API, by a middleware of thirty lines; no key, prompt or id gets into one.
 * `npm ci --prefix test/examples`, then `npx tsx test/examples/opentelemetry/main.ts` plays it on the emulator and prints
 * the spans.
 * In an app the tracer is `trace.getTracer("…")` of @opentelemetry/api, and the provider is set up once for all.
 */
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { Cursor } from "cursor-cloud-agents";
import { CursorEmulator } from "cursor-cloud-agents/emulator";
import { tracing } from "./tracing.ts";

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });

const emulator = new CursorEmulator();
emulator.faults.status("getRun", 503);
const cursor = new Cursor({
  apiKey: "test",
  baseUrl: emulator.baseUrl,
  fetch: emulator.fetch,
  middleware: [tracing(provider.getTracer("example"))],
});
const { run } = await cursor.agents.create({ prompt: "Add a README" });
await cursor.runs.wait(run);

for (const { name, attributes } of exporter.getFinishedSpans())
  process.stdout.write(`${name} -> ${attributes["http.response.status_code"] ?? attributes["error.type"]}\n`);
