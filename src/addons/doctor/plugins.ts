import { loadPluginModules } from '../../core/compose/plugin-modules.ts';
import { PluginRegistry } from '../../core/http/chain/registry.ts';
import { systemClock } from '../../core/kernel/system-clock.ts';
import type { LoadResult } from '../../core/settings/read/load.ts';
import { error, ok, type Finding } from '../../core/process/finding.ts';

/** The operator's own plugins, with the errors that they add to those of the gateway. */
export async function checkPlugins(loaded: LoadResult, folder: string): Promise<readonly Finding[]> {
  const registry = await loadPluginModules(new PluginRegistry([]), loaded, { folder, clock: systemClock });
  if (!loaded.ok) return [error('plugins', 'a module of `plugins` cannot be loaded: gatehouse validate')];
  return registry.names.map((name) => {
    const errors = Object.entries(registry.get(name)?.plugin.errors ?? {});
    const listed = errors.map(([code, { status }]) => `${code} (${status})`).join(', ');
    return ok('plugins', listed === '' ? `${name} can be loaded` : `${name} can be loaded; its own errors: ${listed}`);
  });
}
