import { type ApiKeyInfo, ArgumentError, type Cursor, CursorError, isApiError } from "../index.ts";
import type { Context } from "./context.ts";
import { exitCodes } from "./exit-codes.ts";
import { explainError } from "./explain-error.ts";
import { MissingKeyError } from "./failures.ts";
import { duration, plural } from "./format.ts";

/** One thing that was looked at. */
export interface Check {
  name: string;
  state: "ok" | "warn" | "fail";
  detail: string;
  /** What to do about it. */
  advice?: string | undefined;
  /** It is about the key or the plan. */
  isAccount?: boolean;
}

/** Presigned URLs live for 15 minutes; what is off by less than this harms nothing. */
const tolerableSkew = 120_000;

/**
 * Looks at everything a run needs, in the order in which one thing rests on another: what can't be right any more is not
 * asked. Only reads.
 */
export async function* diagnose(
  context: Context,
  { model, repo }: { model?: string; repo?: string },
): AsyncGenerator<Check, void, undefined> {
  yield checkNode(process.versions.node);
  yield checkBase(context);
  let cursor: Cursor;
  try {
    cursor = await context.cursor();
  } catch (error) {
    yield refusedOptions(context, error);
    return;
  }
  yield { name: "key", state: "ok", detail: `is in ${context.keySource}` };
  const { checks, isKnown } = await checkKey(context, cursor);
  yield* checks;
  if (!isKnown) return;
  yield await checkModels(context, cursor, model);
  yield await checkRepositories(context, cursor, repo);
}

export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isOld = major < 20 || (major === 20 && minor < 19);
  return {
    name: "node",
    state: isOld ? "fail" : "ok",
    detail: version,
    advice: isOld ? "20.19 or newer is needed" : undefined,
  };
}

function checkBase({ baseUrl: { value, source }, io }: Context): Check {
  const isDefault = /^https:\/\/api\.cursor\.com\/?$/.test(value);
  const proxy = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"].find((name) => io.env[name]);
  if (isDefault && proxy !== undefined && !io.env["NODE_USE_ENV_PROXY"]) {
    const advice = "Node's fetch doesn't read it; newer Nodes do with NODE_USE_ENV_PROXY=1";
    return { name: "base url", state: "warn", detail: `${value}; ${proxy} is set`, advice };
  }
  // Shown without what may be a password in it; the client refuses such a URL.
  const shown = value.replace(/\/\/[^/@]*@/, "//");
  return isDefault
    ? { name: "base url", state: "ok", detail: shown }
    : {
        name: "base url",
        state: "warn",
        detail: `${shown} (${source})`,
        advice: "not Cursor's own: is that meant?",
      };
}

function refusedOptions(context: Context, error: unknown): Check {
  if (ArgumentError.isInstance(error)) {
    return {
      name: "base url",
      state: "fail",
      detail: error.message,
      advice: "https://api.cursor.com is the API",
    };
  }
  const { message, hints } = explainError(error, context);
  return {
    name: "key",
    state: "fail",
    detail: context.redact(message),
    advice: hints[0],
    isAccount: error instanceof MissingKeyError,
  };
}

/** Whether the key works, in which form, for which plan; and what the answer's date says of the clock. */
async function checkKey(context: Context, cursor: Cursor): Promise<{ checks: Check[]; isKnown: boolean }> {
  const options = { signal: context.signal };
  try {
    const { data, response } = await cursor.me(options).withResponse();
    return { checks: [...goodKey(data), checkClock(context, response)], isKnown: true };
  } catch (error) {
    context.signal.throwIfAborted();
    if (!isApiError(error)) return { checks: [failed(context, "network", error)], isKnown: false };
    const checks: Check[] = [];
    if (error.code === "plan_required") {
      checks.push({ name: "auth", state: "ok", detail: "the key is known" }, failed(context, "plan", error));
      return { checks, isKnown: false };
    }
    if (error.status !== 401) return { checks: [failed(context, "auth", error)], isKnown: false };
    const other = await context.createCursor("basic");
    const isKnown = await other.me(options).then(
      () => true,
      () => false,
    );
    checks.push(
      isKnown
        ? {
            name: "auth",
            state: "fail",
            detail: "the key works as Basic, but not as Bearer",
            advice: "something on the way takes Bearer tokens out: a proxy?",
            isAccount: true,
          }
        : failed(context, "auth", error),
    );
    return { checks, isKnown: false };
  }
}

