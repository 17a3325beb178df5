import { getEventListeners } from "node:events";
import {
  Cursor,
  type CursorError,
  isApiError,
  isCursorError,
  type RunEvent,
  type RunRef,
} from "cursor-cloud-agents";
import { CursorEmulator, ManualClock } from "cursor-cloud-agents/emulator";
import fc from "fast-check";
import { ChaosProxy } from "./chaos-proxy.ts";
import { Consumer } from "./consumer.ts";
import { type Fault, lookFault, postFault, streamFault } from "./fault.ts";
import { fail, judge, type Verdict } from "./law.ts";
import { paceArbitrary } from "./pace.ts";
import { Plan } from "./plan.ts";
import { play, scriptArbitrary } from "./script.ts";
import { Activity, live, quiet } from "./time.ts";
import { readWanted } from "./wanted.ts";

/** Everything that happens in one run of the bench. */
export const worldArbitrary = fc.record({
  script: scriptArbitrary,
  include: fc.constantFrom("simplified" as const, "interaction" as const, "all" as const),
  pace: paceArbitrary,
  faults: fc.record({
    streams: fc.noBias(fc.array(streamFault, { maxLength: 24, size: "max" })),
    posts: fc.oneof(
      { weight: 3, arbitrary: fc.constant<Fault[]>([]) },
      { weight: 4, arbitrary: fc.array(postFault, { maxLength: 2 }) },
      { weight: 1, arbitrary: fc.array(postFault, { minLength: 3, maxLength: 5 }) },
    ),
    looks: fc.array(lookFault, { maxLength: 5 }),
    goneFrom: fc.oneof(
      { weight: 7, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.nat(12) },
    ),
    drought: fc.integer({ min: 0, max: 15 }).map((throwOfDice) => throwOfDice === 15),
  }),
  /** With variables no agent id can be sent, so a lost answer can't be made good. */
  envVars: fc.constantFrom(false, false, false, false, false, true),
  followUp: fc.boolean(),
  seed: fc.nat(),
});
export type World = typeof worldArbitrary extends fc.Arbitrary<infer Value> ? Value : never;

const day = 86_400;

/** Plays a world and says what became of it. */
export async function playWorld(world: World): Promise<Verdict> {
  const verdict = {
    connections: 0,
    cuts: 0,
    events: 0,
    lost: 0,
    duplicated: 0,
    wrongOutcomes: 0,
    problems: [],
  };
  const clock = new ManualClock();
  const activity = new Activity();
  const emulator = new CursorEmulator({ clock, retentionSeconds: 1_000 * day, ...world.script.options });
  emulator.script("", (run) => play(world.script, run));
  const server = await emulator.listen();
  const plan = new Plan(world.faults);
  const proxy = new ChaosProxy({
    port: Number(new URL(server.url).port),
    clock,
    decide: plan.decide,
    onActivity: activity.note,
  });
  const baseUrl = await proxy.listen();
  const scene = new Scene(world, { emulator, clock, activity, plan, proxy, baseUrl }, verdict);
  try {
    await live(scene.play(), clock, activity);
    await scene.checkLeftovers();
  } catch (error) {
    fail(verdict, "wrongOutcomes", `failed: ${describe(error)}`);
  } finally {
    await proxy.close();
    await server.close();
    emulator.reset();
  }
  return Object.assign(verdict, { connections: proxy.connections, cuts: proxy.cuts });
}

interface Stage {
  emulator: CursorEmulator;
  clock: ManualClock;
  activity: Activity;
  plan: Plan;
  proxy: ChaosProxy;
  baseUrl: string;
}

/** One world while it is played. */
class Scene {
  readonly #world: World;
  readonly #stage: Stage;
  readonly #verdict: Verdict;
  readonly #signal = new AbortController().signal;
  readonly #random: () => number;
  #silences = 0;
  #streamsAtResult: number | undefined;

  constructor(world: World, stage: Stage, verdict: Verdict) {
    this.#world = world;
    this.#stage = stage;
    this.#verdict = verdict;
    this.#random = generator(world.seed);
  }

