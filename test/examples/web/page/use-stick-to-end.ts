import { useEffect, useLayoutEffect, useRef } from "react";

/** Follows growing content, as long as the reader is at its end. */
export function useStickToEnd(isActive: boolean, content: unknown): void {
  const isAtEnd = useRef(true);
  useEffect(() => {
    const onScroll = () => {
      const page = document.documentElement;
      isAtEnd.current = page.scrollHeight - page.clientHeight - page.scrollTop < 80;
    };
    onScroll();
    addEventListener("scroll", onScroll, { passive: true });
    return () => removeEventListener("scroll", onScroll);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: content is what it waits for
  useLayoutEffect(() => {
    if (isActive && isAtEnd.current) scrollTo({ top: document.documentElement.scrollHeight });
  }, [isActive, content]);
}
