import { describe, expect, it } from "vitest";
import { type Answer, failedResponse, fake, reply, SILENT } from "../support/fake-api.ts";
import { failure, until } from "../support/waiting.ts";

const repo = (name: string) => ({ url: `https://github.com/o/${name}` });
const list = (...names: string[]) => reply(200, { items: names.map(repo) });
const minute = 60_000;

/** An answer that is sent when the test says so. */
function held(answer: Answer): { answer: Answer; release: () => void } {
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { answer: () => gate.then(() => answer), release };
}

describe("the list of repositories", () => {
  it("is requested once for callers that come together", async () => {
    const slow = held(list("a"));
    const { cursor, requests } = fake([slow.answer]);
    const calls = Promise.all([
      cursor.repositories.list(),
      cursor.repositories.list(),
      cursor.repositories.list(),
    ]);
    slow.release();
    expect((await calls).map(({ items }) => items)).toEqual(Array(3).fill([repo("a")]));
    expect(requests).toHaveLength(1);
  });

  it("is reused for a minute, and not longer", async () => {
    const { cursor, requests, clock } = fake([list("a"), list("b")]);
    await cursor.repositories.list();
    await clock.advance(minute - 1);
    expect((await cursor.repositories.list()).items).toEqual([repo("a")]);
    await clock.advance(1);
    expect((await cursor.repositories.list()).items).toEqual([repo("b")]);
    expect(requests).toHaveLength(2);
  });

  it("is requested again with fresh, and the new answer is reused", async () => {
    const { cursor, requests } = fake([list("a"), list("b")]);
    await cursor.repositories.list();
    expect((await cursor.repositories.list({ fresh: true })).items).toEqual([repo("b")]);
    expect((await cursor.repositories.list({ fresh: false })).items).toEqual([repo("b")]);
    expect(requests).toHaveLength(2);
  });

  it("is shared by fresh callers while a request is under way", async () => {
    const slow = held(list("a"));
    const { cursor, requests } = fake([slow.answer]);
    const calls = Promise.all([cursor.repositories.list(), cursor.repositories.list({ fresh: true })]);
    slow.release();
    await calls;
    expect(requests).toHaveLength(1);
  });

  it("fails for every caller that waited, and for none later", async () => {
    const { cursor, requests, fails } = fake([
      failedResponse(429, "rate_limit_exceeded", { "retry-after": "3600" }),
      list("a"),
    ]);
    const both = await Promise.all([fails(cursor.repositories.list()), fails(cursor.repositories.list())]);
    expect(both.map(({ code, retryAfterMs }) => [code, retryAfterMs])).toEqual(
      Array(2).fill(["rate_limit_exceeded", 3_600_000]),
    );
    expect((await cursor.repositories.list()).items).toEqual([repo("a")]);
    expect(requests).toHaveLength(2);
  });

  it("ends for a caller that aborts, while the request and the others continue", async () => {
    const slow = held(list("a"));
    const { cursor, requests } = fake([slow.answer]);
    const controller = new AbortController();
    const first = failure(cursor.repositories.list({}, { signal: controller.signal }));
    const second = cursor.repositories.list().then(({ items }) => items);
    controller.abort("left");
    expect(await first).toBe("left");
    slow.release();
    expect(await second).toEqual([repo("a")]);
    expect([requests.length, requests[0]!.signal.aborted]).toEqual([1, false]);
  });

  it("is a copy for each caller", async () => {
    const { cursor } = fake([list("a", "b")]);
    (await cursor.repositories.list()).items.reverse();
    expect((await cursor.repositories.list()).items).toEqual([repo("a"), repo("b")]);
  });

  it("is not shared between clients", async () => {
    const first = fake([list("a")]);
    const second = fake([list("b")]);
    await first.cursor.repositories.list();
    expect((await second.cursor.repositories.list()).items).toEqual([repo("b")]);
  });

  it("is requested for a fresh caller while another reuses the old answer", async () => {
    const { cursor } = fake([list("a"), list("b")]);
    await cursor.repositories.list();
    const both = [cursor.repositories.list(), cursor.repositories.list({ fresh: true })];
    expect((await Promise.all(both)).map(({ items }) => items)).toEqual([[repo("a")], [repo("b")]]);
  });

  it("is abandoned when its last caller has left, and requested again for the next", async () => {
    const { cursor, requests } = fake([SILENT, list("a")]);
    const [one, other] = [new AbortController(), new AbortController()];
    const calls = [one, other].map(({ signal }) => failure(cursor.repositories.list({}, { signal })));
    await until(() => requests.length === 1);
    one.abort("one");
    expect(await calls[0]).toBe("one");
    expect(requests[0]!.signal.aborted).toBe(false);
    other.abort("other");
    expect(await calls[1]).toBe("other");
    expect(requests[0]!.signal.aborted).toBe(true);
    expect((await cursor.repositories.list()).items).toEqual([repo("a")]);
  });

  it.each([{}, { items: "a" }, { items: null }, 5, []])(
    "that is not a list is an invalid response: %j",
    async (answer) => {
      const { cursor, fails } = fake(reply(200, answer));
      expect(await fails(cursor.repositories.list())).toMatchObject({
        kind: "api",
        code: "invalid_response",
      });
    },
  );
});
