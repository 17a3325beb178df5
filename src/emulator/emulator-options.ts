import type { EmulatorKey } from "./authenticate.ts";
import { type Clock, systemClock } from "./clock.ts";
import type { ExchangeRecord } from "./exchange.ts";
import type { EmulatorRateLimit } from "./rate-limits.ts";
import type { Model } from "./store.ts";

/** Someone a sub-token can be made for. */
export interface EmulatorMember {
  /** The member's numeric id. */
  userId: number;
  /** The member's e-mail address. */
  email: string;
}

/** Behaviour of the workers' endpoints. */
export interface EmulatorWorkersOptions {
  /** A quiet watch says so at this interval; `Infinity` for never. @default 20000 */
  heartbeatMs?: number;
  /** Life of a watch's cursors, counted from the list that issued the first. @default 300000 */
  cursorLifetimeMs?: number;
  /** Watches a service account may have open; one more is 429. @default 4 */
  maxStreams?: number;
  /** Pending requests have the undocumented `repoUrls`, as in production. @default false */
  repoUrls?: boolean;
}

/** Behaviour of the secrets' endpoints. */
export interface EmulatorSecretsOptions {
  /** Others than team admins get 403 `team_admin_required` for changes of the team's. @default false */
  adminsOnly?: boolean;
  /** Secrets a team or an environment can have. @default 1000 */
  limit?: number;
  /** A new secret is answered without `id` and `createdAt`, as when it can't be read yet. @default false */
  lateIds?: boolean;
}

/** Behaviour of a {@link CursorEmulator}. All times are milliseconds of its clock. */
export interface EmulatorOptions {
  /** @default the real clock */
  clock?: Clock;
  /** Where the API lives in `fetch` and `handlers()`. @default "https://api.cursor.com" */
  baseUrl?: string;
  /** Origin of presigned artifact URLs in `fetch` and `handlers()`. @default the service's own S3 host */
  artifactsOrigin?: string;
  /**
   * The only keys that are accepted. Without it any key of visible ASCII without quotes is: one that starts with `sa_` is a
   * service account's, each other one a paid user's.
   */
  keys?: readonly EmulatorKey[];
  /** Age of a run, in seconds, from which its stream answers 410 `stream_expired`. @default 86400 */
  retentionSeconds?: number;
  /** Heartbeats: the first after the replay has ended, then at intervals; `Infinity` for none. @default 30000 and 15000 */
  heartbeat?: { first?: number; every?: number };
  /** Life of a presigned artifact URL, in seconds. @default 900 */
  urlLifetimeSeconds?: number;
  /** An agent stays busy (409) for so long after its run ended, as the real one does. 0 switches it off. @default 2000 */
  busyWindowMs?: number;
  /** Create An Agent answers so much later; the agent exists at once. @default 0 */
  createDelayMs?: number;
  /** A run stays CREATING for so long. @default 0 (until the next microtask) */
  startDelayMs?: number;
  /** Pause before each event of a script, for a live feel. @default 0 */
  pace?: number;
  /** Send the `interaction_update` twins and the frames around them. @default true */
  interactionUpdates?: boolean;
  /**
   * Streams opened within `windowMs` (default 2000) of a run's creation are refused: by an `error` event in the stream, or
   * by HTTP 409. @default false
   */
  streamNotReady?: "in-stream" | "409" | { form: "in-stream" | "409"; windowMs: number } | false;
  /** Files appear in List Artifacts so much later than they were written. @default 0 */
  artifactDelayMs?: number;
  /** `enabled: false`: 403 `feature_unavailable`. `cost`: the undocumented cost fields. @default enabled, no cost */
  usage?: { enabled?: boolean; cost?: boolean };
  /** `repos[].url` of Get An Agent without the scheme, as was seen once. @default false */
  schemelessRepoUrls?: boolean;
  /** @default a short list with `default`, `composer-2` and others */
  models?: readonly Model[];
  /** URLs that List Repositories names. @default two of `your-org` */
  repositories?: readonly string[];
  /** List Repositories allows 1 request a minute and 30 an hour per key. @default true */
  repositoriesLimit?: boolean;
  /** Pools that are registered from the start, for any repository; unknown ones are 400. @default ["default", "sandbox", "gpu"] */
  pools?: readonly string[];
  /** @default developer@example.com (42) and alice@company.com (43) */
  members?: readonly EmulatorMember[];
  /** Behaviour of the workers' endpoints. */
  workers?: EmulatorWorkersOptions;
  /** Behaviour of the secrets' endpoints. */
  secrets?: EmulatorSecretsOptions;
  /** Pages of environments and of secrets are half as long as was asked for, which they may be. @default false */
  shortPages?: boolean;
  /** @default none */
  rateLimit?: EmulatorRateLimit;
  /** Told of each exchange when its body is over: to check all of them against a contract. */
  onExchange?(exchange: ExchangeRecord): void;
}

