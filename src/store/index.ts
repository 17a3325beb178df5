export type { ServedFrame } from "../serve/served-frame.ts";
export type { Schedule } from "./page.ts";
export { type RouteSourceOptions, routeSource } from "./route-source.ts";
export type {
  RunConnection,
  RunPart,
  RunReasoningPart,
  RunSnapshot,
  RunStoreStatus,
  RunTextPart,
  RunToolPart,
} from "./run-snapshot.ts";
export { type RunSource, runSource } from "./run-source.ts";
export { memoryStorage, type RunStorage, webStorage } from "./run-storage.ts";
export { createRunStore, type RunStore, type RunStoreOptions } from "./run-store.ts";
