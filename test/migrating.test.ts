import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import { describeDocument } from "./readme/document.ts";

const reply = /^I looked at the repository .*“Add a README with setup instructions”.*notes\.md`\.$/;

await describeDocument({
  file: ".github/MIGRATING.md",
  maxLines: 250,
  outcomes: {
    "From v0 of the API 1": ({ output }) => {
      expect(output).toMatch(
        /^FINISHED https:\/\/cursor\.com\/agents\/bc-\S+ https:\/\/github\.com\/\S+\/pull\/\d+\n$/,
      );
    },
    "A create, and its retries 1": ({ output }) => expect(output).toMatch(/^bc-\S+ run-\S+\n$/),
    "A create, and its retries 2": ({ output }, emulator) => {
      expect(output).toMatch(/^bc-\S+ run-\S+\n$/);
      expect(emulator.agents).toHaveLength(2);
    },
    "A create, and its retries 3": ({ output }, emulator) => {
      expect(output).toBe("true true\n");
      expect(emulator.agents).toHaveLength(2);
    },
    "An SSE parser 1": ({ output }) => expect(output).toMatch(reply),
    "An SSE parser 2": ({ output }) => expect(output).toMatch(reply),
    "An SSE parser 3": ({ output }) =>
      expect(output).toMatch(/^status\n(.+\n)*assistant\n(.+\n)*result\ndone\n$/),
    "A polling loop 1": ({ output }) => expect(output).toMatch(/^FINISHED I looked at the repository/),
    "A polling loop 2": ({ output }) => expect(output).toMatch(/^FINISHED I looked at the repository/),
    "A status map 1": ({ output }) => expect(output).toBe("look into it: ERROR\nERROR\n"),
    "Pages, busy agents, downloads 1": async ({ output }) => {
      expect(output).toMatch(/^bc-\S+ .+\n1 0\n$/);
      expect(await readFile("out/notes.md", "utf8")).toMatch(/^# Notes/);
    },
    "From the cloud part of @cursor/sdk 1": ({ output }) =>
      expect(output).toMatch(/^I looked at the repository .*notes\.md`\.FINISHED\n$/),
  },
  stages: {
    // Cut in the middle of a word: only the second of the two would notice.
    "An SSE parser 2": (emulator) => emulator.faults.cut("streamRun", { afterBytes: 700 }),
    "A status map 1": (emulator) => emulator.script(/./, (run) => run.fail()),
  },
});
