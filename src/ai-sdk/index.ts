export type { UIMessageFailure } from "./message-translator.ts";
export type {
  ResumeUIMessageStreamOptions,
  RunEventSource,
  UIMessageStreamOptions,
  UIMessageStreamResponseOptions,
} from "./options.ts";
export { resumeUIMessageStreamResponse } from "./resume-ui-message-stream.ts";
export type { RunData, RunDataTypes, UIMessageChunk } from "./ui-message-chunk.ts";
export { toUIMessageStream } from "./ui-message-stream.ts";
export { toUIMessageStreamResponse } from "./ui-message-stream-response.ts";
