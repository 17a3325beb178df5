import { systemClock } from "../async.ts";
import {
  type Check,
  checkClock,
  checkFlag,
  checkObject,
  checkOptions,
  checkSignal,
  checkTimeout,
  type OptionTable,
  orDefault,
} from "../check.ts";
import {
  ArgumentError,
  type Clock,
  type Cursor,
  type HeadersInput,
  isApiError,
  isTerminalStatus,
  type RunRef,
} from "../index.ts";
import { EventStreamBody, encodeComment, encodeMessage, unbuffered } from "../web-stream.ts";
import {
  ChunkReader,
  type RunEventSource,
  type UIMessageStreamOptions,
  uiMessageStreamTable,
} from "./ui-message-stream.ts";

/** How a run is answered as a UI message stream. */
export interface UIMessageStreamResponseOptions<Metadata = unknown> extends UIMessageStreamOptions<Metadata> {
  /** Additional headers; they replace ours of the same name. @default none */
  headers?: HeadersInput | undefined;
  /**
   * After this many milliseconds without a message an SSE comment is sent, since proxies end silent connections; Infinity:
   * never. @default 15_000
   */
  keepAlive?: number | undefined;
  /** Where time comes from, for tests. @default the system's clock */
  clock?: Clock | undefined;
}

/** How the request of a page that comes back is answered. */
export interface ResumeUIMessageStreamOptions<Metadata = unknown>
  extends UIMessageStreamResponseOptions<Metadata> {
  /**
   * Send a run that is over again, too, instead of answering 204. For chats whose messages are not stored when a run
   * ends: the whole message as long as the API keeps the stream, afterwards its final reply.
   * @default false
   */
  replayFinished?: boolean | undefined;
  /** Ends the request and the reading, never the run; `request.signal` is one. @default none */
  signal?: AbortSignal | undefined;
}

/** The answer's headers: ours, then the caller's. */
const toHeaders: Check<Headers> = (argument, value = {}) => {
  const headers = new Headers({
    "content-type": "text/event-stream",
    "x-vercel-ai-ui-message-stream": "v1",
    // No `connection` header: a response may not set one for the next hop.
    ...unbuffered,
  });
  try {
    const more = value as HeadersInput;
    for (const [name, text] of Symbol.iterator in more ? more : Object.entries(more)) {
      if (text !== undefined && text !== null) headers.set(name, text);
    }
  } catch {
    // The platform's own message is not passed on, since it quotes the value.
    throw new ArgumentError(argument, "contains a name or a value that can't be sent in a header");
  }
  return headers;
};

const responseTable = {
  ...uiMessageStreamTable,
  headers: toHeaders,
  keepAlive: orDefault(checkTimeout, 15_000),
  clock: orDefault(checkClock, systemClock),
} satisfies OptionTable<UIMessageStreamResponseOptions>;

const resumeTable = {
  ...responseTable,
  replayFinished: orDefault(checkFlag, false),
  signal: checkSignal,
} satisfies OptionTable<ResumeUIMessageStreamOptions>;

/**
 * {@link toUIMessageStream} as the answer of a route that `useChat` calls: status 200, one SSE message per chunk,
 * `[DONE]` at the end, comments while the run is silent.
 *
 * The run's stream is closed when the client leaves; the run goes on. Don't pass `request.signal` to `runs.cancel`:
 * a closed tab, a reload and `stop()` look alike.
 *
 * @throws ArgumentError at once
 * @example
 * export async function POST(request: Request): Promise<Response> {
 *   const rejection = rejectionOf(request); // of cursor-cloud-agents/serve: pages of other sites must not post here
 *   if (rejection) return rejection;
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
  checkObject("options", options);
  const { headers, keepAlive, clock, ...streamOptions } = checkOptions(responseTable, options);
  const reader = new ChunkReader(stream, streamOptions);
  const onClose = () => reader.close();
  const body = new EventStreamBody(messagesOf(reader), { clock, keepAlive, keepAliveComment, onClose });
  return new Response(body.stream, { headers });
}

const keepAliveComment = encodeComment("keep-alive");

/** The SSE messages of a run. Events that a message doesn't show write nothing, so they don't delay the keep-alive. */
async function* messagesOf(reader: ChunkReader): AsyncGenerator<string, undefined> {
  for (let step = await reader.next(); step; step = await reader.next()) {
    const messages = step.chunks.map((chunk) => encodeMessage({ data: JSON.stringify(chunk) }));
    const text = step.isHeartbeat ? keepAliveComment : messages.join("");
    if (text !== "") yield text;
  }
  yield encodeMessage({ data: "[DONE]" });
}

/**
 * The answer of the route that `useChat({ resume: true })` calls when a page comes back: `GET {api}/{chatId}/stream`.
 *
 * - No run (`ref` undefined or null), one that no longer exists, or one that is over: 204, nothing to resume.
 * - A run at work: its message from the start, the same chunks with the same ids as the first time. The API keeps the
 *   events; nothing is stored here. Where they are gone already (410), the message is the final reply, once it arrives.
 *
 * Give `useChat` no unfinished message of the run among its initial ones: versions before 5.0.233, 6.0.250 and 7.0.62
 * would append to it. Check first that this user may see this run.
 *
 * @throws ArgumentError; ApiError and the like when the run can't be looked up
 * @example
 * export async function GET(request: Request): Promise<Response> {
 *   const chatId = new URL(request.url).pathname.split("/").at(-2);
 *   const run = await latestRunOf(chatId, await userOf(request)); // yours: which run is whose
 *   return resumeUIMessageStreamResponse(cursor, run, { signal: request.signal });
 * }
 */
export async function resumeUIMessageStreamResponse<Metadata = unknown>(
  cursor: Cursor,
  ref: RunRef | undefined | null,
  options: ResumeUIMessageStreamOptions<Metadata> = {},
): Promise<Response> {
  checkObject("options", options);
  const { replayFinished, signal, ...responseOptions } = checkOptions(resumeTable, options);
  if (typeof cursor?.runs?.stream !== "function") throw new ArgumentError("cursor", "expected a Cursor");
  const nothingToResume = new Response(null, { status: 204 });
  if (ref === undefined || ref === null) return nothingToResume;
  const status = await cursor.runs.get(ref, signal === undefined ? {} : { signal }).then(
    (run) => run.status,
    (error: unknown) => {
      if (isApiError(error) && error.status === 404) return undefined;
      throw error;
    },
  );
  if (status === undefined || (isTerminalStatus(status) && !replayFinished)) return nothingToResume;
  return toUIMessageStreamResponse(cursor.runs.stream(ref, { signal }), responseOptions);
}
