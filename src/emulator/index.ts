export type { Clock } from "./clock.ts";
export { CursorEmulator, type EmulatorRoute } from "./emulator.ts";
export type {
  AddSecretInit,
  EnvironmentControls,
  SecretControls,
  StoredSecret,
} from "./environments/environment-controls.ts";
export type { EnvironmentBuild } from "./environments/environment-store.ts";
export type { SecretKind } from "./environments/secret-store.ts";
export type { Faults, FaultTarget, FaultTimes, InterruptionOptions, StatusFaultOptions } from "./faults.ts";
export type {
  AddPoolInit,
  AddRequestInit,
  ConnectWorkerInit,
  FleetControls,
  FleetRequest,
} from "./fleet/fleet-controls.ts";
export type { FleetRequestState } from "./fleet/fleet-records.ts";
export { ManualClock, type ManualClockRunOptions } from "./manual-clock.ts";
export type { MswRequestHandler } from "./msw-handlers.ts";
export type { EmulatorServer, ListenOptions } from "./node-listener.ts";
export type {
  EmulatorFleetOptions,
  EmulatorKey,
  EmulatorMember,
  EmulatorOptions,
  EmulatorRateLimit,
  EmulatorSecretsOptions,
} from "./options.ts";
export type { ExchangeRecord, RecordedRequest } from "./recorder.ts";
export type { RateLimitForm } from "./refusal.ts";
export type {
  CutOptions,
  FinishOptions,
  JsonValue,
  RunScript,
  RunScriptContext,
  ToolOptions,
} from "./run-script.ts";
export type { PromptMatch, ScriptBuilder } from "./script-book.ts";
