import type { Command } from "commander";
import { type ApiKeyInfo, ArgumentError, type Cursor, CursorError, isApiError } from "../../index.ts";
import { addCommand } from "../add-command.ts";
import { exitCodes, MissingKeyError } from "../command-failure.ts";
import type { Context } from "../context.ts";
import { explainError, isAccountLimit } from "../explain-error.ts";
import { formatDuration, formatPlural } from "../format.ts";
import { findProxy } from "../proxy.ts";
import { toRepositoryUrl } from "../repository-url.ts";
import { faint, green, red, yellow } from "../terminal.ts";

interface DoctorFlags {
  model?: string | undefined;
  repo?: string | undefined;
}

/** The result of one check. */
interface Check {
  name: string;
  state: "ok" | "warn" | "fail";
  detail: string;
  /** What to do about it. */
  advice?: string | undefined;
  /** The failure is about the key or the plan. */
  isAccount?: boolean;
}

export function addDoctorCommand(program: Command, context: Context): void {
  addCommand(
    program,
    "doctor",
    "Check what runs need: Node, base URL, key, plan, clock, models, repositories. Starts nothing.",
    "doctor --repo your-org/your-repo --model composer-2",
  )
    .option("--model <id>", "also check that this model is available")
    .option("--repo <url>", "also check that Cursor can access this repository")
    .addHelpText(
      "after",
      "\nEach line is ok, warn or fail. Exit code: 0 without a fail, 4 for the key or the plan, otherwise 1.",
    )
    .action((flags: DoctorFlags) => doctor(context, flags));
}

const marks = { ok: green("ok  "), warn: yellow("warn"), fail: red("fail") };

async function doctor(context: Context, { model, repo }: DoctorFlags): Promise<void> {
  const flags = { model, repo: repo === undefined ? undefined : toRepositoryUrl(repo) };
  const failed: Check[] = [];
  for await (const check of diagnose(context, flags)) {
    const { name, state, detail, advice } = check;
    if (state === "fail") failed.push(check);
    context.answer(
      { type: "check", name, state, detail, ...(advice === undefined ? {} : { advice }) },
      (terminal) => {
        terminal.line(marks[state], `  ${name.padEnd(12)} ${detail}`);
        if (advice !== undefined) terminal.line(faint(`      ${"".padEnd(12)} ${advice}`));
      },
    );
  }
  if (failed.length > 0) {
    const isAccount = failed.some((check) => check.isAccount === true);
    context.exitCode = isAccount ? exitCodes.account : exitCodes.failed;
  }
  const { exitCode } = context;
  if (context.globals.json) {
    context.terminal.json({ type: "diagnosis", ok: failed.length === 0, exitCode });
  }
}

/**
 * Checks everything that a run needs. Each check rests on the ones before it: after one that fails, those that can't succeed
 * any more are left out. Only reads.
 */
async function* diagnose(
  context: Context,
  { model, repo }: DoctorFlags,
): AsyncGenerator<Check, void, undefined> {
  yield checkNode(context.io.nodeVersion ?? process.versions.node);
  yield checkBaseUrl(context);
  let cursor: Cursor;
  try {
    cursor = await context.cursor();
  } catch (error) {
    yield explainRejectedOptions(context, error);
    return;
  }
  yield { name: "key", state: "ok", detail: `is in ${context.apiKey.source}` };
  const { checks, isValid } = await checkKey(context, cursor);
  yield* checks;
  if (!isValid) return;
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
    advice: isOld ? "Node 20.19 or newer is needed" : undefined,
  };
}

function checkBaseUrl(context: Context): Check {
  const name = "base url";
  const { value, source } = context.baseUrl;
  const isDefault = /^https:\/\/api\.cursor\.com\/?$/.test(value);
  const detail = `${context.printableBaseUrl}${isDefault ? "" : ` (${source})`}`;
  const proxy = findProxy(value, context.io);
  if (proxy !== undefined) {
    const { variable, isUsed, advice } = proxy;
    return isUsed
      ? { name, state: isDefault ? "ok" : "warn", detail: `${detail}, through the proxy of ${variable}` }
      : { name, state: "warn", detail: `${detail}; ${variable} is set`, advice };
  }
  if (isDefault) return { name, state: "ok", detail };
  return { name, state: "warn", detail, advice: "this is not Cursor's own URL: is that intended?" };
}

function explainRejectedOptions(context: Context, error: unknown): Check {
  if (ArgumentError.isInstance(error)) {
    const advice = "the API is at https://api.cursor.com";
    return { name: "base url", state: "fail", detail: error.message, advice };
  }
  const { message, hints } = explainError(error, context);
  const isAccount = error instanceof MissingKeyError;
  return { name: "key", state: "fail", detail: context.redact(message), advice: hints[0], isAccount };
}

/** Checks whether the key works, in which form and for which plan; and the clock, by the date of the response. */
async function checkKey(context: Context, cursor: Cursor): Promise<{ checks: Check[]; isValid: boolean }> {
  const options = { signal: context.signal };
  try {
    const { data, response } = await cursor.me(options).withResponse();
    return { checks: [...describeKey(data), checkClock(context, response)], isValid: true };
  } catch (error) {
    context.signal.throwIfAborted();
    return { checks: await explainKeyFailure(context, error), isValid: false };
  }
}