/** Listed so that a misspelt option is an error where no compiler looks. */
const optionNames: Record<keyof EmulatorOptions, true> = {
  clock: true,
  baseUrl: true,
  artifactsOrigin: true,
  keys: true,
  retentionSeconds: true,
  heartbeat: true,
  urlLifetimeSeconds: true,
  busyWindowMs: true,
  createDelayMs: true,
  startDelayMs: true,
  pace: true,
  interactionUpdates: true,
  streamNotReady: true,
  artifactDelayMs: true,
  usage: true,
  schemelessRepoUrls: true,
  models: true,
  repositories: true,
  repositoriesLimit: true,
  pools: true,
  members: true,
  workers: true,
  secrets: true,
  shortPages: true,
  rateLimit: true,
  onExchange: true,
};

/** {@link EmulatorOptions} with the defaults filled in. @internal */
export type ResolvedOptions = ReturnType<typeof resolveOptions>;

/** @internal */
export function resolveOptions(options: EmulatorOptions) {
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(optionNames, name)) {
      const names = Object.keys(optionNames).join(", ");
      throw new TypeError(`CursorEmulator: "${name}" is no option; there are ${names}`);
    }
  }
  const notReady = options.streamNotReady ?? false;
  const baseUrl = new URL(options.baseUrl ?? "https://api.cursor.com");
  return {
    clock: options.clock ?? systemClock,
    origin: baseUrl.origin,
    basePath: baseUrl.pathname.replace(/\/+$/, ""),
    artifactsOrigin: new URL(
      options.artifactsOrigin ?? "https://cloud-agent-artifacts.s3.us-east-1.amazonaws.com",
    ).origin,
    keys: options.keys,
    retentionSeconds: options.retentionSeconds ?? 86_400,
    heartbeat: { first: options.heartbeat?.first ?? 30_000, every: options.heartbeat?.every ?? 15_000 },
    urlLifetimeSeconds: options.urlLifetimeSeconds ?? 900,
    busyWindowMs: options.busyWindowMs ?? 2000,
    createDelayMs: options.createDelayMs ?? 0,
    startDelayMs: options.startDelayMs ?? 0,
    pace: options.pace ?? 0,
    interactionUpdates: options.interactionUpdates ?? true,
    streamNotReady: typeof notReady === "string" ? { form: notReady, windowMs: 2000 } : notReady,
    artifactDelayMs: options.artifactDelayMs ?? 0,
    usage: { enabled: options.usage?.enabled ?? true, cost: options.usage?.cost ?? false },
    schemelessRepoUrls: options.schemelessRepoUrls ?? false,
    models: options.models ?? defaultModels,
    repositories: options.repositories ?? defaultRepositories,
    repositoriesLimit: options.repositoriesLimit ?? true,
    pools: options.pools ?? ["default", "sandbox", "gpu"],
    members: options.members ?? [
      { userId: 42, email: "developer@example.com" },
      { userId: 43, email: "alice@company.com" },
    ],
    workers: {
      heartbeatMs: options.workers?.heartbeatMs ?? 20_000,
      cursorLifetimeMs: options.workers?.cursorLifetimeMs ?? 300_000,
      maxStreams: options.workers?.maxStreams ?? 4,
      repoUrls: options.workers?.repoUrls ?? false,
    },
    secrets: {
      adminsOnly: options.secrets?.adminsOnly ?? false,
      limit: options.secrets?.limit ?? 1000,
      lateIds: options.secrets?.lateIds ?? false,
    },
    shortPages: options.shortPages ?? false,
    rateLimit: options.rateLimit,
    onExchange: options.onExchange,
  };
}

/** The models an emulator knows unless it is told others. Form and oddities as on the wire; the list is ours. */
export const defaultModels: readonly Model[] = [
  {
    id: "default",
    displayName: "Auto",
    aliases: ["auto"],
    variants: [{ params: [], displayName: "Auto", isDefault: true }],
  },
  {
    id: "composer-2",
    displayName: "Composer 2",
    aliases: ["composer-latest", "composer"],
    parameters: [
      {
        id: "fast",
        displayName: "Fast",
        values: [{ value: "false" }, { value: "true", displayName: "Fast" }],
      },
    ],
    variants: [
      { params: [{ id: "fast", value: "true" }], displayName: "Composer 2", isDefault: true },
      { params: [{ id: "fast", value: "false" }], displayName: "Composer 2" },
    ],
  },
  {
    id: "claude-4-sonnet-thinking",
    displayName: "Claude 4 Sonnet (Thinking)",
    variants: [{ params: [], displayName: "Claude 4 Sonnet (Thinking)", isDefault: true }],
  },
  {
    id: "claude-4.6-sonnet-thinking",
    displayName: "Claude 4.6 Sonnet (Thinking)",
    description: "Careful with long tasks.",
    // The wire has variants with a parameter that `parameters` does not list.
    variants: [
      {
        params: [{ id: "context", value: "1m" }],
        displayName: "Claude 4.6 Sonnet (Thinking)",
        isDefault: true,
      },
    ],
  },
];

/** The repositories an emulator lists unless it is told others. */
export const defaultRepositories: readonly string[] = [
  "https://github.com/your-org/your-repo",
  "https://github.com/your-org/your-other-repo",
];
