import { type ApiError, CursorError, isApiError, isStreamError, isTimeoutError } from "../index.ts";
import type { Context, Followed } from "./context.ts";
import { exitCodes } from "./exit-codes.ts";
import { Interruption, MissingKeyError, UsageError } from "./failures.ts";
import { duration } from "./format.ts";

/** An error, told to a person. */
export interface Explanation {
  /** One line. */
  message: string;
  /** What to do about it, a line each. */
  hints: string[];
  exitCode: number;
  /** The error as data, for `--json`. */
  fields: Record<string, unknown>;
}

const dashboard = "https://cursor.com/dashboard";
const documentation = "https://cursor.com/docs/cloud-agent/api/endpoints";
const keyHints = [
  `make a key at ${dashboard} (API Keys), then: export CURSOR_API_KEY=…`,
  "or put it in a file: --api-key-file <path> (- reads it from stdin)",
];

export function explainError(error: unknown, context: Context, followed?: Followed): Explanation {
  if (error instanceof UsageError) {
    return { ...plain(error), hints: [...error.hints], exitCode: exitCodes.usage };
  }
  if (error instanceof MissingKeyError) {
    return { ...plain(error), hints: keyHints, exitCode: exitCodes.account };
  }
  if (error instanceof Interruption) {
    const exitCode = error.signal === "SIGINT" ? exitCodes.interrupted : exitCodes.terminated;
    return { ...plain(error), hints: [], exitCode };
  }
  if (!CursorError.isInstance(error)) {
    return { ...plain(error), hints: followed ? resume(context, followed) : [], exitCode: exitCodes.failed };
  }
  const hints = [
    ...adviceFor(error, context),
    ...unknownOutcome(error, context),
    ...(followed && canResume(error) ? resume(context, followed) : []),
    ...(isApiError(error) && error.requestId ? [`request id for support: ${error.requestId}`] : []),
  ];
  const { body: _, ...fields } = error.toJSON();
  return { message: error.message, hints, exitCode: exitCodeOf(error), fields };
}

const plain = (error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  const name = error instanceof Error ? error.name : "Error";
  return { message, fields: { name, message } };
};

const resume = (context: Context, followed: Followed): string[] => [
  `the run may go on; follow it again: ${context.resumeCommand(followed)}`,
];

/** 401, 403, 404 say the same the next time. */
const canResume = (error: CursorError): boolean =>
  !(isApiError(error) && [401, 403, 404].includes(error.status)) && error.kind !== "argument";

function exitCodeOf(error: CursorError): number {
  if (error.kind === "argument") return exitCodes.usage;
  if (isTimeoutError(error) && error.phase === "deadline") return exitCodes.deadline;
  if (!isApiError(error)) return exitCodes.failed;
  if (error.code === "usage_limit_exceeded" || error.code === "plan_required") return exitCodes.account;
  const isAboutRepository = error.code === "repository_access";
  return [401, 403].includes(error.status) && !isAboutRepository ? exitCodes.account : exitCodes.failed;
}

function unknownOutcome(error: CursorError, context: Context): string[] {
  if (error.outcome !== "unknown") return [];
  const where = error.agentId === undefined ? context.command("ls") : context.command("show", error.agentId);
  return [
    `outcome unknown: the server may have done it, and nothing was sent twice; look before you repeat it: ${where}`,
  ];
}

function adviceFor(error: CursorError, context: Context): string[] {
  if (isApiError(error)) {
    const advice = adviceByCode.get(error.code ?? "") ?? byStatus[error.status];
    return advice?.(error, context) ?? [];
  }
  if (error.kind === "connection" || (isTimeoutError(error) && error.phase !== "deadline")) {
    return [
      `the API could not be reached at ${context.baseUrl.value}; find out why: ${context.command("doctor")}`,
    ];
  }
  if (isStreamError(error) && error.reason === "invalid_position") {
    return ["--from is no position of this run: leave it out to see the run from its start"];
  }
  return [];
}

