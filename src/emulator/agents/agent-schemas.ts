import * as z from "zod/mini";
import { messageOf } from "../failures.ts";
import { isAgentId, isHttpUrl, repositoryUrl, rule, text } from "../validate.ts";

const megabyte = 1024 * 1024;

const bytesOf = (text: string) => new TextEncoder().encode(text).length;

const isUnique = (names: string[]) => new Set(names).size === names.length;

const image = z
  .strictObject({
    data: z.optional(text),
    mimeType: z.optional(z.enum(["image/png", "image/jpeg", "image/gif", "image/webp"])),
    url: z.optional(z.string()),
    dimension: z.optional(
      z.strictObject({ width: z.int().check(z.minimum(1)), height: z.int().check(z.minimum(1)) }),
    ),
  })
  .check(
    rule(
      (value) => (value.data === undefined) !== (value.url === undefined),
      "Image needs either data or url",
    ),
    rule((value) => value.data === undefined || value.mimeType !== undefined, "Image data needs a mimeType"),
    rule((value) => /^[A-Za-z0-9+/]*={0,2}$/.test(value.data ?? ""), "Image data must be base64"),
    rule((value) => value.url === undefined || value.mimeType === undefined, "Image url excludes mimeType"),
    rule((value) => value.url === undefined || isHttpUrl(value.url), "Image url must be http or https"),
    rule((value) => ((value.data?.length ?? 0) * 3) / 4 <= 15 * megabyte, "Image must be at most 15 MB"),
  );

const prompt = z.strictObject({ text, images: z.optional(z.array(image).check(z.maxLength(5))) });

const model = z.strictObject({
  id: text,
  params: z.optional(z.array(z.strictObject({ id: text, value: z.string() }))),
});

const repo = z.strictObject({
  url: repositoryUrl,
  startingRef: z.optional(text),
  prUrl: z.optional(z.string().check(rule(isHttpUrl, "Invalid url"))),
});

const env = z.strictObject({ type: z.enum(["cloud", "pool", "machine"]), name: z.optional(text) });

const remoteUrl = z.string().check(
  rule(isHttpUrl, "MCP server url must be http or https"),
  rule((value) => {
    if (!URL.canParse(value)) return false;
    const { username, password } = new URL(value);
    return username === "" && password === "";
  }, "MCP server url must not contain a username or password"),
);

const mcpServer = z
  .strictObject({
    name: text,
    type: z.optional(z.enum(["http", "sse", "stdio"])),
    url: z.optional(remoteUrl),
    headers: z.optional(z.record(z.string(), z.string())),
    auth: z.optional(
      z.strictObject({
        CLIENT_ID: text,
        CLIENT_SECRET: z.optional(text),
        scopes: z.optional(z.array(z.string())),
      }),
    ),
    command: z.optional(text),
    args: z.optional(z.array(z.string())),
    env: z.optional(z.record(z.string(), z.string())),
  })
  .check(
    rule(
      (value) => (value.url === undefined) !== (value.command === undefined),
      "MCP server needs url or command",
    ),
    rule((value) => {
      const stdioOnly = value.args !== undefined || value.env !== undefined || value.type === "stdio";
      const remoteOnly =
        value.headers !== undefined || value.auth !== undefined || (value.type ?? "stdio") !== "stdio";
      return value.command === undefined ? !stdioOnly : !remoteOnly;
    }, "MCP server mixes stdio and remote fields"),
  );

const mcpServers = z.array(mcpServer).check(
  z.maxLength(50),
  rule((servers) => isUnique(servers.map((server) => server.name)), "MCP server names must be unique"),
);

const builtInSubagents = new Set(["explore", "debug", "shell", "computerUse", "cursorGuide"]);

const customSubagents = z
  .array(
    z.strictObject({
      name: z.string().check(
        z.minLength(1),
        z.maxLength(100),
        rule((name) => !builtInSubagents.has(name), "Subagent name collides with a built-in"),
      ),
      description: z.string().check(z.minLength(1), z.maxLength(1000)),
      prompt: z.string().check(z.minLength(1), z.maxLength(8192)),
      model: z.optional(z.union([text, model])),
    }),
  )
  .check(
    z.maxLength(20),
    rule((agents) => isUnique(agents.map((agent) => agent.name)), "Subagent names must be unique"),
  );

const envVars = (field: string) =>
  z.record(z.string(), z.string()).check(
    rule((values) => Object.keys(values).length <= 50, `${field} must have at most 50 entries`),
    rule(
      (values) => Object.keys(values).every((name) => name !== "" && bytesOf(name) <= 255),
      `${field} names must be 1 to 255 bytes`,
    ),
    rule(
      (values) => Object.keys(values).every((name) => !name.startsWith("CURSOR_")),
      `${field} names can't start with CURSOR_`,
    ),
    rule(
      (values) => Object.values(values).every((value) => value !== "" && bytesOf(value) <= 4096),
      `${field} values must be 1 to 4096 bytes`,
    ),
  );

const metadata = z.record(z.string(), z.string()).check(
  rule((values) => Object.keys(values).length <= 50, "metadata must have at most 50 entries"),
  rule(
    (values) => Object.keys(values).every((name) => name !== "" && name.length <= 255),
    "metadata names must be 1 to 255 characters",
  ),
  rule(
    (values) => Object.values(values).every((value) => bytesOf(value) <= 4096),
    "metadata values must be at most 4096 bytes",
  ),
);

const mode = z.enum(["agent", "plan"]);

const agentId = z.string().check(rule(isAgentId, "agentId must be in the format 'bc-<uuid>'"));

/** Body of Create An Agent. */
export const createAgentBody = z
  .strictObject({
    prompt,
    model: z.optional(model),
    name: z.optional(z.string().check(z.minLength(1), z.maxLength(100))),
    agentId: z.optional(agentId),
    env: z.optional(env),
    repos: z.optional(z.array(repo).check(z.maxLength(20))),
    workOnCurrentBranch: z.optional(z.boolean()),
    autoCreatePR: z.optional(z.boolean()),
    skipReviewerRequest: z.optional(z.boolean()),
    envVars: z.optional(envVars("envVars")),
    mcpServers: z.optional(mcpServers),
    customSubagents: z.optional(customSubagents),
    mode: z.optional(mode),
    openAsCursorGithubApp: z.optional(z.boolean()),
    agentServeAgent: z.optional(z.string()),
    runEnvVars: z.optional(envVars("runEnvVars")),
    metadata: z.optional(metadata),
  })
  .check(
    rule(
      (body) => body.agentId === undefined || body.envVars === undefined,
      "agentId cannot be combined with envVars",
    ),
    rule(
      (body) => !(body.env?.type === "cloud" && body.env.name !== undefined && (body.repos?.length ?? 0) > 0),
      "repos cannot be combined with a named cloud environment",
    ),
    rule(
      (body) => !(body.env?.type === "machine" && (body.repos?.length ?? 0) > 1),
      messageOf("several_repositories"),
    ),
  );

/**
 * Body of Create A Run. `model` is not documented, but taken and checked (seen October 2026); `envVars` is in the types of the
 * vendor's SDK.
 */
export const createRunBody = z.strictObject({
  prompt,
  mcpServers: z.optional(mcpServers),
  mode: z.optional(mode),
  model: z.optional(model),
  envVars: z.optional(envVars("envVars")),
});

export type CreateAgentBody = z.infer<typeof createAgentBody>;
