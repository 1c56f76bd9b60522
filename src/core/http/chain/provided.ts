import type { CapabilityName } from '../../kernel/index.ts';
import type { PluginLevel } from '../../../plugin/index.ts';
import type { ChainItem } from './compile.ts';
import type { PluginRegistry } from './registry.ts';

export interface OuterChain {
  readonly items: readonly ChainItem[];
  /** The capability of the plugin that runs the next chain. Plugins after it provide nothing to that chain. */
  readonly runner: CapabilityName;
}

/** The names that the outer chains provide to the plugins of a chain. */
export function providedBy(outer: readonly OuterChain[], level: PluginLevel, registry: PluginRegistry): string[] {
  // Names that this level provides are excluded: the `reply` of an attempt is not that of the request.
  const own = new Set(registry.names.flatMap((name) => provides(name, registry, (plugin) => plugin.level === level)));
  const names = outer.flatMap(({ items, runner }) => {
    const plugins = items.map((item) => (typeof item === 'string' ? item : item.plugin));
    const last = plugins.findIndex((name) => registry.get(name)?.plugin.needs.includes(runner));
    return plugins.slice(0, last < 0 ? undefined : last + 1).flatMap((name) => provides(name, registry));
  });
  return [...new Set(names)].filter((name) => !own.has(name));
}

function provides(
  name: string,
  registry: PluginRegistry,
  only: (plugin: { level: PluginLevel }) => boolean = () => true,
): readonly string[] {
  const plugin = registry.get(name)?.plugin;
  return plugin && only(plugin) ? plugin.provides : [];
}
