import type { EmulatorKey } from "./authenticate.ts";
import {
  bool,
  type Check,
  callback,
  checkOptions,
  count,
  duration,
  either,
  group,
  limit,
  list,
  name,
  type OptionTable,
  oneOf,
  record,
} from "./check-options.ts";
import { type Clock, systemClock } from "./clock.ts";
import type { ExchangeRecord } from "./exchange.ts";
import type { EmulatorJournalOptions } from "./journal.ts";
import type { EmulatorRateLimit } from "./rate-limits.ts";
import type { Model } from "./store.ts";
import { isHttpUrl } from "./validate.ts";

/** A member of the team, for whom a sub-token can be created. */
export interface EmulatorMember {
  /** The member's numeric id. */
  userId: number;
  /** The member's e-mail address. */
  email: string;
}

/** Behaviour of the workers' endpoints. */
export interface EmulatorWorkersOptions {
  /** Milliseconds between the heartbeats of a quiet watch; `Infinity` for none. @default 20000 */
  heartbeatMs?: number;
  /** Milliseconds for which the cursors of a watch are valid, from the list that issued the first one. @default 300000 */
  cursorLifetimeMs?: number;
  /** Watches that a service account may have open; one more gets 429. @default 4 */
  maxStreams?: number;
  /** Adds the undocumented `repoUrls` to pending requests, as in production. @default false */
  repoUrls?: boolean;
}

/** Behaviour of the secrets' endpoints. */
export interface EmulatorSecretsOptions {
  /** Only team admins may change the team's secrets; others get 403 `team_admin_required`. @default false */
  adminsOnly?: boolean;
  /** Number of secrets that a team or an environment can have. @default 1000 */
  limit?: number;
  /** Leaves `id` and `createdAt` out of the answer for a new secret, as if it could not be read yet. @default false */
  lateIds?: boolean;
}

/** Behaviour of a {@link CursorEmulator}. All times are milliseconds of its clock. */
export interface EmulatorOptions {
  /** A {@link ManualClock} must be the client's clock, too. @default the real clock */
  clock?: Clock;
  /** Base URL of the API in `fetch` and `handlers()`. @default "https://api.cursor.com" */
  baseUrl?: string;
  /** Origin of presigned artifact URLs in `fetch` and `handlers()`. @default the service's own S3 host */
  artifactsOrigin?: string;
  /**
   * The API keys that are accepted. By default every key of visible ASCII without quotes is: one that starts with `sa_` is a
   * service account's key, every other one is a paid user's.
   */
  keys?: readonly EmulatorKey[];
  /** Age of a run, in seconds, from which its stream answers 410 `stream_expired`. @default 86400 */
  retentionSeconds?: number;
  /** Milliseconds from the end of the replay to the first heartbeat, and between later ones; `Infinity` for none. @default 30000 and 15000 */
  heartbeat?: { first?: number; every?: number };
  /** Seconds for which a presigned artifact URL is valid. @default 900 */
  urlLifetimeSeconds?: number;
  /** Milliseconds for which an agent stays busy (409) after its run has ended, as with the service; 0 for none. @default 2000 */
  busyWindowMs?: number;
  /** Milliseconds by which Create An Agent delays its answer; the agent exists at once. @default 0 */
  createDelayMs?: number;
  /** Milliseconds for which a run stays CREATING. @default 0 (until the next microtask) */
  startDelayMs?: number;
  /** Milliseconds from the last event of a script to the final status and the result, as with the service, which takes ten seconds. @default 0 */
  windDownMs?: number;
  /** Milliseconds of pause before each event of a script, as in a live run. @default 0 */
  pace?: number;
  /** Sends `interaction_update` frames beside the simplified ones. @default true */
  interactionUpdates?: boolean;
  /**
   * Streams opened within `windowMs` (default 2000) of a run's creation fail: by an `error` event in the stream, or
   * by HTTP 409. @default false
   */
  streamNotReady?: "in-stream" | "409" | { form: "in-stream" | "409"; windowMs: number } | false;
  /** Milliseconds from the writing of an artifact until List Artifacts shows it. @default 0 */
  artifactDelayMs?: number;
  /** With `enabled: false` usage gets 403 `feature_unavailable`; `cost` adds the undocumented cost fields. @default enabled, no cost */
  usage?: { enabled?: boolean; cost?: boolean };
  /** Takes `metadata` on Create An Agent; otherwise that is 403 `feature_unavailable`. @default false */
  metadata?: boolean;
  /** Leaves the scheme out of `repos[].url` in Get An Agent, as was seen once. @default false */
  schemelessRepoUrls?: boolean;
  /** @default a short list with `default`, `composer-2` and others */
  models?: readonly Model[];
  /** URLs that List Repositories returns. @default two of `your-org` */
  repositories?: readonly string[];
  /** List Repositories allows 1 request a minute and 30 an hour per key. @default true */
  repositoriesLimit?: boolean;
  /** Pools that are registered from the start, for any repository; agents on unknown pools get 400. @default ["default", "sandbox", "gpu"] */
  pools?: readonly string[];
  /** @default developer@example.com (42) and alice@company.com (43) */
  members?: readonly EmulatorMember[];
  /** Behaviour of the workers' endpoints. */
  workers?: EmulatorWorkersOptions;
  /** Behaviour of the secrets' endpoints. */
  secrets?: EmulatorSecretsOptions;
  /** Makes pages of environments and secrets half as long as requested, which the contract allows. @default false */
  shortPages?: boolean;
  /** @default none */
  rateLimit?: EmulatorRateLimit;
  /** How many requests are kept for `requests`. @default 10000 requests and 64 MiB */
  journal?: EmulatorJournalOptions;
  /** Called with each exchange when its body has ended, for example to check it against the contract. */
  onExchange?(exchange: ExchangeRecord): void;
}

