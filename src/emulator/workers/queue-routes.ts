import * as z from "zod/mini";
import type { Call, Route } from "../core.ts";
import { type Answer, type HeaderEntries, headerOf, json } from "../exchange.ts";
import { FailedResponse, titledFailedResponse } from "../failed-response.ts";
import { isSameUrl } from "../repository.ts";
import { limit, text } from "../validate.ts";
import { WatchConnection } from "./watch-connection.ts";
import { poolLabelOf } from "./worker-records.ts";
import { badRequest, checkRepository, validateInput, workerRoute } from "./worker-route.ts";

/** Query of List Pending Pool Requests. */
export const listRequestsQuery = z.strictObject({
  limit: z.optional(limit),
  pageToken: z.optional(text),
  repository: z.optional(text),
  pool: z.optional(text),
});

/** Query of Watch Pending Pool Requests: no paging here. */
export const watchRequestsQuery = z.strictObject({
  cursor: text,
  repository: z.optional(text),
  pool: z.optional(text),
});

interface Filters {
  repository?: string | undefined;
  pool?: string | undefined;
}

interface Place {
  owner: string;
  pool: string | undefined;
  repoUrl: string | undefined;
}

function scopeOf(call: Call, { repository, pool }: Filters) {
  return { owner: call.caller.owner, repository, pool };
}

function matches(call: Call, filters: Filters) {
  return (place: Place) =>
    place.owner === call.caller.owner &&
    (filters.pool === undefined || place.pool === filters.pool) &&
    (filters.repository === undefined || isSameUrl(place.repoUrl, filters.repository));
}

function listPendingRequests(call: Call) {
  const { core } = call;
  const { workers } = core;
  const query = validateInput(listRequestsQuery, call.query);
  checkRepository(call, query.repository);
  const scope = scopeOf(call, query);
  // All pages of a listing return the stream cursor of the moment when the listing began, so the page token holds it.
  const begun = [core.store.now(), workers.log.position, Number.NEGATIVE_INFINITY];
  const at = query.pageToken === undefined ? begun : workers.cursors.read("page", scope, query.pageToken);
  if (at === undefined) throw badRequest("pageToken is unknown, or was issued for other filters");
  const [issuedAt, position, afterOrder] = at as [number, number, number];
  const isMatch = matches(call, query);
  const rest = workers.requests.filter(
    (request) =>
      (request.state === "pending" || request.state === "claimed_offline") &&
      !request.isPersonal &&
      isMatch({ owner: request.owner, pool: poolLabelOf(request), repoUrl: request.repo?.url }) &&
      request.order > afterOrder,
  );
  const page = rest.slice(0, Number(query.limit ?? "50"));
  const last = page.length < rest.length ? page.at(-1) : undefined;
  return json(200, {
    requests: page.map((request) => workers.view(request)),
    ...(last === undefined
      ? {}
      : { nextPageToken: workers.cursors.mint("page", scope, [issuedAt, position, last.order]) }),
    streamCursor: workers.cursors.mint("watch", scope, [issuedAt, position]),
  });
}

function watchPendingRequests(call: Call): Answer {
  const { core, caller, request } = call;
  const { workers, options, store } = core;
  const query = validateInput(watchRequestsQuery, call.query);
  checkRepository(call, query.repository);
  const scope = scopeOf(call, query);
  const cursor = headerOf(request.headers, "last-event-id") || query.cursor;
  const at = workers.cursors.read("watch", scope, cursor);
  if (at === undefined) throw badRequest("cursor is unknown, or was issued for other filters");
  const [issuedAt, position] = at as [number, number];
  const endsAt = issuedAt + options.workers.cursorLifetimeMs;
  if (store.now() >= endsAt || !workers.log.covers(position)) {
    throw new FailedResponse(json(410, { code: "cursor_expired" }), "cursor_expired");
  }
  const account = caller.serviceAccountId as string;
  const open = [...workers.watches.values()].filter((holder) => holder === account).length;
  if (open >= options.workers.maxStreams) {
    throw titledFailedResponse(
      429,
      "Too many streams",
      `A service account can hold ${options.workers.maxStreams}`,
    );
  }
  const headers: HeaderEntries = [
    ["content-type", "text/event-stream"],
    ["cache-control", "no-cache"],
  ];
  const connection = new WatchConnection({
    log: workers.log,
    clock: options.clock,
    position,
    endsAt,
    heartbeatMs: options.workers.heartbeatMs,
    matches: matches(call, query),
    // The time gives each heartbeat its own cursor; an event that is sent again has the same id as before.
    cursorAt: (sentPosition, at) => workers.cursors.mint("watch", scope, [issuedAt, sentPosition, at]),
    onClose: () => workers.watches.delete(connection),
  });
  workers.watches.set(connection, account);
  return { status: 200, headers, body: connection };
}

/** The queue of pending requests, as a list and as a stream. */
export const queueRoutes: readonly Route[] = [
  workerRoute("GET", "/pending-requests", "listPendingRequests", listPendingRequests),
  workerRoute("GET", "/pending-requests/stream", "watchPendingRequests", watchPendingRequests),
];
