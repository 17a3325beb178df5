import {
  anything,
  checkOptions,
  count,
  enforce,
  list,
  name,
  type OptionTable,
  oneOf,
  string,
} from "../check-options.ts";
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
  /** Its value, which no answer of the API contains. */
  value: string;
  /** @default "runtime_secret" */
  type?: SecretKind;
  /** @default every repository */
  repos?: readonly string[];
  /** The environment that owns it. */
  environmentId?: string;
  /** The user who owns it. Without a user and without an environment, the team does. */
  userId?: number;
  /** E-mail address of that user. */
  userEmail?: string;
  /** The team, as in the keys of the emulator. @default the one of keys without an owner */
  team?: string;
}

const secretInit: OptionTable<AddSecretInit> = {
  name,
  value: string,
  type: oneOf("runtime_secret", "environment_variable", "build_secret"),
  repos: list(name),
  environmentId: name,
  userId: count,
  userEmail: name,
  team: name,
};

const buildInit: OptionTable<EnvironmentBuild> = {
  id: name,
  environmentId: name,
  status: name,
  trigger: name,
  draft: anything,
  failure: anything,
  createdAt: name,
  updatedAt: name,
  completedAt: name,
};

/** A secret, including its value. */
export interface StoredSecret {
  /** Id as in answers: `secv_…`. */
  readonly id: string;
  /** Its name: the environment variable. */
  readonly name: string;
  /** How it is used. */
  readonly type: SecretKind;
  /** URLs of the repositories it is for; empty for all. */
  readonly repos: readonly string[];
  /** Its value, which no answer of the API contains. */
  readonly value: string;
  /** Who owns it: the team, a user or an environment. */
  readonly owner: { readonly type: string; readonly environmentId?: string };
}

/** Controls environments: does what can't be done by requests. */
export class EnvironmentControls {
  readonly #store: () => EnvironmentStore;

  /** @internal */
  constructor(store: () => EnvironmentStore) {
    this.#store = store;
  }

  /** Adds a build. Agents start from the newest build that succeeded and is not a draft. */
  addBuild(environmentId: string, build: Partial<EnvironmentBuild> = {}): EnvironmentBuild {
    checkOptions("CursorEmulator: addBuild", build, buildInit);
    const environment = this.#store().get(environmentId);
    if (environment === undefined)
      throw new Error(`CursorEmulator: no environment has the id ${environmentId}`);
    return this.#store().addBuild(environment, build);
  }
}

/** Controls secrets: does what only the dashboard can do. */
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

  /** Adds a version of a secret and returns its id. A second version of a name, a build secret or a personal one is allowed. */
  add(init: AddSecretInit): string {
    checkOptions("CursorEmulator: secrets.add", init, secretInit);
    enforce(init.name, name, "CursorEmulator: secrets.add: name");
    enforce(init.value, string, "CursorEmulator: secrets.add: value");
    return this.#context().secrets.add(holderOf(init), init.name, init).id;
  }
}

function holderOf({ environmentId, userId, userEmail, team = "owner" }: AddSecretInit): SecretHolder {
  if (environmentId !== undefined) return { type: "environment", environmentId };
  if (userId === undefined) return { type: "team", team };
  return { type: "user", team, userId, ...(userEmail === undefined ? {} : { userEmail }) };
}
