import { statSync } from 'node:fs';
import { createRequire, registerHooks, type ResolveHookSync } from 'node:module';
import { extname, isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runAs, type PluginWork } from '../chain/plugin-work.ts';
import type { PluginRegistry } from '../chain/registry.ts';
import { messageOf } from '../plugin/blame.ts';
import type { Clock, Plugin } from '../plugin/index.ts';
import type { LoadResult } from '../settings/read/load.ts';
import { ownImport, ownModule, type PluginModule } from './plugin-owners.ts';
import { withinTime } from './time-limit.ts';

/** For a module and all it imports, its top-level await included: as long as a plugin's `create` has. */
const IMPORT_LIMIT_MS = 10_000;

/** Imports the modules `server.yaml` lists and adds their plugins; what cannot be used is reported at its line. */
export async function loadPluginModules(
  builtins: PluginRegistry,
  loaded: LoadResult,
  { folder, clock }: { readonly folder: string; readonly clock: Clock },
): Promise<PluginRegistry> {
  const report = loaded.reporter('server.yaml');
  offerPluginApi();
  let registry = builtins;
  for (const [index, specifier] of (loaded.settings?.server.plugins ?? []).entries()) {
    const path = ['plugins', index];
    try {
      const url = locate(specifier, folder);
      const module = ownModule(url, specifier);
      const plugins = toPlugins(
        await withinTime(
          runAs(workOf(module), () => import(url)),
          IMPORT_LIMIT_MS,
          clock,
        ),
      );
      module.name = plugins.map(({ name }) => name).join(', ');
      const { registry: extended, taken } = registry.extend(plugins);
      for (const name of taken) report({ path, message: `another plugin is named "${name}" already` });
      registry = extended;
    } catch (error) {
      report({ path, message: `cannot load ${specifier}: ${messageOf(error)}` });
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
      specifier === 'gatehouse/plugin' ? { url: PLUGIN_API, shortCircuit: true } : followed(specifier, context, next),
  });
}

/** Its timers live on when its plugins' names are known. */
const workOf = (module: PluginModule): PluginWork => ({
  givenUp: false,
  get plugin() {
    return module.name;
  },
});

/** Files that a plugin imports belong to it: the log names the plugin for unhandled errors from them. */
const followed: ResolveHookSync = (specifier, context, next) => {
  const resolved = next(specifier, context);
  ownImport(specifier, resolved.url, context.parentURL);
  return resolved;
};

/** The local files among the modules, and the version each has now; a package's modules stay as they are until a restart. */
export function moduleVersions(specifiers: readonly string[], folder: string): ReadonlyMap<string, string> {
  const paths = specifiers.filter(isLocal).map((specifier) => resolve(folder, specifier));
  return new Map(paths.map((path) => [path, versionOf(path)]));
}

const isLocal = (specifier: string): boolean => specifier.startsWith('.') || isAbsolute(specifier);

/** Empty when the file is missing or cannot be seen: the import says so. */
function versionOf(path: string): string {
  try {
    const { mtimeNs, size } = statSync(path, { bigint: true });
    return `${mtimeNs}-${size}`;
  } catch {
    return '';
  }
}

/**
 * Node remembers a module, or that it failed, by its URL for as long as the process lives: only another URL gets changed code
 * loaded. Each version that was ever loaded stays in memory, and the snapshots that use an old one keep it. What the file
 * imports is not loaded anew, for its URL stays; nor is a CommonJS file, which Node remembers by its path.
 */
function locate(specifier: string, folder: string): string {
  if (isLocal(specifier)) {
    const path = resolve(folder, specifier);
    const url = pathToFileURL(path);
    const version = versionOf(path);
    if (version !== '') url.search = `version=${version}`;
    return url.href;
  }
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
