import { isCursorError } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import { failures } from "./failures.ts";
import { calls, client } from "./provoke.ts";
import { expectClean } from "./scan.ts";

const auths = ["bearer", "basic"] as const;

describe.each(Object.entries(calls))("%s", (name, call) => {
  it.each(Object.entries(failures))("tells no secret after %s", async (_, answer) => {
    for (const auth of auths) {
      const { cursor, told, run } = client(answer, { auth });
      const outcome = await run(
        Promise.resolve(call(cursor, told)).then(
          (value) => ({ value }),
          (error: unknown) => ({ error }),
        ),
      );
      // Storage may say anything with a 200: that is the file.
      if (name === "download" && "value" in outcome) return;
      expect(outcome).toHaveProperty("error");
      if (!("error" in outcome)) return;
      expect(isCursorError(outcome.error), String(outcome.error)).toBe(true);
      expectClean(outcome.error);
      expectClean(told);
      expectClean(cursor);
    }
  });

  it("tells no secret when it is aborted", async () => {
    const controller = new AbortController();
    const { cursor, told } = client(() => new Promise(() => {}));
    const pending = Promise.resolve(call(cursor, told, controller.signal)).catch((error: unknown) => error);
    const reason = new Error("enough");
    setTimeout(() => controller.abort(reason), 5);
    expect(await pending).toBe(reason);
    expectClean([reason, told]);
  });
});
