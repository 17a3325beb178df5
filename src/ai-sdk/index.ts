export type { UIMessageFailure } from "./message-translator.ts";
export type { RunData, RunDataTypes, UIMessageChunk } from "./ui-message-chunk.ts";
export { type RunEventSource, toUIMessageStream, type UIMessageStreamOptions } from "./ui-message-stream.ts";
export {
  type ResumeUIMessageStreamOptions,
  resumeUIMessageStreamResponse,
  toUIMessageStreamResponse,
  type UIMessageStreamResponseOptions,
} from "./ui-message-stream-response.ts";
