import type { EnvironmentStore } from "./environment-store.ts";
import type { SecretRecord } from "./secret-store.ts";

/** A version as its holder's own list tells it: without the value. @internal */
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
