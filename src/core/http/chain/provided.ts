import type { CapabilityName } from '../../kernel/index.ts';
import type { PluginLevel } from '../../../plugin/index.ts';
import type { ChainItem } from './compile.ts';
import { pluginOf } from './kept-plugins.ts';
import type { PluginRegistry } from './registry.ts';

export interface OuterChain {
  readonly items: readonly ChainItem[];
  /** The capability of the plugin that runs the next chain. Plugins after it provide nothing to that chain. */
  readonly runner: CapabilityName;
}

/** The names that the outer chains provide to the plugins of a chain. */
export function providedBy(outer: readonly OuterChain[], level: PluginLevel, registry: PluginRegistry): string[] {
  // Names that this level provides are excluded: the `reply` of an attempt is not that of the request.
  const all = registry.names.flatMap((name) => registry.get(name)?.plugin ?? []);
  const own = new Set(all.filter((plugin) => plugin.level === level).flatMap(({ provides }) => provides));
  const names = outer.flatMap(({ items, runner }) => {
    const plugins = items.map(pluginOf);
    const last = plugins.findIndex((name) => registry.get(name)?.plugin.needs.includes(runner));
    return plugins
      .slice(0, last < 0 ? undefined : last + 1)
      .flatMap((name) => registry.get(name)?.plugin.provides ?? []);
  });
  return [...new Set(names)].filter((name) => !own.has(name));
}
