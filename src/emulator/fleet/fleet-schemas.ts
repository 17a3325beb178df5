import * as z from "zod/mini";
import { limit, rule, text } from "../schemas.ts";

const scope = z.enum(["all", "team_pool", "personal"]);
const poolScope = z.enum(["user", "team"]);
const seconds = z.int().check(z.minimum(0));

/** Query of List Workers. */
export const listWorkersQuery = z.strictObject({
  status: z.optional(z.enum(["all", "in_use", "idle"])),
  scope: z.optional(scope),
  limit: z.optional(limit),
  pageToken: z.optional(text),
});

/** Query of List Pools. */
export const listPoolsQuery = z.strictObject({
  scope: z.optional(scope),
  includeStale: z.optional(z.enum(["true", "false"])),
});

/** Body of Register A Pool. `workerReadyTimeoutSeconds` is the newer name of the reconnect window. */
export const registerPoolBody = z
  .strictObject({
    scope: poolScope,
    poolName: text,
    repoOwner: z.optional(text),
    repoName: z.optional(text),
    repoUrl: z.optional(text),
    offlineReconnectTimeoutSeconds: z.optional(seconds),
    workerReadyTimeoutSeconds: z.optional(seconds),
  })
  .check(
    rule(
      (body) => (body.repoOwner === undefined) === (body.repoName === undefined),
      "Provide repoOwner and repoName together, or neither",
    ),
    rule(
      (body) => body.repoUrl === undefined || (body.repoOwner !== undefined && body.repoName !== undefined),
      "repoUrl requires repoOwner and repoName",
    ),
  );

/** Query of Deregister A Pool: in snake case. */
export const deregisterPoolQuery = z
  .strictObject({
    scope: poolScope,
    pool_name: text,
    repo_owner: z.optional(text),
    repo_name: z.optional(text),
  })
  .check(
    rule(
      (query) => (query.repo_owner === undefined) === (query.repo_name === undefined),
      "Provide repo_owner and repo_name together, or neither",
    ),
  );

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

/** Body of Claim A Pending Request. */
export const claimBody = z.strictObject({ id: text, workerId: text, sessionToken: z.optional(z.boolean()) });

/** Body of Create A Session Token. */
export const claimTokenBody = z.strictObject({ id: text, workerId: text });

/** Body of Fail A Claim: control characters but line breaks and tabs are removed before it is measured. */
export const failClaimBody = z.strictObject({
  message: z.pipe(
    z.pipe(
      z.string(),
      z.transform((message: string) => message.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, "").trim()),
    ),
    z.string().check(z.minLength(1), z.maxLength(500)),
  ),
});
