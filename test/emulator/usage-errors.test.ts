import { CursorEmulator, type EmulatorOptions } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { RunScript } from "../../src/emulator/runs/run-script.ts";

const script = () =>
  new RunScript({ prompt: "x", agentId: "bc-1", runId: "run-1", autoCreatePR: false, mode: "agent" });

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
  ])("%s", (_, mistake, message) => expect(mistake).toThrow(message));
});
