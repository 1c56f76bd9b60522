import { createHook } from 'node:async_hooks';
import { builtinPlugins } from '../../../plugins/index.ts';
import { ModelLabels } from '../catalog/model-labels.ts';
import { PluginRegistry } from '../http/chain/registry.ts';
import { currentWork } from '../kernel/outside/plugin-work.ts';
import { systemClock } from '../kernel/system-clock.ts';
import type { LoadResult } from '../settings/read/load.ts';
import { MemoryReplyStores } from '../memory/reply-cache.ts';
import { dryParts } from '../process/add-on-parts.ts';
import { MemoryHealthStore } from '../memory/target-health.ts';
import { createLogger } from '../record/log/logger.ts';
import { NO_RECORDER, NO_UPSTREAM, NO_TOKENS } from './fakes.ts';
import { InFlight } from '../http/gateway/admission/in-flight.ts';
import { ignorePluginFaults } from '../http/gateway/plugin-faults.ts';
import { loadPluginModules } from '../compose/plugin-modules.ts';
import { compileSnapshot } from '../compose/snapshot.ts';

/** Compiles settings to find their mistakes, as a start does. Apart from serving code: commands do not load it. */
export async function checkSettings(loaded: LoadResult, configs: string): Promise<void> {
  const plugins = await leftRunning(() => compileOnce(loaded, configs));
  for (const plugin of plugins)
    loaded.reporter('server.yaml')({
      path: ['plugins'],
      on: 'key',
      severity: 'warning',
      message: `the plugin "${plugin}" leaves a timer or a connection behind, which each reload would add to: end it in \`host.onClose\`, or \`unref()\` it`,
    });
}

async function compileOnce(loaded: LoadResult, configs: string): Promise<void> {
  const clock = systemClock;
  const registry = await loadPluginModules(new PluginRegistry(builtinPlugins), loaded, { folder: configs, clock });
  const snapshot = await compileSnapshot(loaded, {
    clock,
    // Nothing is opened, so entries do not read the environment.
    env: {},
    log: createLogger({ level: 'silent' }),
    dry: true,
    random: Math.random,
    upstream: NO_UPSTREAM,
    tokens: NO_TOKENS,
    replies: new MemoryReplyStores({ clock }),
    health: new MemoryHealthStore({ clock }),
    parts: dryParts(clock),
    inFlight: new InFlight(),
    tokenFetched() {},
    recorder: NO_RECORDER,
    labels: new ModelLabels(),
    pluginFault: ignorePluginFaults,
    registry,
  });
  await snapshot?.close();
}

/** A timer, a socket or a server of Node. */
interface Resource {
  /** False: it does not keep the process alive. */
  hasRef?(): boolean;
}

/** Runs the task and returns the external plugins that have left what keeps the process alive, such as a timer. */
async function leftRunning(task: () => Promise<void>): Promise<readonly string[]> {
  const left = new Map<number, { readonly plugin: string; readonly resource: WeakRef<Resource> }>();
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
