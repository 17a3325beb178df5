import { useSyncExternalStore } from "react";

/** The run that the page is about: it is in the URL, so that a reload, a bookmark and a second tab find it. */
export interface Place {
  agentId: string;
  runId: string;
}

const form = /^\/agents\/([^/]+)\/runs\/([^/]+)$/;

export const pathOf = ({ agentId, runId }: Place) =>
  `/agents/${encodeURIComponent(agentId)}/runs/${encodeURIComponent(runId)}`;

function subscribe(onChange: () => void): () => void {
  addEventListener("popstate", onChange);
  return () => removeEventListener("popstate", onChange);
}

/** Where the page is; `undefined`: at its start. */
export function usePlace(): Place | undefined {
  const path = useSyncExternalStore(subscribe, () => location.pathname);
  const [, agentId, runId] = form.exec(path) ?? [];
  if (agentId === undefined || runId === undefined) return undefined;
  return { agentId: decodeURIComponent(agentId), runId: decodeURIComponent(runId) };
}

let moves = 0;

/** Whether the page got here by itself, so that the focus is its to place. The browser places it after a load. */
export const hasMoved = () => moves > 0;

export function go(path: string): void {
  moves++;
  history.pushState(null, "", path);
  dispatchEvent(new PopStateEvent("popstate"));
}
