import { Cursor } from "cursor-cloud-agents";
import { CursorEmulator } from "cursor-cloud-agents/emulator";
import { runStreamResponse } from "cursor-cloud-agents/serve";
import { expect, it } from "vitest";
import { createHandler } from "../examples/serve/handler.ts";
import { framesOf, openSite, textOf } from "./site.ts";
import { briefly, lasting, readResponse } from "./support.ts";

it("an EventSource receives the whole run, reconnects once, gets 204, and stops", async () => {
  const site = await openSite((run) =>
    run.thinking("Hm").text("Hel").text("lo").tool("read_file", { path: "a" }, "b"),
  );
  const { run } = site.start();
  const source = site.watch(run);
  await site.clock.run(source.closed);
  expect(textOf(source)).toBe("Hello");
  expect(
    briefly(framesOf(source))
      .slice(-3)
      .map((one) => one.split("#")[0]),
  ).toEqual(["result", "done", "end"]);
  expect(source.statuses).toEqual([200, 204]);
  expect(site.emulator.connections).toBe(0);
  expect(site.emulator.requests).toHaveLength(1);
});

it("a run whose stream the API drops several times is one response to the browser", async () => {
  const site = await openSite((run) =>
    run
      .text("a")
      .cut()
      .text("b")
      .cut({ clean: true })
      .text("c")
      .error("x", "y")
      .wait(5_000)
      .text("d")
      .stall()
      .text("e"),
  );
  const source = site.watch(site.start().run);
  await site.clock.run(source.closed);
  expect(textOf(source)).toBe("abcde");
  expect(source.statuses).toEqual([200, 204]);
});

it("a browser whose connection breaks resumes where it was", async () => {
  const site = await openSite((run) =>
    run.text("one ").hold("first").text("two ").hold("second").text("three"),
  );
  const source = site.watch(site.start().run);
  for (const gate of ["first", "second"]) {
    await site.until(() => textOf(source).endsWith(gate === "first" ? "one " : "two "));
    site.cutBrowsers();
    await site.until(() => site.emulator.connections === 0);
    site.emulator.release(gate);
  }
  await site.clock.run(source.closed);
  expect(textOf(source)).toBe("one two three");
  expect(source.statuses).toEqual([200, 200, 200, 204]);
});

it("the server may be replaced during a run, and nothing is lost or doubled", async () => {
  const site = await openSite((run) => run.text("before ").hold("restart").text("after"));
  const source = site.watch(site.start().run);
  await site.until(() => textOf(source) === "before ");
  await site.stop();
  await site.until(() => source.statuses.includes(0));
  site.emulator.release("restart");
  await site.restart();
  await site.clock.run(source.closed);
  expect(textOf(source)).toBe("before after");
  expect(source.statuses.filter((status) => status !== 0)).toEqual([200, 200, 204]);
});

it("when a browser leaves, its connection to the API ends and the run continues", async () => {
  const site = await openSite((run) => run.text("one").hold("never"));
  const { agent, run } = site.start();
  const sources = [site.watch(run), site.watch(run)];
  await site.until(() => sources.every((source) => textOf(source) === "one"));
  expect(site.emulator.connections).toBe(2);
  sources[0]?.close();
  await site.until(() => site.emulator.connections === 1);
  sources[1]?.close();
  await site.until(() => site.emulator.connections === 0);
  expect(site.emulator.runs(agent.id)[0]?.status).toBe("RUNNING");
});

it("an EventSource stops at the first answer where the run is forbidden or does not exist", async () => {
  const site = await openSite();
  const { run } = site.start();
  const missing = site.watch({ ...run, id: "run-00000000-0000-4000-8000-00000000ffff" });
  await site.clock.run(missing.closed);
  expect(missing.statuses).toEqual([404]);
  const before = site.emulator.requests.length;
  site.letIn(() => new Response(null, { status: 401 }));
  const stranger = site.watch(run);
  await site.clock.run(stranger.closed);
  expect(stranger.statuses).toEqual([401]);
  expect(site.emulator.requests).toHaveLength(before);
});

it("a final failure after the start of the response stops an EventSource for good", async () => {
  const site = await openSite((run) => run.text("one").cut().text("two"));
  const { run } = site.start();
  site.emulator.faults.status(
    ({ operationId, headers }) => operationId === "streamRun" && headers["last-event-id"] !== undefined,
    403,
  );
  const source = site.watch(run);
  await site.clock.run(source.closed);
  expect(briefly(lasting(framesOf(source))).at(-1)).toBe("failure upstream_refused (final)");
  expect(source.statuses).toEqual([200, 204]);
});

