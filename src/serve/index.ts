export type { EndFrame, FailureFrame, ResetFrame, ServedFrame } from "./frames.ts";
