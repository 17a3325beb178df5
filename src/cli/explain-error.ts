import { type ApiError, CursorError, isApiError, isStreamError, isTimeoutError } from "../index.ts";
import { CommandFailure, dashboard, exitCodes } from "./command-failure.ts";
import type { Context } from "./context.ts";
import { UnfinishedRun } from "./follow-run.ts";
import { formatDuration } from "./format.ts";
import { findProxy } from "./proxy.ts";

/** An error in words for the user. */
export interface Explanation {
  /** One line. */
  message: string;
  /** What to do about it, one line each. */
  hints: string[];
  exitCode: number;
  /** The error as data, for `--json`. */
  fields: Record<string, unknown>;
}

const documentation = "https://cursor.com/docs/cloud-agent/api/endpoints";

/** Explains an error; of an {@link UnfinishedRun}, what caused it and how to follow the run again. */
export function explainError(thrown: unknown, context: Context): Explanation {
  const error = thrown instanceof UnfinishedRun ? thrown.cause : thrown;
  const resume =
    thrown instanceof UnfinishedRun
      ? [`the run may go on; follow it again: ${context.resumeCommand(thrown.checkpoint)}`]
      : [];
  if (error instanceof CommandFailure) {
    const { name, message, hints, exitCode } = error;
    return { message, hints: [...hints], exitCode, fields: { name, message } };
  }
  if (!CursorError.isInstance(error)) {
    const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
    return { message, hints: resume, exitCode: exitCodes.failed, fields: { name, message } };
  }
  const advice = [...adviceFor(error, context), ...unknownOutcome(error, context)];
  const follow = canResume(error) ? resume : [];
  const hints = [
    // After a broken stream, following it again is what most users want; after a failed response, it fails again.
    ...(isStreamError(error) ? [...follow, ...advice] : [...advice, ...follow]),
    ...(isApiError(error) && error.requestId ? [`request id for support: ${error.requestId}`] : []),
  ];
  const { body: _, ...fields } = error.toJSON();
  return { message: error.message, hints, exitCode: exitCodeOfError(error), fields };
}

/** After 401, 403 and 404 the same request fails again. */
const canResume = (error: CursorError): boolean =>
  !(isApiError(error) && [401, 403, 404].includes(error.status)) && error.kind !== "argument";

function exitCodeOfError(error: CursorError): number {
  if (error.kind === "argument") return exitCodes.usage;
  if (isTimeoutError(error) && error.phase === "deadline") return exitCodes.deadline;
  if (!isApiError(error)) return exitCodes.failed;
  if (isAccountLimit(error) || error.code === "plan_required") return exitCodes.account;
  const isAboutRepository = error.code === "repository_access";
  return [401, 403].includes(error.status) && !isAboutRepository ? exitCodes.account : exitCodes.failed;
}

function unknownOutcome(error: CursorError, context: Context): string[] {
  if (error.outcome !== "unknown") return [];
  const where = error.agentId === undefined ? context.command("ls") : context.command("show", error.agentId);
  return [
    `outcome unknown: the server may have processed the request, but not twice; check before you repeat it: ${where}`,
  ];
}

function adviceFor(error: CursorError, context: Context): string[] {
  if (isApiError(error)) {
    const ofLimit = isAccountLimit(error) ? spendLimit : undefined;
    const advice = ofLimit ?? adviceByCode.get(error.code ?? "") ?? byStatus[error.status];
    return advice?.(error, context) ?? [];
  }
  if (error.kind === "connection" || (isTimeoutError(error) && error.phase !== "deadline")) {
    const proxy = findProxy(context.baseUrl.value, context.io);
    return [
      `the API could not be reached at ${context.printableBaseUrl}; find out why: ${context.command("doctor")}`,
      ...(proxy === undefined ? [] : [`${proxy.variable} is set; ${proxy.advice}`]),
      ...(isRefusedByProxy(error) ? ["the proxy answered 407: it wants a user name and a password"] : []),
    ];
  }
  if (!isStreamError(error)) return [];
  if (error.reason === "invalid_position") {
    return ["--from is not a position in this run: leave it out to follow the run from its start"];
  }
  return CursorError.isInstance(error.cause) ? adviceFor(error.cause, context) : [];
}

/** An error that is about the account's money, not about the rate of requests: no wait helps, whatever Retry-After says. */
export function isAccountLimit(error: unknown): boolean {
  if (!isApiError(error)) return false;
  if (error.code === "usage_limit_exceeded") return true;
  const { message } = error;
  const isAboutUsage =
    (/\bincluded\b/i.test(message) && /\busage\b/i.test(message)) || /on-demand\s+usage/i.test(message);
  return error.status === 429 && isAboutUsage;
}

