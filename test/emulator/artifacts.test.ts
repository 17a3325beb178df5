import { describe, expect, it } from "vitest";
import { drain, emulate } from "./helpers.ts";

async function withFile(options = {}) {
  const parts = emulate(options);
  const made = await parts.create("x");
  const path = "artifacts/a b+c&d#é%20'.bin";
  parts.emulator.addArtifact(made.agentId, path, "0123456789");
  const presign = async () =>
    (await parts.call("GET", `${made.path}/artifacts/download?path=${encodeURIComponent(path)}`)).json;
  return { ...parts, ...made, file: path, presign };
}

describe("artifacts", () => {
  it("are listed as scripts write them, and as tests add them", async () => {
    const { call, create, emulator, clock } = emulate();
    emulator.script("report", (run) => run.artifact("artifacts/report.md", "# é").finish());
    const { path, agentId } = await create("report");
    emulator.addArtifact(agentId, "artifacts/../evil", new Uint8Array(3));
    const updatedAt = new Date(clock.now()).toISOString();
    expect((await call("GET", `${path}/artifacts`)).json).toEqual({
      items: [
        { path: "artifacts/report.md", sizeBytes: 4, updatedAt },
        { path: "artifacts/../evil", sizeBytes: 3, updatedAt },
      ],
    });
  });

  it("may appear later than they were written", async () => {
    const { call, path, clock } = await withFile({ artifactDelayMs: 5000 });
    expect((await call("GET", `${path}/artifacts`)).json).toEqual({ items: [] });
    await clock.advance(5000);
    expect((await call("GET", `${path}/artifacts`)).json.items).toHaveLength(2);
  });

  it("can be downloaded only if they are under artifacts/ and exist", async () => {
    const { call, path } = await withFile();
    const ask = (file: string) => call("GET", `${path}/artifacts/download?path=${encodeURIComponent(file)}`);
    for (const file of ["/opt/cursor/artifacts/x", "x", "../artifacts/x"]) {
      const reply = await ask(file);
      expect([reply.status, reply.json.error.code]).toEqual([400, "validation_error"]);
    }
    const missing = await ask("artifacts/none");
    expect([missing.status, missing.json.error.code]).toEqual([404, "artifact_not_found"]);
    expect((await call("GET", `${path}/artifacts/download`)).status).toBe(400);
  });
});

describe("presigned URLs", () => {
  it("point to the storage's own origin and return the bytes", async () => {
    const { presign, emulator, clock } = await withFile();
    const { url, expiresAt } = await presign();
    expect(new URL(url).origin).toBe("https://cloud-agent-artifacts.s3.us-east-1.amazonaws.com");
    expect(new URL(url).searchParams.get("X-Amz-Expires")).toBe("900");
    expect(expiresAt).toBe(new Date(clock.now() + 900_000).toISOString());
    const response = await emulator.fetch(url);
    expect([response.status, await response.text()]).toEqual([200, "0123456789"]);
    expect(response.headers.get("content-length")).toBe("10");
    expect(response.headers.get("etag")).toMatch(/^"[0-9a-f]{32}"$/);
  });

  it("reject a second way of authentication and repeat it in the answer, as S3 does", async () => {
    const { presign, emulator } = await withFile();
    const { url } = await presign();
    const response = await emulator.fetch(url, { headers: { Authorization: "Bearer key_TEST" } });
    expect([response.status, response.headers.get("content-type")]).toEqual([400, "application/xml"]);
    expect(await response.text()).toMatch(/<Code>InvalidArgument<.*<ArgumentValue>Bearer key_TEST</s);
  });

  it("expire", async () => {
    const { presign, emulator, clock } = await withFile({ urlLifetimeSeconds: 60 });
    const { url } = await presign();
    await clock.advance(59_999);
    expect((await emulator.fetch(url)).status).toBe(200);
    await clock.advance(1);
    const response = await emulator.fetch(url);
    expect(response.status).toBe(403);
    expect(await response.text()).toMatch(/<Code>AccessDenied<\/Code><Message>Request has expired</);
  });

  it("break when anything in them is changed", async () => {
    const { presign, emulator } = await withFile();
    const { url } = await presign();
    const other = (from: string | RegExp, to: string) => {
      expect(url.replace(from, to)).not.toBe(url);
      return url.replace(from, to);
    };
    const changed = [
      other("/bc-", "/cc-"),
      other("X-Amz-Expires=900", "X-Amz-Expires=901"),
      other("%2B", "+"),
      other(/.$/, "z"),
      `${url}&retry=1`,
      other(/&X-Amz-Signature=.*/, ""),
    ];
    for (const wrong of changed) {
      const response = await emulator.fetch(wrong);
      expect([wrong, response.status]).toEqual([wrong, 403]);
      expect(await response.text()).toContain("<Code>SignatureDoesNotMatch</Code>");
    }
    expect((await emulator.fetch(url, { method: "HEAD" })).status).toBe(403);
  });

  it("serve ranges, also with If-Range", async () => {
    const { presign, emulator, agentId, file } = await withFile();
    const { url } = await presign();
    const get = async (headers: Record<string, string>) => {
      const response = await emulator.fetch(url, { headers });
      return [response.status, response.headers.get("content-range"), await response.text()];
    };
    expect(await get({ Range: "bytes=2-4" })).toEqual([206, "bytes 2-4/10", "234"]);
    expect(await get({ Range: "bytes=7-" })).toEqual([206, "bytes 7-9/10", "789"]);
    expect(await get({ Range: "bytes=7-99" })).toEqual([206, "bytes 7-9/10", "789"]);
    expect(await get({ Range: "bytes=-3" })).toEqual([206, "bytes 7-9/10", "789"]);
    expect(await get({ Range: "bytes=1-2,4-5" })).toEqual([200, null, "0123456789"]);
    expect((await get({ Range: "bytes=10-" })).slice(0, 2)).toEqual([416, "bytes */10"]);
    const etag = (await emulator.fetch(url)).headers.get("etag") ?? "";
    expect((await get({ Range: "bytes=2-", "If-Range": etag }))[0]).toBe(206);
    emulator.addArtifact(agentId, file, "abcdefghij");
    expect(await get({ Range: "bytes=2-", "If-Range": etag })).toEqual([200, null, "abcdefghij"]);
  });

  it("can be cut, failed and recorded like any operation", async () => {
    const { presign, emulator } = await withFile();
    const { url } = await presign();
    emulator.faults
      .status("getArtifactBytes", 503, { body: "busy" })
      .cut("getArtifactBytes", { afterBytes: 4 })
      .cut("getArtifactBytes", { afterBytes: 4, clean: true });
    expect((await emulator.fetch(url)).status).toBe(503);
    const short = await drain(await emulator.fetch(url));
    expect([short.text, short.error]).toEqual(["0123", undefined]);
    expect(await (await emulator.fetch(url)).text()).toBe("0123456789");
    expect(emulator.requests.filter((request) => request.operationId === "getArtifactBytes")).toHaveLength(3);
  });
});
