import type { UseRunResult } from "cursor-cloud-agents/react";
import { useEffect, useRef } from "react";

/** Tabs may be flipped through: one that was hidden for less keeps its connection. */
const patience = 30_000;

/**
 * Lets a hidden tab go off the stream, and go on where it was once it is seen again. A browser opens six connections to
 * a server (over HTTP/1.1), for all tabs together: with six of them on runs, a seventh could not even load.
 */
export function useVisibleOnly({ status, stop, resume }: UseRunResult): void {
  const latest = useRef(status);
  useEffect(() => {
    latest.current = status;
  });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let hasLetGo = false;
    const letGo = () => {
      hasLetGo = latest.current === "submitted" || latest.current === "streaming";
      if (hasLetGo) stop();
    };
    const onChange = () => {
      clearTimeout(timer);
      if (document.visibilityState === "hidden") timer = setTimeout(letGo, patience);
      else if (hasLetGo) {
        hasLetGo = false;
        resume();
      }
    };
    document.addEventListener("visibilitychange", onChange);
    onChange();
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onChange);
    };
  }, [stop, resume]);
}
