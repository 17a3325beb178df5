import { type UseRunResult, useRun } from "cursor-cloud-agents/react";
import { routeSource, webStorage } from "cursor-cloud-agents/store";
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Turn } from "../sessions.ts";
import { cancelRun, streamUrl } from "./api.ts";
import { Parts } from "./parts.tsx";
import { hasMoved } from "./place.ts";
import { announcementOf, Outcome, stateOf } from "./state.tsx";
import { useStickToEnd } from "./use-stick-to-end.ts";
import { useVisibleOnly } from "./use-visible-only.ts";

const storage = webStorage("session");

export interface TurnProps {
  agentId: string;
  turn: Turn;
  /** It is the one that the page is about. */
  isCurrent: boolean;
  /** The first turn's prompt is the heading of the page. */
  level: 1 | 2;
  onOver?: () => void;
  children?: ReactNode;
}

/** A prompt, and the run that works on it: watched live, from wherever this browser has got to. */
export function TurnView({ agentId, turn, isCurrent, level, onOver, children }: TurnProps) {
  const { runId, prompt } = turn;
  // The store is made once for each URL. What was seen is kept with its position, for as long as the tab lives.
  const run = useRun({ source: routeSource(streamUrl(agentId, runId)), storage });
  const state = stateOf(run);
  const isOver = run.result !== undefined;
  const isWatching = run.status === "submitted" || run.status === "streaming";
  useVisibleOnly(run);
  useStickToEnd(isCurrent && isWatching, run.parts);
  useEffect(() => {
    if (isOver) onOver?.();
  }, [isOver, onOver]);

  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (isCurrent && hasMoved()) heading.current?.focus();
  }, [isCurrent]);

  const Heading = `h${level}` as const;
  return (
    <article className="turn" aria-labelledby={runId} aria-busy={isWatching}>
      <Heading className={level === 1 ? "title" : "prompt"} id={runId} ref={heading} tabIndex={-1}>
        {prompt}
      </Heading>
      {children}
      <Parts parts={run.parts} isLive={isWatching} />
      <div className="foot">
        <p className="state">
          <span className={`dot ${state.kind}`} aria-hidden="true" />
          <strong>{state.text}</strong> <Outcome result={run.result} />
        </p>
        {!isOver && (
          <Controls {...{ agentId, runId, run, isWatching }} onFocusLost={() => heading.current?.focus()} />
        )}
        {isOver && run.text !== "" && <Copy text={run.text} />}
      </div>
      <p className="visually-hidden" role="status">
        {isCurrent && announcementOf(run)}
      </p>
    </article>
  );
}

interface ControlsProps {
  agentId: string;
  runId: string;
  run: UseRunResult;
  isWatching: boolean;
  /** They went, and one of them had the focus. */
  onFocusLost: () => void;
}

/** Watching is this page's affair: to stop it leaves the run alone. To cancel it doesn't. */
function Controls({ agentId, runId, run, isWatching, onFocusLost }: ControlsProps) {
  const box = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: for when they go, and not before
  useLayoutEffect(() => {
    const { current } = box;
    return () => {
      if (current?.contains(document.activeElement)) onFocusLost();
    };
  }, []);
  const [isCancelling, setIsCancelling] = useState(false);
  const [refusal, setRefusal] = useState<string>();
  const onCancel = () => {
    setIsCancelling(true);
    setRefusal(undefined);
    // The outcome comes by the stream, as every outcome does.
    cancelRun(agentId, runId).catch((error: Error) => {
      setRefusal(error.message);
      setIsCancelling(false);
    });
  };
  return (
    <div className="actions" ref={box}>
      {refusal !== undefined && (
        <p className="refusal" role="alert">
          {refusal}
        </p>
      )}
      <button type="button" onClick={isWatching ? run.stop : run.resume}>
        {isWatching ? "Stop watching" : "Resume watching"}
      </button>
      <button type="button" className="danger" onClick={onCancel} aria-disabled={isCancelling}>
        {isCancelling ? "Cancelling…" : "Cancel run"}
      </button>
    </div>
  );
}

function Copy({ text }: { text: string }) {
  const [isCopied, setIsCopied] = useState(false);
  const onCopy = () => navigator.clipboard.writeText(text).then(() => setIsCopied(true));
  return (
    <button type="button" className="quiet" onClick={onCopy}>
      {isCopied ? "Copied" : "Copy reply"}
    </button>
  );
}