it("when the API is down for a long time, the browser reconnects by itself and resumes", async () => {
  const site = await openSite((run) => run.text("one ").cut().text("two"));
  const { run } = site.start();
  site.emulator.faults.status(({ headers }) => headers["last-event-id"] !== undefined, 503, { times: 12 });
  site.emulator.faults.status("getRun", 503, { times: 12 });
  const source = site.watch(run);
  await site.clock.run(source.closed);
  const told = briefly(framesOf(source));
  expect(told.filter((one) => one.startsWith("failure"))).toEqual(["failure upstream_unavailable"]);
  expect(textOf(source)).toBe("one two");
  expect(source.statuses).toEqual([200, 200, 204]);
});

it("the next run of an agent starts empty, in two tabs at once", async () => {
  const site = await openSite((run) => run.text(run.context.prompt));
  const { agent, run } = site.start("one");
  const first = site.watch(run);
  await site.clock.run(first.closed);
  await site.clock.advance(5_000);
  const response = await fetch(`${site.url}/agents/${agent.id}/runs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ prompt: "two" }),
  });
  expect(response.status).toBe(201);
  const next = (await response.json()) as typeof run;
  const tabs = [site.watch(next), site.watch(next)];
  await site.clock.run(Promise.all(tabs.map(({ closed }) => closed)));
  expect([first, ...tabs].map(textOf)).toEqual(["one", "two", "two"]);
});

it("a prompt that waits for a busy agent is dropped when its browser leaves", async () => {
  const site = await openSite((run) => run.hold("busy"));
  const { agent } = site.start();
  const controller = new AbortController();
  const left = fetch(`${site.url}/agents/${agent.id}/runs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ prompt: "two" }),
    signal: controller.signal,
  }).catch((error: Error) => error.name);
  const tries = () => site.emulator.requests.filter(({ operationId }) => operationId === "createRun").length;
  await site.until(() => tries() === 1);
  await site.clock.advance(30_000);
  controller.abort();
  expect(await left).toBe("AbortError");
  await site.until(() => site.clock.pending === 0);
  site.emulator.release("busy");
  await site.clock.advance(60_000);
  expect(tries()).toBe(1);
});

it("a run can be cancelled before it produces output", async () => {
  const site = await openSite((run) => run.hold("never"));
  const { agent, run } = site.start();
  const source = site.watch(run);
  await site.until(() => source.statuses.length === 1 && site.emulator.connections === 1);
  const response = await fetch(`${site.url}/agents/${agent.id}/runs/${run.id}/cancel`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  expect([response.status, await response.json()]).toEqual([200, { id: run.id }]);
  await site.clock.run(source.closed);
  expect(framesOf(source)).toContainEqual(
    expect.objectContaining({ type: "result", data: expect.objectContaining({ status: "CANCELLED" }) }),
  );
});

it("artifacts are downloaded through redirects that a browser follows", async () => {
  const site = await openSite((run) => run.artifact("artifacts/a.md", "# A"));
  const { agent, run } = site.start();
  await site.clock.run(site.watch(run).closed);
  const { items } = (await (await fetch(`${site.url}/agents/${agent.id}/artifacts`)).json()) as {
    items: { path: string }[];
  };
  expect(items.map(({ path }) => path)).toEqual(["artifacts/a.md"]);
  const url = `${site.url}/agents/${agent.id}/artifact?path=${encodeURIComponent(items[0]!.path)}`;
  expect(await (await fetch(url)).text()).toBe("# A");
});

it("the route is a plain fetch handler, which Hono, Next, Workers, Bun and Deno call without an adapter", async () => {
  const emulator = new CursorEmulator();
  const cursor = new Cursor({ apiKey: "test", baseUrl: emulator.baseUrl, fetch: emulator.fetch });
  const { agent, run } = emulator.addAgent({ prompt: { text: "go" } });
  const url = `https://app.example/agents/${agent.id}/runs/${run.id}/stream`;
  const workers = { fetch: createHandler(cursor, () => true) };
  const next = {
    GET: async (request: Request, { params }: { params: Promise<{ agentId: string; id: string }> }) =>
      runStreamResponse(cursor, await params, { request, authorize: () => true }),
  };
  const hono = (context: { req: { raw: Request; param(): { agentId: string; id: string } } }) =>
    runStreamResponse(cursor, context.req.param(), { request: context.req.raw, authorize: () => true });
  const params = { agentId: agent.id, id: run.id };
  const request = new Request(url);
  const responses = await Promise.all([
    workers.fetch(request),
    next.GET(request, { params: Promise.resolve(params) }),
    hono({ req: { raw: request, param: () => params } }),
  ]);
  for (const response of responses) {
    expect(briefly((await readResponse(response)).frames).at(-1)).toBe("end");
  }
});
