import { toBytes } from "./body-source.ts";
import { type HeaderEntries, headerOf } from "./exchange.ts";
import type { EmulatorKey } from "./options.ts";
import { flatRefusal, refusal } from "./refusal.ts";
import { fingerprint } from "./store.ts";
import type { ApiKeyInfo } from "./types.ts";

/** Who asks. @internal */
export interface Caller {
  key: string;
  kind: "user" | "service-account";
  owner: string;
  info: ApiKeyInfo;
  /** Of service account keys. */
  serviceAccountId?: string;
  /** In the team. */
  role: "admin" | "member" | "none";
  /** The only repositories the key is for. */
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
  // A key pasted with its quotes or a line break is refused, as by the service.
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
 * Who asks, by Basic (key as user name) or Bearer.
 *
 * @throws Refusal 401 in the auth layer's flat form, or 403 `plan_required`.
 */
export function authenticate(headers: HeaderEntries, keys: readonly EmulatorKey[] | undefined): Caller {
  const sent = readKey(headers);
  const key = sent === undefined ? undefined : findKey(sent, keys);
  if (key === undefined || key.revoked === true) throw flatRefusal(401, "Invalid User API Key");
  if (key.plan === "free") {
    throw refusal(
      403,
      "plan_required",
      "Cloud Agents require a paid plan. Please upgrade your plan to continue.",
    );
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