  async play(): Promise<void> {
    const ref = await this.#create();
    if (ref) {
      await this.#read(ref);
      if (this.#world.followUp) await this.#followUp(ref.agentId);
    }
    await this.#endUnread();
  }

  /** Nothing may be left: no reader, no timer, no listener, no connection on which something is under way. */
  async checkLeftovers(): Promise<void> {
    const { emulator, clock, activity, proxy } = this.#stage;
    await quiet(activity);
    const left = {
      "streams open on the emulator": emulator.connections,
      timers: clock.pending,
      "listeners on the caller's signal": getEventListeners(this.#signal, "abort").length,
      "connections busy": proxy.busy,
    };
    for (const [what, count] of Object.entries(left)) {
      if (count > 0) fail(this.#verdict, "wrongOutcomes", `left over: ${count} ${what}`);
    }
    if (this.#silences > proxy.stalls) {
      fail(this.#verdict, "wrongOutcomes", `${this.#silences} silences heard, ${proxy.stalls} made`);
    }
  }

  /** In exactly one agent, or in an error that says that nobody knows, and at most one agent. */
  async #create(): Promise<RunRef | undefined> {
    const { emulator } = this.#stage;
    const { envVars } = this.#world;
    try {
      const { agent, run } = await this.#cursor().agents.create(
        {
          prompt: "Chaos",
          repos: [{ url: "https://github.com/your-org/your-repo" }],
          autoCreatePR: this.#world.seed % 2 === 0,
          ...(envVars ? { envVars: { TOKEN: "x" } } : {}),
        },
        { signal: this.#signal },
      );
      const ids = emulator.agents.map(({ id }) => id);
      if (ids.join() !== agent.id) {
        fail(this.#verdict, "wrongOutcomes", `create gave ${agent.id}; there are ${ids.join() || "none"}`);
      }
      return { agentId: agent.id, id: run.id };
    } catch (error) {
      this.#checkRejection(error, emulator.agents.length, "create");
      // Without variables everything may be tried again, and a conflict is about the agent of an attempt before.
      const attempts = this.#stage.plan.counts.posts;
      if (!envVars && (attempts < 3 || isApiError(error, "agent_id_conflict"))) {
        fail(this.#verdict, "wrongOutcomes", `create gave up after ${attempts} attempts: ${describe(error)}`);
      }
      return undefined;
    }
  }

  async #read(ref: RunRef): Promise<void> {
    const { emulator, clock, plan, proxy } = this.#stage;
    const { include, pace, script } = this.#world;
    const consumer = new Consumer({
      cursor: this.#cursor,
      ref,
      include,
      signal: this.#signal,
      clock,
      onReconnect: this.#onReconnect,
      onEvent: this.#onEvent,
    });
    const reading = await consumer.read(pace);
    const isEndTold = proxy.wasLastStreamWhole;
    const wanted = await readWanted(emulator, ref, include, clock);
    const [run] = emulator.runs(ref.agentId);
    if (!run) throw new Error("the emulator lost the run");
    const hasErrorEvent = script.error && script.steps.length > 0;
    judge({ wanted, run, reading, plan, hasErrorEvent, isEndTold }, this.#verdict);
    this.#verdict.events += reading.events?.length ?? wanted.events.length;
    const after = plan.counts.streams - (this.#streamsAtResult ?? plan.counts.streams);
    if (after > 0) fail(this.#verdict, "wrongOutcomes", `${after} stream requests after the result`);
    this.#checkRefused(reading.leaves);
  }

  /** Never carried out twice, and nobody is told that it was when it wasn't. */
  async #followUp(agentId: string): Promise<void> {
    const { emulator } = this.#stage;
    const before = emulator.runs(agentId).length;
    try {
      const run = await this.#cursor().runs.create(
        agentId,
        { prompt: "More" },
        { whenBusy: "wait", signal: this.#signal },
      );
      const made = emulator
        .runs(agentId)
        .slice(before)
        .map(({ id }) => id);
      if (made.join() !== run.id) {
        fail(
          this.#verdict,
          "wrongOutcomes",
          `the follow-up gave ${run.id}; there are ${made.join() || "none"}`,
        );
      }
    } catch (error) {
      this.#checkRejection(error, emulator.runs(agentId).length - before, "the follow-up");
    }
  }

  /** Runs that nobody read are ended: their timers must not look like something that was left over. */
  async #endUnread(): Promise<void> {
    const { emulator } = this.#stage;
    for (const { id: agentId } of emulator.agents) {
      for (const { id, status } of emulator.runs(agentId)) {
        if (!["CREATING", "RUNNING", "PAUSED"].includes(status)) continue;
        await emulator.fetch(`${emulator.baseUrl}/v1/agents/${agentId}/runs/${id}/cancel`, {
          method: "POST",
          headers: { authorization: "Bearer reference" },
        });
      }
    }
  }

  #checkRejection(error: unknown, made: number, what: string): void {
    if (!isCursorError(error)) throw error;
    const { outcome } = error as CursorError;
    if (made > 1) fail(this.#verdict, "wrongOutcomes", `${what} was carried out ${made} times`);
    if (made > 0 && outcome !== "unknown") {
      fail(
        this.#verdict,
        "wrongOutcomes",
        `${what} was carried out and rejected as if it wasn't: ${error.message}`,
      );
    }
  }

  /** A refused position is never sent again, unless by another process that can't know of it. */
  #checkRefused(leaves: number): void {
    const { positions, refused } = this.#stage.plan;
    const again = refused.filter((index) => positions.slice(index + 1).includes(positions[index]));
    if (again.length > leaves) fail(this.#verdict, "wrongOutcomes", "a refused position was sent again");
  }

  readonly #onReconnect = ({ reason }: { reason: unknown }): void => {
    if (isCursorError(reason) && /no byte for|no answer within/.test(reason.message)) this.#silences++;
  };

  readonly #onEvent = (event: RunEvent): void => {
    if (event.type === "result") this.#streamsAtResult = this.#stage.plan.counts.streams;
  };

  readonly #cursor = (): Cursor => {
    const { baseUrl, clock, activity } = this.#stage;
    const noted = async (...input: Parameters<typeof fetch>) => {
      activity.note();
      try {
        return await fetch(...input);
      } finally {
        activity.note();
      }
    };
    return new Cursor({ apiKey: "key_TEST", baseUrl, clock, random: this.#random, fetch: noted });
  };
}

/** A small generator of numbers from 0 to 1, the same for the same seed (mulberry32). */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const describe = (error: unknown): string =>
  error instanceof Error
    ? `${error.stack}${error.cause ? `\n  caused by ${describe(error.cause)}` : ""}`
    : String(error);
