import { ChunkReader } from "./chunk-reader.ts";
import {
  checkOptions,
  type RunEventSource,
  streamOptionNames,
  type UIMessageStreamOptions,
} from "./options.ts";
import type { UIMessageChunk } from "./ui-message-chunk.ts";

/**
 * A run as the chunks of an AI SDK UI message (ai 5, 6 and 7): text, reasoning, tools as dynamic tool parts, the run
 * itself as `data-run`, and an end that says how it went.
 *
 * - The message's id is the run's, part ids are counted: whoever reads the run from its start gets the same chunks.
 * - FINISHED ends in `finish`, CANCELLED in `abort`, any other outcome in `error`; so does a stream that breaks off and
 *   can't be resumed. A tool that fails is that tool's error, not the message's.
 * - A tool's output is the wire's `result` (`{ success }`); what the server left out for its size is `{ truncated: true }`.
 * - The streamed text stands as it came, and the result's `text` is shown only where none came. Where what was streamed
 *   doesn't end with it, it is in `data-run` as `text`: appended, most of it would be there twice.
 *
 * Events are read as chunks are pulled. Cancelling it closes the run's stream, never the run.
 *
 * @throws ArgumentError at once
 * @example
 * const { run } = await cursor.agents.create({ prompt: "Add a README" });
 * for await (const chunk of toUIMessageStream(cursor.runs.stream(run))) console.log(chunk.type);
 */
export function toUIMessageStream<Metadata = unknown>(
  stream: RunEventSource,
  options: UIMessageStreamOptions<Metadata> = {},
): ReadableStream<UIMessageChunk<Metadata>> {
  checkOptions(options, streamOptionNames);
  const reader = new ChunkReader(stream, options);
  let chunks: UIMessageChunk[] = [];
  return new ReadableStream<UIMessageChunk<Metadata>>(
    {
      pull: async (controller) => {
        while (chunks.length === 0) {
          const step = await reader.next();
          if (reader.isClosed) return;
          if (!step) return controller.close();
          chunks = step.chunks;
        }
        controller.enqueue(chunks.shift() as UIMessageChunk<Metadata>);
      },
      cancel: () => reader.close(),
    },
    // Nothing is read ahead of the consumer.
    { highWaterMark: 0 },
  );
}
