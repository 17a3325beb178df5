import { fingerprint, toBytes } from "../body-source.ts";
import { toRepoPath } from "../repository.ts";
import type { Store } from "../store.ts";
import type { EnvironmentStore } from "./environment-store.ts";

/** How a secret is used; `build_secret` can't be set by requests. */
export type SecretKind = "runtime_secret" | "environment_variable" | "build_secret";

/** Who owns a secret. @internal */
export type SecretHolder =
  | { type: "team"; team: string }
  | { type: "user"; team: string; userId: number; userEmail?: string }
  | { type: "environment"; environmentId: string };

/** One version of a secret. @internal */
export interface SecretRecord {
  id: string;
  name: string;
  type: SecretKind;
  /** `host/owner/repo`, sorted; empty for all repositories. */
  repos: string[];
  value: string;
  createdAt: number;
  holder: SecretHolder;
}

/** The values of a new or changed secret. @internal */
export interface SecretInput {
  value: string;
  type?: SecretKind | undefined;
  repos?: readonly string[] | undefined;
}

/** Secrets with their values, which no answer contains. @internal */
export class SecretStore {
  readonly #store: Store;
  readonly #secrets: SecretRecord[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  /** All versions, oldest first. */
  get all(): readonly SecretRecord[] {
    return this.#secrets;
  }

  heldBy(holder: SecretHolder): SecretRecord[] {
    return this.#secrets.filter((secret) => isSameHolder(secret.holder, holder));
  }

  add(holder: SecretHolder, name: string, input: SecretInput): SecretRecord {
    const secret: SecretRecord = {
      id: `secv_${fingerprint(toBytes(this.#store.ids.uuid())).slice(0, 22)}`,
      name,
      type: input.type ?? "runtime_secret",
      repos: normalized(input.repos ?? []),
      value: input.value,
      createdAt: this.#store.now(),
      holder,
    };
    this.#secrets.push(secret);
    return secret;
  }

  change(secret: SecretRecord, { value, type, repos }: SecretInput): void {
    secret.value = value;
    secret.type = type ?? secret.type;
    if (repos !== undefined) secret.repos = normalized(repos);
  }

  delete(secret: SecretRecord): void {
    this.#secrets.splice(this.#secrets.indexOf(secret), 1);
  }

  /** Deletes the secrets of an environment that was deleted. */
  forget(environmentId: string): void {
    for (const secret of this.heldBy({ type: "environment", environmentId })) this.delete(secret);
  }

  /** Whether some repository would get both versions. */
  overlap(repos: readonly string[], other: SecretRecord): boolean {
    const mine = normalized(repos);
    return mine.length === 0 || other.repos.length === 0 || mine.some((repo) => other.repos.includes(repo));
  }
}

function normalized(repos: readonly string[]): string[] {
  return [...new Set(repos.map(toRepoPath))].sort();
}

function isSameHolder(one: SecretHolder, other: SecretHolder): boolean {
  if (one.type === "environment") {
    return other.type === "environment" && one.environmentId === other.environmentId;
  }
  if (one.type !== other.type || one.team !== (other as { team: string }).team) return false;
  return one.type === "team" || one.userId === (other as { userId: number }).userId;
}

/** A version as the list of its owner returns it: without the value. @internal */
export function toSecret({ id, name, type, repos, createdAt }: SecretRecord) {
  return { id, name, type, repos, createdAt: new Date(createdAt).toISOString() };
}

/** The `owner` of List Secrets. @internal */
export function toSecretOwner({ holder }: SecretRecord, environments: EnvironmentStore) {
  if (holder.type === "team") return { type: "team" };
  if (holder.type === "user") return { type: "user", user: { email: holder.userEmail ?? null } };
  const { environmentId } = holder;
  const environment = environments.get(environmentId);
  const user = environment?.owner === "personal" ? { user: { email: environment.userEmail ?? null } } : {};
  return { type: "environment", environmentId, ...user };
}
