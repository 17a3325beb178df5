/** `github.com/o/r` for `https://github.com/o/r.git`. @internal */
export function withoutScheme(url: string): string {
  return url.replace(/^[a-z][a-z0-9+.-]*:\/\//i, "").replace(/(\.git)?\/*$/, "");
}

/** `host/owner/repo` in lower case: the form in which repositories are compared, and in which secrets name them. @internal */
export function toRepoPath(repo: string): string {
  const path = repo
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, "")
    .replace(/^[^/@]*@/, "")
    .replace(/^([^/:]+):(?!\d+\/)/, "$1/")
    .replace(/(\.git)?\/*$/i, "")
    .toLowerCase();
  return path.split("/").length === 2 ? `github.com/${path}` : path;
}

/** Whether two URLs name the same repository. @internal */
export function isSameUrl(one: string | undefined, other: string): boolean {
  return one !== undefined && toRepoPath(one) === toRepoPath(other);
}

/** A repository as the workers' endpoints name it. */
export interface WorkerRepo {
  owner: string;
  name: string;
  /** Without credentials. */
  url: string;
}

/** Parses `owner/name` or a URL; drops credentials. @internal */
export function toWorkerRepo(repo: string): WorkerRepo {
  if (!URL.canParse(repo)) {
    const [owner = "", name = ""] = repo.split("/");
    return { owner, name, url: `https://github.com/${owner}/${name}` };
  }
  const url = new URL(repo);
  url.username = "";
  url.password = "";
  const path = url.pathname.replace(/(\.git)?\/*$/, "").split("/");
  return { owner: path.slice(1, -1).join("/"), name: path.at(-1) ?? "", url: url.href.replace(/\/$/, "") };
}

type RepoName = Pick<WorkerRepo, "owner" | "name"> | undefined;

/** Whether both name the same repository, or neither names one. @internal */
export function isSameRepo(one: RepoName, other: RepoName): boolean {
  return (
    one?.owner.toLowerCase() === other?.owner.toLowerCase() &&
    one?.name.toLowerCase() === other?.name.toLowerCase()
  );
}
