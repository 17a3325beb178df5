import type { EnvironmentBuild, EnvironmentStore } from "./environment-store.ts";
import {
  type SecretHolder,
  type SecretKind,
  type SecretStore,
  toSecret,
  toSecretOwner,
} from "./secret-store.ts";

/** A secret for {@link SecretControls.add}. */
export interface AddSecretInit {
  /** Its name: the environment variable. */
  name: string;
  /** What requests never get to see. */
  value: string;
  /** @default "runtime_secret" */
  type?: SecretKind;
  /** @default every repository */
  repos?: readonly string[];
  /** The environment that holds it. */
  environmentId?: string;
  /** The user who holds it. Without this and without an environment, the team does. */
  userId?: number;
  /** E-mail address of that user. */
  userEmail?: string;
  /** The team, as in the keys of the emulator. @default the one of keys without an owner */
  team?: string;
}

/** A secret with its value. */
export interface StoredSecret {
  /** As on the wire: `secv_…`. */
  readonly id: string;
  /** Its name: the environment variable. */
  readonly name: string;
  /** How it is used. */
  readonly type: SecretKind;
  /** URLs of the repositories it is for; empty: all. */
  readonly repos: readonly string[];
  /** What requests never get to see. */
  readonly value: string;
  /** Who holds it: the team, a user or an environment. */
  readonly owner: { readonly type: string; readonly environmentId?: string };
}

/** Environments, from behind. */
export class EnvironmentControls {
  readonly #store: () => EnvironmentStore;

  /** @internal */
  constructor(store: () => EnvironmentStore) {
    this.#store = store;
  }

  /** A build of an environment; the newest that succeeded and is no draft is what its agents start from. */
  addBuild(environmentId: string, build: Partial<EnvironmentBuild> = {}): EnvironmentBuild {
    const environment = this.#store().get(environmentId);
    if (environment === undefined) throw new Error(`CursorEmulator: no environment ${environmentId}`);
    return this.#store().addBuild(environment, build);
  }
}

/** Secrets, from behind: the dashboard can do what requests can't. */
export class SecretControls {
  readonly #context: () => { secrets: SecretStore; environments: EnvironmentStore };

  /** @internal */
  constructor(context: () => { secrets: SecretStore; environments: EnvironmentStore }) {
    this.#context = context;
  }

  /** All secrets with their values, oldest first. */
  get all(): readonly StoredSecret[] {
    const { secrets, environments } = this.#context();
    return secrets.all.map((secret) => ({
      ...toSecret(secret),
      value: secret.value,
      owner: toSecretOwner(secret, environments),
    }));
  }

  /** Adds a version, also a second one of a name, a build secret, or a personal one; the answer is its id. */
  add(init: AddSecretInit): string {
    return this.#context().secrets.add(holderOf(init), init.name, init).id;
  }
}

function holderOf({ environmentId, userId, userEmail, team = "owner" }: AddSecretInit): SecretHolder {
  if (environmentId !== undefined) return { type: "environment", environmentId };
  if (userId === undefined) return { type: "team", team };
  return { type: "user", team, userId, ...(userEmail === undefined ? {} : { userEmail }) };
}
