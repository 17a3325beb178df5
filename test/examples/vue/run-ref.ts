import type { RunSnapshot, RunStore } from "cursor-cloud-agents/store";
import { onMounted, onScopeDispose, type ShallowRef, shallowRef } from "vue";

/** The run as a ref: connected while the component is mounted, never on a server. */
export function runRef(store: RunStore): Readonly<ShallowRef<RunSnapshot>> {
  const run = shallowRef(store.getServerSnapshot());
  const update = () => {
    run.value = store.getSnapshot();
  };
  let leave = () => {};
  onMounted(() => {
    leave = store.subscribe(update);
    update();
  });
  onScopeDispose(() => leave());
  return run;
}
