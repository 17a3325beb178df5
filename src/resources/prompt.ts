import { checkCallback } from "../check.ts";
import { ArgumentError, about } from "../errors.ts";
import type { RequestOptions } from "../options.ts";
import type { RunResult } from "../runs/stream.ts";
import type { Agent, CreateAgentParams, Prompt, Run } from "../types.ts";
import type { Agents } from "./agents.ts";
import type { Runs } from "./runs.ts";

/** What can be said for a prompt beside {@link RequestOptions}. */
export interface PromptOptions extends RequestOptions {
  /** Called once, when the agent and its run exist and before anything of the run is read: keep the ids. */
  onCreated?: ((created: { agent: Agent; run: Run }) => void) | undefined;
  /** Called with each piece of the reply. */
  onText?: ((delta: string) => void) | undefined;
}

/** The outcome of a prompt, with the agent to go on with. */
export interface PromptResult {
  /** The agent that was made. */
  agent: Agent;
  /** The run as it was created; `result` says how it came out. */
  run: Run;
  /** How the run came out. */
  result: RunResult;
}

export async function promptAgent(
  agents: Agents,
  runs: Runs,
  prompt: string | Prompt,
  params: Omit<CreateAgentParams, "prompt"> = {},
  options: PromptOptions = {},
): Promise<PromptResult> {
  const { onCreated, onText, ...requestOptions } = options ?? {};
  // Before anything is paid for.
  checkCallback("onCreated", onCreated);
  checkCallback("onText", onText);
  for (const name of ["onCreated", "onText"]) {
    if (name in (params ?? {})) throw new ArgumentError(name, "belongs into the third argument, the options");
  }
  const { agent, run } = await agents.create({ ...params, prompt } as CreateAgentParams, requestOptions);
  try {
    onCreated?.({ agent, run });
    const { signal, ...others } = requestOptions;
    const stream = runs.stream(run, { signal }, others);
    for await (const delta of stream.text()) onText?.(delta);
    return { agent, run, result: await stream.result() };
  } catch (error) {
    throw about(error, run);
  }
}
