/**
 * The platform's `fetch`. Not `typeof globalThis.fetch`: a project whose types know none must compile with our
 * declarations, too.
 */
export type WebFetch = typeof globalThis extends { fetch: infer Type }
  ? Type
  : (input: string, init?: { method?: string; signal?: AbortSignal }) => Promise<Response>;
