import { AsyncLocalStorage } from "node:async_hooks";
import { writeFileSync } from "node:fs";
import { Cursor } from "cursor-cloud-agents";
import { CursorEmulator, type ExchangeRecord, ManualClock } from "cursor-cloud-agents/emulator";
import { watchRequests } from "cursor-cloud-agents/workers";
import { afterAll, describe, expect, it } from "vitest";
import { checkExchange, findOperation, operations } from "../support/contract.ts";

/** Where test/tools/coverage-api.ts wants the table; without it the test only checks. */
const reportFile = process.env["COVERAGE_API_REPORT"];

/** Per operation: the client methods that sent it, and the emulator route that answered, in exchanges that hold. */
const seen = new Map<string, { methods: Map<string, number>; route: string }>();
const problems: string[] = [];
const current = new AsyncLocalStorage<{ method?: string; isNamed?: boolean; operations: Set<string> }>();

const clock = new ManualClock(Date.parse("2026-04-13T18:30:00.000Z"));
const routes = new Map<string, string>();
const emulator = new CursorEmulator({
  clock,
  usage: { cost: true },
  onExchange: (exchange) => record(exchange),
});
for (const { method, path, operationId } of emulator.routes) routes.set(operationId, `${method} ${path}`);

/** A client that notes which of its methods is at work, unless the use has named its function. */
function noting(cursor: Cursor): Cursor {
  const wrap = (target: object, prefix: string): object =>
    new Proxy(target, {
      get(object, key) {
        const value = Reflect.get(object, key, object) as unknown;
        const name = `${prefix}${String(key)}`;
        if (typeof value === "object" && value !== null) return wrap(value, `${name}.`);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          const store = current.getStore();
          if (store && !store.isNamed) store.method = name;
          return (value as (...args: unknown[]) => unknown).apply(object, args);
        };
      },
    });
  return wrap(cursor, "cursor.") as Cursor;
}

/** The method's own request travels in the async context of the call, so the exchange knows who sent it. */
const fetchInContext: typeof fetch = async (...input) => {
  const store = current.getStore();
  const [url, init] = input;
  if (store && init?.method) {
    const operation = findOperation(init.method, String(url));
    if (operation && store.method !== undefined) {
      store.operations.add(operation.operationId);
      const entry = seen.get(operation.operationId) ?? { methods: new Map(), route: "" };
      entry.methods.set(
        store.method,
        Math.min(entry.methods.get(store.method) ?? Infinity, store.operations.size),
      );
      seen.set(operation.operationId, entry);
    }
  }
  return emulator.fetch(...input);
};

const valid = new Set<string>();
function record(exchange: ExchangeRecord): void {
  const found = checkExchange(exchange);
  problems.push(...found);
  const operation = findOperation(exchange.request.method, exchange.request.url);
  if (operation && found.length === 0 && exchange.response.status < 300) valid.add(operation.operationId);
}

const user = noting(new Cursor({ apiKey: "key_user", fetch: fetchInContext, clock, random: () => 0.5 }));
const service = noting(new Cursor({ apiKey: "sa_service", fetch: fetchInContext, clock, random: () => 0.5 }));

/** One use of one method, or of a named function of a subpath, run to its end. */
const use = <T>(call: () => PromiseLike<T> | AsyncIterable<T>, name?: string): Promise<unknown> =>
  current.run({ operations: new Set(), ...(name === undefined ? {} : { method: name, isNamed: true }) }, () =>
    clock.run(
      (async () => {
        const result = call();
        if (Symbol.asyncIterator in result && !("then" in result)) for await (const _ of result);
        else return result;
      })(),
    ),
  );

