import { type Command, Option } from "commander";
import type { CreateAgentParams, CustomSubagent, McpServer, Prompt, PromptImage } from "../index.ts";
import { imageFromFile } from "../node/index.ts";
import { collect, toAgentId } from "./add-command.ts";
import { UsageError } from "./command-failure.ts";
import type { Context } from "./context.ts";
import { parseEnvFile } from "./env-file.ts";
import { readJson, readText } from "./read-text.ts";
import { toRepositoryUrl } from "./repository-url.ts";

/** The options for a prompt. */
export interface PromptFlags {
  file?: string;
  image?: string[];
  mode?: "agent" | "plan";
  mcpFile?: string;
}

/** The options for a new agent. */
export interface AgentFlags extends PromptFlags {
  repo?: string[];
  ref?: string;
  prUrl?: string;
  model?: string;
  modelParam?: string[];
  name?: string;
  envType?: "cloud" | "pool" | "machine";
  envName?: string;
  envVar?: string[];
  envFile?: string;
  subagentsFile?: string;
  autoCreatePr?: boolean;
  skipReviewerRequest?: boolean;
  workOnCurrentBranch?: boolean;
  agentId?: string;
}

export function addPromptOptions(command: Command): Command {
  return command
    .option("--file <path>", "read the prompt from a file")
    .option("--image <path>", "image for the prompt: PNG, JPEG, GIF or WebP (up to 5 times)", collect)
    .addOption(
      new Option("--mode <mode>", "plan first, or change code right away").choices(["agent", "plan"]),
    )
    .option("--mcp-file <path>", "JSON file with a list of MCP servers");
}

export function addAgentOptions(command: Command): Command {
  return addPromptOptions(command)
    .option(
      "--repo <url>",
      "repository to work on: its URL, or owner/name on GitHub (more than once for several)",
      collect,
    )
    .option("--ref <name>", "branch or commit to start from")
    .option("--pr-url <url>", "pull request to work on, instead of --ref")
    .option("--model <id>", "model (see `cursor-agents models`)")
    .option("--model-param <id=value>", "parameter of the model (more than once for several)", collect)
    .option("--name <name>", "the agent's name, up to 100 characters")
    .addOption(new Option("--env-type <type>", "where the agent runs").choices(["cloud", "pool", "machine"]))
    .option("--env-name <name>", "named cloud environment, pool or machine")
    .option(
      "--env-var <name>",
      "pass a variable of this shell on to the agent's shell (more than once for several)",
      collect,
    )
    .option("--env-file <path>", "file of NAME=value lines for the agent's shell, read as dotenv reads them")
    .option("--subagents-file <path>", "JSON file with a list of custom subagents")
    .option("--work-on-current-branch", "push to the starting branch itself, not to a new one")
    .option("--auto-create-pr", "open a pull request when the run ends")
    .option("--skip-reviewer-request", "don't ask you to review that pull request")
    .option(
      "--agent-id <id>",
      "the new agent's id (bc-<uuid>), so that a repeated command can't make a second one",
      toAgentId,
    );
}

/** The prompt of the command line: from the argument, from stdin (`-`) or from `--file`, with its images. */
export async function readPrompt(
  context: Context,
  argument: string | undefined,
  { file, image = [] }: PromptFlags,
): Promise<Prompt> {
  if (image.length > 5) throw new UsageError("--image: a prompt takes at most 5 images");
  const text = await readPromptText(context, argument, file).catch((error: unknown) => {
    // Without this line the message about --timeout would suggest that a run was started.
    if (context.signal.aborted) context.terminal.alert("ended before the prompt was read: nothing was sent");
    throw error;
  });
  const images: PromptImage[] = [];
  for (const path of image) images.push(await imageFromFile(path, { signal: context.signal }));
  return images.length === 0 ? { text } : { text, images };
}

