export type { RefusalReason } from "./artifact-names.ts";
export { type ImageOptions, imageFromBytes, imageFromFile } from "./prompt-image.ts";
export { type SaveArtifactOptions, type SavedArtifact, saveArtifact } from "./save-artifact.ts";
export {
  type FailedArtifact,
  type FailureReason,
  type RefusedArtifact,
  type SaveArtifactsOptions,
  type SaveProgress,
  type SaveReport,
  type SkippedArtifact,
  saveArtifacts,
} from "./save-artifacts.ts";
