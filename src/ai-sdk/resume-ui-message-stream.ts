import { ArgumentError, type Cursor, isApiError, isTerminalStatus, type RunRef } from "../index.ts";
import { checkOptions, type ResumeUIMessageStreamOptions, resumeOptionNames } from "./options.ts";
import { toUIMessageStreamResponse } from "./ui-message-stream-response.ts";

/**
 * The answer of the route that `useChat({ resume: true })` asks when a page comes back: `GET {api}/{chatId}/stream`.
 *
 * - No run (`ref` undefined or null), one that no longer exists, or one that is over: 204, nothing to resume.
 * - A run at work: its message from the start, the same chunks with the same ids as the first time. The API keeps the
 *   events; nothing is stored here. Where they are gone already (410), the message is the final reply, when it comes.
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
  checkOptions(options, resumeOptionNames);
  if (typeof cursor?.runs?.stream !== "function") throw new ArgumentError("cursor", "expected a Cursor");
  const { replayFinished = false, signal, ...responseOptions } = options;
  if (ref === undefined || ref === null) return nothing();
  const status = await cursor.runs.get(ref, signal === undefined ? {} : { signal }).then(
    (run) => run.status,
    (error: unknown) => {
      if (isApiError(error) && error.status === 404) return undefined;
      throw error;
    },
  );
  if (status === undefined || (isTerminalStatus(status) && !replayFinished)) return nothing();
  return toUIMessageStreamResponse(cursor.runs.stream(ref, { signal }), responseOptions);
}

const nothing = (): Response => new Response(null, { status: 204 });
