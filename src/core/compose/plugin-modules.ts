import { createRequire, registerHooks, type ResolveHookSync } from 'node:module';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { runAs, type PluginWork } from '../kernel/outside/plugin-work.ts';
import type { PluginRegistry } from '../http/chain/registry.ts';
import { moduleFile } from '../kernel/package-root.ts';
import { PLUGIN_API } from '../../plugin/define.ts';
import { PLUGIN_LEVELS } from '../kernel/define.ts';
import { ownErrorsFault } from '../kernel/outside/own-errors.ts';
import { messageOf, show } from '../kernel/outside/thrown.ts';
import { isObject, type Plugin } from '../kernel/index.ts';
import type { Clock } from '../../plugin/index.ts';
import type { LoadResult } from '../settings/read/load.ts';
import { digestOf, isLocal, moduleEntry, readPluginFiles, type ModuleEntry } from '../kernel/outside/plugin-files.ts';
import { checkedSource, ownImport, ownModule, type PluginModule } from './plugin-owners.ts';
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
  for (const [index, entry] of (loaded.settings?.server.plugins ?? []).entries()) {
    const { module: specifier, integrity, name } = moduleEntry(entry);
    const path = ['plugins', index];
    try {
      const url = locate(specifier, folder);
      const module = ownModule(url, specifier, integrity === undefined ? undefined : checkedFiles(url, integrity));
      const importing = runAs(workOf(module), () => import(url));
      const plugins = named(toPlugins(await withinTime(importing, IMPORT_LIMIT_MS, clock)), name);
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

/** The files of a module whose hash is the one of the settings. */
function checkedFiles(url: string, wanted: string): ReadonlyMap<string, string> {
  const { digests, integrity } = readPluginFiles(fileURLToPath(url));
  if (integrity === wanted) return digests;
  throw new Error(`its integrity is ${integrity}, and not that of the settings; \`gatehouse plugin hash\` prints it`);
}

function named(plugins: readonly Plugin[], name: string | undefined): readonly Plugin[] {
  if (name === undefined) return plugins;
  if (plugins.length > 1) throw new Error('`name` is for a module with one plugin, and this one has several');
  return plugins.map((plugin) => ({ ...plugin, name }));
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
const API_MODULES: ReadonlyMap<string, string> = new Map(
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
      const url = API_MODULES.get(specifier);
      return url === undefined ? followed(specifier, context, next) : { url, shortCircuit: true };
    },
    load: (url, context, next) => checkedSource(url, next(url, context)),
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
  const path = ownImport(specifier, resolved.url, context.parentURL);
  if (path === undefined || !context.conditions?.includes('import') || resolved.url.includes('?')) return resolved;
  const version = versionOf(path);
  return version === '' ? resolved : { ...resolved, url: `${resolved.url}?version=${version}` };
};

/** The current version of each local module. A package's modules do not change until a restart. */
export const moduleVersions = (entries: ModuleEntries, folder: string): ReadonlyMap<string, string> =>
  new Map(localModules(entries, folder).map((path) => [path, versionOf(path)]));

type ModuleEntries = readonly (string | ModuleEntry)[];

const localModules = (entries: ModuleEntries, folder: string): readonly string[] =>
  entries.flatMap((entry) => {
    const { module } = moduleEntry(entry);
    return isLocal(module) ? [resolve(folder, module)] : [];
  });

/** The files of all local modules, for a watcher. A module that cannot be read is a file that may appear. */
export const moduleFiles = (entries: ModuleEntries, folder: string): readonly string[] =>
  localModules(entries, folder).flatMap((path) => {
    try {
      return [path, ...readPluginFiles(path).digests.keys()];
    } catch {
      return [path];
    }
  });

/** By the bytes of the file and of its local imports. Empty if it is missing or unreadable: the import reports that. */
function versionOf(path: string): string {
  try {
    return digestOf(readPluginFiles(path).integrity).slice(0, 16);
  } catch {
    return '';
  }
}

/**
 * The URL to import. Node caches a module, or its failure, by URL for the life of the process: only a new URL loads
 * changed code, and old versions stay in memory. Files that it imports by a path have versions of their own; CommonJS files are not reloaded.
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
  const made = plugins.filter(isMade);
  if (plugins.length === 0 || made.length < plugins.length)
    throw new Error('its default export is not a plugin made by definePlugin');
  return made.map(checked);
}

/** True for a result of definePlugin, whatever its members are. A hand-made object may lack the lists that definePlugin fills in. */
const isMade = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isObject(value) &&
  'create' in value &&
  'options' in value &&
  ['needs', 'requires', 'provides'].every((key) => Array.isArray(value[key]));

/** An author in JavaScript may give a member any type. */
function checked(value: Readonly<Record<string, unknown>>): Plugin {
  const { name, level, options, create, minApi = 1, errors = {} } = value;
  const of = typeof name === 'string' ? `plugin "${name}"` : 'the plugin';
  if (typeof name !== 'string' || name === '') throw new Error('the `name` of its plugin is not a text');
  if (!PLUGIN_LEVELS.some((known) => known === level))
    throw new Error(`the level of ${of} is ${show(level)}, and not one of ${PLUGIN_LEVELS.join(', ')}`);
  if (!isObject(options)) throw new Error(`the \`options\` of ${of} are no JSON Schema: ${show(options)}`);
  if (typeof create !== 'function') throw new Error(`the \`create\` of ${of} is no function`);
  if (typeof minApi !== 'number' || minApi > PLUGIN_API)
    throw new Error(
      `${of} needs version ${show(minApi)} of the plugin API, and this gateway has version ${PLUGIN_API}`,
    );
  const fault = isObject(errors) ? ownErrorsFault(errors) : 'they are no object';
  if (fault !== undefined) throw new Error(`the \`errors\` of ${of} cannot be used: ${fault}`);
  // All that the type says has been checked, but for the arguments of its functions.
  return value as unknown as Plugin;
}
