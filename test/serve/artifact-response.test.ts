import { artifactResponse, artifactsResponse } from "cursor-cloud-agents/serve";
import { describe, expect, it } from "vitest";
import { bodyOf, fake, reply, SILENT } from "../support/fake-api.ts";
import { until } from "../support/waiting.ts";

import { authorize, codeOf, get, stage } from "./stage.ts";

describe("artifacts", () => {
  function withArtifacts() {
    const all = stage();
    const { agent } = all.start("quick");
    all.emulator.addArtifact(agent.id, "artifacts/report.md", "# Report", "text/html");
    all.emulator.addArtifact(agent.id, "artifacts/a 'b'/ü.txt", "hi", "text/plain");
    return { ...all, agent };
  }

  it("are listed", async () => {
    const { cursor, agent } = withArtifacts();
    const response = await artifactsResponse(cursor, agent.id, { request: get(), authorize });
    expect(response.status).toBe(200);
    const { items } = JSON.parse(await response.text());
    expect(items.map(({ path }: { path: string }) => path).sort()).toEqual([
      "artifacts/a 'b'/ü.txt",
      "artifacts/report.md",
    ]);
  });

  it("are served by a redirect to the storage, which no cache may keep", async () => {
    const { cursor, emulator, agent } = withArtifacts();
    const response = await artifactResponse(cursor, agent.id, "artifacts/report.md", {
      request: get(),
      authorize,
    });
    expect(response.status).toBe(302);
    expect([...response.headers.keys()]).toEqual(["cache-control", "location", "referrer-policy"]);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await (await emulator.fetch(response.headers.get("location")!)).text()).toBe("# Report");
  });

  it("are served through the server as a download that can't run as a page of the site", async () => {
    const { cursor, agent } = withArtifacts();
    const options = { request: get(), authorize, proxy: true };
    const response = await artifactResponse(cursor, agent.id, "artifacts/report.md", options);
    expect([response.status, await response.text()]).toEqual([200, "# Report"]);
    expect(Object.fromEntries(response.headers)).toEqual({
      "cache-control": "private, no-store",
      "accept-ranges": "bytes",
      "content-disposition": "attachment; filename=\"report.md\"; filename*=UTF-8''report.md",
      "content-length": "8",
      "content-security-policy": "default-src 'none'; sandbox",
      "content-type": "text/html",
      etag: expect.stringMatching(/^"[^"]+"$/),
      "last-modified": expect.stringContaining("GMT"),
      "x-content-type-options": "nosniff",
    });
    const other = await artifactResponse(cursor, agent.id, "artifacts/a 'b'/ü.txt", options);
    expect(other.headers.get("content-disposition")).toBe(
      "attachment; filename=\"_.txt\"; filename*=UTF-8''%C3%BC.txt",
    );
  });

  it.each([
    "text/javascript",
    "application/X-JavaScript; charset=utf-8",
    "text/html, text/ecmascript",
    "text/css",
  ])("that are proxied can't be loaded as a script or a style by a page of the site: %s", async (type) => {
    const { cursor, emulator, agent } = withArtifacts();
    emulator.addArtifact(agent.id, "artifacts/x", "alert(1)", type);
    const options = { request: get(), authorize, proxy: true };
    const response = await artifactResponse(cursor, agent.id, "artifacts/x", options);
    expect(response.headers.get("content-type")).toBe("application/octet-stream");
    expect(await response.text()).toBe("alert(1)");
  });

  it("whose download breaks in the middle break the response, too", async () => {
    const { cursor, emulator, agent, clock } = withArtifacts();
    let reads = 0;
    emulator.faults.cut("getArtifactBytes", { afterBytes: 3 });
    const isLater = ({ operationId }: { operationId?: string }) =>
      operationId === "getArtifactBytes" && reads++ > 0;
    emulator.faults.dropRequest(isLater, { times: Number.POSITIVE_INFINITY });
    const options = { request: get(), authorize, proxy: true };
    const response = await clock.run(artifactResponse(cursor, agent.id, "artifacts/report.md", options));
    await expect(clock.run(response.text())).rejects.toThrow();
  });

  it.each([
    undefined,
    null,
    "",
    "report.md",
    "/etc/passwd",
    "artifacts/",
    "artifacts/../secret",
    "artifacts/a/..",
    "artifacts/..\\x",
    "artifacts/a\nb",
    "artifacts/\ud800",
  ])("outside artifacts/ are answered with 404, and the API is not called: %j", async (path) => {
    const { cursor, requests } = fake([]);
    expect(await codeOf(await artifactResponse(cursor, "bc-1", path, { request: get(), authorize }))).toEqual(
      [404, "not_found"],
    );
    expect(requests).toEqual([]);
  });

  it.each([
    "http://storage.example/report.md?X-Amz-Signature=s",
    "http://127.0.0.1:8080/report.md",
    "http://localhost/report.md",
    "https://localhost/report.md",
    "https://127.1/report.md",
    "https://2130706433/report.md",
    "https://10.0.0.7/report.md",
    "https://100.64.0.1/report.md",
    "https://172.16.0.1/report.md",
    "https://192.168.1.1/report.md",
    "https://169.254.169.254/latest/meta-data",
    "https://[::1]/report.md",
    "https://[::ffff:10.0.0.7]/report.md",
    "https://[fd00::1]/report.md",
    "https://[fe80::1]/report.md",
    "https://minio/report.md",
    "https://minio.internal./report.md",
    "javascript:alert(1)",
    "data:text/html,x",
    "//storage.example/report.md",
    "/report.md",
    "https://user:word@storage.example/report.md",
    "",
    null,
    7,
    undefined,
  ])(
    "at a URL that no browser may be redirected to are answered with 502, and the log does not show it: %s",
    async (url) => {
      const { cursor } = fake([reply(200, { url, expiresAt: "2026-01-01T00:00:00.000Z" })]);
      const errors: unknown[] = [];
      const onError = (error: unknown) => errors.push(error);
      const response = await artifactResponse(cursor, "bc-1", "artifacts/report.md", {
        request: get(),
        authorize,
        onError,
      });
      expect(response.headers.get("location")).toBeNull();
      expect(await codeOf(response)).toEqual([502, "upstream_unavailable"]);
      expect(errors).toMatchObject([{ kind: "api", code: "invalid_response" }]);
      expect(String(errors[0])).not.toContain("storage.example");
    },
  );

  it.each([
    ["https://storage.example/report.md?X-Amz-Signature=a%2Fb%20c", "https://api.cursor.com"],
    ["https://172.32.0.1/report.md", "https://api.cursor.com"],
    ["https://10.example.com/report.md", "https://api.cursor.com"],
    ["http://127.0.0.1:8080/report.md", "http://127.0.0.1:4000"],
    ["http://localhost/report.md", "http://127.0.0.1:4000"],
    ["https://minio.internal/report.md", "https://10.0.0.1"],
  ])("are redirected to exactly the URL of the API: %s from %s", async (url, baseUrl) => {
    const { cursor } = fake([reply(200, { url, expiresAt: "2026-01-01T00:00:00.000Z" })], { baseUrl });
    const options = { request: get(), authorize };
    const response = await artifactResponse(cursor, "bc-1", "artifacts/report.md", options);
    expect([response.status, response.headers.get("location")]).toEqual([302, url]);
  });

  it.each(["list", "redirect", "proxy"])(
    "are no longer requested once the browser leaves: %s",
    async (kind) => {
      const { cursor, requests } = fake(SILENT);
      const controller = new AbortController();
      const options = { request: get({ signal: controller.signal }), authorize };
      const asked =
        kind === "list"
          ? artifactsResponse(cursor, "bc-1", options)
          : artifactResponse(cursor, "bc-1", "artifacts/a", { ...options, proxy: kind === "proxy" });
      await until(() => requests.length === 1);
      controller.abort();
      expect((await asked).status).toBe(499);
      expect(requests.map(({ signal }) => signal.aborted)).toEqual([true]);
    },
  );

  it.each(["leaves", "cancels the body"])(
    "are no longer read from the storage once the browser %s",
    async (way) => {
      let cancelled = 0;
      const url = "https://storage.example/a";
      const { cursor } = fake([
        reply(200, { url, expiresAt: "2026-01-01T00:00:00.000Z" }),
        () =>
          new Response(
            bodyOf(["Hel"], "stall", () => cancelled++),
            { headers: { "content-length": "9" } },
          ),
      ]);
      const controller = new AbortController();
      const options = { request: get({ signal: controller.signal }), authorize, proxy: true };
      const reader = (await artifactResponse(cursor, "bc-1", "artifacts/a", options)).body!.getReader();
      expect(new TextDecoder().decode((await reader.read()).value)).toBe("Hel");
      if (way === "leaves") {
        const pending = reader.read();
        controller.abort();
        await expect(pending).rejects.toBe(controller.signal.reason);
      } else await reader.cancel();
      expect(cancelled).toBe(1);
    },
  );

  it("that don't exist are answered with 404", async () => {
    const { cursor, agent } = withArtifacts();
    for (const proxy of [false, true]) {
      const options = { request: get(), authorize, proxy };
      expect(await codeOf(await artifactResponse(cursor, agent.id, "artifacts/none", options))).toEqual([
        404,
        "not_found",
      ]);
    }
  });
});

