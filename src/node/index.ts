export type { RejectionReason } from "./artifact-names.ts";
export { type ImageOptions, imageFromBytes, imageFromFile } from "./prompt-image.ts";
export { type SaveArtifactOptions, type SavedArtifact, saveArtifact } from "./save-artifact.ts";
export { type SaveArtifactsOptions, type SaveProgress, saveArtifacts } from "./save-artifacts.ts";
export type {
  FailedArtifact,
  FailureReason,
  RejectedArtifact,
  SaveReport,
  SkippedArtifact,
} from "./save-report.ts";
