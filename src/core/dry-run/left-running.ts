import { createHook } from 'node:async_hooks';
import { currentWork } from '../kernel/outside/plugin-work.ts';

/** A timer, a socket or a server of Node. */
interface Resource {
  /** False: it does not keep the process alive. */
  hasRef?(): boolean;
}

interface Left {
  readonly plugin: string;
  readonly resource: WeakRef<Resource>;
}

/** Runs the task and returns the external plugins that have left what keeps the process alive, such as a timer. */
export async function leftRunning(task: () => Promise<void>): Promise<readonly string[]> {
  const left = new Map<number, Left>();
  const hook = createHook({
    init(id, type, _, resource: Resource) {
      const work = type === 'PROMISE' ? undefined : currentWork();
      if (!work || !('hasRef' in resource)) return;
      left.set(id, {
        // A module has the names of its plugins once it is loaded.
        get plugin() {
          return work.plugin;
        },
        resource: new WeakRef(resource),
      });
    },
    destroy: (id) => void left.delete(id),
  }).enable();
  try {
    await task();
    // Node reports what has ended in the next turn.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    hook.disable();
  }
  const running = [...left.values()].filter(({ resource }) => resource.deref()?.hasRef?.());
  return [...new Set(running.map(({ plugin }) => plugin))];
}
