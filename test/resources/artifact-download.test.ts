import { describe, expect, it } from "vitest";
import { artifacts, etag, expired, file, part, path } from "../support/artifact-storage.ts";
import { type Answer, bodyOf, fake, reply } from "../support/fake-api.ts";
import { listen, send } from "../support/loopback-server.ts";
import { agentId } from "../support/sample-run.ts";
import { failure, until } from "../support/waiting.ts";

describe("a download", () => {
  it("returns the bytes, the size and the type", async () => {
    const { download, requests } = artifacts(part(), part(), part());
    const first = await download();
    expect([first.path, first.sizeBytes, first.contentType]).toEqual([path, 10, "text/plain"]);
    expect(await first.text()).toBe(file);
    expect(await (await download()).bytes()).toEqual(new TextEncoder().encode(file));
    const pieces = [];
    for await (const piece of (await download()).body as unknown as AsyncIterable<Uint8Array>)
      pieces.push(piece);
    expect(Buffer.concat(pieces).toString()).toBe(file);
    expect(requests[0]!.url.searchParams.get("path")).toBe(path);
  });

  it("reports its progress", async () => {
    const { cursor } = artifacts(part(0, ["0123", "", "456789"]));
    const seen: object[] = [];
    const onProgress = (progress: object) => seen.push(progress);
    await (await cursor.artifacts.download(agentId, path, { onProgress })).bytes();
    expect(seen).toEqual([
      { loaded: 4, total: 10 },
      { loaded: 10, total: 10 },
    ]);
  });

  it("sends the storage neither the key nor the client's headers", async () => {
    const server = await listen(({ target, headers }, response) => {
      if (target.startsWith("/v1/")) {
        return send(response, 200, { url: `${server.origin}/b/k?X-Amz-Signature=s`, expiresAt: "" });
      }
      if (headers.authorization) return send(response, 400, {});
      return response.end(file);
    });
    const cursor = server.cursor({ headers: { "x-team": "1", cookie: "c=1" } });
    expect(await (await cursor.artifacts.download(agentId, path)).text()).toBe(file);
    const { headers } = server.requests[1]!;
    for (const name of ["authorization", "x-team", "cookie", "content-type"])
      expect(headers[name]).toBeUndefined();
  });

  it("requests the signed URL unchanged, byte by byte", async () => {
    const target = "/a%2Bb%20c/%E2%9C%85?X-Amz-Credential=A%2F2026&X-Amz-Signature=ab%2Fcd%3D&x-id=GetObject";
    const server = await listen((request, response) =>
      request.target.startsWith("/v1/")
        ? send(response, 200, { url: server.origin + target, expiresAt: "" })
        : response.end(file),
    );
    await (await server.cursor().artifacts.download(agentId, path)).bytes();
    expect(server.requests[1]!.target).toBe(target);
  });

  it.each([
    "http://storage.example/a",
    "ftp://storage.example/a",
    "file:///etc/passwd",
    "https://u:p@s/",
    "no",
    7,
    null,
  ])("rejects the address %s", async (url) => {
    const { cursor, requests } = fake([reply(200, { url, expiresAt: "" })]);
    expect(await failure(cursor.artifacts.download(agentId, path))).toMatchObject({
      code: "invalid_response",
    });
    expect(requests).toHaveLength(1);
  });

  it("does not follow a redirect of the storage", async () => {
    const { download, requests, fails } = artifacts(
      () => new Response(null, { status: 302, headers: { location: "https://evil.example/" } }),
    );
    expect((await fails(download())).code).toBe("redirect_refused");
    expect(requests.map(({ url }) => url.host)).toEqual(["api.cursor.com", "storage.example"]);
  });
});

