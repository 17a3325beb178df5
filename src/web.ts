// The web's types that our declarations can't take from the compiler's global scope: a project may have them from its
// `lib`, from @types/node, from its platform's own types, or not at all, and must compile in each case.

/** The platform's `Request`. */
export type WebRequest = typeof globalThis extends { Request: { prototype: infer Type } }
  ? Type
  : { readonly method: string; readonly url: string };

/** The platform's `fetch`. */
export type WebFetch = typeof globalThis extends { fetch: infer Type }
  ? Type
  : (input: string, init?: { method?: string; signal?: AbortSignal }) => Promise<Response>;
