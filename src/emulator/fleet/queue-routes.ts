import type { Call, Route } from "../core-context.ts";
import { type Answer, type HeaderEntries, headerOf, json } from "../exchange.ts";
import { Refusal, textRefusal } from "../refusal.ts";
import { badRequest, checkRepository, fleetRoute, isSameUrl, validateFleet } from "./fleet-call.ts";
import { poolLabelOf } from "./fleet-records.ts";
import { listRequestsQuery, watchRequestsQuery } from "./fleet-schemas.ts";
import { WatchConnection } from "./watch-connection.ts";

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
  const { fleet } = core;
  const query = validateFleet(listRequestsQuery, call.query);
  checkRepository(call, query.repository);
  const scope = scopeOf(call, query);
  // A page says where its listing began: that moment is what all pages give the stream cursor of.
  const begun = [core.store.now(), fleet.log.position, Number.NEGATIVE_INFINITY];
  const at = query.pageToken === undefined ? begun : fleet.cursors.read("page", scope, query.pageToken);
  if (at === undefined) throw badRequest("pageToken is unknown, or was issued for other filters");
  const [issuedAt, position, behind] = at as [number, number, number];
  const isMatch = matches(call, query);
  const rest = fleet.requests.filter(
    (request) =>
      (request.state === "pending" || request.state === "claimed_offline") &&
      !request.isPersonal &&
      isMatch({ owner: request.owner, pool: poolLabelOf(request), repoUrl: request.repo?.url }) &&
      request.order > behind,
  );
  const page = rest.slice(0, Number(query.limit ?? "50"));
  const last = page.length < rest.length ? page.at(-1) : undefined;
  return json(200, {
    requests: page.map((request) => fleet.view(request)),
    ...(last === undefined
      ? {}
      : { nextPageToken: fleet.cursors.mint("page", scope, [issuedAt, position, last.order]) }),
    streamCursor: fleet.cursors.mint("watch", scope, [issuedAt, position]),
  });
}

function watchPendingRequests(call: Call): Answer {
  const { core, caller, request } = call;
  const { fleet, options, store } = core;
  const query = validateFleet(watchRequestsQuery, call.query);
  checkRepository(call, query.repository);
  const scope = scopeOf(call, query);
  const cursor = headerOf(request.headers, "last-event-id") || query.cursor;
  const at = fleet.cursors.read("watch", scope, cursor);
  if (at === undefined) throw badRequest("cursor is unknown, or was issued for other filters");
  const [issuedAt, position] = at as [number, number];
  const endsAt = issuedAt + options.fleet.cursorLifetimeMs;
  if (store.now() >= endsAt || !fleet.log.covers(position)) {
    throw new Refusal(json(410, { code: "cursor_expired" }), "cursor_expired");
  }
  const account = caller.serviceAccountId as string;
  const open = [...fleet.watches.values()].filter((holder) => holder === account).length;
  if (open >= options.fleet.maxStreams) {
    throw textRefusal(429, "Too many streams", `A service account can hold ${options.fleet.maxStreams}`);
  }
  const headers: HeaderEntries = [
    ["content-type", "text/event-stream"],
    ["cache-control", "no-cache"],
  ];
  const connection = new WatchConnection({
    log: fleet.log,
    clock: options.clock,
    position,
    endsAt,
    heartbeatMs: options.fleet.heartbeatMs,
    matches: matches(call, query),
    // The time makes each heartbeat's another; an event that is sent again has the id it had.
    cursorAt: (behind, told) => fleet.cursors.mint("watch", scope, [issuedAt, behind, told]),
    onClose: () => fleet.watches.delete(connection),
  });
  fleet.watches.set(connection, account);
  return { status: 200, headers, body: connection };
}

/** The queue, as a list and as a stream. */
export const queueRoutes: readonly Route[] = [
  fleetRoute("GET", "/pending-requests", "listPendingRequests", listPendingRequests),
  fleetRoute("GET", "/pending-requests/stream", "watchPendingRequests", watchPendingRequests),
];
