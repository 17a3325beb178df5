import { describe, expect, it } from "vitest";
import { PagePromise } from "../src/pagination.ts";
import { fake, reply } from "./support/fake-api.ts";
import { agentId } from "./support/sample-run.ts";
import { failure } from "./support/waiting.ts";

const page = (ids: number[], nextCursor?: unknown, more: object = {}) =>
  reply(200, { items: ids.map((id) => ({ id: `bc-${id}` })), nextCursor, ...more });

async function idsOf(list: AsyncIterable<{ id: string }>): Promise<string[]> {
  const ids = [];
  for await (const { id } of list) ids.push(id);
  return ids;
}

describe("a walk over a list", () => {
  it("gives every item of every page, in order", async () => {
    const { cursor, requests } = fake([page([1, 2], "a"), page([3], "b"), page([4])]);
    expect(await idsOf(cursor.agents.list({ limit: 2, prUrl: "https://github.com/o/r/pull/1" }))).toEqual([
      "bc-1",
      "bc-2",
      "bc-3",
      "bc-4",
    ]);
    const queries = requests.map(({ url }) => Object.fromEntries(url.searchParams));
    const prUrl = "https://github.com/o/r/pull/1";
    expect(queries).toEqual([
      { limit: "2", prUrl },
      { limit: "2", prUrl, cursor: "a" },
      { limit: "2", prUrl, cursor: "b" },
    ]);
  });

  it.each([
    ["absent", undefined],
    ["null", null],
    ["empty", ""],
  ])("ends with a cursor that is %s", async (_, nextCursor) => {
    const { cursor, requests } = fake([page([1], nextCursor)]);
    expect(await idsOf(cursor.agents.list())).toEqual(["bc-1"]);
    expect(requests.map(({ target }) => target)).toEqual(["/v1/agents"]);
    expect("nextCursor" in (await fake([page([1], nextCursor)]).cursor.agents.list())).toBe(false);
  });

  it("goes on after an empty page that has a cursor", async () => {
    const { cursor, requests } = fake([page([], "a"), page([], "b"), page([1])]);
    expect(await idsOf(cursor.agents.list())).toEqual(["bc-1"]);
    expect(requests).toHaveLength(3);
  });

  it.each([
    ["the same one again", ["a", "a"]],
    ["a circle", ["a", "b", "c", "a"]],
    ["the one the walk began with", ["start"]],
  ])("stops with an error at a cursor that was seen before: %s", async (_, cursors) => {
    const { cursor, requests } = fake(cursors.map((next, index) => page([index], next)));
    const error = await failure(idsOf(cursor.agents.list({ cursor: "start" })));
    expect([error.code, requests.length]).toEqual(["invalid_response", cursors.length]);
    expect(error.message).toContain("names a next page that was already read");
  });

  it("gives an agent that moved to a later page once", async () => {
    const { cursor } = fake([page([1, 2], "a"), page([2, 3], "b"), page([1, 4])]);
    expect(await idsOf(cursor.agents.list())).toEqual(["bc-1", "bc-2", "bc-3", "bc-4"]);
  });

  it("asks for a page only when it is needed", async () => {
    const answers = [page([1, 2], "a"), page([3, 4], "b"), page([5])];
    for (const [stop, expected] of [
      ["bc-1", 1],
      ["bc-2", 1],
      ["bc-3", 2],
      ["bc-5", 3],
    ] as const) {
      const { cursor, requests } = fake(answers);
      for await (const { id } of cursor.runs.list(agentId, { limit: 2 })) if (id === stop) break;
      expect(requests).toHaveLength(expected);
    }
  });

  it("ends at an abort between pages, with the reason", async () => {
    const controller = new AbortController();
    const { cursor, requests } = fake([page([1], "a"), page([2])]);
    const walk = async () => {
      for await (const _ of cursor.agents.list(undefined, { signal: controller.signal }))
        controller.abort("enough");
    };
    expect(await failure(walk())).toBe("enough");
    expect(requests).toHaveLength(1);
  });

  it("starts from the page cursor in the query", async () => {
    const { cursor, requests } = fake([page([2])]);
    await idsOf(cursor.runs.list(agentId, { cursor: "a" }));
    expect(requests[0]!.target).toBe(`/v1/agents/${agentId}/runs?cursor=a`);
  });

  it("a filter that is false is sent", async () => {
    const { cursor, requests } = fake(page([1]));
    await cursor.agents.list({ includeArchived: false });
    expect(requests[0]!.target).toBe("/v1/agents?includeArchived=false");
  });
});

