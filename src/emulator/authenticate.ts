import { fingerprint, toBytes } from "./body-source.ts";
import { type HeaderEntries, headerOf } from "./exchange.ts";
import { failedResponse, flatFailedResponse } from "./failed-response.ts";
import { messageOf } from "./failures.ts";
import type { ApiKeyInfo } from "./store.ts";

/** An API key that the emulator knows. */
export interface EmulatorKey {
  /** The key as it is sent, without `Bearer` or `:`. */
  key: string;
  /** Sub-tokens need a service account; `ApiKeyInfo` of user keys names the user. @default "user" */
  kind?: "user" | "service-account";
  /** `free` keys get 403 `plan_required` everywhere. @default "paid" */
  plan?: "paid" | "free";
  /** A revoked key gets 401. @default false */
  revoked?: boolean;
  /** Requests for agents of another owner get 404. @default one owner for all keys */
  owner?: string;
  /** Keys of the same service account share its four watch streams. @default one account per key */
  serviceAccountId?: string;
  /** URLs of the repositories in the key's scope. It sees no request, environment or secret of others. @default all */
  repositories?: readonly string[];
  /** Role in the team; a key with `none` belongs to no team. @default "member" */
  role?: "admin" | "member" | "none";
  /** Overrides fields of API Key Info. */
  info?: Partial<ApiKeyInfo>;
}

/** Who sent a request, as its API key says. @internal */
export interface Caller {
  key: string;
  kind: "user" | "service-account";
  owner: string;
  info: ApiKeyInfo;
  /** Set for keys of service accounts. */
  serviceAccountId?: string;
  /** The role in the team. */
  role: "admin" | "member" | "none";
  /** URLs of the only repositories in the key's scope. */
  repositories?: readonly string[];
}

function readKey(headers: HeaderEntries): string | undefined {
  const [, scheme, credentials] = /^(\S+) +(\S.*)$/.exec(headerOf(headers, "authorization") ?? "") ?? [];
  if (scheme === undefined || credentials === undefined) return undefined;
  if (scheme.toLowerCase() === "bearer") return credentials;
  if (scheme.toLowerCase() !== "basic") return undefined;
  try {
    const pair = atob(credentials);
    return pair.includes(":") ? pair.slice(0, pair.indexOf(":")) : undefined;
  } catch {
    return undefined; // Not base64.
  }
}

function findKey(key: string, keys: readonly EmulatorKey[] | undefined): EmulatorKey | undefined {
  if (keys !== undefined) return keys.find((candidate) => candidate.key === key);
  // The service rejects a key that was pasted with its quotes or with a line break.
  if (!/^[\x21-\x7e]+$/.test(key) || /["'`]/.test(key)) return undefined;
  return { key, kind: key.startsWith("sa_") ? "service-account" : "user" };
}

function infoOf(key: EmulatorKey): ApiKeyInfo {
  const createdAt = "2026-04-13T18:30:00.000Z";
  const info: ApiKeyInfo =
    key.kind === "service-account"
      ? { apiKeyName: "Production Service Account", createdAt }
      : {
          apiKeyName: "Production API Key",
          userId: 42,
          createdAt,
          userEmail: "developer@example.com",
          userFirstName: "Alex",
          userLastName: "Rivera",
        };
  return { ...info, ...key.info };
}

/**
 * Finds the caller by the Authorization header: Basic (with the key as user name) or Bearer.
 *
 * @throws FailedResponse 401 in the auth layer's flat form, or 403 `plan_required`.
 */
export function authenticate(headers: HeaderEntries, keys: readonly EmulatorKey[] | undefined): Caller {
  const sent = readKey(headers);
  const key = sent === undefined ? undefined : findKey(sent, keys);
  if (key === undefined || key.revoked === true) throw flatFailedResponse(401, "Invalid User API Key");
  if (key.plan === "free") {
    throw failedResponse(403, "plan_required", messageOf("plan_required"));
  }
  const kind = key.kind ?? "user";
  const serviceAccountId = key.serviceAccountId ?? `sa_${fingerprint(toBytes(key.key)).slice(0, 6)}`;
  return {
    key: key.key,
    kind,
    owner: key.owner ?? "owner",
    info: infoOf(key),
    role: key.role ?? "member",
    ...(kind === "service-account" ? { serviceAccountId } : {}),
    ...(key.repositories === undefined ? {} : { repositories: key.repositories }),
  };
}
