import type { Caller } from "./authenticate.ts";
import type { ResolvedOptions } from "./emulator-options.ts";
import { EnvironmentStore } from "./environments/environment-store.ts";
import { SecretStore } from "./environments/secret-store.ts";
import type { Answer, IncomingRequest } from "./exchange.ts";
import type { Faults } from "./faults.ts";
import { RateLimits } from "./rate-limits.ts";
import { Gates } from "./runs/run-player.ts";
import { ScriptBook } from "./runs/script-book.ts";
import { Store } from "./store.ts";
import { WorkersStore } from "./workers/workers-store.ts";

/** The state of one emulator between two resets: everything that operations read and change. @internal */
export interface Core {
  readonly options: ResolvedOptions;
  readonly faults: Faults;
  /** Agents with their runs and artifacts. */
  readonly store: Store;
  /** Workers, pools and the queue of requests for them. */
  readonly workers: WorkersStore;
  readonly environments: EnvironmentStore;
  readonly secrets: SecretStore;
  /** What runs do, by prompt. */
  readonly scripts: ScriptBook;
  /** Where scripts wait until a test releases them. */
  readonly gates: Gates;
  readonly rateLimits: RateLimits;
  /** Waits on the emulator's clock; resolves at once for 0 and below. */
  sleep(ms: number): Promise<void>;
}

/** Creates the empty state of an emulator. @internal */
export function createCore(options: ResolvedOptions, faults: Faults): Core {
  const { clock } = options;
  const store = new Store(clock);
  return {
    options,
    faults,
    store,
    workers: new WorkersStore(clock, { pools: options.pools, repoUrls: options.workers.repoUrls }),
    environments: new EnvironmentStore(store),
    secrets: new SecretStore(store),
    scripts: new ScriptBook(),
    gates: new Gates(clock),
    rateLimits: new RateLimits(clock),
    sleep: (ms) => (ms > 0 ? new Promise((resolve) => clock.setTimeout(resolve, ms)) : Promise.resolve()),
  };
}

/** One call of an operation. The caller is authenticated and the body parsed; the operation validates query and body. @internal */
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
  /** Path template as in openapi.yaml, e.g. `/v1/agents/{id}`. */
  readonly path: string;
  readonly operationId: string;
  handle(call: Call): Answer | Promise<Answer>;
}
