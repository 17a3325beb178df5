export { type ArtifactResponseOptions, artifactResponse } from "./artifact-response.ts";
export { artifactsResponse } from "./artifacts-response.ts";
export { cancelResponse } from "./cancel-response.ts";
export type { ServeErrorCode } from "./failure.ts";
export { type FollowUpResponseOptions, followUpResponse } from "./follow-up-response.ts";
export type { EndFrame, FailureFrame, ResetFrame, ServedFrame } from "./frames.ts";
export type { AgentRef, Authorize, ServeOptions, ServePostOptions } from "./options.ts";
export { type RunStreamResponseOptions, runStreamResponse } from "./run-stream-response.ts";
