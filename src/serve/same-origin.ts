import { ArgumentError } from "../index.ts";

/**
 * Whether a browser sent this on behalf of another site's page. Browsers say so in `Sec-Fetch-Site`, older ones only in
 * `Origin`; no page can forge either. What has neither comes from no browser, and carries nobody's cookies.
 */
export function isFromElsewhere(request: Request, allowedOrigins: readonly string[]): boolean {
  const origin = request.headers.get("origin");
  if (origin !== null && allowedOrigins.includes(origin)) return false;
  const site = request.headers.get("sec-fetch-site");
  if (site !== null) return site !== "same-origin" && site !== "none";
  if (origin === null) return false;
  // By host: behind a proxy that ends TLS the request's own scheme is another one.
  return (
    !URL.canParse(origin) ||
    new URL(origin).host !== (request.headers.get("host") ?? new URL(request.url).host)
  );
}

export function checkOrigins(origins: readonly string[] | undefined): readonly string[] {
  if (origins === undefined) return [];
  const isOrigin = (value: unknown) =>
    typeof value === "string" && URL.canParse(value) && new URL(value).origin === value;
  if (!Array.isArray(origins) || !origins.every(isOrigin)) {
    throw new ArgumentError("allowedOrigins", "expected a list of origins such as https://app.example.com");
  }
  return origins;
}
