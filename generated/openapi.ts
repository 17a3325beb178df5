// Made from openapi.yaml by "npm run generate". Never edited.

export interface paths {
    "/v0/private-workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List workers
         * @description Connected workers of the service account's team, newest first. Needs a service account key.
         */
        get: operations["listWorkers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v0/private-workers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a worker
         * @description One worker. The answer's shape is not documented; it is taken to be a list item. Needs a service account key.
         */
        get: operations["getWorker"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v0/private-workers/claim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Claim a pending request for a worker
         * @description Reserves a request for one worker, atomically across controllers, before that worker starts with the same id. A second
         *     claim is refused while one is live (409 observed); 404 when the request is gone (observed). Needs a service account key.
         */
        post: operations["claimPendingRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v0/private-workers/claims/{id}/fail": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the claimed request, which is that of its agent.
                 * @example bc-00000000-0000-0000-0000-000000000002
                 */
                id: components["parameters"]["ClaimId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fail the turn that waits for a claim
         * @description Tells the waiting user that no worker will come. 400 when no turn is waiting or the worker is connected; 404 without a live
         *     claim; repeating after a 5xx is safe. Needs a service account key.
         */
        post: operations["failClaim"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v0/private-workers/claims/{id}/release": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the claimed request, which is that of its agent.
                 * @example bc-00000000-0000-0000-0000-000000000002
                 */
                id: components["parameters"]["ClaimId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Release a claim
         * @description Ends the preference of an agent for one machine. It is about routing only: the worker is not checked, a running turn goes
         *     on, a waiting follow-up returns to the queue, and another worker can claim at once. A 404 says that no claim is live;
         *     repeating the call does not help. Newer documentation adds a 400 while a turn is active. Send neither a body nor a content type. Needs a
         *     service account key.
         */
        post: operations["releaseClaim"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v0/private-workers/pending-requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List pending pool requests
         * @description Requests of the team that wait for a pool worker, and those claimed by a worker that is offline while its reconnect window
         *     is open. Requests for personal machines are left out. The list is the truth that the watch only hints at. Needs a service
         *     account key.
         */
        get: operations["listPendingRequests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v0/private-workers/pending-requests/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Watch the queue of pending pool requests
         * @description Server-sent events: the retained changes after the cursor, then live ones. List to the end first, then open the watch from
         *     the list's `streamCursor` with the same `repository` and `pool`. Paging parameters are refused here.
         *
         *     Every event has an id, heartbeats too (about every 20 s on a quiet stream), and that id is the next cursor. `Last-Event-ID`
         *     wins over the `cursor` parameter. All cursors of a chain die five minutes after the list that started it, whatever came
         *     since; then, or when the retained window no longer reaches back, the answer is 410 `cursor_expired`: list again. That is
         *     routine. Do not store cursors.
         *
         *     Delivery is best effort: an event can be lost for good. Apply events idempotently and let the next list correct the view;
         *     a `claimed` for an unknown request means nothing. At most four concurrent streams per service account. Needs a service
         *     account key.
         */
        get: operations["watchPendingRequests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v0/private-workers/pools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List pools
         * @description Registered pools of the service account's team, those without a connected worker included. Needs a service account key.
         */
        get: operations["listPools"];
        put?: never;
        /**
         * Register a pool
         * @description Lets a pool be chosen while it has no worker yet. A worker started with `--pool` registers its pool by itself. Needs a
         *     service account key.
         */
        post: operations["registerPool"];
        /**
         * Deregister a pool
         * @description Soft-deletes a pool: it leaves lists and pickers, while workers connected to it go on. A team pool needs a team admin, a
         *     user pool its owner. The query is in snake case, unlike the rest of the API. Needs a service account key.
         */
        delete: operations["deregisterPool"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v0/private-workers/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count workers
         * @description Connected and busy workers of the key's user and team, for scaling decisions. Either part may be missing. Needs a service
         *     account key.
         */
        get: operations["getFleetSummary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v0/private-workers/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a session token for a claim
         * @description A token, valid for seven days, for the worker of a live claim; 404 without one. Needs a service account key.
         */
        post: operations["createClaimToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List agents
         * @description Agents of the key's owner, newest first. The order observed is that of `updatedAt`, so an agent can move to another page
         *     while a listing goes on: de-duplicate by id. Items carry identity fields only; run state lives on the runs. An unknown
         *     `cursor` was seen to give an empty page with 200.
         */
        get: operations["listAgents"];
        put?: never;
        /**
         * Create an agent and its first run
         * @description Creates an agent and enqueues its first run at once. The answer can take a minute or more, and a connection lost meanwhile
         *     does not undo the agent: allow 90 to 180 s, and send an `agentId` so that a repeat is refused with 409
         *     `agent_id_conflict` instead of making a twin. `agentId` and `envVars` exclude each other, so a create with `envVars`
         *     has no such guard.
         *
         *     `prompt` is the only required field. Omit `repos` and `env` for an agent without a repository.
         */
        post: operations["createAgent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent. One of another form than `bc-<uuid>` is refused with 400 `validation_error`.
                 * @example bc-00000000-0000-0000-0000-000000000001
                 */
                id: components["parameters"]["AgentId"];
            };
            cookie?: never;
        };
        /**
         * Get an agent
         * @description The full record of an agent, archived ones included. Whether work is going on is a matter of its runs: read `latestRunId`.
         */
        get: operations["getAgent"];
        put?: never;
        post?: never;
        /**
         * Delete an agent for good
         * @description Irreversible; archiving is the reversible form. Session secrets of the agent go with it.
         */
        delete: operations["deleteAgent"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent. One of another form than `bc-<uuid>` is refused with 400 `validation_error`.
                 * @example bc-00000000-0000-0000-0000-000000000001
                 */
                id: components["parameters"]["AgentId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Archive an agent
         * @description An archived agent stays readable and takes no runs until it is unarchived. Idempotent: 200 without a change when it is
         *     archived already. Send neither a body nor a content type.
         */
        post: operations["archiveAgent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/artifacts": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent. One of another form than `bc-<uuid>` is refused with 400 `validation_error`.
                 * @example bc-00000000-0000-0000-0000-000000000001
                 */
                id: components["parameters"]["AgentId"];
            };
            cookie?: never;
        };
        /**
         * List artifacts
         * @description At most 100 artifacts, in one page. Pass a `path` unchanged to the download operation.
         */
        get: operations["listArtifacts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/artifacts/download": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent. One of another form than `bc-<uuid>` is refused with 400 `validation_error`.
                 * @example bc-00000000-0000-0000-0000-000000000001
                 */
                id: components["parameters"]["AgentId"];
            };
            cookie?: never;
        };
        /**
         * Get a download URL for an artifact
         * @description A presigned S3 URL, valid for 15 minutes. Fetch it without the `Authorization` header: its query is the credential, and S3
         *     refuses two of them.
         */
        get: operations["downloadArtifact"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent. One of another form than `bc-<uuid>` is refused with 400 `validation_error`.
                 * @example bc-00000000-0000-0000-0000-000000000001
                 */
                id: components["parameters"]["AgentId"];
            };
            cookie?: never;
        };
        /**
         * List the runs of an agent
         * @description Newest first, without the reply text (`result`). An unknown `cursor` was seen to be refused with 400, unlike in the list of
         *     agents.
         */
        get: operations["listRuns"];
        put?: never;
        /**
         * Send a follow-up prompt
         * @description Starts a run that continues the agent's conversation in its current workspace. One run at a time: 409 `agent_busy` while
         *     another is `CREATING` or `RUNNING`, and for about two seconds after its `result` event. There is no guard against sending
         *     one prompt twice.
         */
        post: operations["createRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/runs/{runId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent. One of another form than `bc-<uuid>` is refused with 400 `validation_error`.
                 * @example bc-00000000-0000-0000-0000-000000000001
                 */
                id: components["parameters"]["AgentId"];
                /**
                 * @description Id of the run.
                 * @example run-00000000-0000-0000-0000-000000000001
                 */
                runId: components["parameters"]["RunId"];
            };
            cookie?: never;
        };
        /**
         * Get a run
         * @description State of a run and, once it is terminal, its reply, duration and the agent's pushed branches. The last word on the outcome
         *     when a stream is gone.
         */
        get: operations["getRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/runs/{runId}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent. One of another form than `bc-<uuid>` is refused with 400 `validation_error`.
                 * @example bc-00000000-0000-0000-0000-000000000001
                 */
                id: components["parameters"]["AgentId"];
                /**
                 * @description Id of the run.
                 * @example run-00000000-0000-0000-0000-000000000001
                 */
                runId: components["parameters"]["RunId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a run
         * @description Ends the agent's active run for good (`CANCELLED`); a new run continues the conversation. 409 `run_not_cancellable` when the
         *     run is terminal or was never active. Send neither a body nor a content type.
         */
        post: operations["cancelRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/runs/{runId}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent. One of another form than `bc-<uuid>` is refused with 400 `validation_error`.
                 * @example bc-00000000-0000-0000-0000-000000000001
                 */
                id: components["parameters"]["AgentId"];
                /**
                 * @description Id of the run.
                 * @example run-00000000-0000-0000-0000-000000000001
                 */
                runId: components["parameters"]["RunId"];
            };
            cookie?: never;
        };
        /**
         * Stream the events of a run
         * @description Server-sent events of this run alone; earlier runs of the agent are not repeated.
         *
         *     **Two languages, one stream.** Simplified events (`assistant`, `thinking`, `tool_call`) come with a richer twin
         *     (`interaction_update`), right after and under the same id. Read one kind and skip the other; an id alone is no key to
         *     de-duplicate by.
         *
         *     **Ids** are opaque. `status` and `heartbeat` have none, and must neither move nor clear the resume position. `result` and
         *     `done` share one id.
         *
         *     **Resuming.** Send the last id received as `Last-Event-ID`; what follows it is delivered. Without the header the run is
         *     replayed from its start. An id of another run gives 400 `invalid_last_event_id`. Every connection begins with a `status`
         *     event that says the current status, so it comes again on each reconnect.
         *
         *     **The end.** `result` says the outcome, then `done` closes the stream. A `status` event does not: a cancelled run was seen
         *     to say `FINISHED` there and `CANCELLED` in `result`. `done` after `error` is no completion either. A connection that ends
         *     without `result` was cut: resume, or read the run.
         *
         *     **Too early.** Shortly after a run was created the stream may answer `stream_unavailable`, as an `error` event under 200 or
         *     as 409; the run itself is fine. **Too late.** Once the retention window is over: 410 `stream_expired`; read the run instead.
         *
         *     Heartbeats come about every 15 s, the first one after 30 to 36 s.
         */
        get: operations["streamRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/unarchive": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent. One of another form than `bc-<uuid>` is refused with 400 `validation_error`.
                 * @example bc-00000000-0000-0000-0000-000000000001
                 */
                id: components["parameters"]["AgentId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Unarchive an agent
         * @description Lets an archived agent take runs again. Idempotent: 200 without a change when it is not archived. Send neither a body nor
         *     a content type.
         */
        post: operations["unarchiveAgent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent. One of another form than `bc-<uuid>` is refused with 400 `validation_error`.
                 * @example bc-00000000-0000-0000-0000-000000000001
                 */
                id: components["parameters"]["AgentId"];
            };
            cookie?: never;
        };
        /**
         * Get token usage
         * @description Tokens of the agent, in total and by run. A run without recorded usage is listed with zeros.
         */
        get: operations["getAgentUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List environments
         * @description By last update. A page can be shorter than asked for while more follow.
         */
        get: operations["listEnvironments"];
        put?: never;
        /**
         * Create an environment
         * @description Creates a named cloud environment for the key's user or team.
         */
        post: operations["createEnvironment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the environment. */
                id: components["parameters"]["EnvironmentId"];
            };
            cookie?: never;
        };
        /**
         * Get an environment
         * @description The environment with its current configuration.
         */
        get: operations["getEnvironment"];
        put?: never;
        post?: never;
        /**
         * Delete an environment
         * @description Deletes an environment.
         */
        delete: operations["deleteEnvironment"];
        options?: never;
        head?: never;
        /**
         * Change an environment
         * @description Renames an environment or replaces its configuration. Answers without a body.
         */
        patch: operations["updateEnvironment"];
        trace?: never;
    };
    "/v1/environments/{id}/builds": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the environment. */
                id: components["parameters"]["EnvironmentId"];
            };
            cookie?: never;
        };
        /**
         * List the builds of an environment
         * @description Pages of ten; the size is fixed.
         */
        get: operations["listEnvironmentBuilds"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{id}/builds/{buildId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the build, `bld-<YYYYMMDD>-<uuid>`. */
                buildId: components["parameters"]["BuildId"];
                /** @description Id of the environment. */
                id: components["parameters"]["EnvironmentId"];
            };
            cookie?: never;
        };
        /**
         * Get a build of an environment
         * @description One build.
         */
        get: operations["getEnvironmentBuild"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{id}/builds/active": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the environment. */
                id: components["parameters"]["EnvironmentId"];
            };
            cookie?: never;
        };
        /**
         * Get what agents of an environment start from
         * @description Either a build of the environment or the universal image.
         */
        get: operations["getActiveEnvironmentBuild"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the environment. */
                id: components["parameters"]["EnvironmentId"];
            };
            cookie?: never;
        };
        /**
         * List the changes of an environment
         * @description What changed, when and by which way.
         */
        get: operations["listEnvironmentHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{id}/secrets": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the environment. */
                id: components["parameters"]["EnvironmentId"];
            };
            cookie?: never;
        };
        /**
         * List the secrets of an environment
         * @description Sorted by name, in one page: `nextCursor` is null.
         */
        get: operations["listEnvironmentSecrets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{id}/secrets/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the environment. */
                id: components["parameters"]["EnvironmentId"];
                /** @description Name of the secret. */
                name: components["parameters"]["SecretName"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Set a secret of an environment
         * @description Creates (201) or changes (200) a secret. A name shared by several versions is refused with 409 `secret_name_ambiguous`;
         *     then say which by `id`.
         */
        put: operations["putEnvironmentSecret"];
        post?: never;
        /**
         * Delete a secret of an environment
         * @description Deletes a secret by name, or one version of it by `id`.
         */
        delete: operations["deleteEnvironmentSecret"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the API key in use
         * @description User fields are present for user keys only.
         */
        get: operations["getApiKeyInfo"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List models
         * @description Recommended models with their parameters and variants, in one page; others may be accepted too. Not every combination of
         *     parameter values is a variant, and a variant may use a parameter that `parameters` does not list.
         */
        get: operations["listModels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/repositories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List GitHub repositories
         * @description GitHub repositories that Cursor's GitHub App reaches for the key's user, in one page. **At most one request a minute and 30
         *     an hour per user**, and an answer can take tens of seconds: cache it, and work without it.
         */
        get: operations["listRepositories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/secrets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List secrets
         * @description Secrets the key can see. Unlike other lists under `/v1`, the last page has `nextCursor: null`.
         */
        get: operations["listSecrets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sub-tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a token for one team member's worker
         * @description A token that lets a worker run as an active member of the team. Lives one hour and cannot renew itself; mint a new one.
         *     Needs an agent-scoped service account key of the team; a token made here cannot make others.
         */
        post: operations["createSubToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/team/secrets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the secrets of the team
         * @description Sorted by name, in one page: `nextCursor` is null. Needs a seat in the team.
         */
        get: operations["listTeamSecrets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/team/secrets/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the secret. */
                name: components["parameters"]["SecretName"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Set a secret of the team
         * @description Creates (201) or changes (200) a secret. A name shared by several versions is refused with 409 `secret_name_ambiguous`;
         *     then say which by `id`. Needs a seat in the team, and a team admin where only those may change secrets.
         */
        put: operations["putTeamSecret"];
        post?: never;
        /**
         * Delete a secret of the team
         * @description Deletes a secret by name, or one version of it by `id`. Needs a seat in the team, and a team admin where only those may
         *     change secrets.
         */
        delete: operations["deleteTeamSecret"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description What agents start from. */
        ActiveBuildType: "build" | "universal_image" | (string & {});
        /** @description What agents of an environment start from. */
        ActiveEnvironmentBuild: {
            /** @description Present for a build. */
            buildId?: string;
            type: components["schemas"]["ActiveBuildType"];
        };
        /** @description An agent. Its prompt, model, `envVars` and `mcpServers` are never returned. */
        Agent: {
            autoCreatePR?: boolean;
            /** Format: date-time */
            createdAt: string;
            /** @description Missing when there are none. */
            customSubagents?: components["schemas"]["AgentSubagent"][];
            env: components["schemas"]["AgentEnvInfo"];
            /** @description `bc-<uuid>`. */
            id: string;
            /** @description The newest run. */
            latestRunId?: string;
            /** @description What the create gave. */
            metadata?: {
                [key: string]: string;
            };
            /** @description Shown name. */
            name?: string;
            /** @description Whether pull requests are opened as Cursor's GitHub app. */
            openAsCursorGithubApp?: boolean;
            /** @description Empty for an agent without a repository. */
            repos?: components["schemas"]["AgentRepo"][];
            skipReviewerRequest?: boolean;
            status: components["schemas"]["AgentStatus"];
            /** Format: date-time */
            updatedAt: string;
            /**
             * Format: uri
             * @description The agent's page on cursor.com.
             */
            url: string;
            workOnCurrentBranch?: boolean;
        };
        /** @description Where to run: `cloud` on machines of Cursor, `pool` and `machine` on workers of one's own. */
        AgentEnv: {
            /**
             * @description Name of the cloud environment, pool or machine. A pool without a name is the pool `default`; an unknown pool is refused
             *     with 400. A named cloud environment excludes `repos`.
             */
            name?: string;
            /** @enum {string} */
            type: "cloud" | "pool" | "machine";
        };
        /** @description Where an agent runs. */
        AgentEnvInfo: {
            name?: string;
            type: components["schemas"]["AgentEnvType"];
        };
        /** @description Kind of place an agent runs in. */
        AgentEnvType: "cloud" | "pool" | "machine" | (string & {});
        /** @description `agent` changes code at once, `plan` explores and drafts a plan first. */
        AgentMode: "agent" | "plan" | (string & {});
        /** @description A page of agents. */
        AgentPage: {
            items: components["schemas"]["AgentSummary"][];
            /** @description Missing on the last page, never null. */
            nextCursor?: string;
        };
        /** @description A repository of an agent. */
        AgentRepo: {
            prUrl?: string;
            startingRef?: string;
            /** @description URL of the repository; has been seen without its scheme, so normalise before comparing. */
            url: string;
        };
        /**
         * @description Whether the agent's machine must stay up; not the state of a run. `ACTIVE`: a turn runs, waits on background work or is about
         *     to start. `IDLE`: the last turn is over, also by a recoverable error, and a follow-up may come. `ARCHIVED`: archived or
         *     expired; claims end and the workspace may be deleted.
         */
        AgentStatus: "ACTIVE" | "IDLE" | "ARCHIVED" | (string & {});
        /** @description A subagent of an agent. */
        AgentSubagent: {
            description: string;
            model?: string | {
                id: string;
                params?: components["schemas"]["ModelParam"][];
            };
            name: string;
            prompt: string;
        };
        /** @description An agent in a list; identity only. Other fields of the full record have been seen here too. */
        AgentSummary: {
            /** Format: date-time */
            createdAt: string;
            env: components["schemas"]["AgentEnvInfo"];
            /** @description `bc-<uuid>`. */
            id: string;
            /** @description The newest run. */
            latestRunId?: string;
            /** @description Shown name. */
            name?: string;
            repos?: components["schemas"]["AgentRepo"][];
            status: components["schemas"]["AgentStatus"];
            /** Format: date-time */
            updatedAt: string;
            /**
             * Format: uri
             * @description The agent's page on cursor.com.
             */
            url: string;
        };
        /** @description Usage of an agent. */
        AgentUsage: {
            cost?: components["schemas"]["UsageCost"];
            runs: components["schemas"]["RunUsage"][];
            /** @description Sum over the runs listed. */
            totalUsage: components["schemas"]["Usage"];
        };
        /**
         * @description Every form an error body has been seen in. Read `error.code`, then a textual `error`, then `code` and `message`, then the
         *     HTTP status; a body that is not JSON must not hide the status.
         */
        AnyErrorBody: components["schemas"]["ErrorBody"] | components["schemas"]["ConnectErrorBody"] | components["schemas"]["FlatErrorBody"] | components["schemas"]["TextErrorBody"] | components["schemas"]["CodeErrorBody"];
        /** @description The API key in use. */
        ApiKeyInfo: {
            apiKeyName: string;
            /** Format: date-time */
            createdAt: string;
            /** @description User keys only. */
            userEmail?: string;
            /** @description User keys only, when set. */
            userFirstName?: string;
            /** @description User keys only. */
            userId?: number;
            /** @description User keys only, when set. */
            userLastName?: string;
        };
        /** @description A file of an agent. */
        Artifact: {
            /** @description Relative, below `artifacts/`. */
            path: string;
            /** @description A hint; the file may have changed since. */
            sizeBytes: number;
            /** Format: date-time */
            updatedAt: string;
        };
        /** @description At most 100 artifacts. */
        ArtifactList: {
            items: components["schemas"]["Artifact"][];
        };
        /** @description Where to fetch an artifact. */
        ArtifactUrl: {
            /**
             * Format: date-time
             * @description About 15 minutes ahead.
             */
            expiresAt: string;
            /**
             * Format: uri
             * @description Presigned; its query is a credential.
             */
            url: string;
        };
        /** @description A piece of the assistant's text, to be appended. */
        AssistantEventData: {
            text: string;
        };
        /** @description A claim. */
        Claim: {
            /** @description End of the token; seven days ahead. */
            expiresAt?: string;
            /** @description Id of the request. */
            id: string;
            /** @description Session token, when it was asked for. */
            token?: string;
            workerId: string;
        };
        /** @description Which request to reserve for which worker. */
        ClaimRequest: {
            /** @description Id of the pending request. */
            id: string;
            /** @description Asks for a session token in the answer. */
            sessionToken?: boolean;
            /** @description The worker to start with this id (`CURSOR_AGENT_WORKER_ID`). */
            workerId: string;
        };
        /** @description A session token for a worker. */
        ClaimToken: {
            /** @description Seven days ahead. */
            expiresAt: string;
            id: string;
            token: string;
            workerId: string;
        };
        /** @description A code and nothing else, as in 410 of the pending-request watch. */
        CodeErrorBody: {
            code: components["schemas"]["ErrorCode"];
        };
        /** @description Error of a service behind the API, passed through; codes such as `resource_exhausted`, `invalid_argument`. */
        ConnectErrorBody: {
            code: string;
            details: {
                debug?: {
                    details?: {
                        additionalInfo?: {
                            operation?: string;
                            /** @description Seconds. */
                            retryAfter?: string;
                        };
                        isRetryable?: boolean;
                        title?: string;
                    };
                    /** @description Such as `ERROR_RATE_LIMITED`. */
                    error?: string;
                };
            }[];
            message: string;
        };
        /** @description Only `prompt` is required. `agentId` and `envVars` exclude each other, and so do `repos` and a named cloud environment. */
        CreateAgentRequest: {
            /**
             * @description Id to give the agent. A repeat is refused with 409 `agent_id_conflict`, which makes a create safe to retry. Not
             *     together with `envVars`.
             */
            agentId?: string;
            /** @description Accepted by the server, not documented. */
            agentServeAgent?: string;
            /**
             * @description Opens a pull request when the run is complete.
             * @default false
             */
            autoCreatePR?: boolean;
            /** @description At most 20, with unique names. */
            customSubagents?: components["schemas"]["CustomSubagent"][];
            /** @description Where to run; `{ type: cloud }` when omitted. */
            env?: components["schemas"]["AgentEnv"];
            /**
             * @description Secrets of this agent's shell, at most 50; encrypted, deleted with the agent, never returned. Names have 1 to 255 bytes
             *     and do not begin with `CURSOR_`, values 1 to 4096 bytes. Where the feature is off they are ignored without an error.
             *     Not together with `agentId`.
             */
            envVars?: {
                [key: string]: string;
            };
            /** @description At most 50, with unique names. Never returned. */
            mcpServers?: components["schemas"]["McpServer"][];
            /**
             * @description Labels of the caller, at most 50; names have 1 to 255 characters, values at most 4096 bytes. Refused with 403
             *     `feature_unavailable` where the feature is off.
             */
            metadata?: {
                [key: string]: string;
            };
            /** @description Mode of the first run; `agent` when omitted. */
            mode?: components["schemas"]["AgentMode"];
            /** @description Omit it for the default of the user, else the team, else the system. */
            model?: components["schemas"]["ModelRef"];
            /** @description Shown name; made from the prompt when omitted. */
            name?: string;
            /**
             * @description Opens the pull request as Cursor's GitHub app rather than as the user. Said to be true by default for service accounts
             *     and false for users.
             */
            openAsCursorGithubApp?: boolean;
            prompt: components["schemas"]["PromptInput"];
            /**
             * @description At most 20. Not together with a named cloud environment. Omit it (with `env`) for an agent without a repository, or to
             *     target an any-repo pool. Newer documentation takes more than one on self-hosted targets only for a named any-repo pool.
             */
            repos?: components["schemas"]["RepoConfig"][];
            /** @description Like `envVars`, but for the first run only. */
            runEnvVars?: {
                [key: string]: string;
            };
            /** @description Leaves the user out of the reviewers of that pull request; means something with `autoCreatePR` only. */
            skipReviewerRequest?: boolean;
            /**
             * @description False: pushes to a new `cursor/…` branch made from the starting ref or the pull request's base. True: pushes to the
             *     starting ref or the pull request's head itself.
             * @default false
             */
            workOnCurrentBranch?: boolean;
        };
        /** @description The agent and its first run. */
        CreateAgentResponse: {
            agent: components["schemas"]["Agent"];
            run: components["schemas"]["Run"];
        };
        /** @description A live claim. */
        CreateClaimTokenRequest: {
            id: string;
            workerId: string;
        };
        /** @description An environment to create. */
        CreateEnvironmentRequest: {
            /** @description The configuration as JSON text. */
            environmentJson: string;
            /** @description Unique. */
            name: string;
            /** @enum {string} */
            owner: "personal" | "team";
            /** @description At most 100; may be empty. */
            repos: {
                /** Format: uri */
                url: string;
            }[];
        };
        /** @description A follow-up prompt. */
        CreateRunRequest: {
            /** @description Secrets of the shell for this run only. The rules of names and values are those of a create. */
            envVars?: {
                [key: string]: string;
            };
            /** @description At most 50, with unique names. They replace those of the agent's creation for this run; omit to keep them. */
            mcpServers?: components["schemas"]["McpServer"][];
            /** @description Omit it to keep the mode of the conversation. */
            mode?: components["schemas"]["AgentMode"];
            /** @description Model of this run and of those after it. Accepted by the server, not documented. */
            model?: components["schemas"]["ModelRef"];
            prompt: components["schemas"]["PromptInput"];
        };
        /** @description The run. */
        CreateRunResponse: {
            run: components["schemas"]["Run"];
        };
        /** @description The team member, by email or by id, not by both. */
        CreateSubTokenRequest: {
            /**
             * Format: email
             * @description Case does not matter.
             */
            forUserEmail: string;
        } | {
            forUserId: number;
        };
        /** @description A subagent the agent can delegate to. */
        CustomSubagent: {
            description: string;
            /** @description A model id, `inherit` for the agent's own model, or a model with parameters. */
            model?: string | components["schemas"]["ModelRef"];
            /** @description Unique, and none of the built-in ones (those refused here and possibly others). */
            name: string;
            prompt: string;
        };
        /** @description Name of the deleted secret. */
        DeletedSecret: {
            name: string;
        };
        /** @description Outcome of a deregistration. */
        DeregisterPoolResponse: {
            deregistered: boolean;
        };
        /** @description Empty. */
        DoneEventData: Record<string, unknown>;
        /** @description A named cloud environment. */
        Environment: {
            /** Format: date-time */
            createdAt: string;
            /** Format: uuid */
            id: string;
            name: string;
            owner: components["schemas"]["EnvironmentOwner"];
            /** @description The file in a repository the configuration comes from. */
            repoFile?: {
                path: string;
                url: string;
            };
            repos: components["schemas"]["Repository"][];
            /** Format: date-time */
            updatedAt: string;
        };
        /** @description A build of an environment. */
        EnvironmentBuild: {
            /** Format: date-time */
            completedAt?: string;
            /** Format: date-time */
            createdAt: string;
            draft: boolean;
            /** Format: uuid */
            environmentId: string;
            failure?: {
                /** @description Cause, such as `environment_json_invalid`. */
                code?: string;
                type: components["schemas"]["EnvironmentBuildFailureType"];
            };
            id: string;
            status: components["schemas"]["EnvironmentBuildStatus"];
            trigger: components["schemas"]["EnvironmentBuildTrigger"];
            /** Format: date-time */
            updatedAt: string;
        };
        /** @description Where a build failed. */
        EnvironmentBuildFailureType: "INSTALL_FAILED" | "TERMINAL_FAILURE" | (string & {});
        /** @description A page of builds. */
        EnvironmentBuildPage: {
            items: components["schemas"]["EnvironmentBuild"][];
            /** @description Missing on the last page. */
            nextCursor?: string;
        };
        /** @description State of a build. */
        EnvironmentBuildStatus: "IN_PROGRESS" | "SUCCEEDED" | "FAILED" | "CANCELLED" | "SKIPPED" | (string & {});
        /** @description Why a build was made. */
        EnvironmentBuildTrigger: "RECURRING" | "CONFIG_CHANGE" | "MANUAL" | (string & {});
        /** @description A change of an environment. */
        EnvironmentChange: {
            /** Format: date-time */
            createdAt: string;
            current: boolean;
            description: string;
            /** @description The configuration as JSON text. */
            environmentJson?: string;
            id: string;
            kind: components["schemas"]["EnvironmentChangeKind"];
            source?: components["schemas"]["EnvironmentChangeSource"];
            title: string;
        };
        /** @description Kind of a change. */
        EnvironmentChangeKind: "created" | "updated" | "deleted" | "backfilled" | "changed" | (string & {});
        /** @description Way a change was made. */
        EnvironmentChangeSource: "dashboard" | "setup_flow" | "restore" | "api" | "agent_run" | "repo_file" | "request_override" | (string & {});
        /** @description An environment with its configuration. */
        EnvironmentDetails: components["schemas"]["Environment"] & {
            /** @description The configuration as JSON text. */
            environmentJson?: string;
            versionId?: string;
        };
        /** @description A page of changes. */
        EnvironmentHistoryPage: {
            items: components["schemas"]["EnvironmentChange"][];
            /** @description Missing on the last page. */
            nextCursor?: string;
        };
        /** @description Whose environment it is. */
        EnvironmentOwner: "personal" | "team" | (string & {});
        /** @description A page of environments. */
        EnvironmentPage: {
            items: components["schemas"]["Environment"][];
            /** @description Missing on the last page. */
            nextCursor?: string;
        };
        /** @description The regular error envelope. */
        ErrorBody: {
            error: {
                code: components["schemas"]["ErrorCode"];
                /** @description The environment that has the name already. */
                environmentId?: string;
                /** @description Where to fix it. */
                helpUrl?: string;
                /** @description For people; do not parse. */
                message: string;
                /** @description The integration concerned. */
                provider?: string;
            };
        };
        /** @description What went wrong. Decide by the code first and by the HTTP status second. */
        ErrorCode: "unauthorized" | "api_key_not_found" | "plan_required" | "role_forbidden" | "feature_unavailable" | "integration_not_connected" | "service_account_required" | "validation_error" | "missing_body" | "invalid_model" | "invalid_branch_name" | "repository_required" | "repository_access" | "pr_resolution_failed" | "artifact_not_found" | "agent_not_found" | "run_not_found" | "agent_busy" | "agent_archived" | "agent_id_conflict" | "run_not_cancellable" | "rate_limit_exceeded" | "usage_limit_exceeded" | "stream_expired" | "stream_unavailable" | "invalid_last_event_id" | "client_cancelled" | "not_implemented" | "upstream_error" | "internal_error" | "cursor_expired" | "environment_not_found" | "build_not_found" | "secret_not_found" | "environment_name_conflict" | "secret_name_ambiguous" | "secret_scope_conflict" | "secret_limit_reached" | "secret_name_conflict" | "team_admin_required" | "team_membership_required" | "user_required" | "key_not_supported" | (string & {});
        /** @description Failure of the stream, not of the run. */
        ErrorEventData: {
            code: components["schemas"]["ErrorCode"];
            message: string;
        };
        /** @description What to tell the waiting user. */
        FailClaimRequest: {
            /**
             * @description 1 to 500 characters, counted after trimming and without control characters other than line feeds and tabs: the text as
             *     it is sent may be longer.
             */
            message: string;
        };
        /** @description Error without envelope, from the layers in front of the API; `code` is mostly the literal `error`. */
        FlatErrorBody: {
            code: string;
            message: string;
        };
        /** @description Numbers of workers. */
        FleetSummary: {
            teamSummary?: components["schemas"]["WorkerCount"];
            userSummary?: components["schemas"]["WorkerCount"];
        };
        /** @description A branch the agent pushed. */
        GitBranch: {
            /** @description May be missing; an entry with `repoUrl` alone says nothing was pushed. */
            branch?: string;
            /** @description Pull request of the branch. */
            prUrl?: string;
            /** @description Repository without scheme, as `github.com/your-org/your-repo`. */
            repoUrl: string;
        };
        /**
         * @description What the agent has pushed so far. It is the agent's state, not the run's: every run of an agent shows the same, branches of
         *     other runs included.
         */
        GitInfo: {
            branches: components["schemas"]["GitBranch"][];
        };
        /** @description Empty. */
        HeartbeatEventData: Record<string, unknown>;
        /** @description The id of what was acted on. */
        IdResponse: {
            id: string;
        };
        /** @description An image as bytes or by URL, never both; at most 15 MB. */
        Image: components["schemas"]["InlineImage"] | components["schemas"]["UrlImage"];
        /** @description Size of an image in pixels. */
        ImageDimension: {
            height: number;
            width: number;
        };
        /** @description An image sent as bytes. */
        InlineImage: {
            /** @description The bytes in base64; at most 15 MB before encoding. */
            data: string;
            dimension?: components["schemas"]["ImageDimension"];
            /** @enum {string} */
            mimeType: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
        };
        /**
         * @description tool-call-started, tool-call-completed and partial-tool-call. Names and results differ from those of `tool_call` events:
         *     `edit` here is `edit_file` there.
         */
        InteractionToolCall: {
            /** @description Arguments of the tool. */
            args?: unknown;
            /** @description `{ status: success, value }` or `{ status: error, error }`, in this form only here. */
            result?: unknown;
            type: components["schemas"]["InteractionToolType"];
        };
        /** @description Tools known to interaction updates. */
        InteractionToolType: "shell" | "write" | "delete" | "glob" | "grep" | "read" | "edit" | "ls" | "readLints" | "mcp" | "semSearch" | "generateImage" | "createPlan" | "recordScreen" | "updateTodos" | "task" | (string & {});
        /** @description An update in the vocabulary of Cursor's TypeScript SDK. Each field belongs to the kinds it names; only `type` is promised. */
        InteractionUpdate: {
            /** @description tool-requests-listed. */
            callCount?: number;
            /** @description tool-call-… and partial-tool-call. The same as in `tool_call` events. */
            callId?: string;
            /** @description shell-output-delta. A piece of a command's output. */
            event?: Record<string, unknown>;
            /** @description tool-call-… and partial-tool-call. */
            modelCallId?: string;
            /** @description step-completed. Milliseconds. */
            stepDurationMs?: number;
            /** @description step-started and step-completed. Not dense. */
            stepId?: number;
            /** @description summary. */
            summary?: string;
            /** @description tool-call-delta. An update of the subagent at work. */
            taskUpdate?: components["schemas"]["InteractionUpdate"];
            /** @description text-delta and thinking-delta. A piece to append. */
            text?: string;
            /** @description thinking-completed. Milliseconds. */
            thinkingDurationMs?: number;
            /** @description token-delta. Tokens since the last one. */
            tokens?: number;
            toolCall?: components["schemas"]["InteractionToolCall"];
            type: components["schemas"]["InteractionUpdateType"];
            usage?: components["schemas"]["InteractionUsage"];
            userMessage?: components["schemas"]["InteractionUserMessage"];
        };
        /** @description Kind of an interaction update. Documented are text, tool-call, step and turn-ended; others were observed. */
        InteractionUpdateType: "text-delta" | "thinking-delta" | "thinking-completed" | "user-message-appended" | "token-delta" | "summary" | "summary-started" | "summary-completed" | "shell-output-delta" | "turn-ended" | "step-started" | "step-completed" | "tool-requests-listed" | "tool-call-started" | "tool-call-completed" | "partial-tool-call" | "tool-call-delta" | "context-injection-state" | (string & {});
        /** @description turn-ended. Tokens of the turn; not seen on the REST stream. */
        InteractionUsage: {
            cacheReadTokens?: number;
            cacheWriteTokens?: number;
            inputTokens?: number;
            outputTokens?: number;
            reasoningTokens?: number;
        };
        /** @description user-message-appended. The prompt as the agent received it. */
        InteractionUserMessage: {
            images?: {
                data?: string;
                /** @description `base64`. */
                type?: string;
            }[];
            /** @description Id of the run. */
            session_id?: string;
            text?: string;
            /** @description `user_message`. */
            type?: string;
        };
        /** @description OAuth client of a remote MCP server. */
        McpOAuth: {
            CLIENT_ID: string;
            CLIENT_SECRET?: string;
            scopes?: string[];
        };
        /** @description An MCP server for the agent; remote, or a process in the agent's machine. */
        McpServer: components["schemas"]["StdioMcpServer"] | components["schemas"]["RemoteMcpServer"];
        /** @description A model. */
        Model: {
            /** @description Other ids of the same model. */
            aliases?: string[];
            description?: string;
            /** @description Can contain a zero-width space. */
            displayName: string;
            id: string;
            parameters?: components["schemas"]["ModelParameter"][];
            variants?: components["schemas"]["ModelVariant"][];
        };
        /** @description Models. */
        ModelList: {
            items: components["schemas"]["Model"][];
        };
        /** @description A model parameter and its value. */
        ModelParam: {
            id: string;
            /** @description Always a string: `"true"`, not `true`. */
            value: string;
        };
        /** @description A parameter of a model. */
        ModelParameter: {
            displayName?: string;
            id: string;
            values: components["schemas"]["ModelParameterValue"][];
        };
        /** @description A permitted value of a parameter. */
        ModelParameterValue: {
            displayName?: string;
            value: string;
        };
        /**
         * @description A model and its parameters; a bare string is refused. Without `params` the model's default variant runs, which may be its
         *     fast, dearer one. The id `default` (alias `auto`) leaves the choice to Cursor.
         */
        ModelRef: {
            /** @description Id or alias from the list of models. */
            id: string;
            params?: components["schemas"]["ModelParam"][];
        };
        /** @description A combination of parameter values a model accepts. */
        ModelVariant: {
            description?: string;
            displayName: string;
            /** @description What runs when no parameters are given. */
            isDefault?: boolean;
            /** @description May be empty. */
            params: components["schemas"]["ModelParam"][];
        };
        /** @description A request that waits for a worker. Its pool is the label `pool`, else the pool `default`. */
        PendingRequest: {
            /** @description The offline worker that holds the claim. */
            claimedWorkerId?: string;
            /** @description Unix milliseconds. */
            createdAtMs: number;
            /** @description Id of the request and of its agent. */
            id: string;
            /** @description `repo` and `pool` among them when set. */
            labels: components["schemas"]["RequestLabel"][];
            /** @description Missing for an any-repo request. */
            repoName?: string;
            /** @description Missing for an any-repo request. */
            repoOwner?: string;
            /** @description Missing for an any-repo request. Without credentials. */
            repoUrl?: string;
            /** @description Seen in production; the form of its entries is not known. */
            repoUrls?: unknown[];
            serviceAccountId?: string;
            userEmail?: string;
            userId: number;
            /** @description Milliseconds left for that worker to reconnect. */
            wakeTimeoutMs?: number;
        };
        /** @description The request that was taken. */
        PendingRequestClaimedEventData: {
            id: string;
        };
        /** @description The request, with the worker to revive and the time left for it. */
        PendingRequestClaimedOfflineEventData: components["schemas"]["PendingRequest"] & {
            claimedWorkerId: string;
            wakeTimeoutMs: number;
        };
        PendingRequestCreatedEventData: components["schemas"]["PendingRequest"];
        /** @description A frame of the watch with its `data` parsed. More names may come; see UnknownStreamEvent. */
        PendingRequestEvent: {
            data: components["schemas"]["PendingRequestCreatedEventData"];
            /** @constant */
            event: "created";
            id: string;
        } | {
            data: components["schemas"]["PendingRequestClaimedEventData"];
            /** @constant */
            event: "claimed";
            id: string;
        } | {
            data: components["schemas"]["PendingRequestClaimedOfflineEventData"];
            /** @constant */
            event: "claimed_offline";
            id: string;
        } | {
            data: components["schemas"]["PendingRequestExpiredEventData"];
            /** @constant */
            event: "expired";
            id: string;
        } | {
            data: components["schemas"]["HeartbeatEventData"];
            /** @constant */
            event: "heartbeat";
            id: string;
        };
        /** @description The request that left the queue. */
        PendingRequestExpiredEventData: {
            id: string;
        };
        /** @description A page of pending requests. */
        PendingRequestPage: {
            /** @description Missing on the last page. */
            nextPageToken?: string;
            requests: components["schemas"]["PendingRequest"][];
            /** @description Where to watch from; the same on every page of one listing, valid for five minutes. */
            streamCursor: string;
        };
        /** @description A pool. */
        Pool: {
            connectedWorkerCount: number;
            /** @description Unix milliseconds. */
            firstSeenAtMs: number;
            inUseWorkerCount: number;
            /** @description Inactive for long. */
            isStale: boolean;
            /** @description Unix milliseconds. */
            lastSeenAtMs: number;
            /**
             * @description Seconds a claimed request waits for its offline worker; with 0 the pool is asked again at once. Optional because newer
             *     documentation has `workerReadyTimeoutSeconds` in its place.
             */
            offlineReconnectTimeoutSeconds?: number;
            /** @description The user or the team. */
            ownerId: number;
            poolName: string;
            /** @description Missing for an any-repo pool. */
            repoName?: string;
            /** @description Missing for an any-repo pool. */
            repoOwner?: string;
            /** @description Missing for an any-repo pool. */
            repoUrl?: string;
            scope: components["schemas"]["PoolScope"];
            /** @description Newer name of `offlineReconnectTimeoutSeconds`. */
            workerReadyTimeoutSeconds?: number;
        };
        /** @description Pools. */
        PoolList: {
            pools: components["schemas"]["Pool"][];
        };
        /** @description Who owns a pool. */
        PoolScope: "user" | "team" | (string & {});
        /** @description What the agent is asked to do. */
        PromptInput: {
            /** @description At most five. */
            images?: components["schemas"]["Image"][];
            /** @description The instruction. */
            text: string;
        };
        /** @description Value and reach of a secret. */
        PutSecretRequest: {
            /** @description Repositories it applies to; at most 100. */
            repos?: string[];
            type?: components["schemas"]["SecretType"];
            /** @description 1 to 4096 bytes. */
            value: string;
        };
        /** @description A pool to register; tied to a repository when owner and name are given, any-repo otherwise. */
        RegisterPoolRequest: {
            /**
             * @description Seconds a claimed request waits for its offline worker; with 0 the pool is asked again at once.
             * @default 0
             */
            offlineReconnectTimeoutSeconds?: number;
            poolName: string;
            /** @description Goes with `repoOwner`. */
            repoName?: string;
            /** @description Goes with `repoName`. */
            repoOwner?: string;
            /** @description For display; needs `repoOwner` and `repoName`. */
            repoUrl?: string;
            /** @enum {string} */
            scope: "user" | "team";
            /** @description Newer name of `offlineReconnectTimeoutSeconds`. */
            workerReadyTimeoutSeconds?: number;
        };
        /** @description Outcome of a registration. */
        RegisterPoolResponse: {
            registered: boolean;
        };
        /** @description An MCP server reached by URL, with headers or OAuth. */
        RemoteMcpServer: {
            auth?: components["schemas"]["McpOAuth"];
            headers?: {
                [key: string]: string;
            };
            name: string;
            /**
             * @default http
             * @enum {string}
             */
            type?: "http" | "sse";
            /**
             * Format: uri
             * @description http or https, without user name and password.
             */
            url: string;
        };
        /** @description A repository to work on. */
        RepoConfig: {
            /**
             * Format: uri
             * @description GitHub pull request to work on, with its repository and branches.
             */
            prUrl?: string;
            /** @description Branch to start from, or a commit SHA (SHAs have been seen refused). Ignored when `prUrl` is given. */
            startingRef?: string;
            /**
             * Format: uri
             * @description GitHub URL of the repository, with its scheme; needed beside `prUrl` too.
             */
            url: string;
        };
        /** @description A repository. */
        Repository: {
            url: string;
        };
        /** @description Repositories. */
        RepositoryList: {
            items: components["schemas"]["Repository"][];
        };
        /** @description A label of a request. */
        RequestLabel: {
            key: string;
            value: string;
        };
        /** @description The outcome of a run. */
        ResultEventData: {
            /** @description Wall-clock time in milliseconds. */
            durationMs?: number;
            git?: components["schemas"]["GitInfo"];
            runId: string;
            status: components["schemas"]["RunStatus"];
            /** @description The final reply; missing when there is none. */
            text?: string;
        };
        /** @description Work on one prompt. */
        Run: {
            agentId: string;
            /** Format: date-time */
            createdAt: string;
            /** @description Wall-clock time in milliseconds; terminal runs only. */
            durationMs?: number;
            /** @description Why a run ended in `ERROR`; its form is not known. */
            error?: unknown;
            git?: components["schemas"]["GitInfo"];
            /** @description `run-<uuid>`. */
            id: string;
            /** @description Id to quote to the vendor's support. */
            requestId?: string;
            /** @description The final reply; terminal runs only, and only when there is text. */
            result?: string;
            status: components["schemas"]["RunStatus"];
            /**
             * Format: date-time
             * @description No sign of life; it hardly moves while the run goes on.
             */
            updatedAt: string;
        };
        /** @description A page of runs. */
        RunPage: {
            items: components["schemas"]["RunSummary"][];
            /** @description Missing on the last page, never null. */
            nextCursor?: string;
        };
        /**
         * @description State of a run. `CREATING` and `RUNNING` go on; `FINISHED`, `ERROR`, `CANCELLED` and `EXPIRED` are terminal, and only
         *     `FINISHED` is a success.
         */
        RunStatus: "CREATING" | "RUNNING" | "FINISHED" | "ERROR" | "CANCELLED" | "EXPIRED" | (string & {});
        /** @description A frame of a run stream with its `data` parsed. More names may come; see UnknownStreamEvent. */
        RunStreamEvent: {
            data: components["schemas"]["StatusEventData"];
            /** @constant */
            event: "status";
        } | {
            data: components["schemas"]["AssistantEventData"];
            /** @constant */
            event: "assistant";
            id: string;
        } | {
            data: components["schemas"]["ThinkingEventData"];
            /** @constant */
            event: "thinking";
            id: string;
        } | {
            data: components["schemas"]["ToolCallEventData"];
            /** @constant */
            event: "tool_call";
            id: string;
        } | {
            data: components["schemas"]["InteractionUpdate"];
            /** @constant */
            event: "interaction_update";
            id: string;
        } | {
            data: components["schemas"]["HeartbeatEventData"];
            /** @constant */
            event: "heartbeat";
        } | {
            data: components["schemas"]["ResultEventData"];
            /** @constant */
            event: "result";
            id: string;
        } | {
            data: components["schemas"]["ErrorEventData"];
            /** @constant */
            event: "error";
        } | {
            data: components["schemas"]["DoneEventData"];
            /** @constant */
            event: "done";
            /** @description That of `result`; missing after `error`. */
            id?: string;
        };
        /** @description A run in a list; has no `result`. */
        RunSummary: {
            agentId: string;
            /** Format: date-time */
            createdAt: string;
            /** @description Wall-clock time in milliseconds; terminal runs only, and not always in lists. */
            durationMs?: number;
            /** @description Why a run ended in `ERROR`; its form is not known. */
            error?: unknown;
            git?: components["schemas"]["GitInfo"];
            /** @description `run-<uuid>`. */
            id: string;
            /** @description Id to quote to the vendor's support. */
            requestId?: string;
            status: components["schemas"]["RunStatus"];
            /**
             * Format: date-time
             * @description No sign of life; it hardly moves while the run goes on.
             */
            updatedAt: string;
        };
        /** @description Usage of one run. */
        RunUsage: {
            cost?: components["schemas"]["UsageCost"];
            /** @description Id of the run. */
            id: string;
            usage: components["schemas"]["Usage"];
            /** @description Missing until there is usage. */
            usageUuid?: string;
        };
        /** @description A secret without its value. */
        Secret: {
            /**
             * Format: date-time
             * @description May be missing right after creation.
             */
            createdAt?: string;
            /** @description `secv_…`; may be missing right after creation. */
            id?: string;
            name: string;
            /** @description In List secrets only. */
            owner?: components["schemas"]["SecretOwner"];
            /** @description The only repositories that get it, as `host/owner/repo`; empty for every one. Missing for what another member holds. */
            repos?: string[];
            type: components["schemas"]["SecretType"];
        };
        /** @description Letters, digits and `_`, not a digit first; some proxy and sandbox names are reserved. */
        SecretName: string;
        /** @description Owner of a secret. */
        SecretOwner: {
            environmentId?: string;
            type: components["schemas"]["SecretScope"];
            user?: {
                email?: string | null;
            };
        };
        /** @description A page of secrets. */
        SecretPage: {
            items: components["schemas"]["Secret"][];
            /** @description Null on the last page. */
            nextCursor?: string | null;
        };
        /** @description Kind of owner of a secret. */
        SecretScope: "team" | "user" | "environment" | (string & {});
        /** @description How a secret is used. `build_secret` cannot be set through the API. */
        SecretType: "runtime_secret" | "environment_variable" | "build_secret" | (string & {});
        /** @description Status of the run; no outcome, not even when it is terminal. */
        StatusEventData: {
            runId: string;
            status: components["schemas"]["RunStatus"];
        };
        /** @description An MCP server started inside the agent's machine. */
        StdioMcpServer: {
            args?: string[];
            command: string;
            /** @description Environment of the process; the place for its secrets. */
            env?: {
                [key: string]: string;
            };
            name: string;
            /**
             * @default stdio
             * @enum {string}
             */
            type?: "stdio";
        };
        /** @description A token for a worker. */
        SubToken: {
            accessToken: string;
            /**
             * Format: date-time
             * @description One hour ahead.
             */
            expiresAt: string;
            teamId: number;
            userId: number;
        };
        /** @description Error whose `error` is a text, `<Title>: <text>` or a status text; some carry a `message` beside it. */
        TextErrorBody: {
            error: string;
            message?: string;
        };
        /** @description A piece of the model's thinking, to be appended. */
        ThinkingEventData: {
            text: string;
        };
        /** @description State of a tool call. `running` may come several times for one `callId`, first without `args`, then with growing ones. */
        ToolCallEventData: {
            /** @description Arguments, any JSON; missing when too large. */
            args?: unknown;
            /** @description Identifies the call across its events; opaque. */
            callId: string;
            /** @description The tool, such as `read_file`, `run_terminal_cmd`, `mcp`. */
            name: string;
            /** @description Any JSON; seen as `{ success: … }` or `{ error: … }`. Missing when too large. */
            result?: unknown;
            status: components["schemas"]["ToolCallStatus"];
            /** @description Which fields were left out for their size. */
            truncated?: {
                /** @constant */
                args?: true;
                /** @constant */
                result?: true;
            };
        };
        /** @description State of a tool call. A failed call is `completed` too, with an error in its result. */
        ToolCallStatus: "running" | "completed" | (string & {});
        /** @description A frame with a name that is not known yet. Skip it, but let its id move the resume position. */
        UnknownStreamEvent: {
            /** @description Anything. */
            data: unknown;
            event: string;
            id?: string;
        };
        /** @description What to change. */
        UpdateEnvironmentRequest: {
            /** @description The configuration as JSON text. */
            environmentJson?: string;
            name?: string;
        };
        /** @description An image that Cursor fetches; its type is not stated. */
        UrlImage: {
            dimension?: components["schemas"]["ImageDimension"];
            /** Format: uri */
            url: string;
        };
        /** @description Tokens. */
        Usage: {
            cacheReadTokens: number;
            cacheWriteTokens: number;
            inputTokens: number;
            outputTokens: number;
            /** @description Sum of the other four. */
            totalTokens: number;
        };
        /** @description Cost in cents, with fractions. Lags behind; 0 for use that the plan includes. */
        UsageCost: {
            chargedCents: number;
            rawCostCents: number;
        };
        /** @description A connected worker. */
        Worker: {
            /** @description The agent it is working for. */
            activeBcId?: string;
            /** @description Unix milliseconds. */
            connectedAtMs: number;
            /** @description Whether it has an agent. */
            isInUse: boolean;
            /** @description Shown name; the host name unless set. */
            name?: string;
            /** @description Empty for an any-repo worker. */
            repoName: string;
            /** @description Empty for an any-repo worker. */
            repoOwner: string;
            /** @description Missing for an any-repo worker. */
            repoUrl?: string;
            serviceAccountId?: string;
            teamId?: number;
            /** @description 0 for a worker that uses a service account key. */
            userId: number;
            /** @description A UUID, or the id the worker was started with. */
            workerId: string;
            workspaceRootPath: string;
        };
        /** @description Number of workers. */
        WorkerCount: {
            inUse: number;
            totalConnected: number;
        };
        /** @description A page of workers. */
        WorkerPage: {
            /** @description Missing on the last page. */
            nextPageToken?: string;
            /** @description Workers that match on all pages. */
            totalCount: number;
            workers: components["schemas"]["Worker"][];
        };
        /** @description Whose workers or pools to list. */
        WorkerScopeFilter: "all" | "team_pool" | "personal" | (string & {});
        /** @description Which workers to list. */
        WorkerStatusFilter: "all" | "in_use" | "idle" | (string & {});
    };
    responses: {
        /** @description Done. `id` is the agent's. */
        AgentIdAnswer: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["IdResponse"];
            };
        };
        /**
         * @description The request is malformed or names something unusable; nothing was done. `usage_limit_exceeded` has been seen with this
         *     status. A JSON content type with an empty body gives the flat form.
         */
        BadRequest: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnyErrorBody"];
            };
        };
        /** @description The state of the resource stands against it; `code` says how. */
        Conflict: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnyErrorBody"];
            };
        };
        /** @description `cursor_expired`, in a body of nothing but the code: list again and watch from the new cursor. */
        CursorExpired: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnyErrorBody"];
            };
        };
        /**
         * @description The key is valid but may not do this: plan, role, kind of key, a feature that is off, or an integration that is not
         *     connected (then with `helpUrl` and `provider`).
         */
        Forbidden: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnyErrorBody"];
            };
        };
        /**
         * @description Any other failure on the server's side (501, 502, 503, 504): with an error body, with HTML from a gateway, or with nothing.
         *     What was asked for may have been done.
         */
        GatewayError: {
            headers: {
                "Retry-After": components["headers"]["RetryAfter"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnyErrorBody"];
                "text/html": string;
            };
        };
        /** @description The server failed; what was asked for may have been done all the same. */
        InternalError: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnyErrorBody"];
            };
        };
        /** @description There is no such thing for this key. */
        NotFound: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnyErrorBody"];
            };
        };
        /** @description `stream_expired`: the retention window is over. Read the run; it may even be running still. */
        StreamExpired: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnyErrorBody"];
            };
        };
        /** @description `stream_unavailable`: the stream is not there yet, the run is fine. Observed, not documented. */
        StreamNotReady: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnyErrorBody"];
            };
        };
        /** @description Too many requests, or a spend limit. Comes in several forms, with and without `Retry-After`. */
        TooManyRequests: {
            headers: {
                "Retry-After": components["headers"]["RetryAfter"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnyErrorBody"];
            };
        };
        /** @description The key is missing, unknown or revoked. Comes in the flat form. */
        Unauthorized: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnyErrorBody"];
            };
        };
        /** @description The body is not JSON. Observed, in the flat form. */
        UnsupportedMediaType: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnyErrorBody"];
            };
        };
    };
    parameters: {
        /**
         * @description Id of the agent. One of another form than `bc-<uuid>` is refused with 400 `validation_error`.
         * @example bc-00000000-0000-0000-0000-000000000001
         */
        AgentId: string;
        /** @description Id of the build, `bld-<YYYYMMDD>-<uuid>`. */
        BuildId: string;
        /**
         * @description Id of the claimed request, which is that of its agent.
         * @example bc-00000000-0000-0000-0000-000000000002
         */
        ClaimId: string;
        /** @description The `nextCursor` of the page before; opaque. */
        Cursor: string;
        /** @description Id of the environment. */
        EnvironmentId: string;
        /** @description Id of the last event received, to resume after it. */
        LastEventId: string;
        /** @description Items per page. */
        Limit20: number;
        /** @description Items per page. */
        Limit50: number;
        /** @description Items per page. */
        Limit100: number;
        /** @description The `nextPageToken` of the page before; opaque, and bound to the filters that produced it. */
        PageToken: string;
        /** @description Keeps requests with this `pool` label; exact and case-sensitive. */
        PoolFilter: string;
        /**
         * @description Keeps requests for this repository URL. Required for a key that is scoped to repositories.
         * @example https://github.com/acme/payments-service
         */
        RepositoryFilter: string;
        /**
         * @description Id of the run.
         * @example run-00000000-0000-0000-0000-000000000001
         */
        RunId: string;
        /** @description Name of the secret. */
        SecretName: components["schemas"]["SecretName"];
        /** @description Which version, when several share the name. */
        SecretVersion: string;
    };
    requestBodies: never;
    headers: {
        /** @description Requests allowed in the window. */
        RateLimitLimit: number;
        /** @description Requests left in the window. */
        RateLimitRemaining: number;
        /** @description When the window ends; the unit is not documented. */
        RateLimitReset: number;
        /** @description Id of the request, for support. Undocumented; clients are said to read it. Not on every response. */
        RequestId: string;
        /**
         * @description When to try again, in seconds or as an HTTP date. Often missing.
         * @example 60
         */
        RetryAfter: string;
        /**
         * @description For how long the stream can be replayed, in seconds. 86400 and 345600 were seen.
         * @example 86400
         */
        StreamRetentionSeconds: number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listWorkers: {
        parameters: {
            query?: {
                /** @description Items per page. */
                limit?: components["parameters"]["Limit50"];
                /** @description The `nextPageToken` of the page before; opaque, and bound to the filters that produced it. */
                pageToken?: components["parameters"]["PageToken"];
                /** @description Keeps workers of the team's pools or personal ones. */
                scope?: components["schemas"]["WorkerScopeFilter"];
                /** @description Keeps workers with or without an agent. */
                status?: components["schemas"]["WorkerStatusFilter"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description One page of workers. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkerPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    getWorker: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the worker.
                 * @example pw_123
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The worker. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Worker"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    claimPendingRequest: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClaimRequest"];
            };
        };
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The claim. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Claim"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            /** @description Observed: the request is gone. The form of the body is not known. */
            404: components["responses"]["NotFound"];
            /** @description Observed: another claim is live. The form of the body is not known. */
            409: components["responses"]["Conflict"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    failClaim: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the claimed request, which is that of its agent.
                 * @example bc-00000000-0000-0000-0000-000000000002
                 */
                id: components["parameters"]["ClaimId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FailClaimRequest"];
            };
        };
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The claim that failed. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Claim"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    releaseClaim: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the claimed request, which is that of its agent.
                 * @example bc-00000000-0000-0000-0000-000000000002
                 */
                id: components["parameters"]["ClaimId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The claim that was released. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Claim"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            /** @description No claim is live (any more): it was released, ran out or was taken over. */
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    listPendingRequests: {
        parameters: {
            query?: {
                /** @description Items per page. */
                limit?: components["parameters"]["Limit50"];
                /** @description The `nextPageToken` of the page before; opaque, and bound to the filters that produced it. */
                pageToken?: components["parameters"]["PageToken"];
                /** @description Keeps requests with this `pool` label; exact and case-sensitive. */
                pool?: components["parameters"]["PoolFilter"];
                /**
                 * @description Keeps requests for this repository URL. Required for a key that is scoped to repositories.
                 * @example https://github.com/acme/payments-service
                 */
                repository?: components["parameters"]["RepositoryFilter"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description One page of requests, with the position from which to watch for changes. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PendingRequestPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    watchPendingRequests: {
        parameters: {
            query: {
                /** @description The list's `streamCursor`, or the id of the last event applied. */
                cursor: string;
                /** @description Keeps requests with this `pool` label; exact and case-sensitive. */
                pool?: components["parameters"]["PoolFilter"];
                /**
                 * @description Keeps requests for this repository URL. Required for a key that is scoped to repositories.
                 * @example https://github.com/acme/payments-service
                 */
                repository?: components["parameters"]["RepositoryFilter"];
            };
            header?: {
                /** @description Id of the last event received, to resume after it. */
                "Last-Event-ID"?: components["parameters"]["LastEventId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The stream; its first line is the comment `: connected`. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            410: components["responses"]["CursorExpired"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    listPools: {
        parameters: {
            query?: {
                /** @description Whether pools marked stale after long inactivity are listed too. */
                includeStale?: boolean;
                /** @description Keeps the team's pools or personal ones. */
                scope?: components["schemas"]["WorkerScopeFilter"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The pools, in one page. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PoolList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    registerPool: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RegisterPoolRequest"];
            };
        };
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description Whether the pool was registered. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegisterPoolResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    deregisterPool: {
        parameters: {
            query: {
                /** @description Name of the pool. */
                pool_name: string;
                /** @description Repository name of a pool tied to a repository; goes with `repo_owner`. */
                repo_name?: string;
                /** @description Repository owner of a pool tied to a repository; goes with `repo_name`, and with neither for an any-repo pool. */
                repo_owner?: string;
                /** @description Who owns the pool. */
                scope: "user" | "team";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description Whether the pool was deregistered. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeregisterPoolResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    getFleetSummary: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The counts. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FleetSummary"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    createClaimToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateClaimTokenRequest"];
            };
        };
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The token. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClaimToken"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    listAgents: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before; opaque. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Whether archived agents are listed too. */
                includeArchived?: boolean;
                /** @description Items per page. */
                limit?: components["parameters"]["Limit20"];
                /** @description Keeps agents of this GitHub pull request. */
                prUrl?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description One page of agents. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    createAgent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateAgentRequest"];
            };
        };
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The agent and its first run, in status `CREATING`. */
            201: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateAgentResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    getAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent. One of another form than `bc-<uuid>` is refused with 400 `validation_error`.
                 * @example bc-00000000-0000-0000-0000-000000000001
                 */
                id: components["parameters"]["AgentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The agent. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    deleteAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent. One of another form than `bc-<uuid>` is refused with 400 `validation_error`.
                 * @example bc-00000000-0000-0000-0000-000000000001
                 */
                id: components["parameters"]["AgentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            200: components["responses"]["AgentIdAnswer"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    archiveAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent. One of another form than `bc-<uuid>` is refused with 400 `validation_error`.
                 * @example bc-00000000-0000-0000-0000-000000000001
                 */
                id: components["parameters"]["AgentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            200: components["responses"]["AgentIdAnswer"];
            /** @description Observed: a JSON content type with an empty body, in the flat form. */
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    listArtifacts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent. One of another form than `bc-<uuid>` is refused with 400 `validation_error`.
                 * @example bc-00000000-0000-0000-0000-000000000001
                 */
                id: components["parameters"]["AgentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The artifacts. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArtifactList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    downloadArtifact: {
        parameters: {
            query: {
                /**
                 * @description Path as listed, below `artifacts/`. Absolute paths of the older API are refused.
                 * @example artifacts/screenshot.png
                 */
                path: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the agent. One of another form than `bc-<uuid>` is refused with 400 `validation_error`.
                 * @example bc-00000000-0000-0000-0000-000000000001
                 */
                id: components["parameters"]["AgentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The URL and its expiry. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArtifactUrl"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    listRuns: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before; opaque. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Items per page. */
                limit?: components["parameters"]["Limit20"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the agent. One of another form than `bc-<uuid>` is refused with 400 `validation_error`.
                 * @example bc-00000000-0000-0000-0000-000000000001
                 */
                id: components["parameters"]["AgentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description One page of runs. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunPage"];
                };
            };
            /** @description Observed: an unknown cursor, a limit out of range, an unknown query key. */
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    createRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent. One of another form than `bc-<uuid>` is refused with 400 `validation_error`.
                 * @example bc-00000000-0000-0000-0000-000000000001
                 */
                id: components["parameters"]["AgentId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateRunRequest"];
            };
        };
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The run, in status `CREATING`. */
            201: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateRunResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    getRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent. One of another form than `bc-<uuid>` is refused with 400 `validation_error`.
                 * @example bc-00000000-0000-0000-0000-000000000001
                 */
                id: components["parameters"]["AgentId"];
                /**
                 * @description Id of the run.
                 * @example run-00000000-0000-0000-0000-000000000001
                 */
                runId: components["parameters"]["RunId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The run. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    cancelRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent. One of another form than `bc-<uuid>` is refused with 400 `validation_error`.
                 * @example bc-00000000-0000-0000-0000-000000000001
                 */
                id: components["parameters"]["AgentId"];
                /**
                 * @description Id of the run.
                 * @example run-00000000-0000-0000-0000-000000000001
                 */
                runId: components["parameters"]["RunId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description Accepted. `id` is the run's. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdResponse"];
                };
            };
            /** @description Observed: a JSON content type with an empty body, in the flat form. */
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    streamRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description Id of the last event received, to resume after it. */
                "Last-Event-ID"?: components["parameters"]["LastEventId"];
            };
            path: {
                /**
                 * @description Id of the agent. One of another form than `bc-<uuid>` is refused with 400 `validation_error`.
                 * @example bc-00000000-0000-0000-0000-000000000001
                 */
                id: components["parameters"]["AgentId"];
                /**
                 * @description Id of the run.
                 * @example run-00000000-0000-0000-0000-000000000001
                 */
                runId: components["parameters"]["RunId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The stream. It ends after `done`; a cut connection ends without it. */
            200: {
                headers: {
                    "X-Cursor-Stream-Retention-Seconds": components["headers"]["StreamRetentionSeconds"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["StreamNotReady"];
            410: components["responses"]["StreamExpired"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    unarchiveAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent. One of another form than `bc-<uuid>` is refused with 400 `validation_error`.
                 * @example bc-00000000-0000-0000-0000-000000000001
                 */
                id: components["parameters"]["AgentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            200: components["responses"]["AgentIdAnswer"];
            /** @description Observed: a JSON content type with an empty body, in the flat form. */
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    getAgentUsage: {
        parameters: {
            query?: {
                /**
                 * @description Narrows the answer to one run; an unknown one gives 404 `run_not_found`.
                 * @example run-00000000-0000-0000-0000-000000000001
                 */
                runId?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the agent. One of another form than `bc-<uuid>` is refused with 400 `validation_error`.
                 * @example bc-00000000-0000-0000-0000-000000000001
                 */
                id: components["parameters"]["AgentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description Usage, newest run first. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentUsage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    listEnvironments: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before; opaque. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Items per page. */
                limit?: components["parameters"]["Limit20"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description One page of environments. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnvironmentPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    createEnvironment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateEnvironmentRequest"];
            };
        };
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The environment. */
            201: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Environment"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    getEnvironment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the environment. */
                id: components["parameters"]["EnvironmentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The environment. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnvironmentDetails"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    deleteEnvironment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the environment. */
                id: components["parameters"]["EnvironmentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The id of the deleted environment. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    updateEnvironment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the environment. */
                id: components["parameters"]["EnvironmentId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateEnvironmentRequest"];
            };
        };
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description Changed. */
            204: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    listEnvironmentBuilds: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before; opaque. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path: {
                /** @description Id of the environment. */
                id: components["parameters"]["EnvironmentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description One page of builds. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnvironmentBuildPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    getEnvironmentBuild: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the build, `bld-<YYYYMMDD>-<uuid>`. */
                buildId: components["parameters"]["BuildId"];
                /** @description Id of the environment. */
                id: components["parameters"]["EnvironmentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The build. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnvironmentBuild"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    getActiveEnvironmentBuild: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the environment. */
                id: components["parameters"]["EnvironmentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The active build or image. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActiveEnvironmentBuild"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    listEnvironmentHistory: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before; opaque. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Items per page. */
                limit?: components["parameters"]["Limit20"];
            };
            header?: never;
            path: {
                /** @description Id of the environment. */
                id: components["parameters"]["EnvironmentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description One page of changes. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnvironmentHistoryPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    listEnvironmentSecrets: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the environment. */
                id: components["parameters"]["EnvironmentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The secrets. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    putEnvironmentSecret: {
        parameters: {
            query?: {
                /** @description Which version, when several share the name. */
                id?: components["parameters"]["SecretVersion"];
            };
            header?: never;
            path: {
                /** @description Id of the environment. */
                id: components["parameters"]["EnvironmentId"];
                /** @description Name of the secret. */
                name: components["parameters"]["SecretName"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutSecretRequest"];
            };
        };
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The changed secret. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Secret"];
                };
            };
            /** @description The new secret; its `id` and `createdAt` may be missing. */
            201: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Secret"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    deleteEnvironmentSecret: {
        parameters: {
            query?: {
                /** @description Which version, when several share the name. */
                id?: components["parameters"]["SecretVersion"];
            };
            header?: never;
            path: {
                /** @description Id of the environment. */
                id: components["parameters"]["EnvironmentId"];
                /** @description Name of the secret. */
                name: components["parameters"]["SecretName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The name of the deleted secret. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedSecret"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    getApiKeyInfo: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The key. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyInfo"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            /** @description Observed: `plan_required` for an account without a paid plan. */
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    listModels: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The models. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            /** @description Observed: `plan_required` for an account without a paid plan. */
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    listRepositories: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The repositories. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RepositoryList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            /** @description Observed: `plan_required` for an account without a paid plan. */
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    listSecrets: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before; opaque. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Keeps secrets of this environment. */
                environmentId?: string;
                /** @description Items per page. */
                limit?: components["parameters"]["Limit100"];
                /** @description Keeps secrets of this name, whatever its letter case. */
                name?: string;
                /** @description Keeps secrets that apply to this repository. */
                repo?: string;
                /** @description Keeps secrets of one kind of owner. */
                scope?: components["schemas"]["SecretScope"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description One page of secrets. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    createSubToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSubTokenRequest"];
            };
        };
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The token. 200, not 201. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubToken"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            /** @description The user is no active member of the team. */
            404: components["responses"]["NotFound"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    listTeamSecrets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The secrets. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    putTeamSecret: {
        parameters: {
            query?: {
                /** @description Which version, when several share the name. */
                id?: components["parameters"]["SecretVersion"];
            };
            header?: never;
            path: {
                /** @description Name of the secret. */
                name: components["parameters"]["SecretName"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutSecretRequest"];
            };
        };
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The changed secret. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Secret"];
                };
            };
            /** @description The new secret; its `id` and `createdAt` may be missing. */
            201: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Secret"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    deleteTeamSecret: {
        parameters: {
            query?: {
                /** @description Which version, when several share the name. */
                id?: components["parameters"]["SecretVersion"];
            };
            header?: never;
            path: {
                /** @description Name of the secret. */
                name: components["parameters"]["SecretName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "5XX": components["responses"]["GatewayError"];
            /** @description The name of the deleted secret. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedSecret"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
}
export type OperationId =
    | "listWorkers"
    | "getWorker"
    | "claimPendingRequest"
    | "failClaim"
    | "releaseClaim"
    | "listPendingRequests"
    | "watchPendingRequests"
    | "listPools"
    | "registerPool"
    | "deregisterPool"
    | "getFleetSummary"
    | "createClaimToken"
    | "listAgents"
    | "createAgent"
    | "getAgent"
    | "deleteAgent"
    | "archiveAgent"
    | "listArtifacts"
    | "downloadArtifact"
    | "listRuns"
    | "createRun"
    | "getRun"
    | "cancelRun"
    | "streamRun"
    | "unarchiveAgent"
    | "getAgentUsage"
    | "listEnvironments"
    | "createEnvironment"
    | "getEnvironment"
    | "deleteEnvironment"
    | "updateEnvironment"
    | "listEnvironmentBuilds"
    | "getEnvironmentBuild"
    | "getActiveEnvironmentBuild"
    | "listEnvironmentHistory"
    | "listEnvironmentSecrets"
    | "putEnvironmentSecret"
    | "deleteEnvironmentSecret"
    | "getApiKeyInfo"
    | "listModels"
    | "listRepositories"
    | "listSecrets"
    | "createSubToken"
    | "listTeamSecrets"
    | "putTeamSecret"
    | "deleteTeamSecret";
