import type { components } from "../../generated/openapi.ts";

/** A failed response as the service was seen to send it, in words of our own. */
interface Failure {
  status: number;
  code: string;
  message: string;
  /** More fields of the error. */
  more?: Readonly<Record<string, string>>;
  /** The flat form without an envelope. */
  flat?: true;
}

/** Failures that share their code with others, or whose text says what to do. */
const named = {
  /** No free account may use the API. */
  plan_required: {
    status: 403,
    code: "plan_required",
    message: "Cloud agents are not available to free users. Upgrade to a paid plan to use them.",
  },
  integration_not_connected: {
    status: 403,
    code: "integration_not_connected",
    message: "Connect your GitHub account before starting an agent on its repositories.",
    more: { helpUrl: "https://cursor.com/dashboard/integrations", provider: "github" },
  },
  several_repositories: {
    status: 400,
    code: "validation_error",
    message:
      "A machine or a pool for one repository takes one repository only. For several, name an any-repo pool in env.name.",
  },
  usage_pricing_required: {
    status: 400,
    code: "usage_limit_exceeded",
    message: "Cloud agents need usage-based pricing with at least $2 left. Enable it in the dashboard.",
  },
  hard_limit_reached: {
    status: 400,
    code: "usage_limit_exceeded",
    message: "The hard limit of your spending is reached. Raise it in the dashboard to start more agents.",
  },
  included_usage_exhausted: {
    status: 429,
    code: "rate_limit_exceeded",
    message: "The included usage of this plan is used up. Enable on-demand usage to start more agents.",
  },
  branch_not_verified: {
    status: 400,
    code: "validation_error",
    message: "Failed to verify that branch 'main' exists in repository your-org/your-repo.",
  },
  commit_not_verified: {
    status: 400,
    code: "validation_error",
    message: "Failed to verify that commit '0123abc' exists in repository your-org/your-repo.",
  },
  default_branch_not_found: {
    status: 400,
    code: "validation_error",
    message: "Failed to determine the default branch of repository your-org/your-repo.",
  },
  missing_body: { status: 400, code: "missing_body", message: "A request body is required." },
  repository_required: {
    status: 400,
    code: "repository_required",
    message: "Agents without a repository are not enabled for this account. Name one in repos.",
  },
  pr_resolution_failed: {
    status: 400,
    code: "pr_resolution_failed",
    message: "The pull request of prUrl could not be resolved.",
  },
  invalid_branch_name: {
    status: 400,
    code: "invalid_branch_name",
    message: "The branch name is not valid.",
  },
  api_key_not_found: { status: 401, code: "api_key_not_found", message: "The API key does not exist." },
  environment_name_conflict: {
    status: 409,
    code: "environment_name_conflict",
    message: "An environment has this name already.",
    more: { environmentId: "00000000-0000-4000-8000-00000000e001" },
  },
  cursor_expired: { status: 410, code: "cursor_expired", message: "", flat: true },
} as const satisfies Readonly<Record<string, Failure>>;

/** The status of every other code of the contract. */
const statuses = {
  unauthorized: 401,
  role_forbidden: 403,
  feature_unavailable: 403,
  service_account_required: 403,
  validation_error: 400,
  invalid_model: 400,
  repository_access: 403,
  artifact_not_found: 404,
  agent_not_found: 404,
  run_not_found: 404,
  agent_busy: 409,
  agent_archived: 409,
  agent_id_conflict: 409,
  run_not_cancellable: 409,
  rate_limit_exceeded: 429,
  usage_limit_exceeded: 400,
  stream_expired: 410,
  stream_unavailable: 409,
  invalid_last_event_id: 400,
  client_cancelled: 499,
  not_implemented: 501,
  upstream_error: 502,
  internal_error: 500,
  environment_not_found: 404,
  build_not_found: 404,
  secret_not_found: 404,
  secret_name_ambiguous: 409,
  secret_scope_conflict: 409,
  secret_limit_reached: 409,
  secret_name_conflict: 409,
  team_admin_required: 403,
  team_membership_required: 403,
  user_required: 403,
  key_not_supported: 403,
} as const satisfies Readonly<Record<string, number>>;

/** A failed response that {@link Faults.failure} can send: one that was recorded of the service, or any code of the contract. */
export type FailureName = keyof typeof named | keyof typeof statuses;

// Each code of the contract has its failure; one that is added to openapi.yaml only does not compile here.
type KnownCode = Extract<components["schemas"]["ErrorCode"], string>;
type Missing<Code> = Code extends FailureName ? never : string extends Code ? never : Code;
const _missing: Missing<KnownCode>[] = [] satisfies never[];
void _missing;

/** All names, for messages. @internal */
export const failureNames: readonly string[] = [...Object.keys(named), ...Object.keys(statuses)];

/** Status and body of a failure. @internal */
export function failureOf(name: FailureName): { status: number; body: object } {
  const known: Readonly<Record<string, Failure | undefined>> = named;
  const codes: Readonly<Record<string, number | undefined>> = statuses;
  const { status, code, message, more, flat }: Failure = known[name] ?? {
    status: codes[name] ?? 500,
    code: name,
    message: `Failed with ${name}.`,
  };
  if (flat) return { status, body: { code } };
  return { status, body: { error: { code, message, ...more } } };
}

/** The recorded message of a failure. @internal */
export function messageOf(name: keyof typeof named): string {
  return named[name].message;
}
