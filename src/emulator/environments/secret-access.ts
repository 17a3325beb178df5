import type { Caller } from "../keys.ts";
import { refusal } from "../refusal.ts";

/** Refuses keys of another product. @internal */
export function checkSecretsKey(caller: Caller): void {
  if (caller.key.startsWith("grok_")) {
    throw refusal(403, "key_not_supported", "This kind of API key is not supported here.");
  }
}

/** Refuses keys without a team, and those for some repositories only: the team's secrets reach every one. @internal */
export function checkTeam(caller: Caller): void {
  if (caller.role === "none") {
    throw refusal(403, "team_membership_required", "This key does not work in a team.");
  }
  checkWholeReach(caller);
}

/** Refuses keys for some repositories only. @internal */
export function checkWholeReach(caller: Caller): void {
  if (caller.repositories !== undefined) {
    throw refusal(403, "repository_access", "This key is limited to some repositories.");
  }
}
