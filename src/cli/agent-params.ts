import { type Command, Option } from "commander";
import type { CreateAgentParams, CustomSubagent, McpServer, Prompt, PromptImage } from "../index.ts";
import { imageFromFile } from "../node/index.ts";
import type { Context } from "./context.ts";
import { UsageError } from "./failures.ts";
import { readJsonFile, readPrompt, readTextFile } from "./read-input.ts";
import { collect } from "./values.ts";

/** What can be said of a prompt. */
export interface PromptFlags {
  file?: string;
  image?: string[];
  mode?: "agent" | "plan";
  mcpFile?: string;
}

/** What can be said of a new agent. */
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
    .addOption(new Option("--mode <mode>", "plan first, or change code at once").choices(["agent", "plan"]))
    .option("--mcp-file <path>", "JSON file with a list of MCP servers");
}

export function addAgentOptions(command: Command): Command {
  return addPromptOptions(command)
    .option(
      "--repo <url>",
      "repository to work on, or owner/name on GitHub (more than once for several)",
      collect,
    )
    .option("--ref <name>", "branch or commit to start from")
    .option("--pr-url <url>", "pull request to work on, instead of --ref")
    .option("--model <id>", "model (see `cursor-agents models`)")
    .option("--model-param <id=value>", "parameter of the model (more than once for several)", collect)
    .option("--name <name>", "the agent's name, up to 100 characters")
    .addOption(new Option("--env-type <type>", "where it runs").choices(["cloud", "pool", "machine"]))
    .option("--env-name <name>", "named cloud environment, pool or machine")
    .option(
      "--env-var <name>",
      "pass a variable of this shell on to the agent's (more than once for several)",
      collect,
    )
    .option("--env-file <path>", "file of NAME=value lines for the agent's shell")
    .option("--subagents-file <path>", "JSON file with a list of custom subagents")
    .option("--work-on-current-branch", "push to the starting branch itself, not to a new one")
    .option("--auto-create-pr", "open a pull request when the run is over")
    .option("--skip-reviewer-request", "don't ask you to review that pull request")
    .option(
      "--agent-id <id>",
      "the new agent's id (bc-<uuid>), so that a repeated command can't make a second one",
    );
}

/** The prompt with its images. */
export async function toPrompt(
  context: Context,
  prompt: string | undefined,
  { file, image = [] }: PromptFlags,
): Promise<Prompt> {
  const { stdin } = context.io;
  const keyFromStdin = context.globals.apiKeyFile === "-";
  if (image.length > 5) throw new UsageError("--image: a prompt takes at most 5 images");
  const text = await readPrompt(
    { prompt, file, keyFromStdin },
    prompt === "-" ? stdin : noInput,
    context.signal,
  ).catch((error: unknown) => {
    // Else a deadline would sound as if there were a run.
    if (context.signal.aborted) context.terminal.alert("ended before the prompt was read: nothing was sent");
    throw error;
  });
  const images: PromptImage[] = [];
  for (const path of image) images.push(await imageFromFile(path, { signal: context.signal }));
  return images.length === 0 ? { text } : { text, images };
}

const noInput: AsyncIterable<string> = (async function* () {})();

/** The MCP servers of a file. */
export async function toMcpServers(
  context: Context,
  path: string | undefined,
): Promise<McpServer[] | undefined> {
  return path === undefined ? undefined : ((await readList(context, "--mcp-file", path)) as McpServer[]);
}

/** What a new agent is made of, without its prompt. */
export async function toAgentParams(
  context: Context,
  flags: AgentFlags,
): Promise<Omit<CreateAgentParams, "prompt">> {
  const { repo = [], ref, prUrl, model, modelParam = [], envType, envName } = flags;
  if ((ref ?? prUrl) !== undefined && repo.length !== 1) {
    throw new UsageError(`${ref === undefined ? "--pr-url" : "--ref"} needs exactly one --repo`);
  }
  if (ref !== undefined && prUrl !== undefined) throw new UsageError("--ref and --pr-url exclude each other");
  if (modelParam.length > 0 && model === undefined) throw new UsageError("--model-param needs --model");
  const envVars = await toEnvVars(context, flags);
  const { subagentsFile } = flags;
  const subagents =
    subagentsFile === undefined ? undefined : await readList(context, "--subagents-file", subagentsFile);
  const params = {
    name: flags.name,
    agentId: flags.agentId,
    mode: flags.mode,
    autoCreatePR: flags.autoCreatePr,
    skipReviewerRequest: flags.skipReviewerRequest,
    workOnCurrentBranch: flags.workOnCurrentBranch,
    mcpServers: await toMcpServers(context, flags.mcpFile),
    customSubagents: subagents as CustomSubagent[] | undefined,
    envVars,
    repos:
      repo.length === 0
        ? undefined
        : repo.map((url) => ({
            url: toRepositoryUrl(url),
            ...(ref === undefined ? {} : { startingRef: ref }),
            ...(prUrl === undefined ? {} : { prUrl }),
          })),
    model:
      model === undefined
        ? undefined
        : { id: model, ...(modelParam.length === 0 ? {} : { params: modelParam.map(toModelParam) }) },
    env:
      (envType ?? envName) === undefined
        ? undefined
        : { type: envType ?? "cloud", ...(envName === undefined ? {} : { name: envName }) },
  };
  const given = Object.entries(params).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Omit<CreateAgentParams, "prompt">;
}

/** `owner/name` is GitHub's, as people write it. */
function toRepositoryUrl(text: string): string {
  if (/^[\w.-]+\/[\w.-]+$/.test(text)) return `https://github.com/${text}`;
  if (!/^https?:\/\//.test(text)) {
    throw new UsageError(
      "--repo: expected your-org/your-repo (on GitHub) or a URL such as https://github.com/your-org/your-repo",
    );
  }
  if (URL.canParse(text) && (new URL(text).username || new URL(text).password)) {
    throw new UsageError("--repo: leave the user name and password out of the URL");
  }
  return text;
}

function toModelParam(text: string): { id: string; value: string } {
  const [, id, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (id === undefined || value === undefined) throw new UsageError("--model-param: expected id=value");
  return { id, value };
}

async function toEnvVars(
  { io, signal }: Context,
  { envVar = [], envFile }: AgentFlags,
): Promise<Record<string, string> | undefined> {
  if (envVar.length === 0 && envFile === undefined) return undefined;
  const values: Record<string, string> = {};
  const lines = envFile === undefined ? [] : (await readTextFile(envFile, signal)).split(/\r?\n/);
  lines.forEach((line, index) => {
    if (/^\s*(#|$)/.test(line)) return;
    const [, name, value] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    // The line itself may be a secret.
    if (name === undefined) throw new UsageError(`${envFile}: line ${index + 1} is not NAME=value`);
    values[name] = (value as string).replace(/^(["'])(.*)\1$/, "$2");
  });
  for (const name of envVar) {
    if (name.includes("=")) {
      throw new UsageError(
        "--env-var takes a name only: everyone on this machine can read a process's arguments",
        "export the variable and give its name, or use --env-file",
      );
    }
    const value = io.env[name];
    if (value === undefined) throw new UsageError(`--env-var: ${name} is not set in this shell`);
    values[name] = value;
  }
  return values;
}

async function readList({ signal }: Context, flag: string, path: string): Promise<unknown[]> {
  const list = await readJsonFile(path, signal);
  if (!Array.isArray(list)) throw new UsageError(`${flag}: ${path} is no JSON list`);
  return list;
}
