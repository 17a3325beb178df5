export { type ArtifactResponseOptions, artifactResponse, artifactsResponse } from "./artifact-response.ts";
export { cancelResponse } from "./cancel-response.ts";
export type { ServeErrorCode } from "./failure.ts";
export { type FollowUpResponseOptions, followUpResponse } from "./follow-up-response.ts";
export {
  type AgentRef,
  type Authorize,
  rejectionOf,
  type ServeOptions,
  type ServePostOptions,
} from "./gate.ts";
export { type RunStreamResponseOptions, runStreamResponse } from "./run-stream-response.ts";
export type { EndFrame, FailureFrame, ResetFrame, ServedFrame } from "./served-frame.ts";
