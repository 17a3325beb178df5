"use client";

import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import {
  createRunStore,
  type RunSnapshot,
  type RunSource,
  type RunStore,
  type RunStoreOptions,
} from "../store/index.ts";

interface UseRunHandlers {
  /** Called when the run's outcome arrives; not for one that was there already. */
  onFinish?: ((result: NonNullable<RunSnapshot["result"]>) => void) | undefined;
  /** Called when the run can't be read on. */
  onError?: ((error: Error) => void) | undefined;
  /** Throws such an error while rendering, for an error boundary. @default false */
  throwOnError?: boolean | undefined;
}

/**
 * A store, or what one is made of. The store belongs to the component and lives as long as the run's key stays the
 * same: `key`, or the source's own (a route's URL, a run's id). A source without any counts by identity: memoise it.
 */
export type UseRunOptions = UseRunHandlers &
  ({ store: RunStore; source?: undefined } | ({ source: RunSource; store?: undefined } & RunStoreOptions));

/** The run, and what can be done with it. */
export interface UseRunResult extends RunSnapshot, Pick<RunStore, "start" | "stop" | "resume"> {}

/**
 * Follows a run in a component. Renders at most once a frame; rows that are memoised by their part render only when
 * it changed. Unmounting disconnects and never cancels the run. With a `selector` only what it returns is watched.
 *
 * @example
 * const { status, parts, stop } = useRun({ source: routeSource(`/api/runs/${runId}`) });
 */
export function useRun(storeOrOptions: RunStore | UseRunOptions): UseRunResult;
export function useRun<Selected>(
  storeOrOptions: RunStore | UseRunOptions,
  selector: (run: RunSnapshot) => Selected,
): Selected;
export function useRun(
  storeOrOptions: RunStore | UseRunOptions,
  selector?: (run: RunSnapshot) => unknown,
): unknown {
  const options: UseRunOptions = "getSnapshot" in storeOrOptions ? { store: storeOrOptions } : storeOrOptions;
  const store = useStore(options);
  useHandlers(store, options);
  const { client, server } = useMemo(() => {
    const select = selector ?? ((run: RunSnapshot) => run);
    return { client: remember(store.getSnapshot, select), server: remember(store.getServerSnapshot, select) };
  }, [store, selector]);
  const selected = useSyncExternalStore(store.subscribe, client, server);
  const whole = useMemo(
    () =>
      selector
        ? undefined
        : { ...(selected as RunSnapshot), start: store.start, stop: store.stop, resume: store.resume },
    [store, selector, selected],
  );
  // Watched by itself: a selector may look away from it.
  const thrown = () => (options.throwOnError ? store.getSnapshot().error : undefined);
  const error = useSyncExternalStore(store.subscribe, thrown, () => undefined);
  if (error) throw error;
  return selector ? selected : whole;
}

/** The given store, or the component's own: a new one for each run. */
function useStore(options: UseRunOptions): RunStore {
  const identity = options.store ?? options.key ?? options.source.key ?? options.source;
  const make = () => ({ identity, store: options.store ?? createOwn(options) });
  const [current, setCurrent] = useState(make);
  if (current.identity === identity) return current.store;
  const next = make();
  setCurrent(next); // while rendering: React starts over before anybody sees the other run's text
  return next.store;
}

function createOwn({
  onFinish: _,
  onError: __,
  throwOnError: ___,
  store: ____,
  source,
  ...options
}: UseRunHandlers & { source: RunSource; store?: undefined } & RunStoreOptions): RunStore {
  return createRunStore(source, options);
}

/** Tells the latest handlers, without a new subscription for each render's closures. */
function useHandlers(store: RunStore, options: UseRunHandlers): void {
  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
  });
  useEffect(() => {
    let { result, error } = store.getSnapshot();
    return store.subscribe(() => {
      const before = { result, error };
      ({ result, error } = store.getSnapshot());
      if (result && result !== before.result) latest.current.onFinish?.(result);
      if (error && error !== before.error) latest.current.onError?.(error);
    });
  }, [store]);
}

/** A selection stays the same object as long as the snapshot does: React asks more than once. */
function remember<Selected>(
  getSnapshot: () => RunSnapshot,
  select: (run: RunSnapshot) => Selected,
): () => Selected {
  let last: { snapshot: RunSnapshot; selected: Selected } | undefined;
  return () => {
    const snapshot = getSnapshot();
    if (last?.snapshot !== snapshot) last = { snapshot, selected: select(snapshot) };
    return last.selected;
  };
}
