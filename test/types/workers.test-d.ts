import type {
  Claim,
  Cursor,
  DeregisterPoolParams,
  Environment,
  PagePromise,
  PendingRequest,
  RegisterPoolParams,
  Secret,
  Worker,
} from "cursor-cloud-agents";
import {
  controlRequests,
  type RequestChange,
  type RequestQueue,
  watchRequests,
} from "cursor-cloud-agents/workers";
import { expectTypeOf } from "vitest";

// Workers, environments and secrets: what callers give and get. Checked by `npx tsc`.

declare const cursor: Cursor;
const { workers } = cursor;
const pool = { scope: "team", poolName: "gpu" } as const;
const named = { scope: "team", pool_name: "gpu" } as const;

export const goodPools: RegisterPoolParams[] = [
  pool,
  { ...pool, repoOwner: "o", repoName: "r" },
  { ...pool, repoOwner: "o", repoName: "r", repoUrl: "u" },
  { ...pool, offlineReconnectTimeoutSeconds: 0 },
  { ...pool, workerReadyTimeoutSeconds: 900 },
];
export const badPools: RegisterPoolParams[] = [
  // @ts-expect-error a pool has a name
  { scope: "team" },
  // @ts-expect-error two scopes only
  { scope: "all", poolName: "gpu" },
  // @ts-expect-error an owner without a name
  { ...pool, repoOwner: "o" },
  // @ts-expect-error a name without an owner
  { ...pool, repoName: "r" },
  // @ts-expect-error an address without either
  { ...pool, repoUrl: "u" },
  // @ts-expect-error an address with one of them
  { ...pool, repoUrl: "u", repoOwner: "o" },
  // @ts-expect-error one timeout under two names
  { ...pool, offlineReconnectTimeoutSeconds: 1, workerReadyTimeoutSeconds: 1 },
  // @ts-expect-error the query's names are another call's
  { scope: "team", pool_name: "gpu" },
];

export const goodDeregistrations: DeregisterPoolParams[] = [
  named,
  { ...named, repo_owner: "o", repo_name: "r" },
];
export const badDeregistrations: DeregisterPoolParams[] = [
  // @ts-expect-error an owner without a name
  { ...named, repo_owner: "o" },
  // @ts-expect-error a name without an owner
  { ...named, repo_name: "r" },
  // @ts-expect-error this query is in snake case
  { scope: "team", poolName: "gpu" },
];

export async function lists(text?: string, count?: number, signal?: AbortSignal) {
  expectTypeOf(workers.list()).toEqualTypeOf<PagePromise<Worker, { readonly totalCount: number }>>();
  const page = await workers.list({
    status: "idle",
    scope: undefined,
    limit: count,
    pageToken: text,
  });
  expectTypeOf(page.totalCount).toEqualTypeOf<number>();
  expectTypeOf(page.nextCursor).toEqualTypeOf<string | undefined>();
  const requests = await workers.requests.list({ pool: text, repository: text }, { signal });
  expectTypeOf(requests.streamCursor).toEqualTypeOf<string>();
  for await (const page of workers.requests.list().pages())
    expectTypeOf(page.streamCursor).toEqualTypeOf<string>();
  for await (const request of workers.requests.list()) expectTypeOf(request).toEqualTypeOf<PendingRequest>();
  workers.list({ status: "a status of tomorrow" });
  // @ts-expect-error the wire's name is pageToken
  workers.list({ cursor: "c" });
  // @ts-expect-error pools have no pages
  workers.pools.list({ limit: 1 });
  // @ts-expect-error a page of pools counts nothing
  (await workers.pools.list()).totalCount;
}

export async function claims() {
  expectTypeOf(await workers.claims.create({ id: "bc-1", workerId: "pw_1" })).toEqualTypeOf<Claim>();
  expectTypeOf((await workers.claims.token({ id: "bc-1", workerId: "pw_1" })).token).toEqualTypeOf<string>();
  workers.claims.create({ id: "bc-1", workerId: "pw_1", sessionToken: true });
  // @ts-expect-error a claim is for a worker
  workers.claims.create({ id: "bc-1" });
  // @ts-expect-error the user is told why
  workers.claims.fail("bc-1");
}

export async function queue(signal?: AbortSignal, count?: number) {
  const requests = watchRequests(
    cursor,
    { pool: undefined },
    { signal, budgetMs: count, onRetry: undefined },
  );
  expectTypeOf(requests).toEqualTypeOf<RequestQueue>();
  expectTypeOf(requests.current()).toEqualTypeOf<Map<string, PendingRequest>>();
  for await (const change of requests) {
    expectTypeOf(change).toEqualTypeOf<RequestChange>();
    if (change.type === "removed") expectTypeOf(change.request).toEqualTypeOf<undefined>();
    else expectTypeOf(change.request).toEqualTypeOf<PendingRequest>();
  }
  // @ts-expect-error a page has no place in a watch
  watchRequests(cursor, { limit: 1 });
  // @ts-expect-error the socket is everyone's: it takes no headers of one
  watchRequests(cursor, {}, { headers: {} });
}

export function controller(signal?: AbortSignal) {
  const claim = () => "pw_1";
  const start = () => {};
  controlRequests(cursor, { concurrency: 1, claim, start, signal, filters: undefined, onError: undefined });
  controlRequests(cursor, {
    concurrency: 1,
    claim: async () => undefined,
    start: async () => ({ fail: "no" }),
  });
  // @ts-expect-error how many at once is the caller's to say
  controlRequests(cursor, { claim, start });
  // @ts-expect-error a worker's id is text
  controlRequests(cursor, { concurrency: 1, claim: () => 7, start });
  // @ts-expect-error nothing else can be said of a start
  controlRequests(cursor, { concurrency: 1, claim, start: () => "started" });
}

export async function newer() {
  const environment = await cursor.environments.create({
    owner: "team",
    name: "n",
    repos: [],
    environmentJson: "{}",
  });
  expectTypeOf(environment).toEqualTypeOf<Environment>();
  expectTypeOf(await cursor.environments.update("e", { name: "n" })).toEqualTypeOf<undefined>();
  expectTypeOf(await cursor.secrets.team.set("N", { value: "v" }, { id: "secv_1" })).toEqualTypeOf<Secret>();
  for await (const secret of cursor.secrets.list({ scope: "team" }))
    expectTypeOf(secret).toEqualTypeOf<Secret>();
  // @ts-expect-error the configuration is JSON text
  cursor.environments.update("e", { environmentJson: {} });
  // @ts-expect-error a secret has a value
  cursor.secrets.team.set("N", {});
  // @ts-expect-error builds have pages of one size
  cursor.environments.builds.list("e", { limit: 5 });
}
