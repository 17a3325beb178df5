import { UsageError } from "./command-failure.ts";

/** The https hosts of ssh hosts that have another name, and of aliases. */
const webHosts = new Map([
  ["www.github.com", "github.com"],
  ["ssh.github.com", "github.com"],
  ["altssh.gitlab.com", "gitlab.com"],
  ["altssh.bitbucket.org", "bitbucket.org"],
  ["ssh.dev.azure.com", "dev.azure.com"],
]);

/** Pages below a repository's own address: of a pull request, and of a branch, a commit or a file. */
const pullRequestPage = /\/(?:pulls?|pull-requests|pullrequest|merge_requests)\/[^/]/;
const refPage =
  /\/(?:tree|blob|commits?|raw|branch|releases\/tag)\/[^/]|\/src\/(?:branch|commit|tag)\/|^\/[^/]+\/[^/]+\/src\/[^/]/;

/** On these hosts a repository's address has exactly an owner and a name. */
const ownerAndNameHosts = ["github.com", "bitbucket.org"];

/**
 * The https address of a repository, from whatever names it: `owner/name` on GitHub, the address of its page, with or without
 * a scheme, or what `git remote get-url` prints, such as `git@github.com:owner/name.git`.
 * @param flag The option it was given with, for messages
 * @throws UsageError where it is something else, such as the address of a branch. It doesn't quote the text, which may hold a password
 */
export function toRepositoryUrl(text: string, flag = "--repo"): string {
  const trimmed = text.trim();
  if (/^[\w-]+\/[\w.-]+$/.test(trimmed) && !/\/\.+$/.test(trimmed)) return `https://github.com/${trimmed}`;
  const url = toUrl(trimmed);
  if (url === undefined) {
    throw new UsageError(
      `${flag}: expected your-org/your-repo (on GitHub) or a URL such as https://github.com/your-org/your-repo`,
    );
  }
  if (url.password !== "") throw new UsageError(`${flag}: leave the user name and password out of the URL`);
  // A user name alone is a part of many a clone URL; the repository is the same without it.
  url.username = "";
  url.hostname = webHosts.get(url.hostname) ?? url.hostname;
  const path = url.pathname.replace(/\/+$/, "");
  rejectPages(flag, url, path);
  return url.origin + path;
}

function rejectPages(flag: string, { hostname, searchParams }: URL, path: string): void {
  const segments = path.split("/").length - 1;
  if (segments > 2 && pullRequestPage.test(path)) {
    throw new UsageError(
      `${flag}: expected the repository's own address, not that of a pull request: see --pr-url`,
    );
  }
  // Azure DevOps has the branch in the query.
  if ((segments > 2 && refPage.test(path)) || searchParams.has("version")) {
    throw new UsageError(
      `${flag}: expected the repository's own address, not that of a branch, commit or file: see --ref`,
    );
  }
  const isElsewhere = ownerAndNameHosts.includes(hostname)
    ? segments !== 2
    : path === "" || path.includes("/-/");
  if (isElsewhere) {
    throw new UsageError(
      `${flag}: expected the repository's own address, such as https://${hostname}/your-org/your-repo`,
    );
  }
}

/** Undefined where the text is not an address that the web knows. */
function toUrl(text: string): URL | undefined {
  const [, scheme, rest] = /^(?:git\+)?([a-z]+):\/\/(.*)$/is.exec(text) ?? [];
  if (scheme !== undefined && rest !== undefined) {
    if (/^https?$/i.test(scheme)) return parse(`${scheme}://${rest}`);
    // The port is the one of ssh or git, not of the web.
    return /^(ssh|git)$/i.test(scheme) ? toWebUrl(parse(`https://${rest}`), false) : undefined;
  }
  // git's short form of ssh: user@host:path, where a port can't be given.
  const [, host, path] = /^(?:[\w.-]+@)?([\w.-]+):(?!\d+\/)\/?([^\\].*)$/s.exec(text) ?? [];
  if (host !== undefined && path !== undefined) return toWebUrl(parse(`https://${host}/${path}`), false);
  return toWebUrl(parse(`https://${text}`), true);
}

const parse = (text: string): URL | undefined =>
  /\s/.test(text) || !URL.canParse(text) ? undefined : new URL(text);

/** Takes a URL only where its host can be one of the web: an alias in a configuration of ssh is known on one machine only. */
function toWebUrl(url: URL | undefined, keepsPort: boolean): URL | undefined {
  if (url === undefined) return undefined;
  const isHost = /^([a-z0-9-]+\.)+([a-z]{2,}|xn--[a-z0-9-]+)$|^\d+(\.\d+){3}$|^localhost$/.test(url.hostname);
  if (!isHost) return undefined;
  if (!keepsPort) url.port = "";
  // ssh.dev.azure.com:v3/org/project/name is dev.azure.com/org/project/_git/name.
  if (url.hostname === "ssh.dev.azure.com")
    url.pathname = url.pathname.replace(/^\/v3\/([^/]+)\/([^/]+)\//, "/$1/$2/_git/");
  return url;
}
