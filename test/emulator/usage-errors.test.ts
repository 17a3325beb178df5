import { CursorEmulator, type EmulatorOptions, ManualClock } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { RunScript } from "../../src/emulator/runs/run-script.ts";

const script = () =>
  new RunScript({ prompt: "x", agentId: "bc-1", runId: "run-1", autoCreatePR: false, mode: "agent" });

const faults = () => new CursorEmulator().faults;

describe("a mistake in a test throws at once, so that the test cannot pass", () => {
  it.each<[string, () => unknown, RegExp]>([
    [
      "an unknown option",
      () => new CursorEmulator({ clok: 1 } as EmulatorOptions),
      /unknown option "clok"; expected one of clock/,
    ],
    [
      "a fault for an unknown operation",
      () => new CursorEmulator().faults.dropAnswer("createAgnt" as never),
      /unknown operation "createAgnt"/,
    ],
    [
      "a script without a function",
      () => new CursorEmulator().script("x", undefined as never),
      /expected a function/,
    ],
    [
      "a script without a match",
      () => new CursorEmulator().script(undefined as never, () => {}),
      /expected a string, a RegExp or a function/,
    ],
    ["an empty recording", () => script().replay(""), /has no event/],
    ["a recording that is not a stream", () => script().replay('{"error":"x"}\n\n'), /has no event/],
    ["a text that is not a string", () => script().text(undefined as never), /text\(\) expected a string/],
    ["a thought that is not a string", () => script().thinking(1 as never), /thinking\(\) expected a string/],
    [
      "an artifact outside of artifacts/",
      () => script().artifact("notes.md", "x"),
      /starts with "artifacts\/"/,
    ],
    ["a step after the end", () => script().finish().text("x"), /after the run has ended/],
    [
      "an option of a group",
      () => new CursorEmulator({ heartbeat: { firts: 1 } as object }),
      /heartbeat: unknown option "firts"; expected one of first, every/,
    ],
    [
      "a value of a group",
      () => new CursorEmulator({ heartbeat: { first: "30s" as never } }),
      /heartbeat: first: expected a number of at least 0, got "30s"/,
    ],
    [
      "a negative time",
      () => new CursorEmulator({ createDelayMs: -1 }),
      /createDelayMs: expected a number of at least 0, got -1/,
    ],
    [
      "a time that is not a number",
      () => new CursorEmulator({ pace: Number.NaN }),
      /pace: expected a number/,
    ],
    [
      "a flag as a text",
      () => new CursorEmulator({ interactionUpdates: "no" as never }),
      /expected true or false, got "no"/,
    ],
    [
      "a clock without now",
      () => new CursorEmulator({ clock: { setTimeout } as never }),
      /clock: expected a clock with now/,
    ],
    [
      "a base URL of another scheme",
      () => new CursorEmulator({ baseUrl: "ftp://x" }),
      /baseUrl: expected an http or https URL/,
    ],
    [
      "a form of streamNotReady",
      () => new CursorEmulator({ streamNotReady: "410" as never }),
      /streamNotReady/,
    ],
    [
      "a field of streamNotReady",
      () => new CursorEmulator({ streamNotReady: { form: "409", ms: 1 } as never }),
      /streamNotReady: unknown option "ms"; expected one of form, windowMs/,
    ],
    [
      "a field of a key",
      () => new CursorEmulator({ keys: [{ key: "k", rol: "admin" } as never] }),
      /keys\.0: unknown option "rol"; expected one of key, kind/,
    ],
    [
      "a role of a key",
      () => new CursorEmulator({ keys: [{ key: "k", role: "boss" as never }] }),
      /role: expected one of admin, member, none/,
    ],
    [
      "keys that are no list",
      () => new CursorEmulator({ keys: "k" as never }),
      /keys: expected an array, got "k"/,
    ],
    [
      "a field of rateLimit",
      () => new CursorEmulator({ rateLimit: { perMinut: 1 } as never }),
      /rateLimit: unknown option "perMinut"/,
    ],
    [
      "a form of rateLimit",
      () => new CursorEmulator({ rateLimit: { perMinute: 1, form: "html" as never } }),
      /expected one of envelope, flat, connect/,
    ],
    [
      "a field of usage",
      () => new CursorEmulator({ usage: { costs: true } as never }),
      /usage: unknown option "costs"/,
    ],
    [
      "a field of workers",
      () => new CursorEmulator({ workers: { maxStream: 1 } as never }),
      /workers: unknown option "maxStream"/,
    ],
    [
      "a field of secrets",
      () => new CursorEmulator({ secrets: { admin: true } as never }),
      /secrets: unknown option "admin"/,
    ],
    [
      "a field of journal",
      () => new CursorEmulator({ journal: { count: 1 } as never }),
      /journal: unknown option "count"; expected one of requests, bytes/,
    ],
    [
      "options that are no object",
      () => new CursorEmulator("x" as never),
      /CursorEmulator: expected an object, got "x"/,
    ],
    [
      "a fault's status",
      () => faults().status("createAgent", 42),
      /faults.status: status: expected a whole number from 200 to 599, got 42/,
    ],
    [
      "an option of a fault",
      () => faults().cut("streamRun", { afterEvent: 1 } as object),
      /faults.cut: unknown option "afterEvent"; expected one of times, afterEvents, afterBytes, clean/,
    ],
    [
      "an option of a status",
      () => faults().status("getRun", 500, { retryAfter: 1 } as never),
      /faults.status: unknown option "retryAfter"/,
    ],
    [
      "a body that is a number",
      () => faults().status("getRun", 500, { body: 1 as never }),
      /body: expected a string, bytes or an object/,
    ],
    [
      "a header that is a number",
      () => faults().status("getRun", 500, { headers: { "Retry-After": 5 as never } }),
      /headers: expected texts/,
    ],
    [
      "an option of stall",
      () => faults().stall("getRun", { beforeHeader: true } as never),
      /faults.stall: unknown option "beforeHeader"/,
    ],
    [
      "a delay that is a text",
      () => faults().delay("getRun", "1s" as never),
      /faults.delay: ms: expected a number/,
    ],
    [
      "a fault that never applies",
      () => faults().dropAnswer("getRun", { times: 0 }),
      /times: expected a whole number of at least 1/,
    ],
    [
      "an option of dropRequest",
      () => faults().dropRequest("getRun", { time: 2 } as never),
      /unknown option "time"; expected one of times/,
    ],
    [
      "an option of ignorePosition",
      () => faults().ignorePosition({ time: 2 } as never),
      /unknown option "time"/,
    ],
    [
      "an option of refusePosition",
      () => faults().refusePosition({ times: 1.5 }),
      /times: expected a whole number/,
    ],
    [
      "bytes as an event count",
      () => faults().cut("streamRun", { afterEvents: "3" as never }),
      /afterEvents: expected a whole number/,
    ],
    [
      "an option of a tool",
      () => script().tool("x", {}, {}, { callID: "1" } as never),
      /tool: unknown option "callID"; expected one of callId/,
    ],
    [
      "an option of a cut",
      () => script().cut({ afterEvent: 1 } as never),
      /cut: unknown option "afterEvent"/,
    ],
    [
      "an option of finish",
      () => script().finish({ pr: "x" } as never),
      /finish: unknown option "pr"; expected one of text, prUrl, branch, durationMs/,
    ],
    ["an option of fail", () => script().fail({ text: "x" } as never), /fail: unknown option "text"/],
    [
      "an option of an event",
      () => script().event("x", {}, { ID: "1" } as never),
      /event: unknown option "ID"/,
    ],
    [
      "a kind of tokens",
      () => script().usage({ input: 1 } as never),
      /usage: unknown option "input"; expected one of inputTokens/,
    ],
    [
      "an option of a branch",
      () => script().branch("x", { pr: "x" } as never),
      /branch: unknown option "pr"/,
    ],
    ["a wait without a number", () => script().wait(undefined as never), /wait: ms: expected a number/],
    ["a gate without a name", () => script().hold(undefined as never), /hold: name: expected a string/],
    ["a status that is no text", () => script().status(1 as never), /status: expected a string/],
    [
      "raw bytes that are a list",
      () => script().raw([1] as never),
      /raw: expected a string or a Uint8Array, got an array/,
    ],
    [
      "an artifact of a list",
      () => script().artifact("artifacts/a", [1] as never),
      /artifact: bytes: expected a string or a Uint8Array/,
    ],
    [
      "a worker without an id",
      () => new CursorEmulator().workers.connectWorker({} as never),
      /connectWorker: workerId/,
    ],
    [
      "an option of a worker",
      () => new CursorEmulator().workers.connectWorker({ workerId: "w", pools: "x" } as never),
      /connectWorker: unknown option "pools"/,
    ],
    [
      "an option of a request",
      () => new CursorEmulator().workers.addRequest({ repository: "a/b" } as never),
      /addRequest: unknown option "repository"/,
    ],
    [
      "an option of a pool",
      () => new CursorEmulator().workers.addPool({ name: "gpu" } as never),
      /addPool: unknown option "name"; expected one of poolName/,
    ],
    [
      "a scope of a pool",
      () => new CursorEmulator().workers.addPool({ poolName: "gpu", scope: "mine" as never }),
      /scope: expected one of user, team/,
    ],
    [
      "an option of a secret",
      () => new CursorEmulator().secrets.add({ name: "A", value: "b", env: "x" } as never),
      /secrets.add: unknown option "env"/,
    ],
    [
      "an option of addAgent",
      () => new CursorEmulator().addAgent({ prompt: { text: "x" } }, { ownr: "x" } as never),
      /addAgent: unknown option "ownr"/,
    ],
    [
      "an artifact without bytes",
      () => new CursorEmulator().addArtifact("bc-1", "artifacts/a", 1 as never),
      /addArtifact: bytes/,
    ],
  ])("%s", (_, mistake, message) => {
    expect(mistake).toThrow(message);
    expect(mistake).toThrow(/^(CursorEmulator|RunScript)/);
  });

  it.each<[string, () => Promise<unknown>, RegExp]>([
    [
      "an option of listen",
      () => new CursorEmulator().listen({ host: "x" } as never),
      /listen: unknown option "host"; expected one of port, artifactsPort, hostname/,
    ],
    [
      "a port",
      () => new CursorEmulator().listen({ port: 70_000 }),
      /listen: port: expected a whole number from 0 to 65535/,
    ],
    [
      "an option of the clock",
      () => new ManualClock().run(Promise.resolve(), { maxJump: 1 } as never),
      /ManualClock.run: unknown option "maxJump"; expected one of turns, maxJumps, patience/,
    ],
  ])("%s", (_, mistake, message) => expect(mistake()).rejects.toThrow(message));
});
