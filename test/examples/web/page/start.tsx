import { type FormEvent, useEffect, useRef, useState } from "react";
import type { Conversation } from "../sessions.ts";
import { listModels, startAgent } from "./api.ts";
import { Link } from "./link.tsx";
import { hasMoved, pathOf } from "./place.ts";
import { ago } from "./words.ts";

const suggestions = ["Add a README with setup instructions", "Find out why the tests fail, and fix it"];

export interface StartProps {
  conversations: Conversation[] | undefined;
  onStarted: (conversation: Conversation) => void;
}

/** Where an agent is started, and the list of those that were. */
export function Start({ conversations = [], onStarted }: StartProps) {
  const prompt = useRef<HTMLTextAreaElement>(null);
  const [models, setModels] = useState<Awaited<ReturnType<typeof listModels>>>([]);
  const [isStarting, setIsStarting] = useState(false);
  const [refusal, setRefusal] = useState<string>();
  useEffect(() => {
    document.title = "Cloud agents";
    if (hasMoved()) prompt.current?.focus();
    // Without the list there is still the default.
    listModels().then(setModels, () => {});
  }, []);

  const onSubmit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const field = (name: string) => String(fields.get(name) ?? "").trim();
    setIsStarting(true);
    setRefusal(undefined);
    try {
      onStarted(
        await startAgent({
          prompt: field("prompt"),
          ...(field("repository") === "" ? {} : { repository: field("repository") }),
          ...(field("model") === "" ? {} : { model: field("model") }),
        }),
      );
    } catch (error) {
      setRefusal((error as Error).message);
      setIsStarting(false);
    }
  };

  return (
    <>
      <form className="stack" onSubmit={onSubmit}>
        <div>
          <h1>What should the agent do?</h1>
          <p className="lead">
            It works in the cloud. You can watch, or close this page and come back: it goes on.
          </p>
        </div>
        <div>
          <label htmlFor="prompt">Task</label>
          <textarea
            id="prompt"
            name="prompt"
            ref={prompt}
            required
            placeholder="Describe it as you would to a colleague"
          />
          <div className="actions suggestions">
            {suggestions.map((text) => (
              <button
                key={text}
                type="button"
                className="quiet"
                onClick={() => {
                  prompt.current!.value = text;
                  prompt.current!.focus();
                }}
              >
                {text}
              </button>
            ))}
          </div>
        </div>
        <div className="fields">
          <div>
            <label htmlFor="repository">
              Repository <small>(optional)</small>
            </label>
            <input
              id="repository"
              name="repository"
              type="url"
              placeholder="https://github.com/your-org/your-repo"
              autoComplete="url"
            />
          </div>
          <div>
            <label htmlFor="model">Model</label>
            <select id="model" name="model">
              <option value="">Default</option>
              {models
                .filter(({ id }) => id !== "default")
                .map(({ id, displayName }) => (
                  <option key={id} value={id}>
                    {displayName}
                  </option>
                ))}
            </select>
          </div>
        </div>
        <div className="actions">
          <button type="submit" className="primary" disabled={isStarting}>
            {isStarting ? "Starting…" : "Start agent"}
          </button>
          {refusal !== undefined && (
            <p className="refusal" role="alert">
              {refusal}
            </p>
          )}
        </div>
      </form>
      {conversations.length > 0 && (
        <nav className="section" aria-labelledby="started">
          <h2 id="started">Started here</h2>
          <ul className="list">
            {conversations.map(({ agentId, turns }) => (
              <li key={agentId}>
                <Link to={pathOf({ agentId, runId: turns.at(-1)!.runId })}>{turns[0]!.prompt}</Link>
                <small>{ago(turns.at(-1)!.startedAt)}</small>
              </li>
            ))}
          </ul>
        </nav>
      )}
    </>
  );
}