const keyOptions: OptionTable<EmulatorKey> = {
  key: name,
  kind: oneOf("user", "service-account"),
  plan: oneOf("paid", "free"),
  revoked: bool,
  owner: name,
  serviceAccountId: name,
  repositories: list(name),
  role: oneOf("admin", "member", "none"),
  info: record,
};

const clockOptions: Check = (value) =>
  ["now", "setTimeout", "clearTimeout"].every((method) => typeof Object(value)[method] === "function")
    ? undefined
    : "a clock with now, setTimeout and clearTimeout";

const url: Check = (value) =>
  typeof value === "string" && isHttpUrl(value) ? undefined : "an http or https URL";

const optionTable: OptionTable<EmulatorOptions> = {
  clock: clockOptions,
  baseUrl: url,
  artifactsOrigin: url,
  keys: list(group(keyOptions)),
  retentionSeconds: duration,
  heartbeat: group<NonNullable<EmulatorOptions["heartbeat"]>>({ first: duration, every: duration }),
  urlLifetimeSeconds: duration,
  busyWindowMs: duration,
  createDelayMs: duration,
  startDelayMs: duration,
  windDownMs: duration,
  pace: duration,
  interactionUpdates: bool,
  streamNotReady: either(
    oneOf("in-stream", "409", false),
    group<{ form: string; windowMs: number }>({ form: oneOf("in-stream", "409"), windowMs: duration }),
  ),
  artifactDelayMs: duration,
  usage: group<NonNullable<EmulatorOptions["usage"]>>({ enabled: bool, cost: bool }),
  metadata: bool,
  schemelessRepoUrls: bool,
  models: list(record),
  repositories: list(name),
  repositoriesLimit: bool,
  pools: list(name),
  members: list(group<EmulatorMember>({ userId: count, email: name })),
  workers: group<EmulatorWorkersOptions>({
    heartbeatMs: duration,
    cursorLifetimeMs: duration,
    maxStreams: limit,
    repoUrls: bool,
  }),
  secrets: group<EmulatorSecretsOptions>({ adminsOnly: bool, limit, lateIds: bool }),
  shortPages: bool,
  rateLimit: group<EmulatorRateLimit>({
    perMinute: count,
    form: oneOf("envelope", "flat", "connect"),
    retryAfter: bool,
  }),
  journal: group<EmulatorJournalOptions>({ requests: limit, bytes: limit }),
  onExchange: callback,
};

/** {@link EmulatorOptions} with the defaults filled in. @internal */
export type ResolvedOptions = ReturnType<typeof resolveOptions>;

/** @internal */
export function resolveOptions(options: EmulatorOptions) {
  checkOptions("CursorEmulator", options, optionTable);
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
    windDownMs: options.windDownMs ?? 0,
    pace: options.pace ?? 0,
    interactionUpdates: options.interactionUpdates ?? true,
    streamNotReady: typeof notReady === "string" ? { form: notReady, windowMs: 2000 } : notReady,
    artifactDelayMs: options.artifactDelayMs ?? 0,
    usage: { enabled: options.usage?.enabled ?? true, cost: options.usage?.cost ?? false },
    metadata: options.metadata ?? false,
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
    journal: {
      requests: options.journal?.requests ?? 10_000,
      bytes: options.journal?.bytes ?? 64 * 1024 * 1024,
    },
    onExchange: options.onExchange,
  };
}

/** The default models. Their form and quirks are those of the service; the list is made up. */
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
    // The service has variants with a parameter that `parameters` does not list.
    variants: [
      {
        params: [{ id: "context", value: "1m" }],
        displayName: "Claude 4.6 Sonnet (Thinking)",
        isDefault: true,
      },
    ],
  },
];

/** The default repositories. */
export const defaultRepositories: readonly string[] = [
  "https://github.com/your-org/your-repo",
  "https://github.com/your-org/your-other-repo",
];
