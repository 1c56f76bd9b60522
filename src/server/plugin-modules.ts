import { createRequire, registerHooks } from 'node:module';
import { extname, isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PluginRegistry } from '../chain/registry.ts';
import type { Plugin } from '../plugin/index.ts';
import type { LoadResult } from '../settings/load.ts';

/** Imports the modules `server.yaml` lists and adds their plugins; what cannot be used is reported at its line. */
export async function loadPluginModules(
  builtins: PluginRegistry,
  loaded: LoadResult,
  folder: string,
): Promise<PluginRegistry> {
  const report = loaded.reporter('server.yaml');
  offerPluginApi();
  let registry = builtins;
  for (const [index, specifier] of (loaded.settings?.server.plugins ?? []).entries()) {
    const path = ['plugins', index];
    try {
      const plugins = toPlugins(await import(locate(specifier, folder)));
      const { registry: extended, taken } = registry.extend(plugins);
      for (const name of taken) report({ path, message: `another plugin is named "${name}" already` });
      registry = extended;
    } catch (error) {
      report({ path, message: `cannot load ${specifier}: ${error instanceof Error ? error.message : String(error)}` });
    }
  }
  return registry;
}

/** Beside this file in the sources and in `dist/` alike, with the same extension. */
const PLUGIN_API = new URL(`../plugin/index${extname(import.meta.url)}`, import.meta.url).href;
let offered = false;

/**
 * `gatehouse/plugin` in a plugin is the API of the gateway that runs it. By Node's own rules it is missing in a settings folder
 * outside the package and in a checkout that was never built, and where it is found it may be another copy of it.
 */
function offerPluginApi(): void {
  if (offered) return;
  offered = true;
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'gatehouse/plugin' ? { url: PLUGIN_API, shortCircuit: true } : next(specifier, context),
  });
}

function locate(specifier: string, folder: string): string {
  if (specifier.startsWith('.') || isAbsolute(specifier)) return pathToFileURL(resolve(folder, specifier)).href;
  return pathToFileURL(createRequire(resolve(folder, 'server.yaml')).resolve(specifier)).href;
}

function toPlugins(module: unknown): readonly Plugin[] {
  const exported: unknown =
    typeof module === 'object' && module !== null && 'default' in module ? module.default : undefined;
  const plugins = [exported].flat();
  if (plugins.length > 0 && plugins.every(isPlugin)) return plugins;
  throw new Error('its default export is no plugin made by definePlugin');
}

/** What definePlugin makes; an object of the author's own may lack the lists that it fills in. */
function isPlugin(value: unknown): value is Plugin {
  if (typeof value !== 'object' || value === null) return false;
  const has = (key: string): unknown => Reflect.get(value, key);
  const lists = ['needs', 'requires', 'provides'].every((key) => Array.isArray(has(key)));
  return (
    lists &&
    typeof has('name') === 'string' &&
    typeof has('level') === 'string' &&
    typeof has('create') === 'function' &&
    typeof has('options') === 'object'
  );
}
