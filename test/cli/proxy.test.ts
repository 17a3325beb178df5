import { describe, expect, it } from "vitest";
import { findProxy } from "../../src/cli/proxy.ts";

const url = "https://api.cursor.com";
const proxy = "http://proxy:3128";

describe("the proxy of the environment", () => {
  it.each<[Record<string, string>, string, string | undefined, boolean, RegExp]>([
    [{ HTTPS_PROXY: proxy }, "20.20.2", "HTTPS_PROXY", false, /this Node \(20\.20\.2\) can't/],
    [{ https_proxy: proxy, NODE_USE_ENV_PROXY: "1" }, "22.20.0", "https_proxy", false, /can't/],
    [{ HTTPS_PROXY: proxy }, "23.11.0", "HTTPS_PROXY", false, /can't/],
    [{ HTTPS_PROXY: proxy }, "22.21.0", "HTTPS_PROXY", false, /export NODE_USE_ENV_PROXY=1$/],
    [
      { HTTPS_PROXY: proxy, NODE_USE_ENV_PROXY: "0" },
      "24.0.0",
      "HTTPS_PROXY",
      false,
      /export NODE_USE_ENV_PROXY=1$/,
    ],
    [{ HTTPS_PROXY: proxy, NODE_USE_ENV_PROXY: "1" }, "24.0.0", "HTTPS_PROXY", true, /go through it/],
    [
      { https_proxy: proxy, NODE_OPTIONS: "--use-env-proxy --no-warnings" },
      "26.0.0",
      "https_proxy",
      true,
      /go through/,
    ],
    [
      { ALL_PROXY: proxy, NODE_USE_ENV_PROXY: "1" },
      "24.0.0",
      "ALL_PROXY",
      false,
      /export HTTPS_PROXY="\$ALL_PROXY"$/,
    ],
    [{ all_proxy: proxy }, "24.0.0", "all_proxy", false, /HTTPS_PROXY="\$all_proxy" NODE_USE_ENV_PROXY=1$/],
  ])("%j on Node %s", (env, nodeVersion, variable, isUsed, advice) => {
    const found = findProxy(url, { env, nodeVersion });
    expect(found).toMatchObject({ variable, isUsed });
    expect(found?.advice).toMatch(advice);
    expect(found?.advice).not.toContain(proxy);
  });

  it.each([
    [{}, url],
    [{ HTTPS_PROXY: "" }, url],
    [{ HTTP_PROXY: proxy }, url],
    [{ HTTPS_PROXY: proxy }, "http://127.0.0.1:8484"],
    [{ HTTPS_PROXY: proxy, NO_PROXY: "*" }, url],
    [{ HTTPS_PROXY: proxy, NO_PROXY: "localhost, .cursor.com" }, url],
    [{ HTTPS_PROXY: proxy, no_proxy: "cursor.com" }, url],
    [{ HTTPS_PROXY: proxy, no_proxy: "API.cursor.com" }, url],
  ])("is none with %j for %s", (env, to) => expect(findProxy(to, { env })).toBeUndefined());

  it("is one for a host that only ends like an exempt one", () => {
    expect(findProxy(url, { env: { HTTPS_PROXY: proxy, NO_PROXY: "sor.com" } })).toBeDefined();
  });
});
