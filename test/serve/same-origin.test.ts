import { cancelResponse, type ServePostOptions } from "cursor-cloud-agents/serve";
import { describe, expect, it, vi } from "vitest";
import { fake, reply } from "../support/api-server.ts";

import { authorize, site } from "./stage.ts";

describe("what changes something takes no request of another site", () => {
  const from = (headers: Record<string, string>, allowedOrigins?: string[], url = `${site}/x`) => {
    const { cursor, requests } = fake(reply(200, { id: "run-1" }));
    const request = new Request(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: "{}",
    });
    const options: ServePostOptions<{ agentId: string; id: string }> = {
      request,
      authorize: vi.fn(authorize),
      allowedOrigins,
    };
    return cancelResponse(cursor, { agentId: "bc-1", id: "run-1" }, options).then((response) => ({
      status: response.status,
      sent: requests.length,
      asked: vi.mocked(options.authorize).mock.calls.length,
    }));
  };
  const allowed = { status: 200, sent: 1, asked: 1 };
  const refused = { status: 403, sent: 0, asked: 0 };

  it.each<[string, Record<string, string>]>([
    ["a page of this site", { "sec-fetch-site": "same-origin", origin: site }],
    [
      "a page of this site, behind a proxy of another name",
      { "sec-fetch-site": "same-origin", origin: "https://public.example" },
    ],
    ["an older browser", { origin: site }],
    ["an older browser, behind a proxy that ends TLS", { origin: "http://app.example" }],
    [
      "an older browser, where the server knows its public name",
      { origin: "https://public.example", host: "public.example" },
    ],
    ["a program", {}],
  ])("%s may", async (_, headers) => {
    expect(await from(headers)).toEqual(allowed);
  });

  it.each<[string, Record<string, string>]>([
    ["another site", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }],
    ["a sibling", { "sec-fetch-site": "same-site", origin: "https://blog.app.example" }],
    ["another port", { origin: "https://app.example:8443" }],
    ["an older browser on another site", { origin: "https://evil.example" }],
    ["a sandboxed frame", { origin: "null" }],
    ["one that says this origin, of another site", { "sec-fetch-site": "cross-site", origin: site }],
    ["a name that ends alike", { origin: "https://evilapp.example" }],
  ])("%s may not: 403, with nobody asked", async (_, headers) => {
    expect(await from(headers)).toEqual(refused);
  });

  it("but of those that were allowed, by their whole origin", async () => {
    const headers = { "sec-fetch-site": "cross-site", origin: "https://front.example" };
    expect(await from(headers, ["https://front.example"])).toEqual(allowed);
    expect(
      await from({ ...headers, origin: "https://front.example.evil" }, ["https://front.example"]),
    ).toEqual(refused);
  });

  it.each([["*"], ["app.example"], ["https://app.example/"], [7]])("%s is no origin", async (origin) => {
    await expect(from({}, [origin as string])).rejects.toMatchObject({ argument: "allowedOrigins" });
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
  ])("a form can't: %s is 415", async (type) => {
    expect(await from({ "content-type": type })).toMatchObject({ status: 415, sent: 0 });
  });
});