type Advice = (error: ApiError, context: Context) => string[];

const refusedKey: Advice = (_, context) => [
  `the key in ${context.keySource} is not accepted: it is mistyped, revoked, or of another kind (team admin keys don't work here)`,
  `see or make keys at ${dashboard} (API Keys); check with: ${context.command("doctor")}`,
];

const slowDown: Advice = (error, context) => [
  error.retryAfterMs === undefined
    ? "too many requests: wait a minute and try again"
    : `too many requests: ${tryAgain(error.retryAfterMs, context)}`,
];

const notFound: Advice = (_, context) => [
  `check the id (${context.command("ls")}); what another account's key made is not found either`,
];

const byCode: Record<string, Advice | undefined> = {
  unauthorized: refusedKey,
  api_key_not_found: refusedKey,
  plan_required: () => [
    "the key is fine, the account's plan is not: cloud agents need a paid plan, a new key won't help",
    `plans: https://cursor.com/pricing; the API's documentation: ${documentation}`,
  ],
  usage_limit_exceeded: (error, context) => [
    error.retryAfterMs === undefined
      ? "the spend limit is reached: it ends with the billing period, or when the limit is raised"
      : `the spend limit is reached: ${tryAgain(error.retryAfterMs, context)}, or raise the limit`,
    `limits and usage: ${dashboard} (Usage)`,
  ],
  rate_limit_exceeded: slowDown,
  role_forbidden: () => ["your role in the team doesn't allow this: ask an admin of the team"],
  feature_unavailable: () => ["this is not enabled for the account; a new key won't help"],
  service_account_required: () => ["this needs a service account's key"],
  integration_not_connected: ({ provider, helpUrl }) => [
    `connect ${provider ?? "the repository's host"} to Cursor: ${helpUrl ?? `${dashboard} (Integrations)`}`,
  ],
  repository_access: (_, context) => [
    `Cursor can't see the repository: check its URL, and that Cursor's app is installed for it (${context.command("repos")})`,
  ],
  validation_error: (error, context) =>
    /branch/i.test(error.message)
      ? [
          `mostly this means that Cursor can't see the repository (${context.command("repos")}), else that --ref is wrong`,
        ]
      : [],
  invalid_branch_name: () => ["check --ref"],
  invalid_model: (_, context) => [`models to choose from: ${context.command("models")}`],
  agent_busy: (error, context) => [
    "a run is active: --wait-if-busy waits for it, --cancel-if-busy ends it",
    ...(error.agentId === undefined ? [] : [`or follow it: ${context.command("watch", error.agentId)}`]),
  ],
  agent_archived: (error, context) =>
    error.agentId === undefined
      ? []
      : [`make it take runs again: ${context.command("unarchive", error.agentId)}`],
  agent_id_conflict: (error, context) => [
    `--adopt goes on with the agent that exists${error.agentId === undefined ? "" : `; look at it: ${context.command("show", error.agentId)}`}`,
  ],
  agent_not_found: notFound,
  run_not_found: notFound,
  artifact_not_found: (error, context) =>
    error.agentId === undefined
      ? []
      : [`what there is: ${context.command("artifacts", "ls", error.agentId)}`],
  invalid_response: (_, context) => [`is ${context.baseUrl.value} the API, or a proxy before it?`],
  redirect_refused: (_, context) => [`is ${context.baseUrl.value} the API, or a proxy before it?`],
};

/** A map, since a code is the server's word: it may be `constructor`. */
const adviceByCode = new Map(Object.entries(byCode));

const byStatus: Record<number, Advice | undefined> = {
  401: refusedKey,
  403: () => ["the key is known, but may not do this"],
  404: notFound,
  429: slowDown,
};

function tryAgain(ms: number, context: Context): string {
  const at = new Date(context.io.clock.now() + ms).toISOString().slice(11, 19);
  return `try again in ${duration(ms)} (at ${at} UTC)`;
}