describe("pages", () => {
  it("can be walked one by one, their own fields on them", async () => {
    const { cursor } = fake([page([1], "a", { totalCount: 2 }), page([2], undefined, { totalCount: 3 })]);
    const seen = [];
    for await (const { items, nextCursor, ...rest } of cursor.agents.list().pages()) {
      seen.push([items.length, nextCursor, rest]);
    }
    expect(seen).toEqual([
      [1, "a", { totalCount: 2 }],
      [1, undefined, { totalCount: 3 }],
    ]);
  });

  it("know the next one, and that there is none", async () => {
    const { cursor } = fake([page([1], "a"), page([2])]);
    const first = await cursor.agents.list();
    const second = await first.nextPage();
    expect([first.nextCursor, second?.items, await second?.nextPage()]).toEqual([
      "a",
      [{ id: "bc-2" }],
      undefined,
    ]);
  });

  it("are plain JSON", async () => {
    const { cursor } = fake([page([1], "a")]);
    expect(JSON.parse(JSON.stringify(await cursor.agents.list()))).toEqual({
      items: [{ id: "bc-1" }],
      nextCursor: "a",
    });
  });

  it.each([{}, { items: null }, { items: {} }, { workers: [] }, []])("%j is not a page", async (body) => {
    const { cursor, requests } = fake([reply(200, body)]);
    expect(await failure(cursor.agents.list())).toMatchObject({ kind: "api", code: "invalid_response" });
    expect(requests).toHaveLength(1);
  });
});

describe("a page whose next page was already read", () => {
  const first = page([1], "c1");
  const echo = page([2], "c1");

  it("comes before the error", async () => {
    const { cursor, requests } = fake([first, echo]);
    const seen: string[] = [];
    const walk = async () => {
      for await (const { id } of cursor.agents.list()) seen.push(id);
    };
    expect(await failure(walk())).toMatchObject({ kind: "api", code: "invalid_response" });
    expect([seen, requests.length]).toEqual([["bc-1", "bc-2"], 2]);
  });

  it("can be read by itself, and names no page to request again", async () => {
    const { cursor, requests } = fake([echo]);
    const alone = await cursor.agents.list({ cursor: "c1" });
    expect([alone.items, "nextCursor" in alone]).toEqual([[{ id: "bc-2" }], false]);
    expect(await failure(alone.nextPage())).toMatchObject({ code: "invalid_response" });
    expect(requests).toHaveLength(1);
  });

  it("comes from pages() and nextPage(), too, and by page tokens", async () => {
    const workers = (ids: string[], nextPageToken?: string) =>
      reply(200, { workers: ids.map((workerId) => ({ workerId })), totalCount: 3, nextPageToken });
    const { cursor, requests } = fake([workers(["a"], "t1"), workers(["b"], "t2"), workers(["c"], "t1")]);
    const seen: string[][] = [];
    const walk = async () => {
      for await (const { items } of cursor.workers.list().pages())
        seen.push(items.map(({ workerId }) => workerId));
    };
    expect(await failure(walk())).toMatchObject({ code: "invalid_response" });
    expect([seen, requests.length]).toEqual([[["a"], ["b"], ["c"]], 3]);
  });

  it("is not one that is requested again from the page before it", async () => {
    const { cursor } = fake([first, page([2], "c2"), page([3]), page([2], "c2"), page([3], "c1")]);
    const start = await cursor.agents.list();
    const second = await start.nextPage();
    expect((await second?.nextPage())?.items).toEqual([{ id: "bc-3" }]);
    const again = await start.nextPage();
    expect(again?.nextCursor).toBe("c2");
    const last = await again?.nextPage();
    expect([last?.items, last?.nextCursor]).toEqual([[{ id: "bc-3" }], undefined]);
  });
});

