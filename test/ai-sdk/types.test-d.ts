import type * as ai5Newest from "ai-5-newest";
import type * as ai5Oldest from "ai-5-oldest";
import type * as ai6Newest from "ai-6-newest";
import type * as ai6Oldest from "ai-6-oldest";
import type * as ai7Newest from "ai-7-newest";
import type * as ai7Oldest from "ai-7-oldest";
import type * as react5Newest from "ai-react-5-newest";
import type * as react5Oldest from "ai-react-5-oldest";
import type * as react6Newest from "ai-react-6-newest";
import type * as react6Oldest from "ai-react-6-oldest";
import type * as react7Newest from "ai-react-7-newest";
import type * as react7Oldest from "ai-react-7-oldest";
import { Cursor, type RunEvent, type RunRef, type RunStream } from "cursor-cloud-agents";
import {
  type RunData,
  type RunDataTypes,
  type RunEventSource,
  resumeUIMessageStreamResponse,
  toUIMessageStream,
  toUIMessageStreamResponse,
  type UIMessageChunk,
} from "cursor-cloud-agents/ai-sdk";

// What must and must not compile, against the oldest and the newest release of each major. Checked by `npx tsc`.

declare const ref: RunRef;
declare const events: AsyncIterable<RunEvent>;
const cursor = new Cursor({ apiKey: "test" });
const stream: RunStream = cursor.runs.stream(ref);

/** An error where one type doesn't fit another. */
type Fits<Wide, _Narrow extends Wide> = true;

// Each chunk is a chunk of every release, also of a chat that knows its data parts and its metadata.
type Metadata = { model: string };
export type Chunks = [
  Fits<ai5Oldest.UIMessageChunk, UIMessageChunk>,
  Fits<ai5Newest.UIMessageChunk, UIMessageChunk>,
  Fits<ai6Oldest.UIMessageChunk, UIMessageChunk>,
  Fits<ai6Newest.UIMessageChunk, UIMessageChunk>,
  Fits<ai7Oldest.UIMessageChunk, UIMessageChunk>,
  Fits<ai7Newest.UIMessageChunk, UIMessageChunk>,
  Fits<ai5Oldest.UIMessageChunk<Metadata, RunDataTypes>, UIMessageChunk<Metadata>>,
  Fits<ai5Newest.UIMessageChunk<Metadata, RunDataTypes>, UIMessageChunk<Metadata>>,
  Fits<ai6Oldest.UIMessageChunk<Metadata, RunDataTypes>, UIMessageChunk<Metadata>>,
  Fits<ai6Newest.UIMessageChunk<Metadata, RunDataTypes>, UIMessageChunk<Metadata>>,
  Fits<ai7Oldest.UIMessageChunk<Metadata, RunDataTypes>, UIMessageChunk<Metadata>>,
  Fits<ai7Newest.UIMessageChunk<Metadata, RunDataTypes>, UIMessageChunk<Metadata>>,
  // @ts-expect-error: a chat whose metadata is of another type
  Fits<ai7Newest.UIMessageChunk<{ model: number }>, UIMessageChunk<Metadata>>,
  // @ts-expect-error: a chat whose data parts are others
  Fits<ai7Newest.UIMessageChunk<Metadata, { run: { other: number } }>, UIMessageChunk<Metadata>>,
];

// The stream goes where theirs goes.
type AnswerOf<Module extends { createUIMessageStreamResponse: (...options: never) => unknown }> = Parameters<
  Module["createUIMessageStreamResponse"]
>[0] extends { stream: infer Stream }
  ? Stream
  : never;
export const answers: [
  AnswerOf<typeof ai5Oldest>,
  AnswerOf<typeof ai5Newest>,
  AnswerOf<typeof ai6Oldest>,
  AnswerOf<typeof ai6Newest>,
  AnswerOf<typeof ai7Oldest>,
  AnswerOf<typeof ai7Newest>,
] = [
  toUIMessageStream(stream),
  toUIMessageStream(stream),
  toUIMessageStream(stream),
  toUIMessageStream(stream),
  toUIMessageStream(stream),
  toUIMessageStream(stream),
];

// A page knows the run by its type.
declare const hooks: [
  typeof react5Oldest.useChat<ai5Oldest.UIMessage<Metadata, RunDataTypes>>,
  typeof react5Newest.useChat<ai5Newest.UIMessage<Metadata, RunDataTypes>>,
  typeof react6Oldest.useChat<ai6Oldest.UIMessage<Metadata, RunDataTypes>>,
  typeof react6Newest.useChat<ai6Newest.UIMessage<Metadata, RunDataTypes>>,
  typeof react7Oldest.useChat<ai7Oldest.UIMessage<Metadata, RunDataTypes>>,
  typeof react7Newest.useChat<ai7Newest.UIMessage<Metadata, RunDataTypes>>,
];
export function* statuses(): Iterable<RunData["status"]> {
  for (const chatOf of hooks) {
    const { messages } = chatOf({ resume: true });
    for (const message of messages) {
      const model: string | undefined = message.metadata?.model;
      for (const part of message.parts) {
        if (part.type === "data-run") yield part.data.status;
        // @ts-expect-error: there is no such data part
        if (part.type === "data-other") yield model;
      }
    }
  }
}

// Metadata is typed from what is given.
export const typed: ReadableStream<UIMessageChunk<Metadata>> = toUIMessageStream(stream, {
  messageMetadata: { model: "m" },
});
// @ts-expect-error: other metadata
export const wrong: ReadableStream<UIMessageChunk<Metadata>> = toUIMessageStream(stream, {
  messageMetadata: { model: 1 },
});

// Events from elsewhere need to say whose they are.
const elsewhere: RunEventSource = { ref, [Symbol.asyncIterator]: () => events[Symbol.asyncIterator]() };
export const response: Response = toUIMessageStreamResponse(elsewhere, {
  headers: { "x-a": "1" },
  keepAlive: undefined,
  onError: ({ status, error }) => `${status} ${String(error)}`,
});
// @ts-expect-error: whose?
toUIMessageStream(events);
// @ts-expect-error: an option of another name
toUIMessageStream(stream, { messageId: "x" });
// @ts-expect-error: an option of the answer
toUIMessageStream(stream, { headers: {} });

declare const maybe: { ref?: RunRef; signal?: AbortSignal };
export const resumed: Promise<Response> = resumeUIMessageStreamResponse(cursor, maybe.ref, {
  signal: maybe.signal,
  onError: () => {},
});
// @ts-expect-error: a run is named by its agent, too
resumeUIMessageStreamResponse(cursor, { id: "run-1" });
