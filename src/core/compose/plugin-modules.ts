import { statSync } from 'node:fs';
import { createRequire, registerHooks, type ResolveHookSync } from 'node:module';
import { isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runAs, type PluginWork } from '../kernel/outside/plugin-work.ts';
import type { PluginRegistry } from '../http/chain/registry.ts';
import { moduleFile } from '../kernel/package-root.ts';
import { messageOf } from '../kernel/outside/thrown.ts';
import { isObject, type Plugin } from '../kernel/index.ts';
import type { Clock } from '../../plugin/index.ts';
import type { LoadResult } from '../settings/read/load.ts';
import { ownImport, ownModule, type PluginModule } from './plugin-owners.ts';
import { withinTime } from './time-limit.ts';

/** Limit for importing a module with all its imports and its top-level await: as long as for a plugin's `create`. */
const IMPORT_LIMIT_MS = 10_000;

/** Imports the modules that server.yaml lists and registers their plugins. Failures are reported at their lines. */
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
      const importing = runAs(workOf(module), () => import(url));
      const plugins = toPlugins(await withinTime(importing, IMPORT_LIMIT_MS, clock));
      module.name = plugins.map(({ name }) => name).join(', ');
      const { registry: extended, taken } = registry.extend(plugins);
      for (const name of taken) report({ path, message: `another plugin already has the name "${name}"` });
      registry = extended;
    } catch (error) {
      report({ path, ...failureOf(error, specifier, folder) });
    }
  }
  return registry;
}

/** The plugins of a module outside of settings. Rejects where it cannot be loaded. @param file absolute path */
export async function importPlugins(file: string): Promise<readonly Plugin[]> {
  offerPluginApi();
  return toPlugins(await import(pathToFileURL(file).href));
}

/** A name without `./` is that of a package. */
function failureOf(error: unknown, specifier: string, folder: string): { message: string; suggestion?: string } {
  const isUnknown = error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND';
  if (!isUnknown || isLocal(specifier)) return { message: `cannot load ${specifier}: ${messageOf(error)}` };
  const missing = 'no package of this name is installed at the settings folder or above it';
  if (versionOf(resolve(folder, specifier)) === '') return { message: `cannot load ${specifier}: ${missing}` };
  const message = `cannot load ${specifier}: this is the name of a package; the path of a file begins with \`./\``;
  return { message, suggestion: `./${specifier}` };
}

const API = pathToFileURL(moduleFile('src/plugin/index')).href;
const TESTING = pathToFileURL(moduleFile('src/plugin/testing/index')).href;

/** The names of the plugin API: that of the published package, and a shorter one. */
const PLUGIN_API: ReadonlyMap<string, string> = new Map(
  ['gatehouse-gateway', 'gatehouse'].flatMap((name) => [
    [`${name}/plugin`, API],
    [`${name}/plugin/testing`, TESTING],
  ]),
);
let offered = false;

/** Resolves the plugin API to that of this gateway: Node's own rules find none, or another copy. */
function offerPluginApi(): void {
  if (offered) return;
  offered = true;
  registerHooks({
    resolve(specifier, context, next) {
      const url = PLUGIN_API.get(specifier);
      return url === undefined ? followed(specifier, context, next) : { url, shortCircuit: true };
    },
  });
}

/** Reads the name late: timers of the module still run once its plugins' names are known. */
const workOf = (module: PluginModule): PluginWork => ({
  givenUp: false,
  get plugin() {
    return module.name;
  },
});

/** A plugin owns the files it imports, so that the log can name the plugin for unhandled errors from them. */
const followed: ResolveHookSync = (specifier, context, next) => {
  const resolved = next(specifier, context);
  ownImport(specifier, resolved.url, context.parentURL);
  return resolved;
};

/** The current version of each local module. A package's modules do not change until a restart. */
export function moduleVersions(specifiers: readonly string[], folder: string): ReadonlyMap<string, string> {
  const paths = specifiers.filter(isLocal).map((specifier) => resolve(folder, specifier));
  return new Map(paths.map((path) => [path, versionOf(path)]));
}

const isLocal = (specifier: string): boolean => specifier.startsWith('.') || isAbsolute(specifier);

/** Empty if the file is missing or unreadable: the import reports that. */
function versionOf(path: string): string {
  try {
    const { mtimeNs, size } = statSync(path, { bigint: true });
    return `${mtimeNs}-${size}`;
  } catch {
    return '';
  }
}

/**
 * The URL to import. Node caches a module, or its failure, by URL for the life of the process: only a new URL loads
 * changed code, and old versions stay in memory. Files that it imports, and CommonJS files, are not reloaded.
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
  const plugins: readonly unknown[] = [isObject(module) ? module['default'] : undefined].flat();
  if (plugins.length > 0 && plugins.every(isPlugin)) return plugins;
  throw new Error('its default export is not a plugin made by definePlugin');
}

/** True for a result of definePlugin. A hand-made object may lack the lists that definePlugin fills in. */
function isPlugin(value: unknown): value is Plugin {
  if (!isObject(value)) return false;
  const types = { name: 'string', level: 'string', create: 'function', options: 'object' };
  return (
    ['needs', 'requires', 'provides'].every((key) => Array.isArray(value[key])) &&
    Object.entries(types).every(([key, type]) => typeof value[key] === type)
  );
}
