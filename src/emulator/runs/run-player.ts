import { completeUsage, toResultData } from "../agents/agent-views.ts";
import { toBytes } from "../body-source.ts";
import type { Clock, ManualClock } from "../clock.ts";
import type { ResolvedOptions } from "../emulator-options.ts";
import { withoutScheme } from "../repository.ts";
import { type AgentRecord, isTerminal, type RunRecord, type RunStatus, type Store } from "../store.ts";
import { RunFrameWriter } from "./run-frame-writer.ts";
import { frameText } from "./run-log.ts";
import type { FinishOptions, RunScript, ScriptStep } from "./run-script.ts";

/** Named gates at which scripts wait. A released gate stays open, so a release before the wait is not lost. @internal */
export class Gates {
  readonly #clock: Clock;
  readonly #open = new Set<string>();
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls back when the gate is open. Returns a function that stops waiting. `what` tells a test what is waited for. */
  wait(name: string, what: string, callback: () => void): () => void {
    if (this.#open.has(name)) {
      callback();
      return () => {};
    }
    const forget = (this.#clock as Partial<ManualClock>).noteHold?.(what);
    const waiting = this.#waiting.get(name) ?? new Set();
    const pass = () => {
      forget?.();
      callback();
    };
    this.#waiting.set(name, waiting.add(pass));
    return () => {
      forget?.();
      waiting.delete(pass);
    };
  }

  release(name: string): void {
    this.#open.add(name);
    const waiting = this.#waiting.get(name);
    this.#waiting.delete(name);
    for (const callback of waiting ?? []) callback();
  }
}

/** What a player works with. @internal */
export interface RunPlayerInit {
  store: Store;
  options: ResolvedOptions;
  gates: Gates;
  agent: AgentRecord;
  run: RunRecord;
  script: RunScript;
  /** The run starts when this gate is open. */
  gate?: string;
  /** Called when the run has reached its final status. */
  onEnd?(): void;
}

const spoken = new Set(["thinking", "text", "tool", "event", "raw", "recorded", "end"]);

/** Plays one script on the emulator's clock: writes the run's log and changes the run's state. @internal */
export class RunPlayer {
  readonly #init: RunPlayerInit;
  readonly #frames: RunFrameWriter;
  readonly #steps: readonly ScriptStep[];
  #stopped = false;
  #stopWaiting: () => void = () => {};
  #text = "";

  constructor(init: RunPlayerInit) {
    this.#init = init;
    this.#steps = init.script.complete();
    this.#frames = new RunFrameWriter(init.store, init.agent, init.run, init.options.interactionUpdates);
  }

  /** Writes nothing more, and clears the timer. */
  stop(): void {
    this.#stopped = true;
    this.#stopWaiting();
  }

