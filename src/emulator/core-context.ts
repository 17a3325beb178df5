import type { EnvironmentStore } from "./environments/environment-store.ts";
import type { SecretStore } from "./environments/secret-store.ts";
import type { Answer, IncomingRequest } from "./exchange.ts";
import type { Faults } from "./faults.ts";
import type { Fleet } from "./fleet/fleet.ts";
import type { Gates } from "./gates.ts";
import type { Caller } from "./keys.ts";
import type { Limits } from "./limits.ts";
import type { ResolvedOptions } from "./options.ts";
import type { ScriptBook } from "./script-book.ts";
import type { Store } from "./store.ts";

/** What all operations share. @internal */
export interface Core {
  readonly options: ResolvedOptions;
  readonly store: Store;
  readonly gates: Gates;
  readonly faults: Faults;
  readonly scripts: ScriptBook;
  readonly limits: Limits;
  readonly fleet: Fleet;
  readonly environments: EnvironmentStore;
  readonly secrets: SecretStore;
  /** Lets time pass on the emulator's clock; at once if there is none to pass. */
  sleep(ms: number): Promise<void>;
}

/** One call of an operation: authenticated, its body parsed, its query still to be validated. @internal */
export interface Call {
  readonly core: Core;
  readonly request: IncomingRequest;
  readonly caller: Caller;
  /** Path parameters, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Query parameters; arrays for repeated ones. */
  readonly query: Readonly<Record<string, string | string[]>>;
  /** Parsed JSON body; `undefined` if there was none. */
  readonly body: unknown;
}

/** One operation of the API. @internal */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Template as in openapi.yaml, e.g. `/v1/agents/{id}`. */
  readonly path: string;
  readonly operationId: string;
  handle(call: Call): Answer | Promise<Answer>;
}
