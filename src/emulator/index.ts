export type { EmulatorKey } from "./authenticate.ts";
export { type Clock, ManualClock, type ManualClockRunOptions } from "./clock.ts";
export { CursorEmulator, type EmulatorRoute } from "./cursor-emulator.ts";
export type {
  EmulatorMember,
  EmulatorOptions,
  EmulatorSecretsOptions,
  EmulatorWorkersOptions,
} from "./emulator-options.ts";
export type {
  AddSecretInit,
  EnvironmentControls,
  SecretControls,
  StoredSecret,
} from "./environments/environment-controls.ts";
export type { EnvironmentBuild } from "./environments/environment-store.ts";
export type { SecretKind } from "./environments/secret-store.ts";
export type { ExchangeRecord, RecordedRequest } from "./exchange.ts";
export type { FailureName } from "./failures.ts";
export type {
  FailureFaultOptions,
  Faults,
  FaultTarget,
  FaultTimes,
  InterruptionOptions,
  StatusFaultOptions,
} from "./faults.ts";
export type { EmulatorJournalOptions } from "./journal.ts";
export type { MswRequestHandler } from "./mounts/msw-handlers.ts";
export type { EmulatorServer, ListenOptions } from "./mounts/node-listener.ts";
export type { EmulatorRateLimit, RateLimitForm } from "./rate-limits.ts";
export type {
  CutOptions,
  FinishOptions,
  JsonValue,
  RunScript,
  RunScriptContext,
  ToolCall,
  ToolOptions,
} from "./runs/run-script.ts";
export type { PromptMatch, ScriptBuilder } from "./runs/script-book.ts";
export type {
  AddPoolInit,
  AddRequestInit,
  ConnectWorkerInit,
  WorkerControls,
  WorkerRequest,
} from "./workers/worker-controls.ts";
export type { WorkerRequestState } from "./workers/worker-records.ts";