describe("a list without end", () => {
  const endless = (items: (index: number) => unknown[]) => {
    let index = 0;
    return fake(() => Response.json({ items: items(index), nextCursor: `c${index++}` }));
  };

  it.each([
    ["empty pages", () => []],
    ["the same item on each page", () => [{ id: "bc-1" }]],
  ])("of %s ends with an error", async (_, items) => {
    const { cursor, requests } = endless(items);
    expect(await failure(idsOf(cursor.agents.list()))).toMatchObject({ code: "invalid_response" });
    expect(requests.length).toBeLessThanOrEqual(501);
  });

  it("of ever new items ends with an error, in linear time", async () => {
    let index = 0;
    const list = new PagePromise<{ id: string }>({
      path: "/v1/agents",
      itemsKey: "items",
      cursorKey: "nextCursor",
      idKey: "id",
      fetch: async () => ({
        data: { items: [{ id: `bc-${index}` }], nextCursor: `c${index++}` },
        response: new Response(),
      }),
    });
    expect(await failure(idsOf(list))).toMatchObject({ code: "invalid_response" });
    expect(index).toBe(10_000);
  });

  it("may have many empty pages before its last item", async () => {
    let index = 0;
    const { cursor } = fake(() =>
      Response.json(++index < 500 ? { items: [], nextCursor: `c${index}` } : { items: [{ id: "bc-1" }] }),
    );
    expect(await idsOf(cursor.agents.list())).toEqual(["bc-1"]);
  });
});

describe("each list has its own ways", () => {
  // A strict server: it knows only the documented names, as the real one does.
  const known = new Set(["limit", "cursor", "prUrl", "includeArchived"]);

  it("agents and runs take `cursor` and give `nextCursor`", async () => {
    for (const list of ["agents", "runs"] as const) {
      const { cursor } = fake(({ url }) => {
        const unknown = [...url.searchParams.keys()].filter((name) => !known.has(name));
        if (unknown.length > 0)
          return Response.json({ error: { code: "validation_error" } }, { status: 400 });
        const isSecond = url.searchParams.get("cursor") === "a";
        return Response.json({
          items: [{ id: isSecond ? "x-2" : "x-1" }],
          ...(isSecond ? {} : { nextCursor: "a" }),
        });
      });
      expect(await idsOf(list === "agents" ? cursor.agents.list() : cursor.runs.list(agentId))).toEqual([
        "x-1",
        "x-2",
      ]);
    }
  });

  it("artifacts, models and repositories are one page, whatever cursor they come with", async () => {
    const { cursor, requests } = fake(page([1], "a"));
    for (const list of [cursor.artifacts.list(agentId), cursor.models.list(), cursor.repositories.list()]) {
      expect(await (await list).nextPage()).toBeUndefined();
      for await (const _ of list);
    }
    expect(requests.map(({ target }) => target)).toEqual([
      `/v1/agents/${agentId}/artifacts`,
      "/v1/models",
      "/v1/repositories",
    ]);
  });

  it("an artifact list that is still empty after the run is an empty list, after one request", async () => {
    const { cursor, requests } = fake(page([]));
    expect((await cursor.artifacts.list(agentId)).items).toEqual([]);
    expect(requests).toHaveLength(1);
  });

  it("a list's agents have no made-up fields", async () => {
    const { cursor } = fake([page([1])]);
    expect((await cursor.agents.list()).items).toEqual([{ id: "bc-1" }]);
  });

  it("an item that is not an object is yielded like any other", async () => {
    const { cursor } = fake([reply(200, { items: [null, 5, { id: "bc-1" }] })]);
    const items: unknown[] = [];
    for await (const item of cursor.agents.list()) items.push(item);
    expect(items).toEqual([null, 5, { id: "bc-1" }]);
  });
});