describe("a proxied artifact", () => {
  const size = 300_000;
  const text = Array.from({ length: size / 10 }, (_, index) => String(index).padStart(10, "0")).join("");

  function film() {
    const { cursor, emulator, start } = stage();
    const { agent } = start("quick");
    emulator.addArtifact(agent.id, "artifacts/film.mp4", text, "video/mp4");
    return (headers: Record<string, string> = {}, method = "GET") =>
      artifactResponse(cursor, agent.id, "artifacts/film.mp4", {
        request: get({ method, headers }),
        authorize,
        proxy: true,
      });
  }

  it.each<[string, number, number]>([
    ["bytes=0-1", 0, 2],
    ["bytes=5-5", 5, 6],
    ["bytes=200000-", 200_000, size],
    ["bytes=299999-", 299_999, size],
    ["bytes=299990-999999999", 299_990, size],
    ["bytes=-10", size - 10, size],
    ["bytes=-999999", 0, size],
    ["Bytes=0-0", 0, 1],
  ])("is sent in part for %s", async (range, start, end) => {
    const response = await film()({ range });
    expect(response.status).toBe(206);
    expect(response.headers.get("content-range")).toBe(`bytes ${start}-${end - 1}/${size}`);
    expect(response.headers.get("content-length")).toBe(String(end - start));
    expect(response.headers.get("accept-ranges")).toBe("bytes");
    expect(response.headers.get("etag")).toMatch(/^"/);
    expect((await response.text()) === text.slice(start, end)).toBe(true);
  });

  it.each(["bytes=0-1,5-6", "bytes=5-2", "bytes=-", "lines=0-1", "bytes=a-b", ""])(
    "is sent whole for %j",
    async (range) => {
      const response = await film()({ range });
      expect([response.status, (await response.text()) === text]).toEqual([200, true]);
    },
  );

  it.each(["bytes=400000-", "bytes=300000-", "bytes=-0"])("has no such part: %s", async (range) => {
    const response = await film()({ range });
    expect(response.headers.get("content-range")).toBe(`bytes */${size}`);
    expect(await codeOf(response)).toEqual([416, "range_not_satisfiable"]);
  });

  it("is sent in part only if it is the version that the browser has", async () => {
    const ask = film();
    const etag = (await ask({}, "HEAD")).headers.get("etag")!;
    expect((await ask({ range: "bytes=0-1", "if-range": etag })).status).toBe(206);
    expect((await ask({ range: "bytes=0-1", "if-range": '"other"' })).status).toBe(200);
    expect((await ask({ range: "bytes=0-1", "if-range": `W/${etag}` })).status).toBe(200);
  });

  it("is not sent again to a browser that has it", async () => {
    const ask = film();
    const etag = (await ask()).headers.get("etag")!;
    for (const condition of [etag, `W/${etag}`, `"a", ${etag}`, "*"]) {
      const response = await ask({ "if-none-match": condition });
      expect([response.status, await response.text(), response.headers.get("etag")]).toEqual([304, "", etag]);
    }
    expect((await ask({ "if-none-match": '"other"' })).status).toBe(200);
  });

  it("is described by HEAD as GET would send it", async () => {
    const ask = film();
    const [head, whole] = [await ask({ range: "bytes=0-1" }, "HEAD"), await ask()];
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect([...head.headers]).toEqual([...whole.headers]);
  });

  it.each([
    ['größe "1".txt', 'gr__e \\"1\\".txt', "gr%C3%B6%C3%9Fe%20%221%22.txt"],
    ["a\\b%41.txt", "a\\\\b%41.txt", "a%5Cb%2541.txt"],
    ["🙂.", "_.", "%F0%9F%99%82."],
    ["it's (1)*", "it's (1)*", "it%27s%20%281%29%2A"],
  ])("is saved under its own name by every client: %s", async (name, ascii, full) => {
    const url = "https://storage.example/a";
    const { cursor } = fake([
      reply(200, { url, expiresAt: "2026-01-01T00:00:00.000Z" }),
      () => new Response("x"),
    ]);
    const options = { request: get(), authorize, proxy: true };
    const response = await artifactResponse(cursor, "bc-1", `artifacts/${name}`, options);
    expect(response.headers.get("content-disposition")).toBe(
      `attachment; filename="${ascii}"; filename*=UTF-8''${full}`,
    );
  });
});
