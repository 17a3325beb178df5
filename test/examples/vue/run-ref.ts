import type { RunSnapshot, RunStore } from "cursor-cloud-agents/store";
import { onMounted, onScopeDispose, type ShallowRef, shallowRef, watch } from "vue";

/** The run of the current store as a ref: connected while the component is mounted, never on a server. */
export function runRef(current: () => RunStore): Readonly<ShallowRef<RunSnapshot>> {
  const run = shallowRef(current().getServerSnapshot());
  let leave = () => {};
  const follow = (store: RunStore) => {
    const update = () => {
      run.value = store.getSnapshot();
    };
    leave();
    leave = store.subscribe(update);
    update();
  };
  onMounted(() => watch(current, follow, { immediate: true }));
  onScopeDispose(() => leave());
  return run;
}