async function explainKeyFailure(context: Context, error: unknown): Promise<Check[]> {
  if (!isApiError(error)) return [failedCheck(context, "network", error)];
  if (error.code === "plan_required") {
    return [{ name: "auth", state: "ok", detail: "the key is known" }, failedCheck(context, "plan", error)];
  }
  if (error.status !== 401) return [failedCheck(context, "auth", error)];
  const basic = await context.createCursor("basic");
  const worksAsBasic = await basic.me({ signal: context.signal }).then(
    () => true,
    () => false,
  );
  if (!worksAsBasic) return [failedCheck(context, "auth", error)];
  return [
    {
      name: "auth",
      state: "fail",
      detail: "the key works as Basic, but not as Bearer",
      advice: "something between here and the API removes Bearer tokens, perhaps a proxy",
      isAccount: true,
    },
  ];
}

function describeKey({ apiKeyName, userEmail }: ApiKeyInfo): Check[] {
  const owner = userEmail ?? "a service account";
  return [
    { name: "auth", state: "ok", detail: `"${apiKeyName}" of ${owner}, sent as Bearer` },
    { name: "plan", state: "ok", detail: "cloud agents are included" },
  ];
}

/** Presigned URLs are valid for 15 minutes; a clock that is off by less than this does no harm. */
const tolerableSkew = 120_000;

function checkClock({ io }: Context, response: Response): Check {
  const name = "clock";
  const date = Date.parse(response.headers.get("date") ?? "");
  if (Number.isNaN(date)) {
    return { name, state: "ok", detail: "the response has no date to compare with" };
  }
  const skew = io.clock.now() - date;
  if (Math.abs(skew) <= tolerableSkew) return { name, state: "ok", detail: "agrees with the server's" };
  const detail = `${formatDuration(Math.abs(skew))} ${skew > 0 ? "ahead of" : "behind"} the server's`;
  return { name, state: "warn", detail, advice: "set this machine's clock: deadlines and ages are wrong" };
}

async function checkModels(context: Context, cursor: Cursor, wanted: string | undefined): Promise<Check> {
  const name = "models";
  try {
    const { items } = await cursor.models.list({ signal: context.signal });
    if (wanted === undefined) {
      return { name, state: "ok", detail: `${formatPlural(items.length, "model")} to choose from` };
    }
    const shown = context.redact(wanted);
    const found = items.find(({ id, aliases }) => id === wanted || aliases?.includes(wanted));
    if (found) return { name, state: "ok", detail: `${shown} is ${found.displayName}` };
    // Only a warning, because the list has the recommended models; others may exist.
    const advice = `choose one of: ${items.map(({ id }) => id).join(", ")}`;
    return { name, state: "warn", detail: `${shown} is not in the list`, advice };
  } catch (error) {
    return asWarning(failedCheck(context, name, error));
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
    const repositories = cursor.repositories.list({}, { signal: context.signal, maxRetries: 0 });
    for await (const { url } of repositories) urls.push(url);
    const advice = "install Cursor's app for it: https://cursor.com/dashboard (Integrations)";
    if (wanted === undefined) {
      const detail = `Cursor can access ${formatPlural(urls.length, "repository", "repositories")}`;
      return urls.length > 0 ? { name, state: "ok", detail } : { name, state: "warn", detail, advice };
    }
    const isListed = urls.some((url) => ownerAndName(url) === ownerAndName(wanted));
    return isListed
      ? { name, state: "ok", detail: `Cursor can access ${wanted}` }
      : { name, state: "fail", detail: `Cursor can't access ${wanted}`, advice };
  } catch (error) {
    if (isApiError(error) && error.status === 429 && !isAccountLimit(error)) {
      const detail = "not checked: the API allows this once a minute";
      return { name, state: "warn", detail, advice: "run this again in a minute" };
    }
    return asWarning(failedCheck(context, name, error));
  }
}

/** The `owner/name` of a repository, in whatever form its address is given. */
const ownerAndName = (url: string): string =>
  url
    .toLowerCase()
    .replace(/\/+$/, "")
    .replace(/\.git$/, "")
    .split(/[/:]/)
    .slice(-2)
    .join("/");

/** @throws The signal's reason if the command was aborted: that is not a result of the check */
function failedCheck(context: Context, name: string, error: unknown): Check {
  context.signal.throwIfAborted();
  const { message, hints, exitCode } = explainError(error, context);
  const isNetwork = CursorError.isInstance(error) && !isApiError(error);
  return {
    name,
    state: "fail",
    detail: context.redact(message),
    advice: isNetwork ? networkAdvice(context) : hints[0],
    isAccount: exitCode === exitCodes.account,
  };
}

function networkAdvice({ baseUrl, io }: Context): string {
  const proxy = findProxy(baseUrl.value, io);
  if (proxy !== undefined) return `${proxy.variable} is set; ${proxy.advice}`;
  return "check the network, DNS, TLS and proxy between here and the API";
}

/** A run can start without this check's answer. */
const asWarning = (check: Check): Check => ({ ...check, state: "warn" });