async function readPromptText(
  { io, apiKey, signal }: Context,
  argument: string | undefined,
  file: string | undefined,
): Promise<string> {
  if (argument !== undefined && file !== undefined) {
    throw new UsageError("there are two prompts: the argument and --file", "leave one of them out");
  }
  if (argument === "-" && apiKey.isFromStdin) {
    throw new UsageError("stdin can't hold both the prompt and the key");
  }
  const source = argument === "-" ? io.stdin : file;
  const text = source === undefined ? argument : (await readText(source, signal)).trimEnd();
  if (text === undefined) {
    throw new UsageError(
      "there is no prompt",
      'give it as an argument ("Fix the login"), as - to read stdin, or with --file <path>',
    );
  }
  if (text.trim() === "") throw new UsageError("the prompt is empty");
  return text;
}

/** The MCP servers of `--mcp-file`. */
export async function readMcpServers(
  context: Context,
  path: string | undefined,
): Promise<McpServer[] | undefined> {
  return path === undefined ? undefined : ((await readList(context, "--mcp-file", path)) as McpServer[]);
}

/** The parameters of a new agent, except its prompt. */
export async function readAgentParams(
  context: Context,
  flags: AgentFlags,
): Promise<Omit<CreateAgentParams, "prompt">> {
  const { repo = [], ref, prUrl, model, modelParam = [], envType, envName, subagentsFile } = flags;
  if ((ref ?? prUrl) !== undefined && repo.length !== 1) {
    throw new UsageError(`${ref === undefined ? "--pr-url" : "--ref"} needs exactly one --repo`);
  }
  if (ref !== undefined && prUrl !== undefined) throw new UsageError("--ref and --pr-url exclude each other");
  if (modelParam.length > 0 && model === undefined) throw new UsageError("--model-param needs --model");
  const envVars = await readEnvVars(context, flags);
  const customSubagents =
    subagentsFile === undefined
      ? undefined
      : ((await readList(context, "--subagents-file", subagentsFile)) as CustomSubagent[]);
  return withoutUndefined({
    name: flags.name,
    agentId: flags.agentId,
    mode: flags.mode,
    autoCreatePR: flags.autoCreatePr,
    skipReviewerRequest: flags.skipReviewerRequest,
    workOnCurrentBranch: flags.workOnCurrentBranch,
    mcpServers: await readMcpServers(context, flags.mcpFile),
    customSubagents,
    envVars,
    repos:
      repo.length === 0
        ? undefined
        : repo.map((address) => withoutUndefined({ url: toRepositoryUrl(address), startingRef: ref, prUrl })),
    model:
      model === undefined
        ? undefined
        : withoutUndefined({
            id: model,
            params: modelParam.length === 0 ? undefined : modelParam.map(toModelParam),
          }),
    env:
      (envType ?? envName) === undefined
        ? undefined
        : withoutUndefined({ type: envType ?? "cloud", name: envName }),
  }) as Omit<CreateAgentParams, "prompt">;
}

const withoutUndefined = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

function toModelParam(text: string): { id: string; value: string } {
  const [, id, value] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (id === undefined || value === undefined) throw new UsageError("--model-param: expected id=value");
  return { id, value };
}

/** The variables of `--env-file` and `--env-var`; the latter win. */
async function readEnvVars(
  { io, signal }: Context,
  { envVar = [], envFile }: AgentFlags,
): Promise<Record<string, string> | undefined> {
  if (envVar.length === 0 && envFile === undefined) return undefined;
  const values =
    envFile === undefined
      ? new Map<string, string>()
      : parseEnvFile(envFile, await readText(envFile, signal));
  for (const name of envVar) {
    if (name.includes("=")) {
      throw new UsageError(
        "--env-var takes a name only: everyone on this machine can read a process's arguments",
        "export the variable and give its name, or use --env-file",
      );
    }
    const value = Object.hasOwn(io.env, name) ? io.env[name] : undefined;
    if (value === undefined) throw new UsageError(`--env-var: ${name} is not set in this shell`);
    values.set(name, value);
  }
  return Object.fromEntries(values);
}

async function readList({ signal }: Context, flag: string, path: string): Promise<unknown[]> {
  const list = await readJson(path, signal);
  if (!Array.isArray(list)) throw new UsageError(`${flag}: expected a JSON list in ${path}`);
  return list;
}
