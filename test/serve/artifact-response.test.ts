import { artifactResponse, artifactsResponse } from "cursor-cloud-agents/serve";
import { describe, expect, it } from "vitest";
import { bodyOf, fake, reply, silent, until } from "../support/api-server.ts";

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
      "content-disposition": "attachment; filename*=UTF-8''report.md",
      "content-length": "8",
      "content-security-policy": "default-src 'none'; sandbox",
      "content-type": "text/html",
      "x-content-type-options": "nosniff",
    });
    const other = await artifactResponse(cursor, agent.id, "artifacts/a 'b'/ü.txt", options);
    expect(other.headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''%C3%BC.txt");
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
    "https://storage.example/report.md?X-Amz-Signature=a%2Fb%20c",
    "http://127.0.0.1:8080/report.md",
    "http://localhost/report.md",
  ])("are redirected to exactly the URL of the API: %s", async (url) => {
    const { cursor } = fake([reply(200, { url, expiresAt: "2026-01-01T00:00:00.000Z" })]);
    const options = { request: get(), authorize };
    const response = await artifactResponse(cursor, "bc-1", "artifacts/report.md", options);
    expect([response.status, response.headers.get("location")]).toEqual([302, url]);
  });

  it.each(["list", "redirect", "proxy"])(
    "are no longer requested once the browser leaves: %s",
    async (kind) => {
      const { cursor, requests } = fake(silent);
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
            bodyOf(["Hel"], "open", () => cancelled++),
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
