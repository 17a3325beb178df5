import type { components } from "../../../generated/openapi.ts";
import type { Caller } from "../authenticate.ts";
import { toRepoPath } from "../repository.ts";
import type { Store } from "../store.ts";

/** A build as Get An Environment Build returns it. */
export type EnvironmentBuild = components["schemas"]["EnvironmentBuild"];

/** A change as List Environment History returns it. */
export type EnvironmentChange = components["schemas"]["EnvironmentChange"];

/** An environment. @internal */
export interface EnvironmentRecord {
  id: string;
  name: string;
  owner: "personal" | "team";
  /** The team, as in the keys of the emulator. */
  team: string;
  /** The user who owns it, if it is personal. */
  userId?: number;
  userEmail?: string;
  repos: { url: string }[];
  environmentJson: string;
  versionId: string;
  createdAt: number;
  updatedAt: number;
  order: number;
  /** Newest first. */
  history: EnvironmentChange[];
  /** Newest first. */
  builds: EnvironmentBuild[];
}

/** The values of a new environment. @internal */
export type EnvironmentInit = Pick<
  EnvironmentRecord,
  "name" | "owner" | "team" | "userId" | "userEmail" | "repos" | "environmentJson"
>;

/** Whether there are repositories and all of them are in the key's scope. @internal */
export function isInScope({ repositories }: Caller, repos: readonly { url: string }[]): boolean {
  if (repositories === undefined) return true;
  const scope = new Set(repositories.map(toRepoPath));
  return repos.length > 0 && repos.every(({ url }) => scope.has(toRepoPath(url)));
}

const capital = (owner: EnvironmentRecord["owner"]) => (owner === "team" ? "Team" : "Personal");

/** The saved environments. @internal */
export class EnvironmentStore {
  readonly #store: Store;
  readonly #environments = new Map<string, EnvironmentRecord>();

  constructor(store: Store) {
    this.#store = store;
  }

  get(id: string): EnvironmentRecord | undefined {
    return this.#environments.get(id);
  }

  /** The environments that a key can see, last changed first. */
  visibleTo(caller: Caller): EnvironmentRecord[] {
    return [...this.#environments.values()]
      .filter((environment) => isVisible(environment, caller))
      .sort((one, other) => other.updatedAt - one.updatedAt || other.order - one.order);
  }

  /** Another environment with this name and the same owner (user or team). */
  namesake(name: string, of: Pick<EnvironmentRecord, "team" | "userId"> & { id?: string }) {
    return [...this.#environments.values()].find(
      (other) =>
        other.id !== of.id && other.name === name && other.team === of.team && other.userId === of.userId,
    );
  }

  create(init: EnvironmentInit): EnvironmentRecord {
    const { ids } = this.#store;
    const now = this.#store.now();
    const environment: EnvironmentRecord = {
      ...init,
      id: ids.uuid(),
      versionId: ids.uuid(),
      createdAt: now,
      updatedAt: now,
      order: this.#store.nextOrder(),
      history: [],
      builds: [],
    };
    this.#environments.set(environment.id, environment);
    this.#record(environment, "created", `${capital(environment.owner)} environment created.`, true);
    return environment;
  }

  /** Changes name and configuration. The caller has checked both. */
  update(
    environment: EnvironmentRecord,
    { name, environmentJson }: { name?: string | undefined; environmentJson?: string | undefined },
  ): void {
    const isRenamed = name !== undefined && name !== environment.name;
    const isChanged = environmentJson !== undefined && environmentJson !== environment.environmentJson;
    if (!isRenamed && !isChanged) return;
    environment.name = name ?? environment.name;
    environment.environmentJson = environmentJson ?? environment.environmentJson;
    environment.updatedAt = this.#store.now();
    environment.order = this.#store.nextOrder();
    if (isChanged) environment.versionId = this.#store.ids.uuid();
    const text = isChanged ? "Configuration changed." : "Renamed.";
    this.#record(environment, "updated", text, isChanged);
  }

  delete(environment: EnvironmentRecord): void {
    this.#environments.delete(environment.id);
  }

  addBuild(environment: EnvironmentRecord, init: Partial<EnvironmentBuild>): EnvironmentBuild {
    const now = new Date(this.#store.now()).toISOString();
    const { status = "SUCCEEDED" } = init;
    const build: EnvironmentBuild = {
      id: `bld-${now.slice(0, 10).replaceAll("-", "")}-${this.#store.ids.uuid()}`,
      environmentId: environment.id,
      status,
      trigger: "MANUAL",
      draft: false,
      createdAt: now,
      updatedAt: now,
      ...(status === "IN_PROGRESS" ? {} : { completedAt: now }),
      ...init,
    };
    environment.builds.unshift(build);
    return build;
  }

  #record(environment: EnvironmentRecord, kind: string, description: string, isSaved: boolean): void {
    if (isSaved) for (const change of environment.history) change.current = false;
    environment.history.unshift({
      id: this.#store.ids.uuid(),
      createdAt: new Date(this.#store.now()).toISOString(),
      kind,
      title: `${capital(environment.owner)} environment ${kind}`,
      description,
      source: "api",
      current: isSaved,
      ...(isSaved ? { environmentJson: environment.environmentJson } : {}),
    });
  }
}

function isVisible(environment: EnvironmentRecord, caller: Caller): boolean {
  if (environment.team !== caller.owner || !isInScope(caller, environment.repos)) return false;
  return environment.owner === "team" ? caller.role !== "none" : environment.userId === caller.info.userId;
}
