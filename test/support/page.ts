import type { Window } from "happy-dom";

/** What `// @vitest-environment happy-dom` makes of the global object; the DOM's types are not in this project. */
export const page = globalThis as unknown as Window & typeof globalThis;

/** Dispatches an event of this name at the window. */
export const dispatch = (type: string): boolean => page.dispatchEvent(new page.Event(type));

let isHidden = false;

/** Lets the page be looked at or not; tells nobody. */
export function hide(hidden: boolean): void {
  isHidden = hidden;
  Object.defineProperty(page.document, "visibilityState", {
    configurable: true,
    get: () => (isHidden ? "hidden" : "visible"),
  });
}