describe("a download that breaks", () => {
  it.each(["cut", "end"] as const)(
    "(%s) continues where it broke, if the file is still the same",
    async (then) => {
      const { text, asked } = artifacts(part(0, ["012"], then), part(3, ["34"], then), part(5));
      expect(await text()).toBe(file);
      expect(asked()).toEqual([["1"], ["1", "bytes=3-", etag], ["1", "bytes=5-", etag]]);
    },
  );

  it("by silence continues, too", async () => {
    const { text, asked } = artifacts(part(0, ["012"], "stall"), part(3));
    expect(await text()).toBe(file);
    expect(asked()).toHaveLength(2);
  });

  it("passes over the bytes it has when the storage starts over", async () => {
    const { text } = artifacts(part(0, ["012"], "cut"), part(0, ["01", "2345", "6789"]));
    expect(await text()).toBe(file);
  });

  it.each([
    ["another tag in a whole answer", part(0, [file], "end", { etag: '"v2"' })],
    [
      "another length",
      part(3, ["345678901"], "end", { "content-range": "bytes 3-11/12", "content-length": "9" }),
    ],
    ["another place", part(4)],
    ["no place at all", part(3, ["3456789"], "end", { "content-range": "" })],
  ])("is an error when the file has changed: %s", async (_, second) => {
    const { text } = artifacts(part(0, ["012"], "cut"), second);
    expect(await failure(text())).toMatchObject({ code: "invalid_response", agentId });
  });

  it.each([
    ["neither tag nor date", {}],
    ["a weak tag alone", { etag: 'W/"1"' }],
  ])("doesn't join bytes that nothing proves to be of one file: %s", async (_, version) => {
    const answer = (status: number, pieces: string[], then: "end" | "cut", more: object): Answer => {
      return () => new Response(bodyOf(pieces, then), { status, headers: { ...version, ...more } });
    };
    const { text, asked } = artifacts(
      answer(200, ["11111"], "cut", { "content-length": "10" }),
      answer(206, ["22222"], "end", { "content-length": "5", "content-range": "bytes 5-9/10" }),
    );
    const error = await failure(text());
    expect(error).toMatchObject({ kind: "api", code: "invalid_response", agentId });
    expect(error.cause).toMatchObject({ kind: "connection" });
    expect(asked()).toEqual([["1"]]);
  });

  it("before its first byte takes version, size and type from the answer that brings it", async () => {
    const second = { etag: '"v2"', "content-type": "text/html" };
    const { run, download, asked } = artifacts(
      part(0, [], "cut", { "content-length": "12" }),
      part(0, ["01"], "cut", second),
      part(2, undefined, "end", second),
    );
    const got = await run(download());
    expect([got.etag, got.sizeBytes, got.contentType]).toEqual([etag, 12, "text/plain"]);
    expect(await run(got.text())).toBe(file);
    expect([got.etag, got.sizeBytes, got.contentType]).toEqual(['"v2"', 10, "text/html"]);
    expect(asked()).toEqual([["1"], ["1"], ["1", "bytes=2-", '"v2"']]);
  });

  it("does not name a weak tag, which does not identify bytes", async () => {
    const date = "Thu, 01 Jan 2026 00:00:00 GMT";
    const weak = { etag: 'W/"1"', "last-modified": date };
    const { text, asked } = artifacts(part(0, ["012"], "cut", weak), part(3, undefined, "end", weak));
    expect(await text()).toBe(file);
    expect(asked()[1]).toEqual(["1", "bytes=3-", date]);
  });

  it.each(["end", "cut"] as const)("(%s) for good is never a short file", async (then) => {
    const short = () => part(0, ["012"], then);
    const { text, asked } = artifacts(short(), ...Array(9).fill(part(3, [], then)));
    expect((await failure(text())).kind).toBe("connection");
    expect(asked()).toHaveLength(3);
  });

  it("may break more often than maxRetries, as long as bytes arrive", async () => {
    const steps = [...file].map((digit, index) => part(index, [digit], "cut"));
    const { text } = artifacts(...steps, part(0));
    expect(await text()).toBe(file);
  });

  it("and has more bytes than the file is an error", async () => {
    const { text } = artifacts(part(0, [`${file}x`]));
    expect((await failure(text())).code).toBe("invalid_response");
  });

  it("is requested again after a 503, when the storage's Retry-After is over", async () => {
    const { text, clock } = artifacts(
      reply(503, "<Error><Code>SlowDown</Code></Error>", { "retry-after": "3" }),
      part(),
    );
    const begin = clock.now();
    expect(await text()).toBe(file);
    expect(clock.now() - begin).toBe(3_000);
  });

  it.each([400, 404])("with a %i is not requested again", async (status) => {
    const { download, asked, fails } = artifacts(reply(status, "<Error><Code>NoSuchKey</Code></Error>"));
    expect(await fails(download())).toMatchObject({ status, code: "NoSuchKey" });
    expect(asked()).toHaveLength(1);
  });
});