describe("the contract, the client and the emulator agree", () => {
  it("on every operation that the client has a method for", async () => {
    emulator.script("everything", (run) =>
      run
        .thinking("Hm. ")
        .tool("read_file", { path: "README.md" }, { content: "# Project" })
        .tool("run_terminal_cmd", { command: "npm test" }, undefined, { error: { message: "exit 1" } })
        .tool("task", { prompt: "x" }, undefined, { truncated: { result: true } })
        .text("Hello")
        .artifact("artifacts/report.md", "# Report")
        .finish({ branch: "cursor/b", prUrl: "https://github.com/your-org/your-repo/pull/1" }),
    );
    const repos = [{ url: "https://github.com/your-org/your-repo", startingRef: "main" }];
    const created = (await use(() =>
      user.agents.create({
        prompt: "everything",
        repos,
        model: { id: "composer-2" },
        name: "All of it",
        mode: "plan",
      }),
    )) as Awaited<ReturnType<Cursor["agents"]["create"]>>;
    const { agent, run } = created;
    await use(() => user.runs.stream(run, { include: "all" }));
    await use(() => user.runs.get(run));
    await use(() => user.runs.wait(run));
    await use(() => user.usage.get(agent.id));
    await use(() => user.usage.get(agent.id, { runId: run.id }));
    await use(() => user.artifacts.list(agent.id));
    await use(() => user.artifacts.url(agent.id, "artifacts/report.md"));
    await use(() =>
      user.artifacts.download(agent.id, "artifacts/report.md").then((download) => download.text()),
    );

    await clock.advance(5_000);
    emulator.script("held", (script) => script.text("…").hold("gate").finish());
    const held = (await use(() => user.runs.create(agent.id, { prompt: "held" }))) as typeof run;
    await use(() => user.runs.cancel(held));
    await use(() => user.runs.stream(held, { include: "all" }));
    await use(() => user.runs.list(agent.id, { limit: 1 }));
    await use(() =>
      user.agents.list({ limit: 10, includeArchived: false, prUrl: "https://github.com/o/r/pull/1" }),
    );
    await use(() => user.agents.get(agent.id));
    await use(() => user.agents.archive(agent.id));
    await use(() => user.agents.unarchive(agent.id));
    await use(() => user.agents.delete(agent.id));
    await use(() => user.prompt("everything"));
    await use(() => user.models.list());
    await use(() => user.repositories.list());
    await use(() => user.me());
    await use(() => service.me());
    await use(() => service.workerTokens.create({ forUserEmail: "alice@company.com" }));
    await use(() => service.workerTokens.create({ forUserId: 42 }));
    expect(problems).toEqual([]);
  });

  it("on workers", async () => {
    const { workers } = service;
    const pool = { scope: "team", poolName: "payments" } as const;
    const repo = {
      repoOwner: "acme",
      repoName: "payments-service",
      repoUrl: "https://github.com/acme/payments-service",
    };
    await use(() => workers.pools.register({ ...pool, ...repo, offlineReconnectTimeoutSeconds: 900 }));
    await use(() => workers.pools.register(pool));
    await use(() => workers.pools.list({ scope: "team_pool", includeStale: true }));
    for (const id of ["bc-1", "bc-2", "bc-3"])
      emulator.workers.addRequest({ id, pool: "payments", repo: "acme/payments-service" });
    await use(() => workers.requests.list({ limit: 1, pool: "payments", repository: repo.repoUrl }));
    // One use of a watch: it lists, and is told of what follows. Both requests are the method's own.
    await use(async () => {
      const seen = [];
      for await (const { id } of watchRequests(service, { pool: "payments" }, { budgetMs: 30_000 })) {
        if (seen.push(id) === 3) emulator.workers.expireRequest("bc-3");
      }
    }, "watchRequests");
    await use(() => workers.claims.create({ id: "bc-1", workerId: "pw_1" }));
    await use(() => workers.claims.create({ id: "bc-2", workerId: "pw_2", sessionToken: true }));
    await use(() => workers.claims.token({ id: "bc-1", workerId: "pw_1" }));
    await use(() => workers.claims.fail("bc-1", "No machine of this kind"));
    emulator.workers.connectWorker({ workerId: "pw_2", repo: "acme/payments-service" });
    emulator.workers.connectWorker({ workerId: "pw/idle", pool: "payments" });
    await use(() => workers.summary());
    await use(() => workers.list({ status: "all", scope: "team_pool", limit: 1 }));
    await use(() => workers.get("pw/idle"));
    await use(() => workers.claims.release("bc-2"));
    await use(() =>
      workers.pools.deregister({
        scope: "team",
        pool_name: "payments",
        repo_owner: "acme",
        repo_name: "payments-service",
      }),
    );
    await use(() => workers.pools.deregister({ scope: "team", pool_name: "payments" }));
    expect(problems).toEqual([]);
  });

  it("on environments and secrets, which only the newer page has", async () => {
    const { environments, secrets } = user;
    const created = (await use(() =>
      environments.create({
        owner: "personal",
        name: "web",
        repos: [{ url: "https://github.com/your-org/your-repo" }],
        environmentJson: "{}",
      }),
    )) as { id: string };
    const { id } = created;
    await use(() => environments.update(id, { environmentJson: '{"install":"npm ci"}' }));
    await use(() => environments.list({ limit: 1 }));
    await use(() => environments.get(id));
    await use(() => environments.history(id, { limit: 1 }));
    const { id: buildId } = emulator.environments.addBuild(id);
    await use(() => environments.builds.list(id));
    await use(() => environments.builds.get(id, buildId));
    await use(() => environments.builds.active(id));
    await use(() => secrets.environment.set(id, "TOKEN", { value: "v", type: "runtime_secret" }));
    await use(() => secrets.environment.set(id, "TOKEN", { value: "w" }));
    await use(() => secrets.environment.list(id));
    await use(() => secrets.team.set("TEAM_TOKEN", { value: "v" }));
    await use(() => secrets.team.list());
    await use(() => secrets.list({ limit: 1 }));
    await use(() => secrets.list({ scope: "environment", environmentId: id, name: "TOKEN" }));
    await use(() => secrets.environment.delete(id, "TOKEN"));
    await use(() => secrets.team.delete("TEAM_TOKEN"));
    await use(() => environments.delete(id));
    expect(problems).toEqual([]);
  });

  it.each([
    ["28 documented operations", true, 28],
    ["18 of the newer page", false, 18],
  ])("on all of the %s", (_, isBaseline, count) => {
    const all = operations.filter((operation) => operation.isBaseline === isBaseline);
    expect(all).toHaveLength(count);
    const missing = all.filter(({ operationId }) => !valid.has(operationId) || !seen.has(operationId));
    expect(missing.map(({ operationId }) => operationId)).toEqual([]);
  });

  it("and a breach of the contract is noticed", () => {
    const request = { method: "GET", url: "https://api.cursor.com/v1/me", headers: {}, bodyText: "" };
    const answer = (body: unknown, status = 200) =>
      checkExchange({
        request,
        response: { status, headers: { "content-type": "application/json" }, bodyText: JSON.stringify(body) },
        fault: false,
      });
    expect(answer({ apiKeyName: "k", createdAt: "2026-04-13T18:30:00.000Z" })).toEqual([]);
    expect(answer({ apiKeyName: 1, createdAt: "2026-04-13T18:30:00.000Z" })).not.toEqual([]);
    expect(answer({ apiKeyName: "k" })).not.toEqual([]);
    expect(answer({ apiKeyName: "k", createdAt: "2026-04-13T18:30:00.000Z", invented: 1 })).not.toEqual([]);
    expect(answer({}, 418)).not.toEqual([]);
  });
});

afterAll(() => {
  if (reportFile === undefined) return;
  const rows = operations.map(({ operationId, method, path, isBaseline }) => {
    const entry = valid.has(operationId) ? seen.get(operationId) : undefined;
    // The method whose first request this is, before those that send it among others.
    const methods = [...(entry?.methods ?? [])].sort((a, b) => a[1] - b[1]).map(([name]) => name);
    return {
      operationId,
      method,
      path,
      isBaseline,
      clientMethod: methods[0] ?? null,
      emulatorRoute: valid.has(operationId) ? (routes.get(operationId) ?? null) : null,
    };
  });
  writeFileSync(reportFile, JSON.stringify(rows));
});
