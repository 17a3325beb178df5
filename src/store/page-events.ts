interface Page {
  addEventListener?(type: string, listener: () => void): void;
  removeEventListener?(type: string, listener: () => void): void;
  document?: { visibilityState?: string };
  navigator?: { onLine?: boolean };
}

const page = globalThis as Page;

/** Listens to events of the window, where there is one; those of the document bubble up to it. Returns what ends it. */
export function onPage(types: readonly string[], listener: () => void): () => void {
  for (const type of types) page.addEventListener?.(type, listener);
  return () => {
    for (const type of types) page.removeEventListener?.(type, listener);
  };
}

/** What may end a page without another word. */
export const leaving = ["pagehide", "visibilitychange"];

/** What may mean that time has passed unnoticed, or that the network is back. */
export const waking = ["online", "pageshow", "resume", "visibilitychange"];

export const isHidden = (): boolean => page.document?.visibilityState === "hidden";

export const isOffline = (): boolean => page.navigator?.onLine === false;