describe("a storage that keeps failing", () => {
  it("is not asked forever, whatever Retry-After it sends", async () => {
    const busy = reply(503, "<Error/>", { "retry-after": "1" });
    const { download, fails, asked } = artifacts(...Array<Answer>(20).fill(busy));
    expect(await fails(download())).toMatchObject({ kind: "api", status: 503 });
    expect(asked()).toHaveLength(3);
  });

  it.each(["stall", "cut"] as const)(
    "with a body that doesn't end fails with its status (%s)",
    async (then) => {
      const stalled: Answer = () => new Response(bodyOf(["<Error><Code>Slow"], then), { status: 404 });
      const { download, fails, asked } = artifacts(stalled);
      expect(await fails(download())).toMatchObject({ kind: "api", status: 404 });
      expect(asked()).toHaveLength(1);
    },
  );
});

describe("the API's own answer to a download", () => {
  it.each([
    [503, undefined, 3],
    [503, 0, 1],
    [403, undefined, 1],
    [404, undefined, 1],
  ])("%i with maxRetries %s: %i requests, not twice as many", async (status, maxRetries, count) => {
    const { cursor, requests, fails } = fake(reply(status, { error: { code: "x", message: "m" } }));
    const error = await fails(cursor.artifacts.download(agentId, path, { maxRetries }));
    expect([error.status, error.code, requests.length]).toEqual([status, "x", count]);
  });

  it("with maxRetries 0, the storage is asked once, too", async () => {
    const { cursor, asked, fails } = artifacts(reply(503), part());
    expect((await fails(cursor.artifacts.download(agentId, path, { maxRetries: 0 }))).status).toBe(503);
    expect(asked()).toHaveLength(1);
  });
});

describe("an expired URL", () => {
  it("is renewed, once, and the download continues where it was", async () => {
    const { text, asked, clock } = artifacts(part(0, ["012"], "cut"), expired, part(3));
    expect(await text()).toBe(file);
    expect(asked()).toEqual([["1"], ["1", "bytes=3-", etag], ["2", "bytes=3-", etag]]);
    expect(clock.pending).toBe(0);
  });

  it("that gets a second 403 is an error", async () => {
    const { download, asked, fails } = artifacts(expired, expired, part());
    expect(await fails(download())).toMatchObject({ status: 403, code: "AccessDenied" });
    expect(asked()).toEqual([["1"], ["2"]]);
  });

  it("may expire again when bytes have arrived in between", async () => {
    const { text, asked } = artifacts(expired, part(0, ["012"], "cut"), expired, part(3));
    expect(await text()).toBe(file);
    expect(asked().map(([signature]) => signature)).toEqual(["1", "2", "2", "3"]);
  });
});

it("an abort ends a download whose fetch ignores the signal, and cancels the late answer", async () => {
  let answer: (response: Response) => void = () => {};
  let cancelled = 0;
  const { cursor, clock } = artifacts(() => new Promise<Response>((resolve) => (answer = resolve)));
  const controller = new AbortController();
  const call = failure(cursor.artifacts.download(agentId, path, { signal: controller.signal }));
  await clock.advance(10);
  controller.abort("enough");
  expect(await call).toBe("enough");
  answer(new Response(bodyOf([file], "stall", () => cancelled++)));
  await clock.advance(10);
  expect([cancelled, clock.pending]).toEqual([1, 0]);
});

describe("a reader", () => {
  it("who is slow keeps the storage waiting: nothing is read ahead", async () => {
    let made = 0;
    const endless = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          made += 1;
          controller.enqueue(new Uint8Array(1024 * 1024));
        },
      },
      { highWaterMark: 0 },
    );
    const { download } = artifacts(() => new Response(endless));
    const { body } = await download();
    const reader = body.getReader();
    for (let count = 0; count < 3; count++) await reader.read();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(made).toBe(3);
    await reader.cancel();
  });

  it.each(["cancel", "dispose", "abort"] as const)("who leaves (%s) closes the socket", async (way) => {
    let closed = 0;
    const server = await listen((request, response) => {
      if (request.target.startsWith("/v1/"))
        return send(response, 200, { url: `${server.origin}/b`, expiresAt: "" });
      response.on("close", () => closed++);
      return response.write(file);
    });
    const controller = new AbortController();
    const options = { signal: controller.signal };
    const download = await server.cursor().artifacts.download(agentId, path, options);
    if (way === "cancel") await download.body.cancel();
    if (way === "dispose") await download[Symbol.asyncDispose]();
    if (way === "abort") {
      const bytes = failure(download.bytes());
      controller.abort("enough");
      expect(await bytes).toBe("enough");
    }
    await until(() => closed === 1);
  });
});