/** A proxy's refusal stands somewhere in the chain of causes. */
function isRefusedByProxy(error: unknown): boolean {
  let cause = error;
  for (let depth = 0; depth < 10 && cause instanceof Error; depth++) {
    if (/\b407\b/.test(cause.message)) return true;
    cause = cause.cause;
  }
  return false;
}

type Advice = (error: ApiError, context: Context) => string[];

const rejectedKey: Advice = (_, context) => [
  `the key in ${context.apiKey.source} is not accepted: it is mistyped, revoked, or of another kind (team admin keys don't work here)`,
  `see or create keys at ${dashboard} (API Keys); check with: ${context.command("doctor")}`,
];

const slowDown: Advice = (error, context) => [
  error.retryAfterMs === undefined
    ? "too many requests: wait a minute and try again"
    : `too many requests: ${tryAgain(error.retryAfterMs, context)}`,
];

/** Only where the code itself is about money, Retry-After may be the end of the billing period. */
const spendLimit: Advice = (error, context) => [
  error.retryAfterMs === undefined || error.code !== "usage_limit_exceeded"
    ? "the spend limit is reached: wait for the next billing period, or raise the limit"
    : `the spend limit is reached: ${tryAgain(error.retryAfterMs, context)}, or raise the limit`,
  `limits and usage: ${dashboard} (Usage)`,
];

const notFound: Advice = (_, context) => [
  `check the id (${context.command("ls")}); agents of other accounts are not found either`,
];

const byCode: Record<string, Advice | undefined> = {
  unauthorized: rejectedKey,
  api_key_not_found: rejectedKey,
  plan_required: () => [
    "the key is valid, but cloud agents need a paid plan: a new key won't help",
    `plans: https://cursor.com/pricing; the API's documentation: ${documentation}`,
  ],
  rate_limit_exceeded: slowDown,
  role_forbidden: () => ["your role in the team doesn't allow this: ask an admin of the team"],
  feature_unavailable: () => ["this is not enabled for the account; a new key won't help"],
  service_account_required: () => ["this needs a service account's key"],
  integration_not_connected: ({ provider, helpUrl }) => [
    `connect ${provider ?? "the repository's host"} to Cursor: ${helpUrl ?? `${dashboard} (Integrations)`}`,
  ],
  repository_access: (_, context) => [
    `Cursor can't access the repository: check its URL, and that Cursor's app is installed for it (${context.command("repos")})`,
  ],
  validation_error: (error, context) =>
    /branch/i.test(error.message)
      ? [
          `usually this means that Cursor can't access the repository (${context.command("repos")}), otherwise --ref is wrong`,
        ]
      : [],
  invalid_branch_name: () => ["check --ref"],
  invalid_model: (_, context) => [`available models: ${context.command("models")}`],
  agent_busy: (error, context) => [
    "a run is active: --wait-if-busy waits for it, --cancel-if-busy cancels it",
    ...(error.agentId === undefined ? [] : [`or follow it: ${context.command("watch", error.agentId)}`]),
  ],
  agent_archived: (error, context) =>
    error.agentId === undefined ? [] : [`unarchive it first: ${context.command("unarchive", error.agentId)}`],
  agent_id_conflict: (error, context) => [
    `--adopt continues with the existing agent${error.agentId === undefined ? "" : `; look at it: ${context.command("show", error.agentId)}`}`,
  ],
  agent_not_found: notFound,
  run_not_found: notFound,
  artifact_not_found: (error, context) =>
    error.agentId === undefined
      ? []
      : [`list the artifacts: ${context.command("artifacts", "ls", error.agentId)}`],
  invalid_response: (_, context) => [`is ${context.printableBaseUrl} the API, or a proxy in front of it?`],
  redirect_refused: (_, context) => [`is ${context.printableBaseUrl} the API, or a proxy in front of it?`],
};

/** A map, because a code comes from the server and may be the name of an object's property, such as `constructor`. */
const adviceByCode = new Map(Object.entries(byCode));

const byStatus: Record<number, Advice | undefined> = {
  401: rejectedKey,
  403: () => ["the key is known, but may not do this"],
  404: notFound,
  429: slowDown,
};

function tryAgain(ms: number, context: Context): string {
  const at = new Date(context.io.clock.now() + ms).toISOString().slice(11, 19);
  return `try again in ${formatDuration(ms)} (at ${at} UTC)`;
}
