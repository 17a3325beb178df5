import { ArgumentError, unexpected } from "../errors.ts";
import { checkNames } from "../options.ts";

/** Which pending requests are meant, by the wire's names. */
export interface PendingRequestFilters {
  /** Only requests for this repository URL. Required for a key that is limited to repositories. */
  repository?: string | undefined;
  /** Only requests of this pool; exact and case-sensitive. */
  pool?: string | undefined;
}

/** {@link PendingRequestFilters} with what is set, and only that. */
export interface CheckedFilters {
  repository?: string;
  pool?: string;
}

/** {@link checkFilters} where there is nothing else: a misspelt filter would mean every pool of the team. */
export function checkOnlyFilters(filters: PendingRequestFilters | undefined): CheckedFilters {
  const checked = checkFilters(filters);
  checkNames(filters, ["repository", "pool"] satisfies (keyof PendingRequestFilters)[]);
  return checked;
}

/** Only what is set. An empty filter is refused, not left out: it would mean every pool of the team. */
export function checkFilters(filters: PendingRequestFilters | undefined): CheckedFilters {
  if (filters === undefined || filters === null) return {};
  if (typeof filters !== "object") {
    throw unexpected("filters", "an object", filters);
  }
  const checked: CheckedFilters = {};
  for (const name of ["repository", "pool"] as const) {
    const value: unknown = filters[name];
    if (value === undefined || value === null) continue;
    if (typeof value !== "string") throw unexpected(name, "a string", value);
    if (value === "") throw new ArgumentError(name, "must not be empty: leave it out for all");
    checked[name] = value;
  }
  return checked;
}
