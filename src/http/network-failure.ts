/** What each runtime's fetch says when the network, not the caller, is at fault. All of them throw a bare TypeError. */
const networkMessages =
  /^(fetch failed|failed to fetch|load failed|terminated|network ?error\b|network request failed|the internet connection appears|networkerror when attempting|the network connection was lost|error sending request|client error|connection (closed|refused|reset)|body timeout|other side closed)/i;

/** Codes of wrong use, which come in the same wrapping as those of a broken connection. */
const usageCodes = /^(ERR_INVALID|UND_ERR_INVALID|UND_ERR_NOT_SUPPORTED)/;

/**
 * Tells a broken connection (worth another try) from a mistake in the call (never). A TypeError may be either, so it
 * is judged by its system code and by the known texts; any other error class of a fetch stands for the network.
 */
export function isNetworkFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return isErrorLike(error);
  const code = codeOf(error) ?? codeOf(error.cause);
  if (code !== undefined && usageCodes.test(code)) return false;
  if (error instanceof RangeError || error instanceof SyntaxError || error instanceof ReferenceError)
    return false;
  if (error.name !== "TypeError") return true;
  return code !== undefined || networkMessages.test(error.message);
}

const codeOf = (error: unknown): string | undefined => {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : undefined;
};

/** A DOMException of another realm is no `instanceof Error`. */
const isErrorLike = (error: unknown): boolean =>
  typeof error === "object" && error !== null && typeof (error as Error).message === "string";
