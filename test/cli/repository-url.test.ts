import { describe, expect, it } from "vitest";
import { toRepositoryUrl } from "../../src/cli/repository-url.ts";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { cli, key } from "./helpers.ts";

const github = "https://github.com/acme/web";

describe("the address of a repository", () => {
  it.each([
    ["acme/web", github],
    ["acme/web.js", `${github}.js`],
    [" acme/web\n", github],
    [github, github],
    [`${github}/`, github],
    [`${github}.git`, `${github}.git`],
    [`${github}.git/`, `${github}.git`],
    [`${github}#readme`, github],
    [`${github}?tab=readme-ov-file#install`, github],
    ["HTTPS://GitHub.com/acme/web", github],
    ["https://www.github.com/acme/web", github],
    ["github.com/acme/web", github],
    ["github.com/acme/web/#readme", github],
    ["git@github.com:acme/web.git", `${github}.git`],
    ["git@github.com:/acme/web.git", `${github}.git`],
    ["github.com:acme/web", github],
    ["org-123@github.com:acme/web.git", `${github}.git`],
    ["ssh://git@github.com/acme/web.git", `${github}.git`],
    ["ssh://git@ssh.github.com:443/acme/web.git", `${github}.git`],
    ["git+ssh://git@github.com/acme/web.git", `${github}.git`],
    ["git+https://github.com/acme/web.git", `${github}.git`],
    ["git://github.com/acme/web.git", `${github}.git`],
    ["git@gitlab.com:group/sub/web.git", "https://gitlab.com/group/sub/web.git"],
    ["https://gitlab.com/group/sub/web", "https://gitlab.com/group/sub/web"],
    ["gitlab.com/group/sub/web", "https://gitlab.com/group/sub/web"],
    ["ssh://git@git.example.com:2222/acme/web.git", "https://git.example.com/acme/web.git"],
    ["git.example.com:8443/acme/web", "https://git.example.com:8443/acme/web"],
    ["https://git.example.com:8443/acme/web.git", "https://git.example.com:8443/acme/web.git"],
    ["http://localhost:3000/acme/web", "http://localhost:3000/acme/web"],
    ["https://me@bitbucket.org/acme/web.git", "https://bitbucket.org/acme/web.git"],
    ["git@bitbucket.org:acme/web.git", "https://bitbucket.org/acme/web.git"],
    ["https://acme@dev.azure.com/acme/team/_git/web", "https://dev.azure.com/acme/team/_git/web"],
    ["git@ssh.dev.azure.com:v3/acme/team/web", "https://dev.azure.com/acme/team/_git/web"],
  ])("is taken from %s", (text, url) => expect(toRepositoryUrl(text)).toBe(url));

  it.each([
    [`${github}/tree/main`, "see --ref"],
    ["github.com/acme/web/tree/feature/x", "see --ref"],
    [`${github}/blob/main/README.md#L3`, "see --ref"],
    [`${github}/commit/0123abc`, "see --ref"],
    [`${github}/releases/tag/v1`, "see --ref"],
    ["https://gitlab.com/group/sub/web/-/tree/main", "see --ref"],
    ["https://bitbucket.org/acme/web/src/main", "see --ref"],
    ["https://codeberg.org/acme/web/src/branch/main", "see --ref"],
    ["https://dev.azure.com/acme/team/_git/web?version=GBmain", "see --ref"],
    [`${github}/pull/12`, "see --pr-url"],
    [`${github}/pull/12/files#diff-1`, "see --pr-url"],
    ["https://gitlab.com/group/web/-/merge_requests/12", "see --pr-url"],
    ["https://bitbucket.org/acme/web/pull-requests/12", "see --pr-url"],
    ["https://codeberg.org/acme/web/pulls/12", "see --pr-url"],
    ["https://dev.azure.com/acme/team/_git/web/pullrequest/12", "see --pr-url"],
    [`${github}/issues/3`, "repository's own address"],
    [`${github}/settings`, "repository's own address"],
    ["https://github.com/acme", "repository's own address"],
    ["github.com/acme", "your-org/your-repo"],
    ["https://github.com", "repository's own address"],
    ["https://gitlab.com/group/web/-/issues", "repository's own address"],
    ["https://me:hush@github.com/a/b", "leave the user name and password out"],
    ["ssh://me:hush@github.com/a/b", "leave the user name and password out"],
    ["github.com-work:acme/web", "expected your-org/your-repo"],
    ["work:acme/web", "expected your-org/your-repo"],
    ["nonsense", "expected your-org/your-repo"],
    ["", "expected your-org/your-repo"],
    ["./web", "expected your-org/your-repo"],
    ["../web", "expected your-org/your-repo"],
    ["acme/..", "expected your-org/your-repo"],
    ["/srv/git/web.git", "expected your-org/your-repo"],
    ["~/web", "expected your-org/your-repo"],
    ["file:///srv/git/web.git", "expected your-org/your-repo"],
    ["C:\\code\\web", "expected your-org/your-repo"],
    ["ftp://example.com/acme/web", "expected your-org/your-repo"],
    ["acme/web and more", "expected your-org/your-repo"],
  ])("is not taken from %s", (text, said) => {
    expect(() => toRepositoryUrl(text)).toThrow(said);
    expect(() => toRepositoryUrl(text)).not.toThrow("hush");
  });

  it("is sent in the form of the web, and nothing is sent for another one", async () => {
    const emulator = checkedEmulator();
    const { code } = await cli(["run", "x", "--repo", "git@github.com:acme/web.git", "--no-follow"], {
      emulator,
    });
    expect(code).toBe(0);
    expect(emulator.requests[0]?.json).toMatchObject({ repos: [{ url: `${github}.git` }] });
    const branch = await cli(["run", "x", "--repo", `${github}/tree/main`], { emulator });
    expect(branch).toMatchObject({ code: 64, stderr: expect.stringContaining("see --ref") });
    expect(emulator.requests).toHaveLength(1);
  });

  it("is read by doctor, too", async () => {
    const argv = ["doctor", "--repo", `https://me:${key}@github.com/acme/web`];
    const { code, stdout, stderr } = await cli(argv, { emulator: checkedEmulator() });
    expect([code, stdout]).toEqual([64, ""]);
    expect(stderr).toContain("--repo: leave the user name and password out");
  });
});
