import { type FormEvent, useCallback, useEffect, useState } from "react";
import type { Conversation } from "../sessions.ts";
import { followUp } from "./api.ts";
import { ArtifactList } from "./artifact-list.tsx";
import { TurnView } from "./turn.tsx";
import { ago } from "./words.ts";

export interface ConversationProps {
  conversation: Conversation;
  currentRunId: string;
  onStarted: (conversation: Conversation) => void;
}

/** An agent: its runs in their order, its files, and what to ask it next. */
export function ConversationView({ conversation, currentRunId, onStarted }: ConversationProps) {
  const { agentId, repository, model, turns } = conversation;
  const title = turns[0]!.prompt;
  const latest = turns.at(-1)!;
  const [endedRunId, setEndedRunId] = useState<string>();
  const onOver = useCallback(() => setEndedRunId(latest.runId), [latest.runId]);
  const isFree = endedRunId === latest.runId;
  useEffect(() => {
    document.title = `${isFree ? "✓ " : ""}${title} – Cloud agents`;
  }, [title, isFree]);

  return (
    <>
      {turns.map((turn, index) => (
        <TurnView
          key={turn.runId}
          agentId={agentId}
          turn={turn}
          isCurrent={turn.runId === currentRunId}
          level={index === 0 ? 1 : 2}
          {...(turn === latest && { onOver })}
        >
          {index === 0 && (
            <p className="meta">
              <span>{repository?.replace(/^https?:\/\//, "") ?? "No repository"}</span>
              <span>{model ?? "Default model"}</span>
              <span>Started {ago(turn.startedAt)}</span>
            </p>
          )}
        </TurnView>
      ))}
      {isFree && <ArtifactList agentId={agentId} endedRunId={endedRunId} />}
      {isFree && <FollowUp agentId={agentId} onStarted={onStarted} />}
    </>
  );
}

function FollowUp({ agentId, onStarted }: Pick<ConversationProps, "onStarted"> & { agentId: string }) {
  const [isSending, setIsSending] = useState(false);
  const [refusal, setRefusal] = useState<string>();
  const onSubmit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const prompt = String(new FormData(event.currentTarget).get("follow-up") ?? "").trim();
    setIsSending(true);
    setRefusal(undefined);
    try {
      onStarted(await followUp(agentId, prompt));
    } catch (error) {
      setRefusal((error as Error).message);
      setIsSending(false);
    }
  };
  return (
    <form className="section stack" onSubmit={onSubmit}>
      <div>
        <label htmlFor="follow-up">Follow up</label>
        <textarea id="follow-up" name="follow-up" required placeholder="What should the agent do next?" />
      </div>
      <div className="actions">
        <button type="submit" className="primary" disabled={isSending}>
          {isSending ? "Sending…" : "Send"}
        </button>
        {refusal !== undefined && (
          <p className="refusal" role="alert">
            {refusal}
          </p>
        )}
      </div>
    </form>
  );
}
