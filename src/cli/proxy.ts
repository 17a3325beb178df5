import type { CommandLineIo } from "./context.ts";

/** The proxy that the environment names for https, and what this Node does with it. */
export interface Proxy {
  /** The variable that names it, such as `HTTPS_PROXY`. */
  variable: string;
  /** Node's fetch sends its requests through it. */
  isUsed: boolean;
  /** What to do, where it isn't used or refuses. */
  advice: string;
}

/** Looked at in this order. Node itself knows the first two. */
const variables = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];

/**
 * Finds out whether requests to this URL go through a proxy. Node's fetch reads the variables only where it is told to, with
 * NODE_USE_ENV_PROXY=1 or --use-env-proxy, from Node 22.21 and Node 24 on.
 * @returns Undefined where no proxy is set for the URL
 */
export function findProxy(
  url: string,
  { env, nodeVersion }: Pick<CommandLineIo, "env" | "nodeVersion">,
): Proxy | undefined {
  const variable = variables.find((name) => env[name]);
  // Plain http is for an emulator on this machine, and HTTPS_PROXY is not for it.
  if (
    variable === undefined ||
    url.startsWith("http:") ||
    isExempt(url, env["no_proxy"] || env["NO_PROXY"] || "")
  )
    return undefined;
  const version = nodeVersion ?? process.versions.node;
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const canUse = major >= 24 || (major === 22 && minor >= 21);
  const isOn =
    env["NODE_USE_ENV_PROXY"] === "1" || /(^|\s)--use-env-proxy(\s|$)/.test(env["NODE_OPTIONS"] ?? "");
  const isKnown = /^https_proxy$/i.test(variable);
  if (!canUse) {
    const advice = `this Node (${version}) can't send requests through it: use Node 22.21, 24 or newer, and export NODE_USE_ENV_PROXY=1`;
    return { variable, isUsed: false, advice };
  }
  if (isKnown && isOn) {
    const advice = `requests go through it: check that it runs, and that its URL has the user name and password it may want`;
    return { variable, isUsed: true, advice };
  }
  const wanted = [
    ...(isKnown ? [] : [`HTTPS_PROXY="$${variable}"`]),
    ...(isOn ? [] : ["NODE_USE_ENV_PROXY=1"]),
  ];
  return { variable, isUsed: false, advice: `Node doesn't use it: export ${wanted.join(" ")}` };
}

/** Whether the list of NO_PROXY has the URL's host, one of its parent domains, or `*`. */
function isExempt(url: string, list: string): boolean {
  const { hostname, host } = URL.canParse(url) ? new URL(url) : { hostname: "", host: "" };
  return list.split(/[\s,]+/).some((entry) => {
    const name = entry.toLowerCase().replace(/^\*?\./, "");
    return name !== "" && (entry === "*" || [hostname, host].includes(name) || hostname.endsWith(`.${name}`));
  });
}