function goodKey({ apiKeyName, userEmail }: ApiKeyInfo): Check[] {
  const owner = userEmail ?? "a service account";
  return [
    { name: "auth", state: "ok", detail: `"${apiKeyName}" of ${owner}, sent as Bearer` },
    { name: "plan", state: "ok", detail: "cloud agents are included" },
  ];
}

function checkClock({ io }: Context, response: Response): Check {
  const date = Date.parse(response.headers.get("date") ?? "");
  if (Number.isNaN(date))
    return { name: "clock", state: "ok", detail: "the server told no time to compare with" };
  const skew = io.clock.now() - date;
  if (Math.abs(skew) <= tolerableSkew)
    return { name: "clock", state: "ok", detail: "agrees with the server's" };
  const detail = `${duration(Math.abs(skew))} ${skew > 0 ? "ahead of" : "behind"} the server's`;
  return {
    name: "clock",
    state: "warn",
    detail,
    advice: "set this machine's clock: deadlines and ages are off",
  };
}

async function checkModels(context: Context, cursor: Cursor, wanted: string | undefined): Promise<Check> {
  try {
    const { items } = await cursor.models.list({ signal: context.signal });
    if (wanted === undefined)
      return { name: "models", state: "ok", detail: `${plural(items.length, "model")} to choose from` };
    const found = items.find(({ id, aliases }) => id === wanted || aliases?.includes(wanted));
    if (found) return { name: "models", state: "ok", detail: `${wanted} is ${found.displayName}` };
    // The list names the recommended ones; others may exist.
    const advice = `choose one of: ${items.map(({ id }) => id).join(", ")}`;
    return { name: "models", state: "warn", detail: `${wanted} is not in the list`, advice };
  } catch (error) {
    return soft(failed(context, "models", error));
  }
}

async function checkRepositories(
  context: Context,
  cursor: Cursor,
  wanted: string | undefined,
): Promise<Check> {
  const name = "repositories";
  try {
    const urls: string[] = [];
    for await (const { url } of cursor.repositories.list({}, { signal: context.signal, maxRetries: 0 }))
      urls.push(url);
    const advice = "install Cursor's app for it: https://cursor.com/dashboard (Integrations)";
    if (wanted === undefined) {
      const detail = `Cursor can reach ${plural(urls.length, "repository", "repositories")}`;
      return urls.length > 0 ? { name, state: "ok", detail } : { name, state: "warn", detail, advice };
    }
    const isThere = urls.some((url) => plainRepository(url) === plainRepository(wanted));
    return isThere
      ? { name, state: "ok", detail: `Cursor can reach ${wanted}` }
      : { name, state: "fail", detail: `Cursor can't reach ${wanted}`, advice };
  } catch (error) {
    if (isApiError(error) && error.status === 429) {
      const detail = "not asked: the API answers once a minute";
      return { name, state: "warn", detail, advice: "run this again in a minute" };
    }
    return soft(failed(context, name, error));
  }
}

/** `owner/name`, whatever else the URL says. */
const plainRepository = (url: string): string =>
  url
    .toLowerCase()
    .replace(/\/+$/, "")
    .replace(/\.git$/, "")
    .split(/[/:]/)
    .slice(-2)
    .join("/");

function failed(context: Context, name: string, error: unknown): Check {
  context.signal.throwIfAborted();
  const { message, hints, exitCode } = explainError(error, context);
  const isNetwork = CursorError.isInstance(error) && !isApiError(error);
  return {
    name,
    state: "fail",
    detail: context.redact(message),
    advice: isNetwork ? "check the network, DNS, TLS and proxy between here and there" : hints[0],
    isAccount: exitCode === exitCodes.account,
  };
}

/** Runs can do without what was asked here. */
const soft = (check: Check): Check => ({ ...check, state: "warn" });
