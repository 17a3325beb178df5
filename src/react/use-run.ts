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
  /** Called when the run's outcome arrives, but not for an outcome that was there at the first render. */
  onFinish?: ((result: NonNullable<RunSnapshot["result"]>) => void) | undefined;
  /** Called when reading the run fails. */
  onError?: ((error: Error) => void) | undefined;
  /** Whether the error of a failed reading is also thrown while rendering, for an error boundary. @default false */
  throwOnError?: boolean | undefined;
}

/**
 * A store, or a source and the options to make one. That store belongs to the component and lives as long as the run's key
 * stays the same: `key`, or the source's own (a route's URL, a run's id). Each render may pass a new source and new options,
 * made of the latest token for example: the next connection uses them. A source without a key is compared by identity:
 * memoise it.
 */
export type UseRunOptions = UseRunHandlers &
  ({ store: RunStore; source?: undefined } | ({ source: RunSource; store?: undefined } & RunStoreOptions));

/** The run, with the store's methods. */
export interface UseRunResult extends RunSnapshot, Pick<RunStore, "start" | "stop" | "resume"> {}

/**
 * Follows a run in a component. Renders at most once a frame. Child components that are memoised and get one part each
 * render only when that part changes. Unmounting disconnects and never cancels the run. With a `selector` the component
 * renders only when the selected value changes.
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
  useLatestSource(store, options);
  useHandlers(store, options);
  const { client, server } = useMemo(() => {
    const select = selector ?? ((run: RunSnapshot) => run);
    return { client: memoize(store.getSnapshot, select), server: memoize(store.getServerSnapshot, select) };
  }, [store, selector]);
  const selected = useSyncExternalStore(store.subscribe, client, server);
  const whole = useMemo(
    () =>
      selector
        ? undefined
        : { ...(selected as RunSnapshot), start: store.start, stop: store.stop, resume: store.resume },
    [store, selector, selected],
  );
  // Subscribed to separately, since a selector may leave the error out.
  const thrown = () => (options.throwOnError ? store.getSnapshot().error : undefined);
  const error = useSyncExternalStore(store.subscribe, thrown, () => undefined);
  if (error) throw error;
  return selector ? selected : whole;
}

/** Returns the given store, or the component's own: a new one for each run. */
function useStore(options: UseRunOptions): RunStore {
  const identity = options.store ?? options.key ?? options.source.key ?? options.source;
  const make = () => ({ identity, store: options.store ?? createOwn(options) });
  const [current, setCurrent] = useState(make);
  if (current.identity === identity) return current.store;
  const next = make();
  // Called while rendering, so that React renders again before the other run's text is shown.
  setCurrent(next);
  return next.store;
}

type OwnOptions = Extract<UseRunOptions, { source: RunSource }>;

function createOwn(options: OwnOptions): RunStore {
  return createRunStore(options.source, storeOptions(options));
}

function storeOptions({
  onFinish: _onFinish,
  onError: _onError,
  throwOnError: _throwOnError,
  store: _store,
  source: _source,
  ...options
}: OwnOptions): RunStoreOptions {
  return options;
}

/**
 * Gives the component's own store what the latest render passed. Stands before the subscription, so that also a connection
 * that starts with it uses this. Not done while rendering, since React may drop a render.
 */
function useLatestSource(store: RunStore, options: UseRunOptions): void {
  useEffect(() => {
    if (options.source) store.update(options.source, storeOptions(options));
  });
}

/** Calls the latest handlers, without a new subscription for each render's closures. */
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

/** Selects once per snapshot, so that React, which calls the function several times, gets the same object each time. */
function memoize<Selected>(
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
