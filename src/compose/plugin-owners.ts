import { fileURLToPath } from 'node:url';
import { types } from 'node:util';
import { currentWork } from '../chain/plugin-work.ts';
import { GatewayError } from '../plugin/index.ts';

/** Files that plugins from outside are made of, by path: a file that was loaded in several versions is one of them. */
interface Owned {
  /** Names in errors; unknown until the module has loaded. */
  readonly module: PluginModule;
  /** A package that the plugin uses: others may use it, too. */
  readonly shared: boolean;
}

/** A module of server.yaml's `plugins`. */
export interface PluginModule {
  /** Of its plugins, or the module's own as long as they are unknown. */
  name: string;
}

/** A plugin's dependencies may be many files: later ones have no owner. */
const MAX_FILES = 20_000;

/** Modules outlive settings, as Node keeps them for as long as the process lives: so does this. */
const owners = new Map<string, Owned>();

/** The files of the gateway's own calls into plugins: below them in a stack stands what called the gateway. */
const BOUNDARY = /\/chain\/watched-link\.[jt]s$/;

/** Says that a module of settings is at this URL, whatever its query. */
export function ownModule(url: string, name: string): PluginModule {
  const module: PluginModule = { name };
  own(url, { module, shared: false });
  return module;
}

/** A module was resolved: what a plugin imports is the plugin's. */
export function ownImport(specifier: string, url: string, parent: string | undefined): void {
  const owner = parent === undefined ? undefined : owners.get(pathOf(parent) ?? '');
  if (!owner) return;
  const isOwnFile = /^(?:\.{0,2}\/|file:|#)/.test(specifier);
  const known = owners.get(pathOf(url) ?? '');
  if (!known) own(url, { module: owner.module, shared: owner.shared || !isOwnFile });
}

function own(url: string, owned: Owned): void {
  const path = pathOf(url);
  if (path !== undefined && (owners.has(path) || owners.size < MAX_FILES)) owners.set(path, owned);
}

function pathOf(url: string): string | undefined {
  try {
    return url.startsWith('file:') ? fileURLToPath(url) : url.startsWith('/') ? url : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The plugin from outside that an error comes from, which nothing has caught: by the files in its stack. Where the stack names no file
 * of a plugin and none of ours stands above, by the plugin whose callback it came from (a plugin may throw what has no stack).
 */
export function pluginOf(error: unknown): string | undefined {
  const paths = stackPaths(error);
  const end = paths.findIndex((path) => BOUNDARY.test(path));
  const above = (end < 0 ? paths : paths.slice(0, end)).map((path) => owners.get(path));
  const own = above.find((owned) => owned?.shared === false);
  const running = currentWork()?.plugin;
  if (own) return oneOf(own.module, running);
  // A request's own end (its client has left) reaches a plugin as a rejection, and stands nowhere in that plugin's files.
  if (!types.isProxy(error) && error instanceof GatewayError) return running;
  if (paths.some((path) => !owners.has(path))) return undefined;
  return running;
}

/** A module may hold several plugins: the one whose code runs, where it is one of them. */
const oneOf = ({ name }: PluginModule, running: string | undefined): string =>
  running !== undefined && name.split(', ').includes(running) ? running : name;

/** Files in the stack of an error, from its top; those of Node left out. */
function stackPaths(error: unknown): readonly string[] {
  return stackOf(error)
    .split('\n')
    .flatMap((line) => /^\s+at (?:.* \()?(?:async )?(.+?)(?:\?[^?]*)?:\d+:\d+\)?$/.exec(line)?.[1] ?? [])
    .flatMap((place) => pathOf(place) ?? []);
}

/** `stack` may be anything, and reading it may throw. */
function stackOf(error: unknown): string {
  try {
    const stack: unknown = !types.isProxy(error) && error instanceof Error ? error.stack : undefined;
    return typeof stack === 'string' ? stack : '';
  } catch {
    return '';
  }
}
