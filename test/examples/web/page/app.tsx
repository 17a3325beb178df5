import { useEffect, useState } from "react";
import type { Conversation } from "../sessions.ts";
import { listConversations } from "./api.ts";
import { ConversationView } from "./conversation.tsx";
import { Link } from "./link.tsx";
import { go, pathOf, usePlace } from "./place.ts";
import { Start } from "./start.tsx";

export function App() {
  const place = usePlace();
  const [conversations, setConversations] = useState<Conversation[]>();
  const [refusal, setRefusal] = useState<string>();
  useEffect(() => {
    listConversations().then(setConversations, (error: Error) => setRefusal(error.message));
  }, []);

  /** Takes in a new agent, or a known one with a new turn, and goes to its latest run. */
  const onStarted = (changed: Conversation) => {
    setConversations((known = []) => [
      changed,
      ...known.filter(({ agentId }) => agentId !== changed.agentId),
    ]);
    go(pathOf({ agentId: changed.agentId, runId: changed.turns.at(-1)!.runId }));
  };
  const current = conversations?.find(
    ({ agentId, turns }) => agentId === place?.agentId && turns.some(({ runId }) => runId === place.runId),
  );

  return (
    <>
      <header className="bar">
        <Link to="/">Cloud agents</Link>
        {place && <Link to="/">New agent</Link>}
      </header>
      <main>
        {refusal !== undefined && (
          <p className="refusal" role="alert">
            {refusal}
          </p>
        )}
        {!place && <Start conversations={conversations} onStarted={onStarted} />}
        {place && current && (
          <ConversationView
            key={current.agentId}
            conversation={current}
            currentRunId={place.runId}
            onStarted={onStarted}
          />
        )}
        {place && conversations && !current && <Nothing />}
      </main>
    </>
  );
}

function Nothing() {
  useEffect(() => {
    document.title = "Not found – Cloud agents";
  }, []);
  return (
    <div className="stack">
      <h1>There is no such run here</h1>
      <p className="lead">
        It may have been started in another browser: a run is shown only where it was started.
      </p>
      <p>
        <Link to="/">Start an agent</Link>
      </p>
    </div>
  );
}