  async play(): Promise<void> {
    const { options, gate } = this.#init;
    if (gate !== undefined) await this.#hold(gate, `a worker for ${this.#init.run.id}`);
    if (this.#stopped) return;
    await this.#sleep(options.startDelayMs);
    if (this.#stopped) return;
    const recorded = this.#init.run.leadRecorded;
    const first = this.#steps.findIndex(({ kind }) => kind !== "heartbeat");
    for (const step of this.#steps.slice(0, first)) await this.#perform(step);
    if (recorded) this.#changeStatus("RUNNING");
    else this.#begin();
    for (const step of this.#steps.slice(first)) {
      if (options.pace > 0 && spoken.has(step.kind)) await this.#sleep(options.pace);
      if (this.#stopped) return;
      await this.#perform(step);
      if (this.#stopped) return;
    }
  }

  /** Ends the run from outside of its script. */
  endAs(status: "CANCELLED" | "ERROR" | "EXPIRED"): void {
    this.stop();
    this.#conclude(status, {});
  }

  #begin(): void {
    const { run } = this.#init;
    this.#changeStatus("RUNNING");
    run.log.frame("status", { runId: run.id, status: "RUNNING" }, undefined, true);
    this.#frames.begin();
  }

  async #perform(step: ScriptStep): Promise<void> {
    const { store, agent, run } = this.#init;
    switch (step.kind) {
      case "thinking":
        return this.#frames.thinking(step.text);
      case "text":
        this.#text += step.text;
        return this.#frames.text(step.text);
      case "tool":
        return this.#frames.tools(step.calls);
      case "step":
        return this.#frames.step();
      case "heartbeat":
        return run.log.frame("heartbeat", {}, undefined, true);
      case "wait":
        return this.#sleep(step.ms);
      case "hold":
        return this.#hold(step.name, `the release of gate "${step.name}"`);
      case "status":
        if (!isTerminal(step.status)) this.#changeStatus(step.status as RunStatus);
        return run.log.frame("status", { runId: run.id, status: step.status });
      case "event": {
        const id = step.id === false ? undefined : (step.id ?? store.mintStreamId());
        return run.log.frame(step.name, step.data, id);
      }
      case "raw":
        return run.log.append({ kind: "raw", bytes: step.bytes });
      case "error": {
        const { code, message } = step;
        const bytes = toBytes(frameText("error", { code, message }) + frameText("done", {}));
        return run.log.append({ kind: "farewell", bytes, spent: false });
      }
      case "cut":
        return run.log.append({ kind: "cut", clean: false, ...step.options, spent: false });
      case "stall":
        return run.log.append({ kind: "stall", spent: false });
      case "artifact":
        return store.addArtifact(agent, step.path, step.bytes, step.contentType);
      case "usage":
        run.usage = completeUsage(step.usage);
        run.usageUuid ??= store.ids.uuid();
        return;
      case "branch":
        return this.#push(step.branch, step.repoUrl, step.prUrl);
      case "recorded": {
        const { bytes, id, status, name } = step.frame;
        if (status !== undefined && !isTerminal(status)) this.#changeStatus(status as RunStatus);
        run.log.append({ kind: "frame", bytes, liveOnly: false, ...(id === undefined ? {} : { id }) });
        if (name === "done") run.log.close();
        return;
      }
      case "outcome": {
        const { status, text, durationMs, git } = step.outcome;
        agent.branches = git?.branches.map((branch) => ({ ...branch })) ?? [];
        agent.gitKnown = git !== undefined;
        this.#setOutcome(status, { ...(durationMs === undefined ? {} : { durationMs }) });
        if (text !== undefined) run.result = text;
        return;
      }
      case "end":
        return this.#end(step.status, step.options);
    }
  }

  async #end(status: RunStatus, options: FinishOptions): Promise<void> {
    if (status === "FINISHED") this.#frames.endTurn();
    await this.#sleep(this.#init.options.windDownMs);
    if (!this.#stopped) this.#conclude(status, options);
  }

  #conclude(status: RunStatus, options: FinishOptions): void {
    const { store, agent, run } = this.#init;
    if (status === "FINISHED") {
      this.#pushAtTheEnd(options);
      const text = options.text ?? this.#text;
      if (text !== "") run.result = text;
    }
    agent.gitKnown = true;
    this.#setOutcome(status, options);
    // The service sends FINISHED here even for a cancelled run; only `result` says CANCELLED (July 2026 capture).
    run.log.frame("status", { runId: run.id, status: status === "CANCELLED" ? "FINISHED" : status });
    const id = store.mintStreamId();
    run.log.frame("result", toResultData(agent, run), id);
    run.log.frame("done", {}, id);
    run.log.close();
  }

  #setOutcome(status: RunStatus, options: FinishOptions): void {
    const { store, run } = this.#init;
    this.#changeStatus(status);
    run.endedAt = store.now();
    run.durationMs = options.durationMs ?? run.endedAt - run.createdAt;
    this.#init.onEnd?.();
    if (run.usage !== undefined || this.#frames.tokens === 0) return;
    const inputTokens = Math.ceil(run.prompt.length / 4) + 1200;
    run.usage = completeUsage({
      inputTokens,
      outputTokens: this.#frames.tokens,
      cacheReadTokens: 4 * inputTokens,
    });
    run.usageUuid = store.ids.uuid();
  }

  #push(branch: string, repoUrl: string | undefined, prUrl: string | undefined): void {
    const { store, agent } = this.#init;
    const repository = repoUrl ?? agent.repos[0]?.url ?? "https://github.com/your-org/your-repo";
    store.pushBranch(agent, {
      repoUrl: withoutScheme(repository),
      branch,
      ...(prUrl === undefined ? {} : { prUrl }),
    });
  }

  /** Adds the branch that the ending names, and the pull request that the agent's options ask for. */
  #pushAtTheEnd({ branch, prUrl }: FinishOptions): void {
    const { agent } = this.#init;
    const last = agent.branches.at(-1);
    const opensPullRequest = agent.autoCreatePR && last === undefined && agent.repos.length > 0;
    if (branch !== undefined || prUrl !== undefined || opensPullRequest) {
      this.#push(branch ?? last?.branch ?? `cursor/agent-${agent.order}`, last?.repoUrl, prUrl);
    }
    const pushed = agent.branches.at(-1);
    if (agent.autoCreatePR && pushed !== undefined) {
      pushed.prUrl ??= `https://${pushed.repoUrl}/pull/${agent.order}`;
    }
  }

  #changeStatus(status: RunStatus): void {
    const { store, agent, run } = this.#init;
    run.status = status;
    run.updatedAt = store.now();
    agent.updatedAt = store.now();
  }

  #sleep(ms: number): Promise<void> {
    if (ms <= 0) return Promise.resolve();
    const { clock } = this.#init.options;
    return new Promise((resolve) => {
      const timer = clock.setTimeout(resolve, ms);
      this.#stopWaiting = () => {
        clock.clearTimeout(timer);
        resolve();
      };
    });
  }

  #hold(name: string, what: string): Promise<void> {
    return new Promise((resolve) => {
      const leave = this.#init.gates.wait(name, what, resolve);
      this.#stopWaiting = () => {
        leave();
        resolve();
      };
    });
  }
}
