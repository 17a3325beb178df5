import { systemClock } from "../async.ts";
import { ArgumentError, type Clock } from "../index.ts";
import { ChunkReader, type Step } from "./chunk-reader.ts";
import {
  checkOptions,
  type RunEventSource,
  responseOptionNames,
  type UIMessageStreamResponseOptions,
} from "./options.ts";

/** A comment: every SSE parser passes over it. */
const signOfLife = ": keep-alive\n\n";
const longestTimer = 2 ** 31 - 1;

/**
 * {@link toUIMessageStream} as the answer of a route that `useChat` talks to: status 200, one SSE message per chunk,
 * `[DONE]` at the end, comments while the run is silent.
 *
 * The run's stream is closed when the client leaves; the run goes on. Don't give `request.signal` to `runs.cancel`:
 * a closed tab, a reload and `stop()` look alike.
 *
 * @throws ArgumentError at once
 * @example
 * export async function POST(request: Request): Promise<Response> {
 *   const { id, messages } = await request.json();
 *   const prompt = messages.at(-1).parts.map(({ text = "" }) => text).join("");
 *   const agentId = await agentOf(id, await userOf(request)); // yours: which chat has which agent, and whose it is
 *   const run = await cursor.runs.create(agentId, { prompt }, { whenBusy: "wait" }); // a chat's first: agents.create
 *   return toUIMessageStreamResponse(cursor.runs.stream(run));
 * }
 */
export function toUIMessageStreamResponse<Metadata = unknown>(
  stream: RunEventSource,
  options: UIMessageStreamResponseOptions<Metadata> = {},
): Response {
  checkOptions(options, responseOptionNames);
  const { keepAlive = 15_000, clock = systemClock } = options;
  // `connection` is not a header that an answer may set for the next hop; `no-transform` keeps compressors from buffering.
  const headers = new Headers({
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
    "x-vercel-ai-ui-message-stream": "v1",
    "x-accel-buffering": "no",
  });
  addHeaders(headers, options.headers);
  return new Response(toEventStream(new ChunkReader(stream, options), keepAlive, clock), { headers });
}

function toEventStream(reader: ChunkReader, interval: number, clock: Clock): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let pending: Promise<Step | undefined> | undefined;
  let wake = () => {};
  /** The reading's next step, or "quiet" once the time is up. The timer lives no longer than the wait. */
  const nextStep = async (until: number): Promise<Step | undefined | "quiet"> => {
    pending ??= reader.next();
    const waiting = pending;
    let timer: unknown;
    const quiet = new Promise<"quiet">((resolve) => {
      wake = () => resolve("quiet");
      if (until !== Number.POSITIVE_INFINITY) timer = clock.setTimeout(wake, until - clock.now());
    });
    try {
      const step = await Promise.race([waiting, quiet]);
      if (step !== "quiet") pending = undefined;
      return step;
    } finally {
      if (timer !== undefined) clock.clearTimeout(timer);
    }
  };
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const until = interval > longestTimer ? Number.POSITIVE_INFINITY : clock.now() + interval;
        for (let text = ""; text === ""; ) {
          const step = await nextStep(until);
          if (reader.isClosed) return;
          if (step === undefined) {
            controller.enqueue(encoder.encode("data: [DONE]\n\n"));
            return controller.close();
          }
          text = step === "quiet" || step.isHeartbeat ? signOfLife : step.chunks.map(toMessage).join("");
          if (text !== "") controller.enqueue(encoder.encode(text));
        }
      },
      cancel: () => {
        reader.close();
        wake();
      },
    },
    { highWaterMark: 0 },
  );
}

const toMessage = (chunk: unknown): string => `data: ${JSON.stringify(chunk)}\n\n`;

function addHeaders(headers: Headers, more: UIMessageStreamResponseOptions["headers"] = {}): void {
  try {
    for (const [name, value] of Symbol.iterator in more ? more : Object.entries(more)) {
      if (value !== undefined && value !== null) headers.set(name as string, value);
    }
  } catch {
    // What it says quotes the value.
    throw new ArgumentError("headers", "can't be sent");
  }
}
