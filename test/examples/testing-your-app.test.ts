import { Cursor } from "cursor-cloud-agents";
import { CursorEmulator, ManualClock } from "cursor-cloud-agents/emulator";
import { setupServer } from "msw/node";
import { describe, expect, it, onTestFinished } from "vitest";
import { requestChange } from "./testing-your-app/app.ts";

const repository = "https://github.com/your-org/your-repo";

// Mounted as `fetch`: the quickest way, with a clock that makes no test wait.
describe("with the emulator as fetch, the app", () => {
  function stage(options = {}) {
    const clock = new ManualClock();
    const emulator = new CursorEmulator({ clock, ...options });
    const cursor = new Cursor({ apiKey: "test", baseUrl: emulator.baseUrl, fetch: emulator.fetch, clock });
    return { emulator, ask: (wish: string) => clock.run(requestChange(cursor, repository, wish)) };
  }

  it("shows the reply and the pull request, over a bad connection, after a long run", async () => {
    const { emulator, ask } = stage();
    emulator.script("login", (run) =>
      run
        .text("Fix")
        .cut()
        .wait(20 * 60_000)
        .text("ed.")
        .finish({ prUrl: `${repository}/pull/7` }),
    );
    expect(await ask("Fix the login")).toEqual({
      state: "done",
      text: "Fixed.",
      prUrl: `${repository}/pull/7`,
    });
    expect(emulator.agents[0]).toMatchObject({ repos: [{ url: repository }], autoCreatePR: true });
  });

  it("doesn't sell half an answer as a whole one", async () => {
    const { emulator, ask } = stage();
    emulator.script("login", (run) => run.text("Fix").fail());
    expect(await ask("Fix the login")).toEqual({ state: "failed", status: "ERROR" });
  });

  it("asks the user to come back when the API is closed for long", async () => {
    const { emulator, ask } = stage();
    emulator.faults.status("createAgent", 429, { headers: { "retry-after": "90" } });
    expect(await ask("Fix the login")).toEqual({ state: "later", seconds: 90 });
    expect(emulator.agents).toEqual([]);
  });

  it("makes one agent, also when the answer gets lost", async () => {
    const { emulator, ask } = stage();
    emulator.faults.dropAnswer("createAgent");
    expect((await ask("Fix the login")).state).toBe("done");
    expect(emulator.agents).toHaveLength(1);
  });
});

// Mounted in msw: for an app that makes its client deep inside, by `new Cursor()`, and calls other APIs, too.
describe("with the emulator in msw, the app", () => {
  it("talks to the real address and never reaches it", async () => {
    const emulator = new CursorEmulator();
    emulator.script("login", (run) => run.text("Fixed.").finish());
    const server = setupServer(...emulator.handlers());
    server.listen({ onUnhandledRequest: "error" });
    onTestFinished(() => server.close());
    const cursor = new Cursor({ apiKey: "test", baseUrl: emulator.baseUrl });
    expect(await requestChange(cursor, repository, "Fix the login")).toMatchObject({
      state: "done",
      text: "Fixed.",
    });
    expect(emulator.requests[0]?.url).toBe("https://api.cursor.com/v1/agents");
    await expect(fetch("https://example.com/")).rejects.toThrow();
  });
});
